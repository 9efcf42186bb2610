// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the integer arithmetic of conversions between float formats.

#include "FormatArithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mpcore::numerics;
using CastRounding = mpcore::numerics::Rounding; // not the dialect's
using CastOverflow = mpcore::numerics::Overflow;

namespace {

/// Integer arithmetic in one width, on scalars or vectors shaped like `model`.
class Bits {
public:
  Bits(ImplicitLocOpBuilder &b, Type model, unsigned width) : b(b), model(model), width(width) {}

  Type typeOf(Type element) const {
    if (auto vector = dyn_cast<VectorType>(model))
      return vector.clone(element);
    return element;
  }
  Type type() const { return typeOf(b.getIntegerType(width)); }

  Value constant(uint64_t value) {
    return typed(b.getIntegerAttr(b.getIntegerType(width),
                                  APInt(width, value, /*isSigned=*/false, /*implicitTrunc=*/true)));
  }
  Value floating(Type format, double value) { return typed(b.getFloatAttr(format, value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value conj(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value disj(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shl(Value x, Value y) { return arith::ShLIOp::create(b, x, y); }
  Value shr(Value x, Value y) { return arith::ShRUIOp::create(b, x, y); }
  Value least(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value greatest(Value x, Value y) { return arith::MaxSIOp::create(b, x, y); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, c, x, y); }
  Value compare(arith::CmpIPredicate p, Value x, Value y) {
    return arith::CmpIOp::create(b, p, x, y);
  }
  Value isEqual(Value x, uint64_t y) { return compare(arith::CmpIPredicate::eq, x, constant(y)); }
  Value isAbove(Value x, uint64_t y) { return compare(arith::CmpIPredicate::ugt, x, constant(y)); }
  Value add(Value x, uint64_t y) { return add(x, constant(y)); }
  Value conj(Value x, uint64_t y) { return conj(x, constant(y)); }
  Value disj(Value x, uint64_t y) { return disj(x, constant(y)); }
  Value shl(Value x, uint64_t y) { return y ? shl(x, constant(y)) : x; }
  Value shr(Value x, uint64_t y) { return y ? shr(x, constant(y)) : x; }

  /// A float value as its pattern, zero-extended to this width.
  Value patternOf(Value value) {
    unsigned bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    Type own = typeOf(b.getIntegerType(bits));
    Value pattern = arith::BitcastOp::create(b, own, value);
    return bits < width ? arith::ExtUIOp::create(b, type(), pattern) : pattern;
  }
  /// The float of type `result` whose pattern is in the low bits of `pattern`.
  Value valueOf(Value pattern, Type result) {
    unsigned bits = getElementTypeOrSelf(result).getIntOrFloatBitWidth();
    if (bits < width)
      pattern = arith::TruncIOp::create(b, typeOf(b.getIntegerType(bits)), pattern);
    return arith::BitcastOp::create(b, result, pattern);
  }

  ImplicitLocOpBuilder &b;

private:
  Value typed(TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(model))
      element = DenseElementsAttr::get(vector.clone(element.getType()), element);
    return arith::ConstantOp::create(b, element);
  }

  Type model;
  unsigned width;
};

} // namespace

/// Quiet NaN of the format as the rules of convert() make it.
static Value quietNaN(Bits &bits, const FormatInfo &to, Value sign) {
  Value nan = bits.constant(to.quietNaN);
  return to.hasNegativeZero ? bits.disj(nan, sign) : nan;
}

/// An f32 pattern (32 bits) from the zero-extended pattern of a format of at most
/// 19 bits. Exact.
static Value widenToF32(Bits &bits, Value pattern, Format format) {
  constexpr uint64_t infinity = 0x7F800000, quiet = 0x00400000, nan = 0x7FC00000;
  const FormatInfo &from = info(format);
  if (format == Format::F8E8M0FNU) {
    // Only the exponent: zero stands for 2^-127, a subnormal of f32.
    Value value =
        bits.select(bits.isEqual(pattern, 0), bits.constant(0x00400000), bits.shl(pattern, 23));
    return bits.select(bits.isEqual(pattern, from.quietNaN), bits.constant(nan), value);
  }
  unsigned up = 23 - from.fractionBits;
  Value magnitude = bits.conj(pattern, from.signBit - 1);
  if (from.exponentBits == 8) { // bf16 and tf32: an f32 cut short
    Value shifted = bits.shl(pattern, up);
    return bits.select(bits.isAbove(magnitude, from.infinity), bits.disj(shifted, quiet), shifted);
  }
  Value sign = bits.shl(bits.conj(pattern, from.signBit), 32 - from.bits);
  // The magnitude in f32's place has the wrong bias, which a product mends;
  // subnormals come out right too.
  Type f32 = bits.b.getF32Type();
  Value scaled = bits.shl(magnitude, up);
  Value unbiased = arith::MulFOp::create(bits.b, bits.valueOf(scaled, bits.typeOf(f32)),
                                         bits.floating(f32, std::ldexp(1.0, 127 - from.bias)));
  Value value = bits.patternOf(unbiased);
  if (from.hasInf) {
    value =
        bits.select(bits.isAbove(magnitude, from.infinity - 1), bits.disj(scaled, infinity), value);
    if (from.hasNaN)
      value = bits.select(bits.isAbove(magnitude, from.infinity), bits.disj(value, quiet), value);
  } else if (from.hasNaN && from.hasNegativeZero) {
    value = bits.select(bits.isEqual(magnitude, from.quietNaN & (from.signBit - 1)),
                        bits.constant(nan), value);
  }
  value = bits.disj(value, sign);
  if (from.hasNaN && !from.hasNegativeZero) // the pattern of -0
    value = bits.select(bits.isEqual(pattern, from.quietNaN), bits.constant(nan), value);
  return value;
}

/// significand >> shift, rounded; shift is at least 1 and less than the width.
static Value shiftRounded(Bits &bits, Value significand, Value shift, Value negative,
                          CastRounding rounding, Value random) {
  Value one = bits.constant(1);
  auto half = [&] { return bits.shl(one, bits.sub(shift, one)); };
  auto below = [&] { return bits.sub(bits.shl(one, shift), one); };
  Value increment;
  switch (rounding) {
  case CastRounding::RNE: {
    Value odd = bits.conj(bits.shr(significand, shift), one);
    increment = bits.add(bits.sub(half(), one), odd);
    break;
  }
  case CastRounding::RNA: increment = half(); break;
  case CastRounding::RZ: return bits.shr(significand, shift);
  case CastRounding::RU: increment = bits.select(negative, bits.constant(0), below()); break;
  case CastRounding::RD: increment = bits.select(negative, below(), bits.constant(0)); break;
  case CastRounding::SR: increment = bits.conj(random, below()); break;
  case CastRounding::SRCompare: {
    Value mask = below();
    Value up = bits.compare(arith::CmpIPredicate::ult, bits.conj(random, mask),
                            bits.conj(significand, mask));
    return bits.add(bits.shr(significand, shift), arith::ExtUIOp::create(bits.b, bits.type(), up));
  }
  }
  return bits.shr(bits.add(significand, increment), shift);
}

/// The pattern, in `bits`' width, of the f32 or f64 pattern `source` rounded to a
/// format whose exponents do not go below those of `from`.
static Value narrow(Bits &bits, Value source, const FormatInfo &from, const FormatInfo &to,
                    CastRounding rounding, CastOverflow overflow, Value random) {
  Value zero = bits.constant(0);
  Value magnitude = bits.conj(source, from.signBit - 1);
  Value isNegative = bits.compare(arith::CmpIPredicate::ne, bits.conj(source, from.signBit), zero);
  Value sign = to.hasSign ? bits.shr(bits.conj(source, from.signBit), from.bits - to.bits) : zero;
  Value negative = to.hasSign ? isNegative : bits.compare(arith::CmpIPredicate::ne, zero, zero);

  int discarded = int(from.fractionBits) - int(to.fractionBits);
  Value result;
  if (from.bias == to.bias && from.exponentBits == to.exponentBits) {
    // The same exponent field: the whole magnitude rounds as one integer.
    result = shiftRounded(bits, magnitude, bits.constant(discarded), negative, rounding, random);
  } else {
    Value field = bits.shr(magnitude, from.fractionBits);
    uint64_t hidden = uint64_t(1) << from.fractionBits;
    Value fraction = bits.conj(magnitude, hidden - 1);
    Value significand = bits.select(bits.compare(arith::CmpIPredicate::ne, field, zero),
                                    bits.disj(fraction, hidden), fraction);
    Value exponent = bits.greatest(field, bits.constant(1));
    // Below the smallest normal of the result the last place stops moving.
    Value target = bits.greatest(exponent, bits.constant(uint64_t(to.minExponent + from.bias)));
    Value shift = bits.add(bits.sub(target, exponent), bits.constant(discarded));
    shift = bits.least(shift, bits.constant(from.bits > 32 || random ? 63 : 31));
    Value kept = shiftRounded(bits, significand, shift, negative, rounding, random);
    Value targetField = bits.add(target, uint64_t(int64_t(to.bias) - 1 - from.bias));
    result = bits.add(bits.shl(targetField, to.fractionBits), kept);
    if (!to.hasZero) // nothing is below the pattern 0, 2^-127
      result = bits.greatest(result, zero);
  }

  Value largest = bits.constant(to.largest);
  Value beyond = to.hasInf   ? bits.constant(to.infinity)
                 : to.hasNaN ? bits.constant(to.quietNaN)
                             : largest;
  if (overflow == CastOverflow::Saturate)
    beyond = largest;
  Value finiteBeyond = beyond;
  bool directed =
      rounding == CastRounding::RZ || rounding == CastRounding::RU || rounding == CastRounding::RD;
  if (rounding == CastRounding::RZ)
    finiteBeyond = largest;
  else if (rounding == CastRounding::RU)
    finiteBeyond = bits.select(negative, largest, beyond);
  else if (rounding == CastRounding::RD)
    finiteBeyond = bits.select(negative, beyond, largest);
  result =
      bits.select(bits.compare(arith::CmpIPredicate::sgt, result, largest), finiteBeyond, result);
  if (directed)
    result = bits.select(bits.isEqual(magnitude, from.infinity), beyond, result);
  if (to.hasNegativeZero || !to.hasSign)
    result = bits.disj(result, sign);
  else
    result = bits.select(bits.isEqual(result, 0), result, bits.disj(result, sign));

  Value nan;
  if (!to.hasNaN) {
    nan = largest;
  } else {
    nan = quietNaN(bits, to, sign);
    if (to.hasNaNPayload) {
      Value payload = bits.conj(magnitude, (uint64_t(1) << from.fractionBits) - 1);
      nan = bits.disj(nan, bits.shr(payload, uint64_t(discarded)));
    }
  }
  return bits.select(bits.isAbove(magnitude, from.infinity), nan, result);
}

/// The exponent of the last place of a pattern, as `bits`' integers.
static Value lastPlace(Bits &bits, Value pattern, const FormatInfo &format) {
  Value magnitude = format.hasSign ? bits.conj(pattern, format.signBit - 1) : pattern;
  Value field = bits.shr(magnitude, format.fractionBits);
  if (format.hasZero)
    field = bits.greatest(field, bits.constant(1));
  return bits.sub(field, bits.constant(uint64_t(format.bias + int(format.fractionBits))));
}

/// Random bits count from the last place of the source; a wider form of the same
/// value has more places, by which they move up.
static Value alignRandomBits(Bits &bits, Value random, Value source, Format from, Value working,
                             Format workingFormat) {
  Value random64 = arith::ExtUIOp::create(bits.b, bits.type(), random);
  if (from == workingFormat)
    return random64;
  Value up = bits.sub(lastPlace(bits, bits.patternOf(source), info(from)),
                      lastPlace(bits, bits.patternOf(working), info(workingFormat)));
  // Out of range for NaN and infinity only, where the bits do not matter.
  up = bits.least(bits.greatest(up, bits.constant(0)), bits.constant(63));
  return bits.shl(random64, up);
}

Value mlir::mp::emitConversion(OpBuilder &builder, Location loc, Value value, Format from,
                               Type resultType, Format to, numerics::Rounding rounding,
                               numerics::Overflow overflow, Value randomBits) {
  ImplicitLocOpBuilder b(loc, builder);
  Bits words(b, value.getType(), 32);
  Type f32 = words.typeOf(b.getF32Type()), f64 = words.typeOf(b.getF64Type());
  Value source = value;
  Format sourceFormat = from == Format::TF32 ? Format::F32 : from;

  // To f32 first, unless the source is wider or a tf32 value, which is one.
  if (from != Format::F64 && from != Format::F32 && from != Format::TF32)
    value = words.valueOf(widenToF32(words, words.patternOf(value), from), f32);
  if (from == Format::TF32 && to == Format::F32)
    return value;
  if (from != Format::F64)
    from = Format::F32;
  if (from == to)
    return value;
  if (to == Format::F64)
    return arith::ExtFOp::create(b, f64, value);
  if (from == Format::F64 && to == Format::F32 && rounding == numerics::Rounding::RNE &&
      overflow == numerics::Overflow::IEEE)
    return arith::TruncFOp::create(b, f32, value);
  // Its exponents go below f32's.
  if (to == Format::F8E8M0FNU && from == Format::F32) {
    value = arith::ExtFOp::create(b, f64, value);
    from = Format::F64;
  }

  // Random bits count from the lowest discarded one, so the sum may need 64 bits.
  Bits wide(b, value.getType(), from == Format::F64 || randomBits ? 64 : 32);
  if (randomBits)
    randomBits = alignRandomBits(wide, randomBits, source, sourceFormat, value, from);
  Value pattern =
      narrow(wide, wide.patternOf(value), info(from), info(to), rounding, overflow, randomBits);
  if (to == Format::TF32) // its register form is an f32
    pattern = wide.shl(pattern, 13);
  return wide.valueOf(pattern, resultType);
}
