// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads rules of scaling from meanings: a table by kind and function.

#include "mp/Analysis/ScalingRule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::ReduceFn;
using domains::UnaryFn;
using RuleKind = ScalingRule::Kind;

static ScalingRule powerOf(double exponent) {
  bool isExact = llvm::is_contained({2.0, 1.0, 0.5, -0.5, -1.0}, exponent);
  return {RuleKind::Power, exponent, isExact};
}

/// The number that all elements of a value are, be it read through an argument of a body. What a
/// reduction has come to is no constant, though it begins as one.
static std::optional<double> findNumber(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto structured = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp())) {
      OpOperand *read = structured.getMatchingOpOperand(argument);
      if (structured.getNumReductionLoops() > 0 && structured.isDpsInit(read))
        return std::nullopt;
      value = read->get();
    }
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant); dense && dense.isSplat())
    constant = dense.getSplatValue<Attribute>();
  if (auto scalar = dyn_cast<FloatAttr>(constant))
    return scalar.getValueAsDouble();
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return integer.getInt();
  return std::nullopt;
}

/// True for a bound that scales with what it bounds: zero, or beyond every finite value.
static bool isScaleInvariant(double bound, FloatType format) {
  return bound == 0 || std::isinf(bound) ||
         std::abs(bound) == APFloat::getLargest(format.getFloatSemantics()).convertToDouble();
}

static ScalingRule ruleOf(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::Identity:
  case UnaryFn::Neg:
  case UnaryFn::Abs:
  case UnaryFn::Relu: return {RuleKind::Equal};
  case UnaryFn::Square: return powerOf(2);
  case UnaryFn::Sqrt: return powerOf(0.5);
  case UnaryFn::Rsqrt: return powerOf(-0.5);
  case UnaryFn::Cbrt: return powerOf(1.0 / 3);
  case UnaryFn::Reciprocal: return powerOf(-1);
  default: return {};
  }
}

static ScalingRule ruleOf(BinaryFn fn, Operation *op) {
  switch (fn) {
  case BinaryFn::Add:
  case BinaryFn::Sub:
  case BinaryFn::Maximum:
  case BinaryFn::Minimum:
  case BinaryFn::MaxNum:
  case BinaryFn::MinNum: return {RuleKind::Equal};
  case BinaryFn::Mul: return {RuleKind::Product};
  case BinaryFn::Div: return {RuleKind::Quotient};
  case BinaryFn::CopySign: return {RuleKind::SignOf};
  case BinaryFn::Pow: {
    std::optional<double> exponent = findNumber(op->getOperand(1));
    if (!exponent)
      return {};
    return {RuleKind::Power, *exponent, *exponent == 2};
  }
  default: return {};
  }
}

ScalingRule mlir::mp::getScalingRule(Operation *op, const FloatMeaning &meaning) {
  using Meaning = FloatMeaning::Kind;
  switch (meaning.kind) {
  case Meaning::Constant: return {RuleKind::Fixed};
  case Meaning::Unary: return ruleOf(meaning.unary);
  case Meaning::Binary: return ruleOf(meaning.binary, op);
  case Meaning::IntegerPower:
    return {RuleKind::Power, double(meaning.exponent), meaning.exponent == 2};
  case Meaning::Fma:
  case Meaning::Contraction: return {RuleKind::MultiplyAdd};
  case Meaning::Clamp: {
    FloatType format = getFloatFormat(op->getResult(0).getType());
    bool scales = isScaleInvariant(meaning.lo, format) && isScaleInvariant(meaning.hi, format);
    return {scales ? RuleKind::Equal : RuleKind::Unknown};
  }
  case Meaning::Cast:
  case Meaning::Move:
  case Meaning::Select:
  case Meaning::Average:
  case Meaning::SplitResidual:
  case Meaning::JoinSplit: return {RuleKind::Equal};
  case Meaning::Merge:
    return {meaning.padding && *meaning.padding != 0 ? RuleKind::Unknown : RuleKind::Equal};
  case Meaning::Compare: return {RuleKind::Compare};
  case Meaning::Reduction:
    if (meaning.reduce == ReduceFn::SumSquares)
      return powerOf(2);
    return {meaning.reduce == ReduceFn::Product ? RuleKind::Unknown : RuleKind::Equal};
  default: return {};
  }
}
