// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits what blocks that share sums do with them.

#include "SplitSums.h"

#include "../Build/KernelFunction.h"
#include "../Build/StagedSums.h"
#include "GemmEpilogues.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mp;

/// Loads of parts that a thread has under way: four columns each.
static constexpr int64_t kPartsUnderWay = 16;

static int64_t sharedTiles(const GemmPlan &plan, const mpcore::performance::MatmulSchedule &s) {
  return plan.products * *knownExtent(plan.batch) * llvm::divideCeil(*knownExtent(plan.m), s.m) *
         llvm::divideCeil(*knownExtent(plan.n), s.n);
}

bool mlir::mp::canSplitSums(const GemmPlan &plan,
                            const mpcore::performance::MatmulSchedule &schedule) {
  auto isKnown = [&](const StridedLoop &loop) {
    return llvm::all_of(ArrayRef(loop.step).slice(2, plan.offset.size() - 2),
                        [](const Size &step) { return step.isKnown(); });
  };
  for (ArrayRef<StridedLoop> group : {ArrayRef(plan.batch), ArrayRef(plan.m), ArrayRef(plan.n)})
    if (!llvm::all_of(group, isKnown))
      return false;
  return plan.isCertainlyNonEmpty() && !plan.isRagged &&
         sharedTiles(plan, schedule) <= kMostSharedTiles &&
         llvm::all_of(ArrayRef(plan.offset).drop_front(2),
                      [](const Size &offset) { return offset.isKnown(); });
}

GemmOperand mlir::mp::allocateParts(OpBuilder &builder, Location loc,
                                    const Contraction &contraction, ArrayRef<OpFoldResult> sizes,
                                    unsigned parts) {
  SmallVector<unsigned> loops(contraction.batch);
  llvm::append_range(loops, contraction.m);
  llvm::append_range(loops, contraction.n);
  SmallVector<int64_t> coefficients(sizes.size(), 0);
  int64_t sums = 1;
  for (unsigned loop : llvm::reverse(loops)) {
    coefficients[loop] = sums;
    sums *= *getConstantIntValue(sizes[loop]);
  }
  LinearAccess access;
  access.coefficients.push_back(coefficients);
  access.constants.push_back(0);
  auto type = MemRefType::get({sums * parts}, contraction.accumulator);
  Value buffer = memref::AllocOp::create(builder, loc, type, builder.getI64IntegerAttr(64));
  return {buffer, access, {}, {}};
}

GemmOperand mlir::mp::countersOf(func::FuncOp function, Value &buffer,
                                 const Contraction &contraction) {
  if (!buffer) {
    OpBuilder b = OpBuilder::atBlockBegin(&function.front());
    Location loc = function.getLoc();
    auto type = MemRefType::get({kMostSharedTiles}, b.getI32Type());
    buffer = memref::AllocOp::create(b, loc, type, b.getI64IntegerAttr(64));
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    gpu::MemsetOp::create(b, loc, Type(), ValueRange(), buffer, zero);
  }
  LinearAccess access;
  access.coefficients.emplace_back(contraction.access.front().coefficients.front().size(), 0);
  access.constants.push_back(0);
  return {buffer, access, {}, {}};
}

void SharedSums::leave(EpilogueStore &store, function_ref<Value(Point)> sum, Value part) const {
  ResultOperand own = parts; // the parts of all sums follow each other
  own.base = d.add(own.base, d.mul(d.widen(part), plan.sums()));
  storeSums({d, store, sum, own, {}}, /*fresh=*/true);
}

SharedSums::Turns SharedSums::turns() const {
  const int64_t runs = int64_t(tile.tileM) * tile.tileN / 4, threads = plan.threads();
  const int64_t count = llvm::divideCeil(runs, threads);
  if (runs % threads || threads % (tile.tileN / 4))
    return {count, 1, runs % threads != 0};
  const int64_t most = std::max<int64_t>(1, kPartsUnderWay / plan.schedule.splitK);
  const int64_t rows =
      std::min(count, int64_t(llvm::bit_floor(uint64_t(most)))); // both powers of two
  return {count / rows, rows, false};
}

/// The sums of each of the store's points, row after row. All parts are asked for before any is
/// added: a store between them would be waited for.
SmallVector<Value> SharedSums::add(EpilogueStore &store) const {
  SmallVector<SmallVector<Value>> loaded(plan.schedule.splitK);
  for (auto [number, part] : llvm::enumerate(loaded)) {
    ResultOperand from = parts;
    from.base = d.add(from.base, d.ix(int64_t(number) * plan.sums()));
    for (unsigned i = 0; i < store.rows(); ++i)
      for (unsigned j = 0; j < store.columns();) {
        const SmallVector<Value> elements = store.load(from, {i, j});
        llvm::append_range(part, elements);
        j += elements.size();
      }
  }
  return addParts(d, std::move(loaded));
}

Value SharedSums::isLastBlock(const TilePosition &position, Value product) const {
  const auto &s = plan.schedule;
  Value tile = position.batch;
  if (product)
    tile = d.add(tile, d.mul(product, *knownExtent(plan.batch)));
  tile = d.add(d.mul(tile, llvm::divideCeil(*knownExtent(plan.m), s.m)), position.row);
  tile = d.add(d.mul(tile, llvm::divideCeil(*knownExtent(plan.n), s.n)), position.column);
  // Each thread says by itself that what it stored is there: no barrier is needed before. Behind
  // the last one the counter is zero again.
  Value last = d.i32(int64_t(plan.threads()) * s.splitK - 1);
  Value before = d.ptx(d.b.getI32Type(), "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;",
                       "=r,l,r,~{memory}", {d.advance(counters.pointer, tile, 4), last});
  return anyThread(d, d.equal(before, last));
}

void SharedSums::finish(const TilePosition &position, Value product, ValueRange scalars,
                        const GemmEnds &ends) const {
  OpBuilder::InsertionGuard guard(d.b);
  Value isLast = isLastBlock(position, product);
  auto branch = scf::IfOp::create(d.b, isLast, /*withElseRegion=*/false);
  d.b.setInsertionPointToStart(branch.thenBlock());
  const Turns turns = this->turns();
  auto loop = scf::ForOp::create(d.b, d.i32(0), d.i32(turns.count), d.i32(1));
  keepWhole(loop);
  d.b.setInsertionPointToStart(loop.getBody());
  const int64_t perRow = tile.tileN / 4, threads = plan.threads();
  Value first = d.add(d.mul(loop.getInductionVar(), threads * turns.rows), thread);
  if (turns.isPartial) {
    auto busy = scf::IfOp::create(d.b, d.less(first, d.i32(tile.tileM * perRow)),
                                  /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(busy.thenBlock());
  }
  SmallVector<Value> rows, columns;
  for (int64_t i = 0; i < turns.rows; ++i)
    rows.push_back(d.add(d.div(first, perRow), i * (threads / perRow)));
  for (int64_t i = 0; i < 4; ++i)
    columns.push_back(d.add(d.mul(d.rem(first, perRow), 4), i));
  EpilogueStore store(d, tile, row, rows, column, columns);
  const SmallVector<Value> sums = add(store);
  auto sum = [&](Point point) { return sums[point.row * 4 + point.column]; };
  ends.epilogue({d, store, sum, others, scalars});
}
