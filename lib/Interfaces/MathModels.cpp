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

static constexpr OpEntry kEntries[] = {
    {"math.exp", OpClass::RangeConditional, TypeRule::Uniform,
     "overflows from 11.09 in f16: needs a bound", computes<UnaryFn::Exp>},
    {"math.exp2", OpClass::RangeConditional, TypeRule::Uniform,
     "overflows from 11.09 in f16: needs a bound", computes<UnaryFn::Exp2>},
    {"math.expm1", OpClass::KeepWide, TypeRule::Uniform, "overflows early, and cancels near zero",
     computes<UnaryFn::Expm1>},
    {"math.sinh", OpClass::KeepWide, TypeRule::Uniform, "overflows early, and cancels near zero",
     computes<UnaryFn::Sinh>},
    {"math.cosh", OpClass::KeepWide, TypeRule::Uniform, "overflows early, and cancels near zero",
     computes<UnaryFn::Cosh>},
    {"math.log", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero",
     computes<UnaryFn::Log>},
    {"math.log2", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero",
     computes<UnaryFn::Log2>},
    {"math.log10", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero",
     computes<UnaryFn::Log10>},
    {"math.log1p", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero",
     computes<UnaryFn::Log1p>},
    {"math.powf", OpClass::KeepWide, TypeRule::Uniform, "powers explode", computes<BinaryFn::Pow>},
    {"math.fpowi", OpClass::KeepWide, TypeRule::Uniform, "powers explode", meaningOfIntegerPower},
    {"math.cbrt", OpClass::KeepWide, TypeRule::Uniform, "powers explode", computes<UnaryFn::Cbrt>},
    {"math.sqrt", OpClass::RangeConditional, TypeRule::Uniform, "subnormal operands lose digits",
     computes<UnaryFn::Sqrt>},
    {"math.rsqrt", OpClass::KeepWide, TypeRule::Uniform, "steep near zero: the epsilon of norms",
     computes<UnaryFn::Rsqrt>},
    {"math.tanh", OpClass::Follow, TypeRule::Uniform, "bounded", computes<UnaryFn::Tanh>},
    {"math.erf", OpClass::Follow, TypeRule::Uniform, "bounded", computes<UnaryFn::Erf>},
    {"math.atan", OpClass::Follow, TypeRule::Uniform, "bounded", computes<UnaryFn::Atan>},
    {"math.erfc", OpClass::KeepWide, TypeRule::Uniform, "the tail is tiny",
     computes<UnaryFn::Erfc>},
    {"math.sin", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not", computes<UnaryFn::Sin>},
    {"math.cos", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not", computes<UnaryFn::Cos>},
    {"math.sincos", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not"},
    {"math.tan", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not", computes<UnaryFn::Tan>},
    {"math.acos", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range",
     computes<UnaryFn::Acos>},
    {"math.asin", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range",
     computes<UnaryFn::Asin>},
    {"math.acosh", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range",
     computes<UnaryFn::Acosh>},
    {"math.asinh", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range",
     computes<UnaryFn::Asinh>},
    {"math.atanh", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range",
     computes<UnaryFn::Atanh>},
    {"math.atan2", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range",
     computes<BinaryFn::Atan2>},
    {"math.floor", OpClass::Discontinuous, TypeRule::Uniform, "steps", computes<UnaryFn::Floor>},
    {"math.ceil", OpClass::Discontinuous, TypeRule::Uniform, "steps", computes<UnaryFn::Ceil>},
    {"math.round", OpClass::Discontinuous, TypeRule::Uniform, "steps", computes<UnaryFn::Round>},
    {"math.roundeven", OpClass::Discontinuous, TypeRule::Uniform, "steps",
     computes<UnaryFn::RoundEven>},
    {"math.trunc", OpClass::Discontinuous, TypeRule::Uniform, "steps", computes<UnaryFn::Trunc>},
    {"math.fma", OpClass::RangeConditional, TypeRule::Uniform, "as a product and a sum",
     meaningOfFma},
    {"math.isfinite", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.isinf", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.isnan", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.isnormal", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.absf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<UnaryFn::Abs>},
    {"math.copysign", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<BinaryFn::CopySign>},
    {"math.clampf", OpClass::Follow, TypeRule::Uniform,
     "exact only while the bounds are representable"},
    {"math.absi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.ctlz", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.cttz", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.ctpop", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.ipowi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
};
const ArrayRef<OpEntry> mlir::mp::detail::mathTable = kEntries;

void mlir::mp::detail::registerMathModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachModels<TableModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
                 >(context);
  });
}
