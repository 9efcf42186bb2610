// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the math dialect (why: docs/reference/OpClasses.md).

#include "TableModel.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static constexpr ClassEntry kEntries[] = {
    {"math.exp", OpClass::RangeConditional, TypeRule::Uniform,
     "overflows from 11.09 in f16: needs a bound"},
    {"math.exp2", OpClass::RangeConditional, TypeRule::Uniform,
     "overflows from 11.09 in f16: needs a bound"},
    {"math.expm1", OpClass::KeepWide, TypeRule::Uniform, "overflows early, and cancels near zero"},
    {"math.sinh", OpClass::KeepWide, TypeRule::Uniform, "overflows early, and cancels near zero"},
    {"math.cosh", OpClass::KeepWide, TypeRule::Uniform, "overflows early, and cancels near zero"},
    {"math.log", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero"},
    {"math.log2", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero"},
    {"math.log10", OpClass::RangeConditional, TypeRule::Uniform,
     "needs an operand well above zero"},
    {"math.log1p", OpClass::RangeConditional, TypeRule::Uniform,
     "needs an operand well above zero"},
    {"math.powf", OpClass::KeepWide, TypeRule::Uniform, "powers explode"},
    {"math.fpowi", OpClass::KeepWide, TypeRule::Uniform, "powers explode"},
    {"math.cbrt", OpClass::KeepWide, TypeRule::Uniform, "powers explode"},
    {"math.sqrt", OpClass::RangeConditional, TypeRule::Uniform, "subnormal operands lose digits"},
    {"math.rsqrt", OpClass::KeepWide, TypeRule::Uniform, "steep near zero: the epsilon of norms"},
    {"math.tanh", OpClass::Follow, TypeRule::Uniform, "bounded"},
    {"math.erf", OpClass::Follow, TypeRule::Uniform, "bounded"},
    {"math.atan", OpClass::Follow, TypeRule::Uniform, "bounded"},
    {"math.erfc", OpClass::KeepWide, TypeRule::Uniform, "the tail is tiny"},
    {"math.sin", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not"},
    {"math.cos", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not"},
    {"math.sincos", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not"},
    {"math.tan", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not"},
    {"math.acos", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range"},
    {"math.asin", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range"},
    {"math.acosh", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range"},
    {"math.asinh", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range"},
    {"math.atanh", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range"},
    {"math.atan2", OpClass::KeepWide, TypeRule::Uniform, "steep near the ends of its range"},
    {"math.floor", OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    {"math.ceil", OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    {"math.round", OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    {"math.roundeven", OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    {"math.trunc", OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    {"math.fma", OpClass::RangeConditional, TypeRule::Uniform, "as a product and a sum"},
    {"math.isfinite", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.isinf", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.isnan", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.isnormal", OpClass::Discontinuous, TypeRule::Uniform,
     "rounding makes infinities and subnormals"},
    {"math.absf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"math.copysign", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"math.clampf", OpClass::Follow, TypeRule::Uniform,
     "exact only while the bounds are representable"},
    {"math.absi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.ctlz", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.cttz", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.ctpop", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"math.ipowi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
};
const ArrayRef<ClassEntry> mlir::mp::detail::mathTable = kEntries;

void mlir::mp::detail::registerMathModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachModels<TableModel,
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
                 >(context);
  });
}
