// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one operation does to the evidence of its operands.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/Evidence.h"
#include "mp/Analysis/IntegerBounds.h"
#include "mp/Domains/Elementary.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/ArrayCast.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::Interval;
using domains::UnaryFn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A constant below this is no growth when it is added.
static constexpr double kModest = 32768;

double Evidence::getGrowth() const {
  return range.mag() <= kModest ? std::min(growth, 1.0) : growth;
}

/// The function an op computes, by its name without the dialect: arith, math,
/// linalg and tosa spell it alike but for suffixes.
static std::optional<UnaryFn> getFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<UnaryFn>>(name)
      .Cases({"negf", "negate"}, UnaryFn::Neg)
      .Cases({"absf", "abs"}, UnaryFn::Abs)
      .Case("square", UnaryFn::Square)
      .Case("reciprocal", UnaryFn::Reciprocal)
      .Case("sqrt", UnaryFn::Sqrt)
      .Case("rsqrt", UnaryFn::Rsqrt)
      .Case("cbrt", UnaryFn::Cbrt)
      .Case("exp", UnaryFn::Exp)
      .Case("exp2", UnaryFn::Exp2)
      .Case("expm1", UnaryFn::Expm1)
      .Case("log", UnaryFn::Log)
      .Case("log2", UnaryFn::Log2)
      .Case("log10", UnaryFn::Log10)
      .Case("log1p", UnaryFn::Log1p)
      .Case("sin", UnaryFn::Sin)
      .Case("cos", UnaryFn::Cos)
      .Case("tan", UnaryFn::Tan)
      .Case("atan", UnaryFn::Atan)
      .Case("asin", UnaryFn::Asin)
      .Case("acos", UnaryFn::Acos)
      .Case("sinh", UnaryFn::Sinh)
      .Case("cosh", UnaryFn::Cosh)
      .Case("tanh", UnaryFn::Tanh)
      .Case("erf", UnaryFn::Erf)
      .Case("erfc", UnaryFn::Erfc)
      .Case("sigmoid", UnaryFn::Sigmoid)
      .Case("floor", UnaryFn::Floor)
      .Case("ceil", UnaryFn::Ceil)
      .Case("trunc", UnaryFn::Trunc)
      .Case("round", UnaryFn::Round)
      .Case("roundeven", UnaryFn::RoundEven)
      .Default(std::nullopt);
}

/// Smallest and largest element of a float constant; top where it cannot be read. NaN is NaN in
/// every format: it needs no room in a range.
static Interval rangeOfConstant(Attribute constant) {
  if (auto scalar = dyn_cast<FloatAttr>(constant)) {
    double value = scalar.getValueAsDouble();
    return value == value ? Interval::point(value) : Interval();
  }
  auto elements = dyn_cast<ElementsAttr>(constant);
  auto format = elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  auto source = format ? numerics::formatOf(format.getFloatSemantics()) : std::nullopt;
  auto raw = source ? getRawElements(elements) : std::nullopt;
  if (!raw)
    return Interval::top();
  Interval range;
  unsigned width = numerics::storageBytes(*source);
  double chunk[1024];
  for (size_t begin = 0, count = raw->size() / width; begin < count; begin += std::size(chunk)) {
    size_t size = std::min(std::size(chunk), count - begin);
    numerics::convertArray(raw->data() + begin * width, *source, chunk, numerics::Format::F64,
                           size);
    for (double value : ArrayRef(chunk, size))
      if (value == value)
        range = domains::hull(range, Interval::point(value));
  }
  return range;
}

Evidence EvidenceAnalysis::evaluate(Operation *op, ArrayRef<Evidence> operands) {
  Attribute constant;
  if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&constant))) {
    Evidence evidence;
    evidence.range = rangeOfConstant(constant);
    evidence.parameter = true;
    return evidence;
  }
  if (isa<tensor::EmptyOp>(op)) { // no element has a value before somebody writes one
    Evidence evidence = Evidence::nothing();
    return evidence;
  }
  if (isa<CastOp, RoundOp>(op)) {
    Evidence evidence = operands[0];
    auto cast = dyn_cast<CastOp>(op);
    if (cast && cast.getOverflow() == Overflow::Saturate) {
      double largest =
          numerics::info(*numerics::formatOf(cast.getResultFormat().getFloatSemantics())).maxFinite;
      evidence.range = domains::min(domains::max(evidence.range, Interval::point(-largest)),
                                    Interval::point(largest));
      evidence.lostAt = "";
    }
    return evidence;
  }
  StringRef name = op->getName().stripDialect();
  if (getFunction(name))
    return evaluateUnary(op, name, operands[0]);
  SmallVector<Evidence> data;
  for (auto [operand, evidence] : llvm::zip_equal(op->getOperands(), operands))
    if (getFloatFormat(operand.getType()))
      data.push_back(evidence);

  if (isa<linalg::SoftmaxOp>(op)) {
    Evidence evidence;
    evidence.range = {0, 1};
    return evidence;
  }
  if (auto sum = dyn_cast<tosa::ReduceSumOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(sum.getInput().getType());
    bool known = type && !type.isDynamicDim(sum.getAxis());
    return sumOver(data[0], known ? std::optional(type.getDimSize(sum.getAxis())) : std::nullopt,
                   op->getName().getStringRef());
  }
  if (isa<tosa::AvgPool2dOp>(
          op)) // beside it stand zero points; what is averaged leaves padding out
    return data[0];
  if (isa<tosa::ReduceMaxOp>(op))
    return data[0];
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    Evidence evidence = data[0];
    auto lo = dyn_cast<FloatAttr>(clamp.getMinVal()), hi = dyn_cast<FloatAttr>(clamp.getMaxVal());
    if (lo && hi) {
      Interval bounds = {lo.getValueAsDouble(), hi.getValueAsDouble()};
      evidence.range = domains::min(domains::max(evidence.range, Interval::point(bounds.lo)),
                                    Interval::point(bounds.hi));
    }
    return evidence;
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp, tosa::CastOp>(op) && data.empty()) {
    Evidence evidence;
    std::optional<double> constant = getConvertedConstant(op);
    evidence.parameter = constant.has_value();
    if (constant)
      evidence.range = Interval::point(*constant);
    else {
      bool isTruth = getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1);
      evidence.range = boundInteger(op->getOperand(0), isa<arith::SIToFPOp>(op) ||
                                                           (isa<tosa::CastOp>(op) && !isTruth));
    }
    evidence.lostAt = op->getName().getStringRef();
    return evidence;
  }
  if (isa<arith::ExtFOp, arith::TruncFOp, tosa::CastOp>(op) && data.size() == 1)
    return data[0];
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    APInt exponent;
    Evidence evidence;
    evidence.range = Interval::top();
    if (matchPattern(power.getRhs(), m_ConstantInt(&exponent)))
      evidence.range = Interval::point(exponent.getSExtValue());
    return *evaluateBinary(op, "powf", data[0], evidence);
  }
  if (name == "select" && data.size() == 2)
    return select(op, data[0], data[1]);
  if (data.size() == 2)
    if (std::optional<Evidence> evidence = evaluateBinary(op, name, data[0], data[1]))
      return *evidence;
  switch (getOpClass(op)) {
  case OpClass::TensorCore: return contract(op, operands);
  case OpClass::ExactCommute: {
    // Moves keep values; what gathers several, a destination among them, keeps the hull.
    if (data.empty())
      return lost(op);
    if (std::optional<Evidence> padding = getPadding(op))
      data.push_back(*padding);
    Evidence evidence = data[0];
    for (const Evidence &other : ArrayRef(data).drop_front())
      evidence = joinBounds(evidence, other);
    return evidence;
  }
  case OpClass::Follow: return data.size() == 1 ? data[0] : lost(op);
  default: return lost(op);
  }
}

/// Of contractions is assumed that they give what they were trained to give; not where the evidence
/// is already that a factor may be larger than what that assumption allows.
Evidence EvidenceAnalysis::contract(Operation *op, ArrayRef<Evidence> operands) {
  Evidence result;
  result.growth = 1;
  for (auto [operand, evidence] : llvm::zip_equal(op->getOperands(), operands))
    if (getFloatFormat(operand.getType()) && evidence.getGrowth() > kAssumedMargin &&
        !(prove && prove(operand) <= kModest)) {
      result.growth = kInfinity;
      result.lostAt = evidence.lostAt.empty() ? op->getName().getStringRef() : evidence.lostAt;
    }
  return result;
}

std::optional<Evidence> EvidenceAnalysis::getPadding(Operation *op) {
  auto pad = dyn_cast<tensor::PadOp>(op);
  if (!pad)
    return std::nullopt;
  // Infinity, and the lowest number in its stead below a maximum, are infinite in every format.
  APFloat constant(0.0);
  Value value = pad.getRegion().front().getTerminator()->getOperand(0);
  if (matchPattern(value, m_ConstantFloat(&constant)) &&
      (constant.isInfinity() || abs(constant).isLargest()))
    return std::nullopt;
  return facts.lookup(value);
}

Evidence EvidenceAnalysis::evaluateUnary(Operation *op, StringRef name, const Evidence &x) {
  UnaryFn fn = *getFunction(name);
  Evidence result;
  result.range = domains::image(fn, x.range);
  result.parameter = x.parameter;
  if (std::optional<double> growth = domains::linearBound(fn))
    result.growth = *growth * x.growth;
  // Scales made of given parameters, as batch norm's 1 / sqrt(variance + eps).
  if (x.parameter && (fn == UnaryFn::Rsqrt || fn == UnaryFn::Sqrt || fn == UnaryFn::Reciprocal))
    result.growth = 1;
  if (fn == UnaryFn::Log && relations.isSumOfShiftedExp(op->getOperand(0)))
    result.range = domains::intersect(
        result.range,
        {-0.01, 44}); // no more than 2^63 terms of at most 1, one of them 1 up to rounding
  // Logarithms grow too slowly for a finite number to have a large one, and an infinite one is
  // infinite in every format.
  bool isLog =
      fn == UnaryFn::Log || fn == UnaryFn::Log2 || fn == UnaryFn::Log10 || fn == UnaryFn::Log1p;
  if (FloatType format = isLog ? getFloatFormat(op->getOperand(0).getType()) : FloatType()) {
    double largest = numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
    result.range = domains::intersect(
        result.range, domains::image(fn, {fn == UnaryFn::Log1p ? -1.0 : 0.0, largest}));
  }
  if (result.growth == kInfinity && !result.range.isBounded())
    result.lostAt = op->getName().getStringRef();
  return result;
}

std::optional<Evidence> EvidenceAnalysis::evaluateBinary(Operation *op, StringRef name,
                                                         const Evidence &a, const Evidence &b) {
  enum class Binary { None, Add, Sub, Mul, Div, Max, Min, Pow };
  Binary kind = llvm::StringSwitch<Binary>(name)
                    .Cases({"addf", "add"}, Binary::Add)
                    .Cases({"subf", "sub"}, Binary::Sub)
                    .Cases({"mulf", "mul"}, Binary::Mul)
                    .Cases({"divf", "div"}, Binary::Div)
                    .Cases({"maximumf", "maxnumf", "max", "maximum"}, Binary::Max)
                    .Cases({"minimumf", "minnumf", "min", "minimum"}, Binary::Min)
                    .Cases({"powf", "pow"}, Binary::Pow)
                    .Default(Binary::None);
  Evidence result;
  switch (kind) {
  case Binary::None: return std::nullopt;
  case Binary::Add:
  case Binary::Sub:
    result.range =
        kind == Binary::Add ? domains::add(a.range, b.range) : domains::sub(a.range, b.range);
    result.growth = std::max(a.getGrowth(), b.getGrowth());
    if (kind == Binary::Sub && relations.areEqual(op->getOperand(0), op->getOperand(1)))
      result.range = Interval::point(0); // as a maximum over one element
    else if (kind == Binary::Sub && relations.isGroupMax(op->getOperand(1), op->getOperand(0)))
      result.range = domains::intersect(result.range, {-kInfinity, 0});
    break;
  case Binary::Mul:
    if (relations.areEqual(op->getOperand(0), op->getOperand(1)))
      return evaluateUnary(op, "square", a);
    result = multiply(a, b);
    for (auto [value, other, x] : {std::tuple(op->getOperand(0), op->getOperand(1), &a),
                                   std::tuple(op->getOperand(1), op->getOperand(0), &b)}) {
      if (auto squares = relations.inverseRootOfSquares(other, value))
        result.range =
            domains::intersect(result.range, Interval::symmetric(1 / std::sqrt(squares->factor)));
      if (x->range.lo >= 0 && relations.isReciprocalOfSumOf(other, value))
        result.range = domains::intersect(result.range, {0, 1});
    }
    break;
  case Binary::Div:
    result = divide(a, b);
    if (auto squares = relations.rootOfSquares(op->getOperand(1), op->getOperand(0)))
      result.range =
          domains::intersect(result.range, Interval::symmetric(1 / std::sqrt(squares->factor)));
    if (a.range.lo >= 0 && relations.isSumOf(op->getOperand(1), op->getOperand(0)))
      result.range = domains::intersect(result.range, {0, 1});
    break;
  case Binary::Max:
  case Binary::Min:
    result.range =
        kind == Binary::Max ? domains::max(a.range, b.range) : domains::min(a.range, b.range);
    if (a.range.isEmpty() || b.range.isEmpty()) // maxnumf of NaN and x is x
      result.range = domains::hull(a.range, b.range);
    result.growth = std::max(a.getGrowth(), b.getGrowth());
    break;
  case Binary::Pow:
    if (b.range.isPoint() && b.range.lo == 2)
      return evaluateUnary(op, "square", a);
    result.range =
        b.range.isPoint() && b.range.lo == std::nearbyint(b.range.lo) && std::fabs(b.range.lo) < 64
            ? domains::powInteger(a.range, int64_t(b.range.lo))
        : a.range.lo >= 0 ? domains::powPositive(a.range, b.range)
                          : Interval::top();
    break;
  }
  result.parameter = a.parameter && b.parameter;
  if (result.growth == kInfinity && !result.range.isBounded())
    result.lostAt = op->getName().getStringRef();
  return result;
}

Evidence EvidenceAnalysis::multiply(const Evidence &a, const Evidence &b) {
  Evidence result;
  result.range = domains::mul(a.range, b.range);
  auto scaled = [](double growth, const Interval &by) {
    return growth == kInfinity || by.mag() == kInfinity ? kInfinity : growth * by.mag();
  };
  result.growth = std::min(scaled(a.growth, b.range), scaled(b.growth, a.range));
  for (auto [x, y] : {std::pair(&a, &b), std::pair(&b, &a)})
    // A parameter times anything assumed: an affine scale.
    if (x->parameter && x->isAssumed() && y->getGrowth() <= kAssumedMargin)
      result.growth = std::min(result.growth, 1.0);
  return result;
}

Evidence EvidenceAnalysis::divide(const Evidence &a, const Evidence &b) {
  Evidence result;
  result.range = domains::div(a.range, b.range);
  double smallest = b.range.mig();
  if (smallest > 0)
    result.growth = a.growth / smallest;
  if (b.parameter && b.isAssumed() && a.getGrowth() <= kAssumedMargin)
    result.growth = std::min(result.growth, 1.0);
  return result;
}

void EvidenceAnalysis::compare(Operation *op) {
  auto numbers = relations.comparedBy(op->getResult(0));
  if (!numbers)
    return;
  Value a = op->getOperand(0), b = op->getOperand(1);
  bool inOrder = relations.numberOf(a) == numbers->first;
  compared[relations.numberOf(op->getResult(0))] = {facts.lookup(inOrder ? a : b).range,
                                                    facts.lookup(inOrder ? b : a).range};
}

/// Clamps and the like, as frontends spell them: what is selected was compared.
Evidence EvidenceAnalysis::select(Operation *op, Evidence yes, Evidence no) {
  if (auto numbers = relations.comparedBy(op->getOperand(0))) {
    auto [larger, smaller] = compared.lookup(relations.numberOf(op->getOperand(0)));
    auto bound = [&](Evidence &branch, unsigned operand, unsigned number, double lo, double hi) {
      if (relations.numberOf(op->getOperand(operand)) == number)
        branch.range = domains::intersect(branch.range, {lo, hi});
    };
    bound(yes, 1, numbers->first, smaller.lo, kInfinity);
    bound(yes, 1, numbers->second, -kInfinity, larger.hi);
    bound(no, 2, numbers->first, -kInfinity, smaller.hi);
    bound(no, 2, numbers->second, larger.lo, kInfinity);
  }
  return joinBounds(yes, no);
}

Evidence EvidenceAnalysis::sumOver(const Evidence &x, std::optional<int64_t> count, StringRef op) {
  Evidence result;
  if (count) {
    result.range = domains::mul(x.range, Interval::point(*count));
    result.growth = x.growth * *count;
  } else {
    result.range = {x.range.lo >= 0 ? 0 : -kInfinity, x.range.hi <= 0 ? 0 : kInfinity};
    result.lostAt = op;
  }
  return result;
}

Evidence mlir::mp::joinBounds(const Evidence &a, const Evidence &b) {
  Evidence result;
  result.range = domains::hull(a.range, b.range);
  result.growth = std::max(a.getGrowth(), b.getGrowth());
  result.parameter = a.parameter && b.parameter;
  result.lostAt = a.lostAt.empty() ? b.lostAt : a.lostAt;
  return result;
}
