// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names for building scalar arithmetic.

#ifndef MP_LIB_KERNELS_LOWER_SCALARMATH_H
#define MP_LIB_KERNELS_LOWER_SCALARMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mp {

/// Builds arithmetic on one float type and the integer type of its width.
struct ScalarMath {
  ScalarMath(ImplicitLocOpBuilder &b, FloatType type)
      : b(b), type(type), bitsType(b.getIntegerType(type.getWidth())) {}

  /// The constant rounded to the type.
  Value c(double value) {
    APFloat exact(value);
    bool lost;
    exact.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return arith::ConstantOp::create(b, b.getFloatAttr(type, exact));
  }
  Value i(int64_t value) { return arith::ConstantOp::create(b, b.getIntegerAttr(bitsType, value)); }
  Value infinity() {
    return arith::ConstantOp::create(
        b, b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics())));
  }
  Value nan() {
    return arith::ConstantOp::create(
        b, b.getFloatAttr(type, APFloat::getNaN(type.getFloatSemantics())));
  }

  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value nearest(Value x) { return math::RoundEvenOp::create(b, x); }
  Value copySign(Value x, Value sign) { return math::CopySignOp::create(b, x, sign); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value less(Value x, Value y) { return compare(arith::CmpFPredicate::OLT, x, y); }
  Value equal(Value x, Value y) { return compare(arith::CmpFPredicate::OEQ, x, y); }
  Value isNaN(Value x) { return compare(arith::CmpFPredicate::UNO, x, x); }

  Value bits(Value x) { return arith::BitcastOp::create(b, bitsType, x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, type, x); }
  Value toInt(Value x) { return arith::FPToSIOp::create(b, bitsType, x); }
  Value toFloat(Value x) { return arith::SIToFPOp::create(b, type, x); }

  /// Horner's rule with fused steps; coefficients highest power first.
  Value polynomial(ArrayRef<double> coefficients, Value x) {
    Value result = c(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      result = fma(result, x, c(coefficient));
    return result;
  }

  /// x between the bounds; NaN becomes `high`, so that conversion to integer is defined.
  Value clamp(Value x, double low, double high) {
    Value below = select(less(x, c(high)), x, c(high));
    return select(less(c(low), below), below, c(low));
  }

  /// 2^e for integers e of normal powers.
  Value powerOfTwo(Value e) {
    unsigned fraction = type.getFPMantissaWidth() - 1;
    int64_t bias = (int64_t(1) << (type.getWidth() - fraction - 2)) - 1;
    Value biased = arith::AddIOp::create(b, e, i(bias));
    return fromBits(arith::ShLIOp::create(b, biased, i(fraction)));
  }

  /// x * 2^e in two exact-or-final steps, right also when the result is subnormal or infinite.
  Value scale(Value x, Value e) {
    Value half = arith::ShRSIOp::create(b, e, i(1));
    Value rest = arith::SubIOp::create(b, e, half);
    return mul(mul(x, powerOfTwo(half)), powerOfTwo(rest));
  }

  ImplicitLocOpBuilder &b;
  FloatType type;
  IntegerType bitsType;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_LOWER_SCALARMATH_H
