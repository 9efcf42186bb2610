// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class assumption, op by op: which functions keep it and which lose it.

#include "AssumptionTransfer.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/IntegerBounds.h"
#include "mp/Domains/Elementary.h"
#include "mp/Domains/Infinity.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Format.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::Interval;
using domains::kInfinity;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// A value within this is no growth where it is added: half of f16's range.
static constexpr double kModest = 32768;

static double limitOfF16() { return numerics::info(numerics::Format::F16).maxFinite; }
double mlir::mp::assumedReach() { return limitOfF16() / kAssumedMargin; }

double Assumption::besideOthers() const {
  return range.mag() <= kModest ? std::min(growth, 1.0) : growth;
}

Assumption Assumption::ofArgument(BlockArgument argument) {
  Assumption assumption;
  assumption.growth = 1;
  // One number a channel, however it is shaped to be broadcast.
  auto shaped = dyn_cast<ShapedType>(argument.getType());
  assumption.parameter =
      shaped && shaped.hasRank() &&
      llvm::count_if(shaped.getShape(), [](int64_t size) { return size != 1; }) <= 1;
  return assumption;
}

Assumption mlir::mp::join(const Assumption &a, const Assumption &b) {
  Assumption result;
  result.range = domains::hull(a.range, b.range);
  result.growth = std::max(a.besideOthers(), b.besideOthers());
  result.parameter = a.parameter && b.parameter;
  result.lostAt = a.lostAt.empty() ? b.lostAt : a.lostAt;
  return result;
}

void mlir::mp::stateRange(Assumption &assumption, const Interval &range) {
  assumption.range = domains::intersect(assumption.range, range);
  if (assumption.range.mag() > limitOfF16())
    assumption.growth = kInfinity;
}

/// Growth times what a factor is bounded by.
static double scaled(double growth, const Interval &by) {
  return growth == kInfinity || by.mag() == kInfinity ? kInfinity : growth * by.mag();
}

Assumption mlir::mp::addAssumption(const Assumption &a, const Assumption &b) {
  Assumption result;
  result.range = domains::add(a.range, b.range);
  result.growth = std::max(a.besideOthers(), b.besideOthers());
  result.parameter = a.parameter && b.parameter;
  return result;
}

Assumption mlir::mp::multiplyAssumption(const Assumption &a, const Assumption &b) {
  Assumption result;
  result.range = domains::mul(a.range, b.range);
  result.growth = std::min(scaled(a.growth, b.range), scaled(b.growth, a.range));
  for (auto [x, y] : {std::pair(&a, &b), std::pair(&b, &a)})
    // A parameter times anything assumed: an affine scale.
    if (x->parameter && x->isAssumed() && y->besideOthers() <= kAssumedMargin)
      result.growth = std::min(result.growth, 1.0);
  result.parameter = a.parameter && b.parameter;
  return result;
}

static Assumption divide(const Assumption &a, const Assumption &b) {
  Assumption result;
  result.range = domains::div(a.range, b.range);
  if (double smallest = b.range.mig(); smallest > 0)
    result.growth = a.growth / smallest;
  if (b.parameter && b.isAssumed() && a.besideOthers() <= kAssumedMargin)
    result.growth = std::min(result.growth, 1.0);
  result.parameter = a.parameter && b.parameter;
  return result;
}

static Assumption applyUnary(UnaryFn fn, const Assumption &x, Type type) {
  Assumption result;
  result.range = domains::image(fn, x.range);
  result.parameter = x.parameter;
  if (std::optional<double> slope = domains::linearBound(fn); slope && x.growth != kInfinity)
    result.growth = *slope * x.growth;
  // Scales made of given parameters, as batch norm's 1 / sqrt(variance + eps).
  if (x.parameter && (fn == UnaryFn::Rsqrt || fn == UnaryFn::Sqrt || fn == UnaryFn::Reciprocal))
    result.growth = 1;
  // Logarithms grow too slowly for a finite number to have a large one, and an infinite one is
  // infinite in every format.
  bool isLog =
      fn == UnaryFn::Log || fn == UnaryFn::Log2 || fn == UnaryFn::Log10 || fn == UnaryFn::Log1p;
  if (FloatType format = isLog ? getFloatFormat(type) : FloatType()) {
    double largest = numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
    result.range = domains::intersect(
        result.range, domains::image(fn, {fn == UnaryFn::Log1p ? -1.0 : 0.0, largest}));
  }
  return result;
}

static Assumption applyBinary(BinaryFn fn, const Assumption &a, const Assumption &b, Type type,
                              bool isSquare) {
  Assumption result;
  switch (fn) {
  case BinaryFn::Add: return addAssumption(a, b);
  case BinaryFn::Sub:
    result = addAssumption(a, b);
    result.range = domains::sub(a.range, b.range);
    return result;
  case BinaryFn::Mul:
    return isSquare ? applyUnary(UnaryFn::Square, a, type) : multiplyAssumption(a, b);
  case BinaryFn::Div: return divide(a, b);
  case BinaryFn::Maximum:
  case BinaryFn::MaxNum:
  case BinaryFn::Minimum:
  case BinaryFn::MinNum: {
    bool isMax = fn == BinaryFn::Maximum || fn == BinaryFn::MaxNum;
    result.range = isMax ? domains::max(a.range, b.range) : domains::min(a.range, b.range);
    if (a.range.isEmpty() || b.range.isEmpty()) // of NaN and x it is x
      result.range = domains::hull(a.range, b.range);
    result.growth = std::max(a.besideOthers(), b.besideOthers());
    break;
  }
  case BinaryFn::Pow: {
    double power = b.range.isPoint() ? b.range.lo : 0.5;
    if (power == 2)
      return applyUnary(UnaryFn::Square, a, type);
    result.range = power == std::nearbyint(power) && std::fabs(power) < 64
                       ? domains::powInteger(a.range, int64_t(power))
                   : a.range.lo >= 0 ? domains::powPositive(a.range, b.range)
                                     : Interval::top();
    break;
  }
  default: return Assumption();
  }
  result.parameter = a.parameter && b.parameter;
  return result;
}

Assumption mlir::mp::sumAssumption(const RangeState &x, std::optional<int64_t> count,
                                   const RangeState &init, StringRef op) {
  Assumption sum;
  const Assumption &term = x.assumption;
  if (count) {
    sum.range = domains::mul(term.range, Interval::point(*count));
    sum.growth = term.growth == kInfinity ? kInfinity : term.growth * *count;
  } else {
    sum.range = {term.range.lo >= 0 ? 0 : -kInfinity, term.range.hi <= 0 ? 0 : kInfinity};
    sum.lostAt = op;
  }
  sum.range = domains::add(sum.range, init.assumption.range);
  sum.growth = std::max(sum.growth, init.assumption.besideOthers());
  if (sum.lostAt.empty())
    sum.lostAt = init.assumption.lostAt;
  return sum;
}

/// Contractions are assumed to give what they were trained to give; not where a factor is known to
/// reach beyond what that assumption allows.
static Assumption contract(Operation *op, ArrayRef<const RangeState *> operands) {
  Assumption result;
  result.growth = 1;
  for (const RangeState *operand : operands)
    if (operand && operand->assumption.besideOthers() > kAssumedMargin) {
      result.growth = kInfinity;
      StringRef lostAt = operand->assumption.lostAt;
      result.lostAt = lostAt.empty() ? op->getName().getStringRef() : lostAt;
    }
  return result;
}

/// Returns what padding adds; nothing where it is infinite, which it is in every format.
static std::optional<Assumption> paddingOf(const FloatMeaning &meaning) {
  if (!meaning.padding || std::isinf(*meaning.padding))
    return std::nullopt;
  Assumption padding;
  padding.range = Interval::point(*meaning.padding);
  padding.parameter = true;
  return padding;
}

Assumption mlir::mp::transferAssumption(Operation *op, const FloatMeaning &meaning,
                                        ArrayRef<const RangeState *> operands, bool isSquare) {
  Type type = op->getResult(0).getType();
  if (isa<tensor::EmptyOp>(op)) // no element has a value before somebody writes one
    return Assumption::nothing();
  if (operands.empty()) {
    Assumption constant;
    constant.parameter = op->hasTrait<OpTrait::ConstantLike>();
    return constant;
  }
  SmallVector<const Assumption *, 3> x;
  for (unsigned operand : meaning.operands)
    if (operand < operands.size() && operands[operand])
      x.push_back(&operands[operand]->assumption);
  auto joined = [&] {
    Assumption result = *x[0];
    for (const Assumption *other : ArrayRef(x).drop_front())
      result = join(result, *other);
    return result;
  };
  Assumption lost = Assumption::lost(op->getName().getStringRef());
  switch (meaning.kind) {
  case Kind::Unary: return applyUnary(meaning.unary, *x[0], type);
  case Kind::Binary: return applyBinary(meaning.binary, *x[0], *x[1], type, isSquare);
  case Kind::IntegerPower: {
    Assumption exponent;
    exponent.range = Interval::point(meaning.exponent);
    exponent.parameter = true;
    return applyBinary(BinaryFn::Pow, *x[0], exponent, type, false);
  }
  case Kind::Clamp: {
    Assumption result = *x[0];
    result.range = domains::min(domains::max(result.range, Interval::point(meaning.lo)),
                                Interval::point(meaning.hi));
    return result;
  }
  case Kind::Cast:
  case Kind::Average: return *x[0];
  case Kind::Integer: {
    Assumption result = lost; // its range says what there is
    result.parameter = getConvertedConstant(op).has_value();
    return result;
  }
  case Kind::Select:
  case Kind::Move: return x.empty() ? lost : joined();
  case Kind::Merge: {
    if (x.empty())
      return lost;
    std::optional<Assumption> padding = paddingOf(meaning);
    return padding ? join(joined(), *padding) : joined();
  }
  case Kind::Reduction: {
    if (meaning.reduce != ReduceFn::Sum)
      return meaning.reduce == ReduceFn::Product ? lost : *x[0];
    auto operand = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    bool isKnown = operand && !operand.isDynamicDim(meaning.dims[0]);
    RangeState zero;
    zero.assumption.range = Interval::point(0);
    return sumAssumption(*operands[meaning.operands[0]],
                         isKnown ? std::optional(operand.getDimSize(meaning.dims[0]))
                                 : std::nullopt,
                         zero, op->getName().getStringRef());
  }
  case Kind::Contraction: return contract(op, operands);
  case Kind::Softmax: return Assumption();
  default: break;
  }
  switch (getOpClass(op)) {
  case OpClass::TensorCore: return contract(op, operands);
  case OpClass::Follow:
  case OpClass::ExactCommute: {
    x.clear();
    for (const RangeState *operand : operands)
      if (operand)
        x.push_back(&operand->assumption);
    bool isOne = getOpClass(op) == OpClass::ExactCommute || x.size() == 1;
    return x.empty() || !isOne ? lost : joined();
  }
  default: return lost;
  }
}
