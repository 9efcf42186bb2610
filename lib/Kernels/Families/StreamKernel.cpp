// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes kernels of maps and rows: passes over columns, one for each level of reductions and one
// for the results.

#include "StreamKernel.h"

#include "../Build/Elements.h"
#include "StreamColumns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

/// One result of a reduction while it is computed.
struct Sum {
  linalg::LinalgOp op;
  unsigned result;
  Combination combination;
  SmallVector<Value> chains;

  Type type() const { return combination.combined.getType(); }
};

class StreamKernel : Evaluate::Source {
public:
  StreamKernel(KernelFunction &kernel, const StreamShape &shape, const MathForms &forms,
               StreamPart part)
      : k(kernel), d(kernel.d), s(shape), forms(forms), part(part), memory(kernel, shape),
        evaluate(kernel.d.b, *this, forms), columns(kernel, shape, part, memory, evaluate) {}

  void emit() {
    columns.begin();
    RowReduce rows(k, columns.threads);
    Value room;
    if (int64_t bytes = sharedBytes(rows))
      room = k.sharedRoom(bytes);
    int64_t used = 0;
    for (auto [depth, level] : llvm::enumerate(s.plan.levels)) {
      SmallVector<Sum> sums = sumsOf(level);
      if (part == StreamPart::Combination)
        loadParts(sums);
      else
        accumulate(sums, resultsAt(depth));
      finish(sums, rows, room ? d.advanceBytes(room, used) : Value());
      used += bytesOf(sums, rows);
    }
    if (part != StreamPart::Parts)
      storeResults();
  }

private:
  using Values = SmallVector<Value>;

  // Reductions.

  static SmallVector<Sum> sumsOf(ArrayRef<linalg::LinalgOp> level) {
    SmallVector<Sum> sums;
    for (linalg::LinalgOp op : level)
      for (unsigned i = 0; i < op->getNumResults(); ++i)
        sums.push_back({op, i, *readCombination(op, i), {}});
    return sums;
  }

  int64_t bytesOf(ArrayRef<Sum> sums, const RowReduce &rows) const {
    int64_t bytes = 0;
    for (const Sum &sum : sums)
      bytes += rows.bytesOf(sum.type());
    return bytes;
  }

  int64_t sharedBytes(const RowReduce &rows) const {
    int64_t bytes = 0;
    for (ArrayRef<linalg::LinalgOp> level : s.plan.levels)
      bytes += bytesOf(sumsOf(level), rows);
    return bytes;
  }

  Value neutral(const Sum &sum) {
    return arith::ConstantOp::create(d.b, neutralElement(sum.combination.combiner));
  }

  Value initial(Sum &sum) { return evaluate.at(sum.op.getDpsInitOperand(sum.result)->get(), {}); }

  /// One thread a row, one chain: the order of the loop as it was written.
  bool isOrdered() const { return s.threadsPerRow == 1; }

  /// Leaves in each sum's chains what this thread found, and stores results on the way.
  void accumulate(MutableArrayRef<Sum> sums, ArrayRef<unsigned> results) {
    Values carried;
    if (!s.whole || isOrdered())
      for (Sum &sum : sums) {
        if (isOrdered())
          carried.push_back(initial(sum));
        else
          carried.append(kChains, neutral(sum));
      }
    carried = columns.pass(carried, [&](Values values) {
      const size_t own = values.size() / sums.size();
      for (auto [i, sum] : llvm::enumerate(sums))
        sum.chains.assign(values.begin() + i * own, values.begin() + (i + 1) * own);
      for (unsigned c = 0; c < memory.chunks().size(); ++c) {
        for (Sum &sum : sums)
          addChunk(sum, c);
        storeChunk(results, c);
      }
      Values next;
      for (Sum &sum : sums)
        next.append(sum.chains);
      return next;
    });
    if (!s.whole || isOrdered()) {
      unsigned own = carried.size() / sums.size();
      for (auto [i, sum] : llvm::enumerate(sums))
        sum.chains.assign(carried.begin() + i * own, carried.begin() + (i + 1) * own);
    }
  }

  /// Combines a chunk into the chains of a sum, which begin with the first elements where there are
  /// none yet.
  void addChunk(Sum &sum, unsigned c) {
    const size_t most = isOrdered() ? 1 : kChains;
    Value inside = memory.chunks()[c].inside;
    for (unsigned q = 0; q < s.vector; ++q) {
      unsigned column = c * s.vector + q;
      Value element = evaluate.inBody(sum.op, sum.combination.combined, {0, column});
      if (inside)
        element = arith::SelectOp::create(d.b, inside, element, neutral(sum));
      if (sum.chains.size() < most) {
        sum.chains.push_back(element);
        continue;
      }
      Value &chain = sum.chains[column % most];
      chain = combine(d.b, sum.combination.combiner, chain, element);
      forms.allow(chain.getDefiningOp());
    }
  }

  /// Returns where split number `index` of this row is, in the buffer of sum `number`.
  Value partPointer(unsigned number, Type type, Value index) {
    const KernelOperand &buffer = k.operands[k.operands.size() - sumCount() + number];
    Value place = d.add(d.mul(index, d.ix(s.rows)), columns.row);
    return d.advance(buffer.pointer, place, llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  }
  unsigned sumCount() const { return sumsOf(s.plan.levels.front()).size(); }

  /// The chains of each sum from what splits found, in their order.
  void loadParts(MutableArrayRef<Sum> sums) {
    for (auto [number, sum] : llvm::enumerate(sums))
      for (unsigned first = 0; first < s.splits; first += s.threadsPerRow) {
        Value index = d.add(d.ix(first), d.widen(columns.threads.position));
        Value inside = d.logicalAnd(columns.rowInside, d.less(index, d.ix(s.splits)));
        Type type = sum.type();
        Value found = k.where(inside, type, [&, number = number]() -> SmallVector<Value> {
          Value stored = d.load(memoryType(d.b, type), partPointer(number, type, index),
                                llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
          return {fromMemory(d, stored, type)};
        })[0];
        sum.chains.push_back(arith::SelectOp::create(d.b, inside, found, neutral(sum)));
      }
  }

  void storePart(unsigned number, Value total) {
    Value isFirst =
        arith::CmpIOp::create(d.b, arith::CmpIPredicate::eq, columns.threads.position, d.i32(0));
    OpBuilder::InsertionGuard restore(d.b);
    auto branch =
        scf::IfOp::create(d.b, d.logicalAnd(columns.rowInside, isFirst), /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
    d.store(toMemory(d, total), partPointer(number, total.getType(), columns.split),
            llvm::divideCeil(total.getType().getIntOrFloatBitWidth(), 8));
  }

  /// Reduces over the threads of the row, and adds what the destination held.
  void finish(MutableArrayRef<Sum> sums, RowReduce &rows, Value room) {
    SmallVector<Operation *> combiners;
    Values partials;
    for (Sum &sum : sums) {
      combiners.push_back(sum.combination.combiner);
      partials.push_back(combineTree(d.b, combiners.back(), sum.chains));
    }
    Values totals = rows.reduce(combiners, partials, room);
    for (auto [number, sum, total] : llvm::enumerate(sums, totals)) {
      if (part == StreamPart::Parts) {
        storePart(number, total);
        continue;
      }
      if (!isOrdered())
        total = combine(d.b, sum.combination.combiner, initial(sum), total);
      evaluate.set(sum.op->getResult(sum.result), {}, total);
    }
  }

  // Results.

  bool isWide(unsigned result) const {
    return s.plan.varies(s.plan.results[result]) & kAlongColumns;
  }

  /// Results that are stored in the pass of a level: where rows are held nobody reads them again,
  /// and what was to be kept for them need not be. An output that is read keeps its old contents
  /// until the last pass.
  SmallVector<unsigned> resultsAt(unsigned depth) const {
    SmallVector<unsigned> results;
    for (unsigned i = 0; i < s.plan.results.size(); ++i)
      if (isWide(i) && s.whole && s.plan.resultDepths[i] == depth &&
          !s.reads[s.writes[i].operand].type)
        results.push_back(i);
    return results;
  }

  Values resultOf(unsigned result, unsigned c) {
    Values elements;
    for (unsigned q = 0; q < s.vector; ++q)
      elements.push_back(evaluate.at(s.plan.results[result], {0, c * s.vector + q}));
    return elements;
  }

  void storeChunk(ArrayRef<unsigned> results, unsigned c) {
    SmallVector<Values> elements;
    for (unsigned i : results)
      elements.push_back(resultOf(i, c));
    for (auto [i, values] : llvm::zip_equal(results, elements))
      memory.store(s.writes[i], c, values);
  }

  void storeResults() {
    SmallVector<unsigned> wide, done;
    for (unsigned depth = 0; depth < s.plan.levels.size(); ++depth)
      done.append(resultsAt(depth));
    for (auto [i, result] : llvm::enumerate(s.plan.results)) {
      if (isWide(i)) {
        if (!llvm::is_contained(done, i))
          wide.push_back(i);
        continue;
      }
      Value isFirst;
      if (s.threadsPerRow > 1)
        isFirst = arith::CmpIOp::create(d.b, arith::CmpIPredicate::eq, columns.threads.position,
                                        d.i32(0));
      memory.store(s.writes[i], evaluate.at(result, {}), isFirst);
    }
    if (wide.empty())
      return;
    columns.pass({}, [&](Values) {
      // A map asks for all it reads before it waits for any; rows hold theirs already.
      if (s.plan.levels.empty())
        for (unsigned c = 0; c < memory.chunks().size(); ++c)
          for (unsigned i : wide)
            (void)resultOf(i, c);
      for (unsigned c = 0; c < memory.chunks().size(); ++c)
        storeChunk(wide, c);
      return Values();
    });
  }

  // Answers to what the body does not say.

  Value read(Value tensor, Point point) override {
    const StreamAccess &access = s.reads[cast<BlockArgument>(tensor).getArgNumber()];
    if (!(varies(tensor) & kAlongColumns))
      return memory.load(access);
    unsigned chunk = point.column / s.vector;
    SmallVector<Value> widened, elements = memory.load(access, chunk, widened);
    for (auto [q, element] : llvm::enumerate(elements)) {
      if (!widened.empty())
        evaluate.setWidened(element, widened[q]);
      if (chunk * s.vector + q != point.column)
        evaluate.set(tensor, {0, unsigned(chunk * s.vector + q)}, element);
    }
    return elements[point.column % s.vector];
  }

  std::optional<unsigned> chunkOf(Point point, unsigned bits) const {
    return bits & kAlongColumns ? std::optional(point.column / s.vector) : std::nullopt;
  }

  Value gather(BlockArgument argument, ValueRange indices, Point point, unsigned bits) override {
    return memory.gather(argument.getArgNumber(), indices, chunkOf(point, bits));
  }

  void check(StringRef message, Value holds, Point point, unsigned bits) override {
    memory.check(message, holds, chunkOf(point, bits));
  }

  Value index(Operation *op, unsigned loop, Point point) override {
    return memory.index(s.plan.opLoops.lookup(op)[loop], point.column / s.vector,
                        point.column % s.vector);
  }

  unsigned varies(Value tensor) override { return s.plan.varies(tensor); }
  unsigned varies(Operation *op, unsigned loop) override {
    int own = s.plan.opLoops.lookup(op)[loop];
    return own < 0 ? kUniform : s.plan.isColumn(own) ? kAlongColumns : kAlongRows;
  }

  KernelFunction &k;
  DeviceBuilder &d;
  const StreamShape &s;
  const MathForms &forms;
  StreamPart part;
  StreamMemory memory;
  Evaluate evaluate;
  StreamColumns columns;
};

} // namespace

gpu::GPUFuncOp mlir::mp::emitStreamKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                          const StreamShape &shape, TypeRange operands,
                                          const MathForms &forms, StreamPart part) {
  KernelFunction kernel(module, loc, name, operands, shape.threads());
  StreamKernel(kernel, shape, forms, part).emit();
  return kernel.function;
}

SmallVector<MemRefType> mlir::mp::streamWorkspace(const StreamShape &shape) {
  SmallVector<MemRefType> buffers;
  if (shape.splits > 1)
    for (linalg::LinalgOp op : shape.plan.levels.front())
      for (unsigned i = 0; i < op->getNumResults(); ++i)
        buffers.push_back(MemRefType::get({shape.splits, shape.rows},
                                          readCombination(op, i)->combined.getType()));
  return buffers;
}

Value mlir::mp::streamBlocks(OpBuilder &host, Location loc, const StreamShape &shape,
                             ValueRange operands, StreamPart part) {
  auto extent = [&](ArrayRef<unsigned> loops) {
    return hostExtent(host, loc, shape.plan, loops, operands);
  };
  auto ceilDiv = [&](Value value, int64_t by) {
    return by == 1 ? value
                   : host.createOrFold<arith::CeilDivUIOp>(
                         loc, value, arith::ConstantIndexOp::create(host, loc, by));
  };
  Value blocks = ceilDiv(extent(shape.plan.rows), shape.rowsPerBlock);
  if (part == StreamPart::Parts)
    blocks = host.createOrFold<arith::MulIOp>(
        loc, blocks, arith::ConstantIndexOp::create(host, loc, shape.splits));
  if (shape.tiled)
    blocks = host.createOrFold<arith::MulIOp>(loc, blocks,
                                              ceilDiv(extent(shape.plan.columns), shape.span()));
  return blocks;
}
