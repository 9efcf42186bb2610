// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits scale computation, quantisation and Philox as arith ops.

#include "ScaleCode.h"
#include "../Common/TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mp/Numerics/Scaling/Philox.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

Value ScaleCode::f32(double value) const { return scalar(b, loc, b.getF32FloatAttr(float(value))); }
Value ScaleCode::i32(uint32_t value) const {
  return scalar(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

Value ScaleCode::toF32(Value element) const {
  auto format = cast<FloatType>(element.getType());
  return format.getWidth() > 32 ? narrow(b, loc, element, b.getF32Type(), Overflow::IEEE)
                                : widen(b, loc, element, b.getF32Type());
}

Value ScaleCode::decode(Value stored) const {
  if (isa<IntegerType>(stored.getType()))
    return arith::SIToFPOp::create(b, loc, b.getF32Type(), stored);
  return toF32(stored);
}

static Value select(const ScaleCode &c, Value condition, Value yes, Value no) {
  return arith::SelectOp::create(c.b, c.loc, condition, yes, no);
}

static Value compare(const ScaleCode &c, arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(c.b, c.loc, predicate, x, y);
}

Value ScaleCode::encode(Value wide, Type type, RoundingAttr rounding, OverflowAttr overflow,
                        Value bits) const {
  if (!isa<IntegerType>(type))
    return CastOp::create(b, loc, type, wide, bits, rounding, overflow, UnitAttr());
  double bound = codeFormatOf(type)->largest();
  using P = arith::CmpFPredicate;
  Value held = select(*this, compare(*this, P::OGT, wide, f32(bound)), f32(bound), wide);
  held = select(*this, compare(*this, P::OLT, held, f32(-bound)), f32(-bound), held);
  held = select(*this, compare(*this, P::UNO, wide, wide), f32(0), held);
  // Adding and subtracting 1.5 * 2^23 rounds as well, but not when the graph is computed in f64.
  return arith::FPToSIOp::create(b, loc, type, math::RoundEvenOp::create(b, loc, held));
}

/// `scale`, not negative, to a power of two; infinity and NaN stay.
static Value toPowerOfTwo(const ScaleCode &c, Value scale, PowerOfTwo pow2, Type code) {
  if (pow2 == PowerOfTwo::None)
    return scale;
  OpBuilder &b = c.b;
  Location loc = c.loc;
  Type i32 = b.getI32Type();
  Value bits = arith::BitcastOp::create(b, loc, i32, scale), moved = bits;
  auto stored = dyn_cast<FloatType>(code);
  if (pow2 == PowerOfTwo::Up)
    moved = arith::AddIOp::create(b, loc, bits, c.i32(0x007FFFFF));
  else if (pow2 == PowerOfTwo::Even)
    moved = arith::AddIOp::create(
        b, loc, bits,
        c.i32(1u << (23 -
                     (stored ? stored.getFPMantissaWidth() - 1 : code.getIntOrFloatBitWidth() - 1) -
                     1)));
  Value power = arith::AndIOp::create(b, loc, moved, c.i32(0xFF800000));
  Value field = arith::AndIOp::create(b, loc, bits, c.i32(0x7F800000));
  Value finite = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, field, c.i32(0x7F800000));
  return arith::BitcastOp::create(b, loc, b.getF32Type(), select(c, finite, power, bits));
}

/// `scale`, an f32, in the format it is stored in.
static Value store(const ScaleCode &c, Value scale, ScalingAttr rule, FloatType format) {
  if (format.isF32())
    return scale;
  MLIRContext *context = c.b.getContext();
  Overflow overflow =
      rule.getOnNonfinite() == OnNonFinite::Propagate ? Overflow::IEEE : Overflow::Saturate;
  RoundingAttr rounding;
  if (rule.getPow2() != PowerOfTwo::None)
    rounding =
        RoundingAttr::get(context, rule.getPow2() == PowerOfTwo::Up ? Rounding::RU : Rounding::RZ);
  return CastOp::create(c.b, c.loc, format, scale, Value(), rounding,
                        OverflowAttr::get(context, overflow), UnitAttr());
}

std::pair<Value, Value> ScaleCode::scale(ScalingAttr rule, Type code, FloatType scaleFormat,
                                         Value amax, Value old, Value parent) const {
  using P = arith::CmpFPredicate;
  Type wideType = b.getF64Type();
  auto f64 = [&](double value) { return scalar(b, loc, b.getF64FloatAttr(value)); };
  auto divide = [&](Value x, Value y) -> Value { return arith::DivFOp::create(b, loc, x, y); };
  numerics::ScaleRule numbers = toNumerics(rule);
  double top = std::ldexp(numbers.largest ? numbers.largest : codeFormatOf(code)->largest(),
                          -numbers.margin);

  Value floored = rule.getWide() ? widen(b, loc, amax, wideType) : amax;
  if (numbers.floor) {
    Value bound = rule.getWide() ? f64(numbers.floor) : f32(numbers.floor);
    floored = select(*this, compare(*this, P::OLT, floored, bound), bound, floored);
  }
  Value a = rule.getWide() ? narrow(b, loc, floored, b.getF32Type(), Overflow::IEEE) : floored;
  Value infinite =
      scalar(b, loc, FloatAttr::get(b.getF32Type(), APFloat::getInf(APFloat::IEEEsingle())));
  auto limited = [&](Value encode) {
    if (!numbers.limit)
      return encode;
    return select(*this, compare(*this, P::OEQ, encode, infinite),
                  f32(numerics::info(*numbers.limit).maxFinite), encode);
  };
  auto excepted = [&](Value formula, Value kept) {
    Value result = formula;
    if (rule.getOnNonfinite() == OnNonFinite::One || rule.getOnNonfinite() == OnNonFinite::Keep)
      result = select(*this, compare(*this, P::OLT, a, infinite), result,
                      rule.getOnNonfinite() == OnNonFinite::One ? f32(1) : kept);
    if (rule.getOnZero() != OnZero::Formula)
      result = select(*this, compare(*this, P::OEQ, a, f32(0)),
                      rule.getOnZero() == OnZero::One ? f32(1) : kept, result);
    return result;
  };
  auto quotient = [&](auto over) {
    return rule.getWide() ? narrow(b, loc, over(f64(top), floored), b.getF32Type(), Overflow::IEEE)
                          : over(f32(top), a);
  };

  if (rule.getForm() == ScaleForm::Encode) {
    Value encode = quotient([&](Value t, Value x) { return divide(t, x); });
    encode = toPowerOfTwo(*this, excepted(limited(encode), old), rule.getPow2(), code);
    return {encode, divide(f32(1), encode)};
  }
  Value scale;
  if (rule.getForm() == ScaleForm::Decode) {
    scale = quotient([&](Value t, Value x) { return divide(x, t); });
  } else {
    Value factor = f32(1 / float(top));
    if (parent)
      factor = arith::MulFOp::create(b, loc, parent, factor);
    scale = arith::MulFOp::create(b, loc, a, factor);
  }
  scale = excepted(scale, old ? divide(f32(1), old) : Value());
  if (scaleFormat.isF32() || rule.getPow2() == PowerOfTwo::Even)
    scale = toPowerOfTwo(*this, scale, rule.getPow2(), code);
  scale = store(*this, scale, rule, scaleFormat);
  Value value = toF32(scale);
  if (parent)
    value = arith::MulFOp::create(b, loc, value, divide(f32(1), parent));
  return {limited(divide(f32(1), value)), scale};
}

Value ScaleCode::randomWord(Value seed, Value offset, Value index) const {
  Type i32 = b.getI32Type();
  auto low = [&](Value x) -> Value { return arith::TruncIOp::create(b, loc, i32, x); };
  auto shifted = [&](Value x, int64_t by) -> Value {
    return arith::ShRUIOp::create(b, loc, x, scalar(b, loc, b.getI64IntegerAttr(by)));
  };
  auto exclusiveOr = [&](Value x, Value y) -> Value { return arith::XOrIOp::create(b, loc, x, y); };
  Value counter = arith::AddIOp::create(b, loc, offset, shifted(index, 2));
  Value words[4] = {low(counter), low(shifted(counter, 32)), this->i32(0), this->i32(0)};
  Value key[2] = {low(seed), low(shifted(seed, 32))};
  for (unsigned round = 0; round < numerics::philoxRounds; ++round) {
    auto first =
        arith::MulUIExtendedOp::create(b, loc, words[0], this->i32(numerics::philoxMultipliers[0]));
    auto second =
        arith::MulUIExtendedOp::create(b, loc, words[2], this->i32(numerics::philoxMultipliers[1]));
    Value next[4] = {exclusiveOr(exclusiveOr(second.getHigh(), words[1]), key[0]), second.getLow(),
                     exclusiveOr(exclusiveOr(first.getHigh(), words[3]), key[1]), first.getLow()};
    std::copy(std::begin(next), std::end(next), words);
    for (unsigned i = 0; i < 2; ++i)
      key[i] = arith::AddIOp::create(b, loc, key[i], this->i32(numerics::philoxWeyl[i]));
  }
  Value word = arith::AndIOp::create(b, loc, low(index), this->i32(3));
  Value result = words[3];
  for (unsigned i = 3; i-- > 0;)
    result =
        select(*this, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, word, this->i32(i)),
               words[i], result);
  return result;
}
