// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-lift-block-loops: upstream's ownership-based deallocation (LLVM 22) refuses blocks that lead
// back to themselves, and cf.switch.

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mp/Transforms/Interop/Passes.h"
#include "llvm/ADT/SCCIterator.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LIFTBLOCKLOOPS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

/// Loops, and branches to more than two blocks, of which deallocation takes none either.
static bool mustLift(Region &region) {
  if (region.empty() || region.hasOneBlock())
    return false;
  for (Block &block : region)
    if (isa<cf::SwitchOp>(block.getTerminator()))
      return true;
  for (auto component = llvm::scc_begin(&region); !component.isAtEnd(); ++component)
    if (component.hasCycle())
      return true;
  return false;
}

namespace {

/// Upstream's, but bufferization knows no poisoned tensor. Where a way through the blocks gives a
/// value none, nobody reads it.
struct Lifting : ControlFlowToSCFTransformation {
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return ControlFlowToSCFTransformation::getUndefValue(loc, builder, type);
    SmallVector<Value> sizes;
    if (!tensor.hasStaticShape())
      sizes.assign(tensor.getNumDynamicDims(), arith::ConstantIndexOp::create(builder, loc, 0));
    return tensor::EmptyOp::create(builder, loc, tensor, sizes);
  }
};

struct LiftBlockLoops : mlir::mp::impl::LiftBlockLoopsBase<LiftBlockLoops> {
  void runOnOperation() override {
    Lifting lifting;
    // Inner regions first: what they hold is moved as it is.
    WalkResult result = getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions()) {
        if (!mustLift(region))
          continue;
        DominanceInfo dominance(op);
        if (failed(transformCFGToSCF(region, lifting, dominance))) {
          op->emitError("holds a loop of blocks or a switch that cannot be written with scf: "
                        "expected branches without effects "
                        "(cf.br, cf.cond_br, cf.switch) and one kind of terminator behind them");
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
