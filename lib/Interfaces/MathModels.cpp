// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the math dialect (why: docs/reference/OpClasses.md).

#include "Meanings.h"
#include "TableModel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static FloatMeaning meaningOfFma(Operation *) { return FloatMeaning::of(Kind::Fma, {0, 1, 2}); }

static FloatMeaning meaningOfIntegerPower(Operation *op) {
  APInt exponent;
  if (!matchPattern(cast<math::FPowIOp>(op).getRhs(), m_ConstantInt(&exponent)) ||
      !exponent.isSignedIntN(32))
    return FloatMeaning::unknown();
  bool isSquare = exponent == 2;
  FloatMeaning meaning = FloatMeaning::of(isSquare ? Kind::Unary : Kind::IntegerPower, {0});
  meaning.unary = isSquare ? UnaryFn::Square : UnaryFn::Identity;
  meaning.exponent = exponent.getSExtValue();
  return meaning;
}

static constexpr OpEntry kMathEntries[] = {
    {"math.exp", kExponential, computes<UnaryFn::Exp>},
    {"math.exp2", kExponential, computes<UnaryFn::Exp2>},
    {"math.expm1", kOverflowsEarly, computes<UnaryFn::Expm1>},
    {"math.sinh", kOverflowsEarly, computes<UnaryFn::Sinh>},
    {"math.cosh", kOverflowsEarly, computes<UnaryFn::Cosh>},
    {"math.log", kLogarithm, computes<UnaryFn::Log>},
    {"math.log2", kLogarithm, computes<UnaryFn::Log2>},
    {"math.log10", kLogarithm, computes<UnaryFn::Log10>},
    {"math.log1p", kLogarithm, computes<UnaryFn::Log1p>},
    {"math.powf", kPower, computes<BinaryFn::Pow>},
    {"math.fpowi", kPower, meaningOfIntegerPower},
    {"math.cbrt", kPower, computes<UnaryFn::Cbrt>},
    {"math.sqrt", kRoot, computes<UnaryFn::Sqrt>},
    {"math.rsqrt", kReciprocalRoot, computes<UnaryFn::Rsqrt>},
    {"math.tanh", kBounded, computes<UnaryFn::Tanh>},
    {"math.erf", kBounded, computes<UnaryFn::Erf>},
    {"math.atan", kBounded, computes<UnaryFn::Atan>},
    {"math.erfc",
     {OpClass::KeepWide, TypeRule::Uniform, "the tail is tiny"},
     computes<UnaryFn::Erfc>},
    {"math.sin", kPeriodic, computes<UnaryFn::Sin>},
    {"math.cos", kPeriodic, computes<UnaryFn::Cos>},
    {"math.sincos", kPeriodic},
    {"math.tan", kPeriodic, computes<UnaryFn::Tan>},
    {"math.acos", kSteepAtEnds, computes<UnaryFn::Acos>},
    {"math.asin", kSteepAtEnds, computes<UnaryFn::Asin>},
    {"math.acosh", kSteepAtEnds, computes<UnaryFn::Acosh>},
    {"math.asinh", kSteepAtEnds, computes<UnaryFn::Asinh>},
    {"math.atanh", kSteepAtEnds, computes<UnaryFn::Atanh>},
    {"math.atan2", kSteepAtEnds, computes<BinaryFn::Atan2>},
    {"math.floor", kSteps, computes<UnaryFn::Floor>},
    {"math.ceil", kSteps, computes<UnaryFn::Ceil>},
    {"math.round", kSteps, computes<UnaryFn::Round>},
    {"math.roundeven", kSteps, computes<UnaryFn::RoundEven>},
    {"math.trunc", kSteps, computes<UnaryFn::Trunc>},
    {"math.fma",
     {OpClass::RangeConditional, TypeRule::Uniform, "as a product and a sum"},
     meaningOfFma},
    {"math.isfinite", kClassifiesFloats},
    {"math.isinf", kClassifiesFloats},
    {"math.isnan", kClassifiesFloats},
    {"math.isnormal", kClassifiesFloats},
    {"math.absf", kCommutes, computes<UnaryFn::Abs>},
    {"math.copysign", kCommutes, computes<BinaryFn::CopySign>},
    {"math.clampf",
     {OpClass::Follow, TypeRule::Uniform, "exact only while the bounds are representable"}},
    {"math.absi", kIntegersOnly},
    {"math.ctlz", kIntegersOnly},
    {"math.cttz", kIntegersOnly},
    {"math.ctpop", kIntegersOnly},
    {"math.ipowi", kIntegersOnly},
};
const ArrayRef<OpEntry> mlir::mp::detail::mathTable = kMathEntries;

void mlir::mp::detail::registerMathModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachModels<TableModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
                 >(context);
  });
}
