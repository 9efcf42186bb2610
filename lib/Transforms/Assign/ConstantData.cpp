// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A resource that was left out in printing, or is of the wrong length, parses without a word. Where
// a contraction would store its values in another format they are needed: that is an error. Where
// nothing is made of them, they are none of our business.

#include "Decisions.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/DataMovement.h"

using namespace mlir;
using namespace mlir::mp;

static LogicalResult checkData(Operation *user, Operation *constant, FloatType format) {
  Attribute value;
  if (!matchPattern(constant, m_Constant(&value)))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource || getRawElements(resource))
    return success();
  const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  InFlightDiagnostic diagnostic = user->emitOpError("needs the values of resource '")
                                  << resource.getRawHandle().getKey() << "' in " << format;
  if (blob)
    diagnostic << "; it has " << blob->getData().size() << " bytes, and " << resource.getType()
               << " needs another number";
  else
    diagnostic << ", which has no data; print the file with its resources";
  diagnostic.attachNote(constant->getLoc()) << "the constant is here";
  return failure();
}

LogicalResult mlir::mp::checkConstantData(FunctionDecisions &decisions) {
  bool good = true;
  for (auto &[op, decision] : decisions.getOps()) {
    // Formats that are ways to compute are rounded to when they run.
    if (decision.compute.isTF32() || !decisions.isNarrowContraction(op, decision))
      continue;
    for (Value operand : op->getOperands()) {
      if (!getFloatFormat(operand.getType()))
        continue;
      if (Operation *constant = findConstantOp(operand))
        good &= succeeded(checkData(op, constant, decision.compute));
    }
  }
  return success(good);
}
