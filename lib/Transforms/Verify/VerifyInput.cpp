// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-verify-input: check that a graph can be decided on: phase 0 (exact).

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Transforms/Verify/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYINPUT
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static LogicalResult verifyOp(Operation *op) {
  if (op->hasAttr(kPrecisionAttrName))
    return op->emitOpError() << "has 'mp.precision', which mp-assign-precision writes; a wish is "
                                "stated by 'mp.pin'";
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (FloatType format = getFloatFormat(type); format && format.isTF32())
      return op->emitOpError() << "has a value of type " << type
                               << "; tf32 is a way to compute, its values are stored as f32";
  return success();
}

namespace {
struct VerifyInput : mlir::mp::impl::VerifyInputBase<VerifyInput> {
  void runOnOperation() override {
    bool valid = true;
    walkFunctions(getOperation(), [&](FunctionOpInterface function) {
      if (!function->hasAttr(kPhaseAttrName))
        function->walk([&](Operation *op) { valid &= succeeded(verifyOp(op)); });
    });
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
