// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Transforms/Verify/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYINPUT
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// A constant whose values were left out in printing parses, silently.
static LogicalResult verifyResource(Operation *op, DenseResourceElementsAttr resource) {
  StringRef key = resource.getRawHandle().getKey();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return op->emitOpError() << "takes its values from resource '" << key
                             << "', which has no data; print the file with its resources";
  // One element for many would be a splat, which resources do not have.
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(resource.getType(), blob->getData(), isSplat) ||
      (isSplat && resource.getNumElements() != 1))
    return op->emitOpError() << "takes its values from resource '" << key << "', which has "
                             << blob->getData().size() << " bytes; " << resource.getType()
                             << " needs another number";
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  if (op->hasAttr(kPrecisionAttrName))
    return op->emitOpError() << "has 'mp.precision', which mp-assign-precision writes; a wish is "
                                "stated by 'mp.pin'";
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (FloatType format = getFloatFormat(type); format && format.isTF32())
      return op->emitOpError() << "has a value of type " << type
                               << "; tf32 is a way to compute, its values are stored as f32";
  for (NamedAttribute attribute : op->getAttrs())
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute.getValue()))
      if (failed(verifyResource(op, resource)))
        return failure();
  return success();
}

namespace {
struct VerifyInput : mlir::mp::impl::VerifyInputBase<VerifyInput> {
  void runOnOperation() override {
    bool valid = true;
    getOperation()->walk([&](FunctionOpInterface function) {
      if (!function->hasAttr(kPhaseAttrName))
        function->walk([&](Operation *op) { valid &= succeeded(verifyOp(op)); });
    });
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
