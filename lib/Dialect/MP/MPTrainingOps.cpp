// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loss scaling ops: types, text form, verifiers.

#include "mlir/IR/Builders.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

LogicalResult LossScaleAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr growth,
                                    FloatAttr backoff, int64_t interval, int64_t hysteresis, Refill,
                                    GrowthCounter, Beyond, FloatAttr min, FloatAttr max) {
  double up = growth.getValueAsDouble(), down = backoff.getValueAsDouble();
  if (!(up > 1))
    return emitError() << "expects growth > 1, found " << up;
  if (!(down > 0 && down < 1))
    return emitError() << "expects 0 < backoff < 1, found " << down;
  if (interval < 1)
    return emitError() << "expects interval > 0, found " << interval;
  if (hysteresis < 1)
    return emitError() << "expects hysteresis > 0, found " << hysteresis;
  if (min && max && min.getValueAsDouble() > max.getValueAsDouble())
    return emitError() << "expects min <= max, found " << min.getValueAsDouble() << " and "
                       << max.getValueAsDouble();
  return success();
}

static RankedTensorType scalarOf(Type element) { return RankedTensorType::get({}, element); }

LogicalResult ScaleLossOp::verify() {
  FloatType format = getFloatFormat(getValue().getType());
  if (!format || !format.isF32())
    return emitOpError("(C1) expects a tensor of f32, found ") << getValue().getType();
  return success();
}

LogicalResult UnscaleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                          ValueRange operands, DictionaryAttr, OpaqueProperties,
                                          RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.drop_back().getTypes());
  types.push_back(scalarOf(IntegerType::get(context, 1)));
  return success();
}

LogicalResult UnscaleOp::verify() {
  if (getGradients().empty())
    return emitOpError("(C1) expects at least one gradient, found none");
  for (auto [index, gradient] : llvm::enumerate(getGradients())) {
    if (!getFloatFormat(gradient.getType()))
      return emitOpError("(C1) expects tensors of floats, found gradient #")
             << index << " of type " << gradient.getType();
    if (auto first = gradient.getDefiningOp<UnscaleOp>()) {
      InFlightDiagnostic diag = emitOpError("(C2) unscales gradient #") << index << " once more";
      diag.attachNote(first.getLoc()) << "unscaled here already";
      return diag;
    }
  }
  return success();
}

LogicalResult UpdateLossScaleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                                  ValueRange operands, DictionaryAttr,
                                                  OpaqueProperties, RegionRange,
                                                  SmallVectorImpl<Type> &types) {
  types.push_back(scalarOf(Float32Type::get(context)));
  // Scale, counts and the flag: one count or two.
  types.append(operands.size() - 2, scalarOf(IntegerType::get(context, 32)));
  return success();
}

LogicalResult UpdateLossScaleOp::verify() {
  if ((getRule().getHysteresis() > 1) != bool(getHysteresis()))
    return emitOpError("(C1) expects a hysteresis count exactly when the rule tolerates overflows, "
                       "found ")
           << (getHysteresis() ? "a count" : "none")
           << " with hysteresis = " << getRule().getHysteresis();
  return success();
}

ParseResult GuardedUpdateOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand flag;
  SmallVector<OpAsmParser::UnresolvedOperand> old, updated;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(flag) || parser.parseKeyword("keep") ||
      parser.parseOperandList(old, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("else") ||
      parser.parseOperandList(updated, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonTypeList(types) ||
      parser.resolveOperand(flag, scalarOf(parser.getBuilder().getI1Type()), result.operands) ||
      parser.resolveOperands(old, types, loc, result.operands) ||
      parser.resolveOperands(updated, types, loc, result.operands))
    return failure();
  result.addTypes(types);
  return success();
}

void GuardedUpdateOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFoundInf() << " keep(" << getOld() << ") else(" << getUpdated() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getOld().getTypes();
}

LogicalResult GuardedUpdateOp::verify() {
  if (getResults().size() != getOld().size())
    return emitOpError("(C1) expects one result per value kept, found ")
           << getResults().size() << " for " << getOld().size();
  for (auto [index, old, updated, result] :
       llvm::enumerate(getOld().getTypes(), getUpdated().getTypes(), getResultTypes()))
    if (old != updated || old != result)
      return emitOpError("(C1) expects old and new values of one type, found ")
             << old << " and " << updated << " at #" << index << ", result " << result;
  return success();
}
