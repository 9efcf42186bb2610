// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-map-to-launch: turn parallel loops and what else touches buffers into launches
// (exact).

#include "LaunchRegions.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_MAPTOLAUNCH
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Threads of a block; a multiple of a warp that every target can hold eight times.
static constexpr int64_t kBlockThreads = 256;

namespace {

/// Maps one parallel loop to one launch.
class LaunchBuilder {
public:
  explicit LaunchBuilder(scf::ParallelOp op) : op(op), b(op), loc(op.getLoc()) {}

  void build() {
    computeTrips();
    if (total == 0) {
      op.erase();
      return;
    }
    if (total)
      buildLaunch(index((*total + kBlockThreads - 1) / kBlockThreads));
    else
      buildGuardedLaunch();
    op.erase();
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  /// Points of each dimension, and of all, on the host.
  void computeTrips() {
    total = 1;
    for (auto [lower, upper, step] :
         llvm::zip_equal(op.getLowerBound(), op.getUpperBound(), op.getStep())) {
      auto lo = getConstantIntValue(lower), up = getConstantIntValue(upper),
           by = getConstantIntValue(step);
      std::optional<int64_t> trip;
      if (lo && up && by)
        trip = *up > *lo ? (*up - *lo + *by - 1) / *by : 0;
      constantTrips.push_back(trip);
      total = total && trip ? std::optional<int64_t>(*total * *trip) : std::nullopt;
      if (trip) {
        trips.push_back(index(*trip));
        continue;
      }
      Value span = arith::SubIOp::create(b, loc, upper, lower);
      Value count = by == 1 ? span : arith::CeilDivSIOp::create(b, loc, span, step).getResult();
      trips.push_back(arith::MaxSIOp::create(b, loc, count, index(0)));
    }
  }

  /// A grid of zero blocks is an error of the driver: skip the launch.
  void buildGuardedLaunch() {
    points = trips[0];
    for (Value trip : ArrayRef(trips).drop_front())
      points = arith::MulIOp::create(b, loc, points, trip);
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, points, index(0));
    auto guard = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
    b.setInsertionPoint(guard.thenYield());
    Value rounded = arith::AddIOp::create(b, loc, points, index(kBlockThreads - 1));
    buildLaunch(arith::DivUIOp::create(b, loc, rounded, index(kBlockThreads)));
  }

  void buildLaunch(Value blocks) {
    Value one = index(1), threads = index(kBlockThreads);
    auto launch = gpu::LaunchOp::create(b, loc, blocks, one, one, threads, one, one);
    b.setInsertionPointToStart(&launch.getBody().front());
    Value block = launch.getBlockIds().x, thread = launch.getThreadIds().x;
    gpu::TerminatorOp::create(b, loc);
    b.setInsertionPoint(launch.getBody().front().getTerminator());

    // 32-bit arithmetic where the points allow it: division of 64-bit integers is a long sequence.
    bool narrow = total && *total <= (int64_t(1) << 31) - kBlockThreads;
    Type type = narrow ? b.getI32Type() : Type(b.getIndexType());
    auto convert = [&](Value value) {
      return narrow ? arith::IndexCastOp::create(b, loc, type, value).getResult() : value;
    };
    auto constant = [&](int64_t value) -> Value {
      return narrow ? arith::ConstantIntOp::create(b, loc, value, 32).getResult() : index(value);
    };
    Value first = arith::MulIOp::create(b, loc, convert(block), constant(kBlockThreads));
    Value id = arith::AddIOp::create(b, loc, first, convert(thread));
    if (!total || *total % kBlockThreads != 0) {
      Value limit = total ? constant(*total) : points;
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, limit);
      auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
      b.setInsertionPoint(guard.thenYield());
    }
    moveBody(delinearize(id, constant));
  }

  /// Row-major: the last dimension is the fastest, so that neighbours in a warp are neighbours in
  /// memory.
  SmallVector<Value> delinearize(Value id, function_ref<Value(int64_t)> constant) {
    SmallVector<Value> positions(trips.size());
    for (int64_t dim = trips.size() - 1; dim >= 0; --dim) {
      if (constantTrips[dim] == 1) {
        positions[dim] = constant(0);
        continue;
      }
      bool outermost = llvm::all_of(ArrayRef(constantTrips).take_front(dim),
                                    [](std::optional<int64_t> trip) { return trip == 1; });
      if (outermost) {
        positions[dim] = id;
        id = constant(0);
        continue;
      }
      Value trip = constantTrips[dim] ? constant(*constantTrips[dim]) : trips[dim];
      positions[dim] = arith::RemUIOp::create(b, loc, id, trip);
      id = arith::DivUIOp::create(b, loc, id, trip);
    }
    return positions;
  }

  void moveBody(ArrayRef<Value> positions) {
    IRMapping map;
    for (auto [iv, position, lower, step] :
         llvm::zip_equal(op.getInductionVars(), positions, op.getLowerBound(), op.getStep())) {
      Value value = position;
      if (!value.getType().isIndex())
        value = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
      if (getConstantIntValue(step) != 1)
        value = arith::MulIOp::create(b, loc, value, step);
      if (getConstantIntValue(lower) != 0)
        value = arith::AddIOp::create(b, loc, value, lower);
      iv.replaceAllUsesWith(value);
    }
    Block *target = b.getInsertionBlock();
    Operation *end = &*b.getInsertionPoint();
    for (Operation &inner : llvm::make_early_inc_range(op.getBody()->without_terminator()))
      inner.moveBefore(target, end->getIterator());
  }

  scf::ParallelOp op;
  OpBuilder b;
  Location loc;
  SmallVector<std::optional<int64_t>> constantTrips;
  SmallVector<Value> trips;
  std::optional<int64_t> total; ///< all points, when known
  Value points;                 ///< all points, when not
};

/// Static scratch buffers inside a thread become its local memory: an alloc in a kernel would be a
/// call of the device's malloc.
LogicalResult localizeAllocs(scf::ParallelOp op) {
  WalkResult result = op.walk([](memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    constexpr int64_t limit = 4096;
    if (!type.hasStaticShape() || !type.getLayout().isIdentity() || type.getNumElements() > limit) {
      alloc.emitOpError("allocates ") << type << " in every thread of a kernel; only static "
                                      << "buffers of up to " << limit << " elements can be local";
      return WalkResult::interrupt();
    }
    OpBuilder b(alloc);
    alloc.replaceAllUsesWith(memref::AllocaOp::create(b, alloc.getLoc(), type).getResult());
    alloc.erase();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A kernel cannot reach the host's stack.
void moveOffStack(memref::AllocaOp alloca) {
  OpBuilder b(alloca);
  auto alloc =
      memref::AllocOp::create(b, alloca.getLoc(), alloca.getType(), alloca.getDynamicSizes(),
                              alloca.getSymbolOperands(), alloca.getAlignmentAttr());
  alloca.replaceAllUsesWith(alloc.getResult());
  alloca.erase();
}

/// A parallel loop with results (a reduction somebody wrote) runs in order.
LogicalResult lowerReduction(scf::ParallelOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
  IRMapping map;
  SmallVector<Value> carried(op.getInitVals());
  SmallVector<scf::ForOp> loops;
  for (auto [iv, lower, upper, step] : llvm::zip_equal(op.getInductionVars(), op.getLowerBound(),
                                                       op.getUpperBound(), op.getStep())) {
    auto loop = scf::ForOp::create(b, loc, lower, upper, step, carried);
    b.setInsertionPointToEnd(loop.getBody());
    map.map(iv, loop.getInductionVar());
    carried.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    loops.push_back(loop);
  }
  for (Operation &inner : op.getBody()->without_terminator())
    b.clone(inner, map);
  for (auto [i, region] : llvm::enumerate(reduce.getReductions())) {
    Block &block = region.front();
    map.map(block.getArgument(0), carried[i]);
    map.map(block.getArgument(1), map.lookupOrDefault(reduce.getOperands()[i]));
    for (Operation &inner : block.without_terminator())
      b.clone(inner, map);
    carried[i] = map.lookupOrDefault(block.getTerminator()->getOperand(0));
  }
  scf::YieldOp::create(b, loc, carried);
  for (size_t depth = loops.size() - 1; depth > 0; --depth) {
    b.setInsertionPointToEnd(loops[depth - 1].getBody());
    scf::YieldOp::create(b, loc, loops[depth].getResults());
  }
  op.replaceAllUsesWith(loops.front().getResults());
  op.erase();
  return success();
}

/// More elements than anybody prints are not read one by one.
constexpr int64_t kMostHostElements = 1024;

/// A vector read as scalars, which compiled host code can do; false where it is too large or no
/// plain slice.
bool readElements(vector::TransferReadOp op) {
  VectorType type = op.getVectorType();
  if (type.isScalable() || type.getNumElements() > kMostHostElements || op.getMask() ||
      !op.getPermutationMap().isMinorIdentity() ||
      isa<VectorType>(cast<MemRefType>(op.getBase().getType()).getElementType()))
    return false;
  OpBuilder b(op);
  Location loc = op.getLoc();
  const int64_t first = op.getIndices().size() - type.getRank();
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> at(op.getIndices());
    Value inside;
    for (int64_t dim = type.getRank() - 1, rest = i; dim >= 0; rest /= type.getDimSize(dim--)) {
      Value &index = at[first + dim];
      index = arith::AddIOp::create(
          b, loc, index, arith::ConstantIndexOp::create(b, loc, rest % type.getDimSize(dim)));
      if (op.isDimInBounds(dim))
        continue;
      Value size = memref::DimOp::create(b, loc, op.getBase(), first + dim);
      Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
      inside = inside ? arith::AndIOp::create(b, loc, inside, fits).getResult() : fits;
    }
    auto load = [&](OpBuilder &where, Location) {
      auto read = memref::LoadOp::create(where, loc, op.getBase(), at);
      read->setAttr(kHostReadAttrName, where.getUnitAttr());
      return read.getResult();
    };
    if (!inside) {
      elements.push_back(load(b, loc));
      continue;
    }
    auto choice = scf::IfOp::create(
        b, loc, inside,
        [&](OpBuilder &then, Location l) { scf::YieldOp::create(then, l, load(then, l)); },
        [&](OpBuilder &otherwise, Location l) {
          scf::YieldOp::create(otherwise, l, op.getPadding());
        });
    elements.push_back(choice.getResult(0));
  }
  op.replaceAllUsesWith(vector::FromElementsOp::create(b, loc, type, elements).getResult());
  op.erase();
  return true;
}

struct MapToLaunch : mlir::mp::impl::MapToLaunchBase<MapToLaunch> {
  using Base::Base;

  /// Host code that reads vectors, mostly to print them, does so on purpose.
  void markVectorReads() {
    getOperation()->walk([](Operation *op) {
      if (op->getParentOfType<gpu::LaunchOp>() ||
          !isa<vector::TransferReadOp, vector::LoadOp>(op) ||
          !isa<MemRefType>(op->getOperand(0).getType()))
        return;
      auto transfer = dyn_cast<vector::TransferReadOp>(op);
      if (!transfer || !readElements(transfer))
        op->setAttr(kHostReadAttrName, UnitAttr::get(op->getContext()));
    });
  }

  void runOnOperation() override {
    SmallVector<scf::ParallelOp> reductions, loops;
    getOperation()->walk([&](scf::ParallelOp op) {
      if (op.getNumResults() != 0)
        reductions.push_back(op);
    });
    for (scf::ParallelOp op : reductions)
      if (failed(lowerReduction(op)))
        return signalPassFailure();

    getOperation()->walk<WalkOrder::PreOrder>([&](scf::ParallelOp op) {
      loops.push_back(op);
      return WalkResult::skip();
    });
    for (scf::ParallelOp op : loops) {
      if (failed(localizeAllocs(op)))
        return signalPassFailure();
      LaunchBuilder(op).build();
    }
    SmallVector<memref::AllocaOp> stack;
    getOperation()->walk([&](memref::AllocaOp op) {
      if (!op->getParentOfType<gpu::LaunchOp>())
        stack.push_back(op);
    });
    llvm::for_each(stack, moveOffStack);
    for (Block &block : getOperation().getBody())
      formLaunchRegions(block);
    markVectorReads();
  }
};

} // namespace
