// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the mp dialect, and the rules for its discardable attributes.

#include "mp/Dialect/MP/MPDialect.h"
#include "Bytecode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/Factored.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Dialect/MP/Layout.h"
#include "mp/Dialect/MP/LoopWork.h"
#include "mp/Dialect/MP/Masters.h"
#include "mp/Dialect/MP/Probes.h"
#include "mp/Dialect/MP/Recomputed.h"
#include "mp/Dialect/MP/ScaledError.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Dialect/MP/Versions.h"

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
#include "mp/Dialect/MP/FakeQuantizeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/MasterOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/ProbeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/ScalingOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/SplitOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MP/VersionOps.cpp.inc"
      >();
  registerAttributes();
  addBytecodeVersion(*this);
}

Operation *MPDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// `mp.pin` is a float type; tf32 is a way to compute and fits ops only.
static LogicalResult verifyPin(Operation *op, Attribute value, bool inSignature) {
  auto pin = dyn_cast<TypeAttr>(value);
  auto format = pin ? dyn_cast<FloatType>(pin.getValue()) : FloatType();
  if (!format)
    return op->emitOpError("expects a float type in 'mp.pin', found ") << value;
  if (inSignature && format.isTF32())
    return op->emitOpError("expects a storage format in 'mp.pin' of a signature, found tf32, "
                           "which is a way to compute: pin the op that computes, or use f32");
  return success();
}

static LogicalResult verifyRange(Operation *op, Attribute value) {
  auto bounds = dyn_cast<ArrayAttr>(value);
  const bool isMeasured = bounds && bounds.size() == 3 && isa<StringAttr>(bounds[2]);
  if (bounds && (bounds.size() == 2 || isMeasured)) {
    auto lo = dyn_cast<FloatAttr>(bounds[0]), hi = dyn_cast<FloatAttr>(bounds[1]);
    if (lo && hi && lo.getType() == hi.getType() && lo.getValue() <= hi.getValue())
      return success();
  }
  return op->emitOpError("expects 'mp.range' to be [lo, hi], two floats of one type with "
                         "lo <= hi, and behind them a string where it was measured, found ")
         << value;
}

/// `mp.precision` speaks of every operand, or of none, and of every result.
static LogicalResult verifyPrecision(Operation *op, Attribute value) {
  auto precision = dyn_cast<PrecisionAttr>(value);
  if (!precision)
    return op->emitOpError("expects #mp.precision in 'mp.precision', found ") << value;
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

static bool areStrings(Attribute value) {
  auto texts = dyn_cast<ArrayAttr>(value);
  return texts && llvm::all_of(texts, llvm::IsaPred<StringAttr>);
}

static bool isOneOf(Attribute value, ArrayRef<StringRef> words) {
  auto text = dyn_cast<StringAttr>(value);
  return text && llvm::is_contained(words, text.getValue());
}

template <typename Attr> static bool isOnFunction(Operation *op, Attribute value) {
  return isa<Attr>(value) && isa<FunctionOpInterface>(op);
}

namespace {
/// A discardable attribute of ops: what it must be, as an error says it.
struct AttributeRule {
  StringLiteral name;
  bool (*holds)(Operation *op, Attribute value);
  StringLiteral expected;
  StringLiteral advice = "";
};
} // namespace

static constexpr AttributeRule kRules[] = {
    {kSplitAttrName,
     [](Operation *op, Attribute) {
       return getSplitScheme(op) && numerics::partPairs(*getSplitScheme(op)).size() >= 2;
     },
     "'mp.split' to be one of \"bf16x3\", \"bf16x6\", \"bf16x9\", \"tf32x3\""},
    {kScaledAttrName, [](Operation *op, Attribute) { return getScaling(op) != nullptr; },
     "'mp.scaled' to be two magnitudes, 0 for one that is measured, or the name of a recipe that "
     "stores both factors as floats and keeps no state, as \"current\""},
    {kConvertsAttrName, isOnFunction<FlatSymbolRefAttr>,
     "'mp.converts' to be a symbol on a function"},
    {kVersionsAttrName,
     [](Operation *op, Attribute value) {
       auto said = dyn_cast<DictionaryAttr>(value);
       return said && isa<FunctionOpInterface>(op) && said.get("versions") &&
              areStrings(said.get("versions")) && said.get("reasons") &&
              areStrings(said.get("reasons"));
     },
     "'mp.versions' to have strings in 'versions' and 'reasons', on a function"},
    {kFactoredAttrName,
     [](Operation *op, Attribute value) {
       auto bound = dyn_cast<FloatAttr>(value);
       return bound && bound.getType().isF64() && bound.getValueAsDouble() >= 0 &&
              bound.getValueAsDouble() < 1 && op->getNumResults() == 1;
     },
     "'mp.factored' to be a share from 0 to 1 (f64), on an op of one result"},
    {kRecomputedAttrName, [](Operation *, Attribute value) { return isa<UnitAttr>(value); },
     "'mp.recomputed' to have no value"},
    {kCertifiedAttrName, isOnFunction<UnitAttr>, "'mp.certified' to have no value, on a function"},
    {kScaledErrorAttrName, isOnFunction<FloatAttr>,
     "'mp.scaled_error' to be a number on a function"},
    {kMemoryPlanAttrName, isOnFunction<StringAttr>,
     "'mp.memory_plan' to be a string on a function"},
    {kLayoutAttrName,
     [](Operation *, Attribute value) { return isa<UnitAttr, DenseI64ArrayAttr>(value); },
     "'mp.layout' to have no value, or to be an order of loops"},
    {kLayoutPlanAttrName, isOnFunction<StringAttr>,
     "'mp.layout_plan' to be a string on a function"},
    {kLoopWorkAttrName, isOnFunction<IntegerAttr>,
     "'mp.loop_work' to be a count of operations, on a function"},
    {kPhaseAttrName, isOnFunction<StringAttr>, "'mp.phase' to be a string on a function"},
    {kCopyOfAttrName, isOnFunction<StringAttr>, "'mp.copy_of' to be a string on a function"},
    {kFactsAttrName,
     [](Operation *op, Attribute value) {
       return areStrings(value) && cast<ArrayAttr>(value).size() == op->getNumResults();
     },
     "'mp.facts' to hold a string for each result"},
    {kIdiomAttrName, [](Operation *, Attribute value) { return areStrings(value); },
     "an array of strings in 'mp.idiom'"},
    {kSaturatedAttrName,
     [](Operation *op, Attribute value) {
       auto count = dyn_cast<IntegerAttr>(value);
       return count && count.getInt() >= 1 && op->hasTrait<OpTrait::ConstantLike>();
     },
     "'mp.saturated' to be a count of elements, on a constant"},
    {kPrescaledAttrName,
     [](Operation *op, Attribute value) {
       return isOneOf(value, {"norm", "root"}) && op->getName().getStringRef() == "linalg.generic";
     },
     "'mp.prescaled' to be \"norm\" or \"root\", on a linalg.generic that multiplies by a power of "
     "two"},
    {kRuntimeChecksAttrName,
     [](Operation *op, Attribute value) {
       return areStrings(value) && isa<FunctionOpInterface>(op);
     },
     "an array of messages in 'mp.runtime_checks', on a function"},
    {kOperandsTF32AttrName, [](Operation *, Attribute value) { return isa<UnitAttr>(value); },
     "'mp.operands_tf32' to have no value"},
    {kInitOfAttrName, isOnFunction<FlatSymbolRefAttr>,
     "'mp.init_of' to name a function, on a function"},
    {kRoleAttrName,
     [](Operation *, Attribute value) { return isOneOf(value, {"seed", "gradient"}); },
     "'mp.role' of an op to be \"seed\" or \"gradient\"",
     "; other roles belong on function arguments"},
};

LogicalResult MPDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kPrecisionAttrName)
    return verifyPrecision(op, value);
  if (name == kPinAttrName)
    return verifyPin(op, value, /*inSignature=*/false);
  if (name == kRangeAttrName)
    return verifyRange(op, value);
  if (name == kStateAttrName || name == kDimAttrName)
    return op->emitOpError() << "has '" << name << "', which belongs on a function argument";
  std::string known = "mp.precision, mp.pin, mp.range, mp.state, mp.dim";
  for (const AttributeRule &rule : kRules) {
    if (name == rule.name && rule.holds(op, value))
      return success();
    if (name == rule.name)
      return op->emitOpError("expects ") << rule.expected << ", found " << value << rule.advice;
    known += (", " + rule.name).str();
  }
  return op->emitOpError() << "has unknown attribute '" << name << "'; known are " << known;
}

static LogicalResult verifyStorage(Operation *op, Attribute value) {
  auto storage = dyn_cast<TypeAttr>(value);
  if (!storage || !isa<FloatType>(storage.getValue()) || storage.getValue().isTF32())
    return op->emitOpError("expects a storage format in 'mp.storage', found ") << value;
  return success();
}

LogicalResult MPDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                                     unsigned resultIndex,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kPinAttrName)
    return verifyPin(op, attribute.getValue(), /*inSignature=*/true);
  if (name == kStorageAttrName)
    return verifyStorage(op, attribute.getValue());
  return op->emitOpError() << "has unknown result attribute '" << name
                           << "'; known are mp.pin, mp.storage";
}

LogicalResult MPDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                                  unsigned argIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kPinAttrName)
    return verifyPin(op, attribute.getValue(), /*inSignature=*/true);
  if (name == kStorageAttrName)
    return verifyStorage(op, attribute.getValue());
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
  if (name == kProbeAttrName) {
    if (!ProbeInfo::fromAttr(attribute.getValue()))
      return op->emitOpError("expects a dictionary with name, of, formats, used and every in "
                             "'mp.probe', found ")
             << attribute.getValue();
    return success();
  }
  return op->emitOpError()
         << "has unknown argument attribute '" << name
         << "'; known are mp.pin, mp.range, mp.role, mp.state, mp.dim, mp.storage, mp.probe";
}
