// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-verify-input: check that a graph can be decided on: phase 0 (exact).

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Transforms/Verify/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYINPUT
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Bytes of a value are counted in 64 bits.
static bool isTooLarge(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  uint64_t elements = 1;
  if (shaped && shaped.hasStaticShape())
    for (int64_t size : shaped.getShape())
      elements = llvm::SaturatingMultiply(elements, uint64_t(size));
  return elements > uint64_t(1) << 56;
}

static LogicalResult verifyInputOp(Operation *op) {
  if (op->hasAttr(kPrecisionAttrName))
    return op->emitOpError() << "has 'mp.precision', which mp-assign-precision writes; a wish is "
                                "stated by 'mp.pin'";
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    if (isTooLarge(type))
      return op->emitOpError() << "has a value of type " << type
                               << ", more than 2^56 elements, which is too large to plan for"
                               << support::tag(support::ErrorCode::TooLarge);
    if (FloatType format = getFloatFormat(type); format && format.isTF32())
      return op->emitOpError() << "has a value of type " << type
                               << "; tf32 is a way to compute, its values are stored as f32";
  }
  return success();
}

namespace {
struct VerifyInput : mlir::mp::impl::VerifyInputBase<VerifyInput> {
  void runOnOperation() override {
    bool valid = succeeded(checkPrecisionModels(getOperation()));
    if (!valid)
      return signalPassFailure();
    walkFunctions(getOperation(), [&](FunctionOpInterface function) {
      if (!function->hasAttr(kPhaseAttrName))
        function->walk([&](Operation *op) { valid &= succeeded(verifyInputOp(op)); });
    });
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
