// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells what mp put in, and what differs beyond that.

#include "ErasureDifference.h"
#include "ErasureExponents.h"
#include "ErasureScaling.h"
#include "mp/Analysis/Scaling/ScalingExponents.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Dialect/MP/Layout.h"
#include "mp/Dialect/MP/Recomputed.h"
#include "mp/Dialect/MP/ScaledError.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isInserted(Operation *op) {
  if (isInsertedScaling(op))
    return true;
  if (auto cast = dyn_cast<CastOp>(op))
    return cast.getInserted();
  if (auto round = dyn_cast<RoundOp>(op))
    return round.getInserted();
  if (auto part = dyn_cast<SplitResidualOp>(op))
    return part.getInserted();
  if (auto pruned = dyn_cast<PruneOp>(op))
    return pruned.getInserted();
  return getPrescaled(op).has_value();
}

Value mlir::mp::strip(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (Value source = sourceOfDequantized(value))
      value = source;
    else if (isInserted(def) && !isInsertedScaling(def))
      value = def->getOperand(0);
    else
      break;
  }
  return value;
}

bool mlir::mp::isBookkeeping(StringRef name) {
  return name == kPhaseAttrName || name == kPrecisionAttrName || name == kCopyOfAttrName ||
         name == kSaturatedAttrName || name == kSplitAttrName || name == kScaledAttrName ||
         name == kMemoryPlanAttrName || name == kLayoutPlanAttrName || name == kLayoutAttrName ||
         name == kScaledErrorAttrName;
}

InFlightDiagnostic mlir::mp::differ(Operation *original, Operation *converted, const Twine &what) {
  InFlightDiagnostic diagnostic = converted->emitOpError() << what;
  diagnostic.attachNote(original->getLoc())
      << "the original '" << original->getName() << "' is here";
  return diagnostic;
}

bool mlir::mp::isWidened(Type original, Type converted) {
  FloatType from = getFloatFormat(original), to = getFloatFormat(converted);
  return from && to && from.getWidth() < 32 && from.getWidth() < to.getWidth();
}
