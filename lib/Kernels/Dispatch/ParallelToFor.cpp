// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-parallel-to-for: run parallel loops in a chosen order on one thread (exact).

#include "mlir/IR/IRMapping.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PARALLELTOFOR
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// lb + (trip - 1 - i) * step for i in [0, trip): the points of the loop, last first.
static Value reversedPoint(OpBuilder &b, Location loc, Value iv, Value lower, Value trip,
                           Value step) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, trip, one);
  Value position = arith::SubIOp::create(b, loc, last, iv);
  return arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, position, step));
}

static void lowerParallel(scf::ParallelOp op, ThreadOrder order) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  IRMapping map;
  SmallVector<Value> ivs;
  for (auto [lower, upper, step] :
       llvm::zip_equal(op.getLowerBound(), op.getUpperBound(), op.getStep())) {
    if (order == ThreadOrder::Forward) {
      auto loop = scf::ForOp::create(b, loc, lower, upper, step);
      b.setInsertionPointToStart(loop.getBody());
      ivs.push_back(loop.getInductionVar());
      continue;
    }
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value span = arith::SubIOp::create(b, loc, upper, lower);
    Value trip = arith::CeilDivSIOp::create(b, loc, span, step);
    auto loop = scf::ForOp::create(b, loc, zero, trip, one);
    b.setInsertionPointToStart(loop.getBody());
    ivs.push_back(reversedPoint(b, loc, loop.getInductionVar(), lower, trip, step));
  }
  map.map(op.getInductionVars(), ivs);
  for (Operation &inner : op.getBody()->without_terminator())
    b.clone(inner, map);
  op.erase();
}

namespace {

struct ParallelToFor : mlir::mp::impl::ParallelToForBase<ParallelToFor> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ParallelOp> loops; // innermost first, so that clones hold none
    getOperation()->walk([&](scf::ParallelOp op) { loops.push_back(op); });
    for (scf::ParallelOp op : loops) {
      if (op.getNumResults() != 0) {
        op.emitOpError("has results; mp-parallel-to-for takes loops without");
        return signalPassFailure();
      }
      lowerParallel(op, order);
    }
  }
};

} // namespace
