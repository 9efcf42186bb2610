// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-inline-dispatches: put the bodies of dispatches back in their places (exact).

#include "mp/Kernels/Dispatches.h"
#include "mp/Kernels/Form/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INLINEDISPATCHES
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::inlineDispatch(RewriterBase &rewriter, mpk::DispatchOp dispatch) {
  assert(dispatch.hasPureTensorSemantics() && "on buffers, a body has no destination");
  Block &body = dispatch.getBody().front();
  auto yield = cast<mpk::YieldOp>(body.getTerminator());
  SmallVector<Value> operands(dispatch->getOperands());
  rewriter.inlineBlockBefore(&body, dispatch, operands);
  rewriter.replaceOp(dispatch, yield.getValues());
  rewriter.eraseOp(yield);
}

namespace {

struct InlineDispatches : mlir::mp::impl::InlineDispatchesBase<InlineDispatches> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<mpk::DispatchOp> dispatches;
    getOperation().walk([&](mpk::DispatchOp dispatch) { dispatches.push_back(dispatch); });
    IRRewriter rewriter(&getContext());
    for (mpk::DispatchOp dispatch : dispatches) {
      if (dispatch.hasPureBufferSemantics()) {
        dispatch.emitOpError(
            "expected operands on tensors, found buffers: inline dispatches before "
            "mp-bufferize");
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(dispatch);
      inlineDispatch(rewriter, dispatch);
    }
  }
};

} // namespace
