// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-refuse-dispatches: inline dispatches that no family of kernels takes, with a remark
// (exact).

#include "../Plan/ProductParts.h"
#include "Family.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Dispatches.h"

namespace mlir::mp {
#define GEN_PASS_DEF_REFUSEDISPATCHES
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isScheduledAs(mpk::DispatchOp dispatch, mpk::Family family) {
  return dispatch.getSchedule() && dispatch.getSchedule()->getFamily() == family;
}

namespace {

struct RefuseDispatches : mlir::mp::impl::RefuseDispatchesBase<RefuseDispatches> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<mpk::DispatchOp> dispatches;
    getOperation().walk([&](mpk::DispatchOp dispatch) { dispatches.push_back(dispatch); });
    IRRewriter rewriter(&getContext());
    for (mpk::DispatchOp dispatch : dispatches) {
      std::string reason;
      const bool isMatmul = isScheduledAs(dispatch, mpk::Family::Matmul);
      if (isMatmul ? succeeded(checkProducts(dispatch.getBody().front(), reason))
                   : succeeded(planKernels(dispatch, {}, reason)))
        continue;
      remark::missed(dispatch.getLoc(), remarks::kPlainDispatch)
          << "no family of kernels takes this dispatch: " << reason << "; it takes the plain route";
      rewriter.setInsertionPoint(dispatch);
      inlineDispatch(rewriter, dispatch);
    }
  }
};

} // namespace
