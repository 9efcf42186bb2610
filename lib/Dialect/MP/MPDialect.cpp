// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the mp dialect, and the rules for its discardable attributes.

#include "mp/Dialect/MP/MPDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/Annotations.h"
#include "mp/Dialect/MP/CopyOf.h"
#include "mp/Dialect/MP/Masters.h"
#include "mp/Dialect/MP/Prescaled.h"
#include "mp/Dialect/MP/Saturation.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"

using namespace mlir;
using namespace mlir::mp;

#include "mp/Dialect/MP/MPDialect.cpp.inc"
#include "mp/Dialect/MP/MPEnums.cpp.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/MPOps.cpp.inc"

void MPDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/MPOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/MasterOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/ScalingOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/SplitOps.cpp.inc"
      >();
  registerAttributes();
}

Operation *MPDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// `mp.pin` is a float type; tf32 is a way to compute and fits ops only.
static LogicalResult verifyPin(Operation *op, Attribute value, bool onArgument) {
  auto pin = dyn_cast<TypeAttr>(value);
  auto format = pin ? dyn_cast<FloatType>(pin.getValue()) : FloatType();
  if (!format)
    return op->emitOpError("expects a float type in 'mp.pin', found ") << value;
  if (onArgument && format.isTF32())
    return op->emitOpError("expects a storage format in 'mp.pin' of an argument, found tf32, "
                           "which is a way to compute: pin the op that computes, or use f32");
  return success();
}

static LogicalResult verifyRange(Operation *op, Attribute value) {
  auto bounds = dyn_cast<ArrayAttr>(value);
  if (bounds && bounds.size() == 2) {
    auto lo = dyn_cast<FloatAttr>(bounds[0]), hi = dyn_cast<FloatAttr>(bounds[1]);
    if (lo && hi && lo.getType() == hi.getType() && lo.getValue() <= hi.getValue())
      return success();
  }
  return op->emitOpError("expects 'mp.range' to be [lo, hi], two floats of one type with "
                         "lo <= hi, found ")
         << value;
}

LogicalResult MPDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kPrecisionAttrName) {
    auto precision = dyn_cast<PrecisionAttr>(attribute.getValue());
    if (!precision)
      return op->emitOpError("expects #mp.precision in 'mp.precision', found ")
             << attribute.getValue();
    if (!precision.getIn().empty() && precision.getIn().size() != op->getNumOperands())
      return op->emitOpError("has ")
             << op->getNumOperands() << " operands, but 'mp.precision' speaks of "
             << precision.getIn().size();
    if (precision.getOut().size() != op->getNumResults())
      return op->emitOpError("has ")
             << op->getNumResults() << " results, but 'mp.precision' speaks of "
             << precision.getOut().size();
    return success();
  }
  if (name == kPinAttrName)
    return verifyPin(op, attribute.getValue(), /*onArgument=*/false);
  if (name == kSplitAttrName) {
    if (!getSplitScheme(op) || numerics::partPairs(*getSplitScheme(op)).size() < 2)
      return op->emitOpError("expects 'mp.split' to be one of \"bf16x3\", \"bf16x6\", \"bf16x9\", "
                             "\"tf32x3\", found ")
             << attribute.getValue();
    return success();
  }
  if (name == kScaledAttrName) {
    if (!getScaling(op))
      return op->emitOpError(
                 "expects 'mp.scaled' to be two magnitudes, 0 for one that is measured, or the "
                 "name of a recipe that "
                 "stores both factors as floats and keeps no state, as \"current\", found ")
             << attribute.getValue();
    return success();
  }
  if (name == kRangeAttrName)
    return verifyRange(op, attribute.getValue());
  if (name == kConvertsAttrName) {
    if (!isa<FlatSymbolRefAttr>(attribute.getValue()) || !isa<FunctionOpInterface>(op))
      return op->emitOpError("expects 'mp.converts' to be a symbol on a function, found ")
             << attribute.getValue();
    return success();
  }
  if (name == kPhaseAttrName || name == kCopyOfAttrName) {
    if (!isa<StringAttr>(attribute.getValue()) || !isa<FunctionOpInterface>(op))
      return op->emitOpError("expects '")
             << name << "' to be a string on a function, found " << attribute.getValue();
    return success();
  }
  if (name == kFactsAttrName) {
    auto texts = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!texts || texts.size() != op->getNumResults() ||
        !llvm::all_of(texts, llvm::IsaPred<StringAttr>))
      return op->emitOpError("expects 'mp.facts' to hold a string for each of ")
             << op->getNumResults() << " results, found " << attribute.getValue();
    return success();
  }
  if (name == kIdiomAttrName) {
    auto idioms = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!idioms || !llvm::all_of(idioms, llvm::IsaPred<StringAttr>))
      return op->emitOpError("expects an array of strings in 'mp.idiom', found ")
             << attribute.getValue();
    return success();
  }
  if (name == kSaturatedAttrName) {
    auto count = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!count || count.getInt() < 1 || !op->hasTrait<OpTrait::ConstantLike>())
      return op->emitOpError(
                 "expects 'mp.saturated' to be a count of elements, on a constant, found ")
             << attribute.getValue();
    return success();
  }
  if (name == kPrescaledAttrName) {
    auto place = dyn_cast<StringAttr>(attribute.getValue());
    if (!place || !llvm::is_contained({"norm", "root"}, place.getValue()) ||
        op->getName().getStringRef() != "linalg.generic")
      return op->emitOpError("expects 'mp.prescaled' to be \"norm\" or \"root\", on a "
                             "linalg.generic that multiplies by a power of "
                             "two, found ")
             << attribute.getValue();
    return success();
  }
  if (name == kRuntimeChecksAttrName) {
    auto messages = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!messages || !llvm::all_of(messages, llvm::IsaPred<StringAttr>) ||
        !isa<FunctionOpInterface>(op))
      return op->emitOpError("expects an array of messages in '")
             << name << "', on a function, found " << attribute.getValue();
    return success();
  }
  if (name == kOperandsTF32AttrName) {
    if (!isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError("expects '")
             << name << "' to have no value, found " << attribute.getValue();
    return success();
  }
  if (name == kInitOfAttrName) {
    if (!isa<FlatSymbolRefAttr>(attribute.getValue()) || !isa<FunctionOpInterface>(op))
      return op->emitOpError("expects 'mp.init_of' to name a function, on a function, found ")
             << attribute.getValue();
    return success();
  }
  if (name == kRoleAttrName) {
    auto role = dyn_cast<StringAttr>(attribute.getValue());
    if (!role || !llvm::is_contained({"seed", "gradient"}, role.getValue()))
      return op->emitOpError("expects 'mp.role' of an op to be \"seed\" or \"gradient\", found ")
             << attribute.getValue() << "; other roles belong on function arguments";
    return success();
  }
  if (name == kStateAttrName || name == kDimAttrName)
    return op->emitOpError() << "has '" << name << "', which belongs on a function argument";
  return op->emitOpError()
         << "has unknown attribute '" << name
         << "'; known are mp.precision, mp.pin, mp.range, mp.role, mp.state, mp.dim, "
            "mp.converts, mp.copy_of, mp.init_of, mp.phase, mp.facts, mp.idiom, mp.saturated, "
            "mp.split, mp.scaled, mp.prescaled, mp.runtime_checks, mp.operands_tf32";
}

LogicalResult MPDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                                  unsigned argIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kPinAttrName)
    return verifyPin(op, attribute.getValue(), /*onArgument=*/true);
  if (name == kStorageAttrName) {
    auto storage = dyn_cast<TypeAttr>(attribute.getValue());
    if (!storage || !isa<FloatType>(storage.getValue()) || storage.getValue().isTF32())
      return op->emitOpError("expects a storage format in 'mp.storage', found ")
             << attribute.getValue();
    return success();
  }
  if (name == kRangeAttrName)
    return verifyRange(op, attribute.getValue());
  if (name == kRoleAttrName) {
    if (!isa<StringAttr>(attribute.getValue()))
      return op->emitOpError("expects a string in 'mp.role', found ") << attribute.getValue();
    return success();
  }
  if (name == kStateAttrName) {
    if (!isa<IntegerAttr>(attribute.getValue()))
      return op->emitOpError("expects the index of a result in 'mp.state', found ")
             << attribute.getValue();
    return success();
  }
  if (name == kDimAttrName) {
    if (!isa<DenseI64ArrayAttr>(attribute.getValue()))
      return op->emitOpError("expects array<i64: ...> in 'mp.dim', found ") << attribute.getValue();
    return success();
  }
  return op->emitOpError()
         << "has unknown argument attribute '" << name
         << "'; known are mp.pin, mp.range, mp.role, mp.state, mp.dim, mp.storage";
}
