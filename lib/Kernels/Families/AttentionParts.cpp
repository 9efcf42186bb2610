// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays parts of attention out in memory, and emits the kernel that merges them.
//
// Each part is softmax of its own keys before the division. A part that sees none has the lowest
// finite maximum and sums of zero: beside any logit its factor is zero, and where all parts are so,
// 0/0 is what a row that is masked whole is.

#include "AttentionParts.h"

#include "AttentionResult.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mp;

SmallVector<MemRefType> AttentionParts::buffers(const AttentionShape &shape) {
  SmallVector<unsigned> loops(shape.plan.batch);
  llvm::append_range(loops, shape.plan.rows);
  const int64_t rows = shape.plan.extent(loops);
  Type f32 = Float32Type::get(shape.plan.scores->getContext());
  if (shape.splitFrom != 0 && ShapedType::isDynamic(rows))
    return {MemRefType::get({rows, shape.width()}, f32), MemRefType::get({rows, 2}, f32)};
  return {MemRefType::get({shape.splits, rows, shape.width()}, f32),
          MemRefType::get({shape.splits, rows, 2}, f32)};
}

Value AttentionParts::place(const KernelOperand &buffer, Value part, Value row, int64_t columns,
                            Value column) {
  Value number = d.add(d.mul(d.widen(part), rows()), row);
  Value element = d.add(d.mul(number, columns), column);
  return d.advance(buffer.pointer, d.add(element, d.ix(buffer.offset)), 4);
}

std::pair<Value, Value> AttentionParts::load(Value pointer) {
  Value pair = d.load(VectorType::get({2}, d.b.getF32Type()), pointer, 8, /*isConstant=*/true);
  return {LLVM::ExtractElementOp::create(d.b, pair, d.i32(0)),
          LLVM::ExtractElementOp::create(d.b, pair, d.i32(1))};
}

void AttentionParts::putOutput(Value part, Value row, Value column, Value first, Value second) {
  d.store(packVector(d, {first, second}), place(outputs, part, row, s.width(), column), 8);
}

void AttentionParts::putStatistics(Value part, Value row, Value maximum, Value sum) {
  d.store(packVector(d, {maximum, sum}), place(statistics, part, row, 2, d.ix(0)), 8);
}

std::pair<Value, Value> AttentionParts::getOutput(Value part, Value row, Value column) {
  return load(place(outputs, part, row, s.width(), column));
}

std::pair<Value, Value> AttentionParts::getStatistics(Value part, Value row) {
  return load(place(statistics, part, row, 2, d.ix(0)));
}

Value AttentionParts::rowOf(Value batch, Value row) {
  return d.add(d.mul(batch, k.extent(s.plan, s.plan.rows)), row);
}

Value AttentionParts::rows() {
  return d.mul(k.extent(s.plan, s.plan.batch), k.extent(s.plan, s.plan.rows));
}

Value mlir::mp::divideRow(DeviceBuilder &d, const AttentionPlan &plan, Value value, Value total) {
  Value quotient = arith::DivFOp::create(d.b, value, total);
  if (!plan.emptyIsZero)
    return quotient;
  Value zero = arith::ConstantOp::create(d.b, d.b.getF32FloatAttr(0));
  Value isEmpty = arith::CmpFOp::create(d.b, arith::CmpFPredicate::OEQ, total, zero);
  return arith::SelectOp::create(d.b, isEmpty, zero, quotient);
}

/// The factor of a part with this maximum where `most` is the largest.
static Value partFactor(DeviceBuilder &d, Value maximum, Value most, double scale) {
  Value difference = arith::SubFOp::create(d.b, maximum, most);
  if (scale != 1)
    difference = arith::MulFOp::create(
        d.b, difference, arith::ConstantOp::create(d.b, d.b.getF32FloatAttr(float(scale))));
  return math::ExpOp::create(d.b, difference);
}

/// The output of neighbouring columns of a row, divided.
static std::pair<Value, Value> mergeRow(DeviceBuilder &d, const AttentionPlan &plan,
                                        AttentionParts &parts, unsigned count, double scale,
                                        Value row, Value column) {
  // All loads are under way before the first is waited for.
  SmallVector<std::pair<Value, Value>> statistics, outputs;
  for (unsigned part = 0; part < count; ++part)
    statistics.push_back(parts.getStatistics(d.i32(part), row));
  for (unsigned part = 0; part < count; ++part)
    outputs.push_back(parts.getOutput(d.i32(part), row, column));
  Value most = statistics.front().first;
  for (auto [maximum, sum] : ArrayRef(statistics).drop_front())
    most = arith::MaxNumFOp::create(d.b, most, maximum);
  Value total, first, second;
  auto addTo = [&](Value &sum, Value value, Value factor) {
    Value part = arith::MulFOp::create(d.b, value, factor);
    sum = sum ? arith::AddFOp::create(d.b, sum, part).getResult() : part;
  };
  for (auto [own, output] : llvm::zip_equal(statistics, outputs)) {
    Value factor = partFactor(d, own.first, most, scale);
    addTo(total, own.second, factor);
    addTo(first, output.first, factor);
    addTo(second, output.second, factor);
  }
  return {divideRow(d, plan, first, total), divideRow(d, plan, second, total)};
}

/// The same for `count` parts, a number of run time (i32).
static std::pair<Value, Value> mergeRow(DeviceBuilder &d, const AttentionPlan &plan,
                                        AttentionParts &parts, Value count, double scale, Value row,
                                        Value column) {
  constexpr int64_t atOnce = 8; // beyond the end those of the last part, which change no maximum
  auto forParts = [&](ValueRange start, auto &&body) {
    auto loop = scf::ForOp::create(d.b, d.i32(0), count, d.i32(atOnce), start);
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> numbers, carried(loop.getRegionIterArgs());
    for (int64_t i = 0; i < atOnce; ++i)
      numbers.push_back(d.add(loop.getInductionVar(), i));
    body(numbers, carried);
    scf::YieldOp::create(d.b, carried);
    return SmallVector<Value>(loop.getResults());
  };
  auto existing = [&](Value number) { return d.min(number, d.sub(count, d.i32(1))); };
  const Value first[] = {parts.getStatistics(d.i32(0), row).first};
  Value most = forParts(first, [&](ArrayRef<Value> numbers, MutableArrayRef<Value> carried) {
    for (Value number : numbers)
      carried[0] = arith::MaxNumFOp::create(d.b, carried[0],
                                            parts.getStatistics(existing(number), row).first);
  })[0];
  Value zero = arith::ConstantOp::create(d.b, d.b.getF32FloatAttr(-0.0f)); // changes no bit
  SmallVector<Value> sums =
      forParts({zero, zero, zero}, [&](ArrayRef<Value> numbers, MutableArrayRef<Value> carried) {
        for (Value number : numbers) {
          auto [maximum, sum] = parts.getStatistics(existing(number), row);
          auto [left, right] = parts.getOutput(existing(number), row, column);
          Value factor = partFactor(d, maximum, most, scale), exists = d.less(number, count);
          const Value held[] = {sum, left, right};
          for (auto [total, value] : llvm::zip_equal(carried, held)) {
            Value product = arith::MulFOp::create(d.b, value, factor);
            total = d.select(exists, arith::AddFOp::create(d.b, total, product), total);
          }
        }
      });
  return {divideRow(d, plan, sums[1], sums[0]), divideRow(d, plan, sums[2], sums[0])};
}

gpu::GPUFuncOp mlir::mp::emitAttentionMerge(gpu::GPUModuleOp module, Location loc, StringRef name,
                                            const AttentionShape &shape, TypeRange operands,
                                            const MathForms &forms) {
  KernelFunction k(module, loc, name, operands, kMergingThreads);
  DeviceBuilder &d = k.d;
  const AttentionPlan &p = shape.plan;
  AttentionParts parts(k, shape);
  AttentionResult result(k, p, forms);
  const int64_t pairs = shape.width() / 2;
  Value number = d.add(d.mul(d.widen(k.block()), int64_t(kMergingThreads)), d.widen(k.thread()));
  Value row = d.div(number, pairs), column = d.mul(d.rem(number, pairs), 2);
  auto branch = scf::IfOp::create(d.b, d.less(row, parts.rows()), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(d.b);
  d.b.setInsertionPointToStart(branch.thenBlock());
  Value rows = k.extent(p, p.rows);
  result.setBatch(AttentionResult::indicesOf(k, p, p.batch, d.div(row, rows)));
  result.addRow(AttentionResult::indicesOf(k, p, p.rows, d.rem(row, rows)));
  const double scale = foldedScale(p, forms);
  auto [first, second] =
      shape.splitFrom == 0
          ? mergeRow(d, p, parts, shape.splits, scale, row, column)
          : mergeRow(d, p, parts, d.narrow(sharersOf(k, shape)), scale, row, column);
  const Value merged[] = {first, second};
  result.store(0, {column, d.add(column, int64_t(1))}, [&](unsigned at) { return merged[at]; });
  return k.function;
}

/// True where one block has all keys of a row.
static Value isAlone(OpBuilder &host, Location loc, const AttentionShape &shape,
                     ValueRange operands) {
  return host.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                          sharersOf(host, loc, shape, operands),
                                          arith::ConstantIndexOp::create(host, loc, 1));
}

Value mlir::mp::mergingBlocks(OpBuilder &host, Location loc, const AttentionShape &shape,
                              ValueRange operands) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(host, loc, value);
  };
  Value rows = attentionRows(host, loc, shape, operands);
  Value threads = host.createOrFold<arith::MulIOp>(loc, rows, index(shape.width() / 2));
  Value blocks = host.createOrFold<arith::CeilDivUIOp>(loc, threads, index(kMergingThreads));
  if (shape.splitFrom == 0)
    return blocks;
  return host.createOrFold<arith::SelectOp>(loc, isAlone(host, loc, shape, operands), index(0),
                                            blocks);
}

Value mlir::mp::partRows(OpBuilder &host, Location loc, const AttentionShape &shape,
                         ValueRange operands) {
  Value rows = attentionRows(host, loc, shape, operands);
  if (shape.splitFrom == 0)
    return rows;
  Value all = host.createOrFold<arith::MulIOp>(loc, rows, sharersOf(host, loc, shape, operands));
  return host.createOrFold<arith::SelectOp>(loc, isAlone(host, loc, shape, operands),
                                            arith::ConstantIndexOp::create(host, loc, 0), all);
}
