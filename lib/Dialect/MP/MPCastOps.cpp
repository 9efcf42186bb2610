// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp.cast and mp.round: text form, verifiers, folds.

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mp/Dialect/MP/CastFolds.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Cast.h"

using namespace mlir;
using namespace mlir::mp;

/// i32, in the shape of `type`: the random bits of a stochastic rounding.
static Type getBitsType(Type type) {
  Type i32 = IntegerType::get(type.getContext(), 32);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(i32);
  return i32;
}

/// A constant's values rounded to those of `format`, in its own type.
static Attribute roundConstant(Attribute attr, FloatType format) {
  auto to = numerics::formatOf(format.getFloatSemantics());
  auto round = [&](const APFloat &value) {
    auto from = numerics::formatOf(value.getSemantics());
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    uint64_t rounded = numerics::convert(numerics::convert(bits, *from, *to), *to, *from);
    return APFloat(value.getSemantics(), APInt(numerics::info(*from).bits, rounded));
  };
  auto stored = dyn_cast<TypedAttr>(attr);
  FloatType element = stored ? getFloatFormat(stored.getType()) : FloatType();
  if (!element || !to || !numerics::formatOf(element.getFloatSemantics()))
    return {};
  if (auto scalar = dyn_cast<FloatAttr>(attr))
    return FloatAttr::get(scalar.getType(), round(scalar.getValue()));
  if (auto dense = dyn_cast<DenseFPElementsAttr>(attr))
    return dense.mapValues(dense.getElementType(),
                           [&](const APFloat &value) { return round(value).bitcastToAPInt(); });
  return {};
}

//===-- mp.cast -------------------------------------------------------------------------===//

FloatType CastOp::getSourceFormat() { return getFloatFormat(getSource().getType()); }
FloatType CastOp::getResultFormat() { return getFloatFormat(getType()); }
bool CastOp::isNarrowing() { return !holdsEveryValueOf(getResultFormat(), getSourceFormat()); }

ParseResult CastOp::parse(OpAsmParser &parser, OperationState &result) {
  MLIRContext *context = parser.getContext();
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  bool hasRounding = false, hasOverflow = false;
  while (succeeded(parser.parseOptionalKeyword(&word))) {
    auto rounding = symbolizeRounding(word);
    auto overflow = symbolizeOverflow(word);
    if (rounding && !hasRounding && !hasOverflow) {
      result.addAttribute("rounding", RoundingAttr::get(context, *rounding));
      hasRounding = true;
    } else if (overflow && !hasOverflow) {
      result.addAttribute("overflow", OverflowAttr::get(context, *overflow));
      hasOverflow = true;
    } else {
      return parser.emitError(loc, "expected [rne|rna|rz|ru|rd|sr] [ieee|saturate], found '")
             << word << "'";
    }
    loc = parser.getCurrentLocation();
  }
  OpAsmParser::UnresolvedOperand source, bits;
  Type sourceType, resultType;
  if (parser.parseOperand(source))
    return failure();
  bool hasBits = succeeded(parser.parseOptionalComma());
  if (hasBits && parser.parseOperand(bits))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(sourceType) ||
      parser.parseKeywordType("to", resultType) ||
      parser.resolveOperand(source, sourceType, result.operands))
    return failure();
  if (hasBits && parser.resolveOperand(bits, getBitsType(sourceType), result.operands))
    return failure();
  result.addTypes(resultType);
  return success();
}

void CastOp::print(OpAsmPrinter &printer) {
  if (auto rounding = getRounding(); rounding && *rounding != Rounding::RNE)
    printer << ' ' << stringifyRounding(*rounding);
  if (auto overflow = getOverflow())
    printer << ' ' << stringifyOverflow(*overflow);
  printer << ' ' << getSource();
  if (getBits())
    printer << ", " << getBits();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"rounding", "overflow"});
  printer << " : " << getSource().getType() << " to " << getType();
}

LogicalResult CastOp::verify() {
  Type from = getSource().getType(), to = getType();
  if (withFormat(from, getResultFormat()) != to)
    return emitOpError("(C1) expects source and result of one shape and encoding, found ")
           << from << " and " << to;
  for (FloatType format : {getSourceFormat(), getResultFormat()})
    if (format.isTF32())
      return emitOpError("(C5) does not convert from or to tf32, which is not stored: use "
                         "'mp.round tf32'");
  bool narrowing = isNarrowing();
  if (narrowing && !getOverflow())
    return emitOpError("(C2) narrows ") << getSourceFormat() << " to " << getResultFormat()
                                        << " and so expects an overflow rule, 'ieee' or 'saturate'";
  if (!narrowing && getOverflow())
    return emitOpError("(C2) has an overflow rule, but ")
           << getResultFormat() << " holds every value of " << getSourceFormat();
  bool stochastic = getRounding() == Rounding::SR;
  if (stochastic != static_cast<bool>(getBits()))
    return emitOpError("(C3) expects random bits exactly with rounding 'sr', found ")
           << (getBits() ? "bits" : "none") << " with rounding '"
           << stringifyRounding(getRounding().value_or(Rounding::RNE)) << "'";
  if (getBits() && getBits().getType() != getBitsType(from))
    return emitOpError("(C3) expects random bits of type ")
           << getBitsType(from) << ", found " << getBits().getType();
  if (!narrowing && getRounding().value_or(Rounding::RNE) != Rounding::RNE)
    return emitOpError("(C4) has a rounding, but ")
           << getResultFormat() << " holds every value of " << getSourceFormat();
  return success();
}

bool mlir::mp::clampsInfinities(CastOp cast) {
  auto result = numerics::formatOf(cast.getResultFormat().getFloatSemantics());
  return cast.getOverflow() == Overflow::Saturate && result && numerics::info(*result).hasInf;
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  // cast(x : N -> N)  ==>  x
  if (getSource().getType() == getType())
    return getSource();
  // cast(cast(x : N -> W) : W -> N)  ==>  x      when W holds every value of N, and nothing clamps
  if (auto inner = getSource().getDefiningOp<CastOp>();
      inner && inner.getSource().getType() == getType() &&
      mp::holdsEveryValueOf(getSourceFormat(), getResultFormat()) && !clampsInfinities(*this))
    return inner.getSource();
  // cast(constant)  ==>  the converted constant
  if (adaptor.getSource() && !isa<DenseResourceElementsAttr>(adaptor.getSource()))
    return convertConstant(adaptor.getSource(), getResultFormat(),
                           getRounding().value_or(Rounding::RNE),
                           getOverflow().value_or(Overflow::IEEE));
  return {};
}

//===-- mp.round ------------------------------------------------------------------------===//

LogicalResult RoundOp::verify() {
  auto format = cast<FloatType>(getFormat());
  FloatType stored = getFloatFormat(getType());
  if (!mp::holdsEveryValueOf(stored, format))
    return emitOpError("(C1) expects a format whose values ")
           << stored << " holds, found " << format;
  return success();
}

OpFoldResult RoundOp::fold(FoldAdaptor adaptor) {
  auto format = cast<FloatType>(getFormat());
  // round(round(x))  ==>  round(x), and round(widen(x : F)) ==> widen(x)
  if (auto inner = getSource().getDefiningOp<RoundOp>();
      inner && mp::holdsEveryValueOf(format, cast<FloatType>(inner.getFormat())))
    return getSource();
  if (auto cast = getSource().getDefiningOp<CastOp>();
      cast && !cast.isNarrowing() && mp::holdsEveryValueOf(format, cast.getSourceFormat()))
    return getSource();
  return adaptor.getSource() ? roundConstant(adaptor.getSource(), format) : Attribute();
}
