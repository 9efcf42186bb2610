// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval arithmetic op by op, with the rounding of every result.

#include "RangeTransfer.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/AccumulationModes.h"
#include "mp/Analysis/IntegerBounds.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Domains/Constants.h"
#include "mp/Domains/Infinity.h"
#include "mp/Domains/Reductions.h"
#include "mp/Domains/Rounding.h"
#include "mp/Numerics/ArrayCast.h"

using namespace mlir;
using namespace mlir::mp;
using domains::addUp;
using domains::BinaryFn;
using domains::Extent;
using domains::FloatFacts;
using domains::Interval;
using domains::kInfinity;
using domains::mulUp;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// Functions err by less than this share of their values (docs/reference/Math.md).
static constexpr double kFunctionError = 0x1p-18;

domains::RowLength mlir::mp::rowLengthOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return isa<TensorType>(type) && !tensor ? domains::RowLength() : domains::RowLength(1);
  int64_t length = tensor.getShape().back();
  return ShapedType::isDynamic(length) ? domains::RowLength() : domains::RowLength(length);
}

std::optional<numerics::Format> RangeTransfer::formatOf(Type type) const {
  std::optional<numerics::Format> format = getNumericsFormat(type);
  return format && options.of == RangesOf::Exact ? numerics::Format::F64 : format;
}

FloatFacts RangeTransfer::roundedTo(const FloatFacts &exact, Type type, RowLength rows) const {
  std::optional<numerics::Format> format = formatOf(type);
  if (format && *format != numerics::Format::F64)
    return domains::flushSubnormals(domains::roundTo(exact, *format, rows), *format);
  FloatFacts result = exact;
  if (!result.isBottom() && !result.range.isEmpty() && !result.range.isBounded())
    result.mayInf = true;
  return result;
}

/// Moves the ends outward by a share of themselves; signs stay.
static FloatFacts slackened(FloatFacts facts, double share) {
  auto outward = [&](double end, bool up) {
    double moved = end * (1 + ((end > 0) == up ? share : -share));
    return end == 0 || moved != moved ? end : moved;
  };
  facts.range = {outward(facts.range.lo, false), outward(facts.range.hi, true)};
  facts.norm2 *= 1 + share;
  return facts;
}

/// Library and device code errs by some units in the last place, near zeros of the function by a
/// small amount, and is careless about results below the normal numbers.
FloatFacts RangeTransfer::unary(UnaryFn fn, const FloatFacts &x, RowLength rows) {
  FloatFacts facts = domains::unary(fn, x, rows);
  if (domains::isExact(fn))
    return facts;
  switch (fn) {
  case UnaryFn::Exp:
  case UnaryFn::Exp2: {
    constexpr double smallestNormal = 0x1p-126;
    if (facts.range.lo < 2 * smallestNormal)
      facts.range = domains::hull(facts.range, {0, 2 * smallestNormal});
    facts.nonZero = false;
    return slackened(facts, kFunctionError);
  }
  case UnaryFn::Square: return facts;
  case UnaryFn::Reciprocal:
  case UnaryFn::Sqrt:
  case UnaryFn::Rsqrt:
  case UnaryFn::Cbrt:
  case UnaryFn::Sigmoid:
  case UnaryFn::Tanh:
  case UnaryFn::Erf:
  case UnaryFn::Cosh: return slackened(facts, kFunctionError);
  default: return domains::perturb(slackened(facts, kFunctionError), kFunctionError, rows);
  }
}

FloatFacts RangeTransfer::binary(BinaryFn fn, const FloatFacts &x, const FloatFacts &y,
                                 RowLength rows) {
  FloatFacts facts = domains::binary(fn, x, y, rows);
  bool isFunction = fn == BinaryFn::Pow || fn == BinaryFn::Atan2;
  return isFunction ? slackened(facts, kFunctionError) : facts;
}

static bool isElementwise(Kind kind) {
  return kind == Kind::Unary || kind == Kind::Binary || kind == Kind::Fma || kind == Kind::Clamp ||
         kind == Kind::Select || kind == Kind::IntegerPower;
}

/// The facts of the operands that `meaning` names, over rows as they are in the result.
static SmallVector<FloatFacts, 3> readOperands(Operation *op, const FloatMeaning &meaning,
                                               ArrayRef<const FloatFacts *> operands,
                                               domains::RowLength rows) {
  SmallVector<FloatFacts, 3> x;
  for (unsigned operand : meaning.operands) {
    if (operand >= operands.size() || !operands[operand])
      continue;
    x.push_back(*operands[operand]);
    // Repeated along dimensions of size 1: rows are longer than they were.
    auto from = dyn_cast<ShapedType>(op->getOperand(operand).getType());
    auto to = dyn_cast<ShapedType>(op->getResult(0).getType());
    if (isElementwise(meaning.kind) && from && to &&
        !(from.hasRank() && to.hasRank() && from.getShape() == to.getShape()))
      x.back() = domains::reshapeRows(x.back(), rows);
  }
  return x;
}

FloatFacts RangeTransfer::fromInteger(Operation *op, RowLength rows) const {
  Type type = op->getResult(0).getType();
  if (std::optional<double> constant = getConvertedConstant(op))
    return roundedTo(FloatFacts::constant(*constant), type, rows);
  bool isTruth = getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1);
  bool isSigned = !isa<arith::UIToFPOp>(op) && !(isa<tosa::CastOp>(op) && isTruth);
  Interval bounds = boundInteger(op->getOperand(0), isSigned);
  return bounds.isBounded() ? roundedTo(FloatFacts::fromInteger(bounds.lo, bounds.hi), type, rows)
                            : Facts::top();
}

/// By multiplications, each of which rounds.
FloatFacts RangeTransfer::integerPower(const FloatFacts &x, int64_t exponent, Type type,
                                       RowLength rows) const {
  auto format = getNumericsFormat(type);
  double roundoff = format ? numerics::info(*format).unitRoundoff : 1;
  double share = kFunctionError + 4 * roundoff * std::abs(double(exponent));
  if (!(share < 0.25))
    return Facts::top();
  return roundedTo(slackened(domains::powInteger(x, exponent, rows), share), type, rows);
}

FloatFacts RangeTransfer::castOf(Operation *op, const FloatFacts &x, RowLength rows) const {
  auto round = dyn_cast<RoundOp>(op);
  auto cast = dyn_cast<CastOp>(op);
  Type type = round ? Type(round.getFormat()) : op->getResult(0).getType();
  std::optional<numerics::Format> format = formatOf(type);
  if (!format)
    return Facts::top();
  if (!cast || *format == numerics::Format::F64)
    return roundedTo(x, type, rows);
  // Whichever rounding it is, that to either neighbour is the widest.
  return domains::castTo(x, *format,
                         cast.getOverflow() == Overflow::Saturate ? numerics::Overflow::Saturate
                                                                  : numerics::Overflow::IEEE,
                         numerics::Rounding::SR, rows);
}

FloatFacts RangeTransfer::moved(const FloatFacts &x, const FloatMeaning &meaning, Type type,
                                RowLength rows) {
  FloatFacts facts = meaning.rows == FloatMeaning::Rows::Kept   ? x
                     : meaning.rows == FloatMeaning::Rows::Part ? domains::partOfRows(x, rows)
                                                                : domains::reshapeRows(x, rows);
  // A window of nothing but NaN leaves what TOSA's maxima begin with.
  if (auto format = getNumericsFormat(type); meaning.dropsNaN && facts.mayNaN)
    facts = domains::reshapeRows(
        domains::join(
            facts, FloatFacts::constant(format ? -numerics::info(*format).maxFinite : -kInfinity)),
        rows);
  return facts;
}

static FloatFacts merged(ArrayRef<FloatFacts> x, std::optional<double> padding,
                         domains::RowLength rows) {
  FloatFacts facts = x[0];
  for (const FloatFacts &other : x.drop_front())
    facts = domains::join(facts, other);
  if (padding)
    facts = domains::join(facts, FloatFacts::constant(*padding));
  return domains::reshapeRows(facts, rows);
}

/// The size of the dimension that a reduction or a softmax goes along.
static Extent extentAlong(Operation *op, int64_t dim) {
  auto operand = cast<ShapedType>(op->getOperand(0).getType());
  return operand.isDynamicDim(dim) ? Extent::unknown() : Extent::exactly(operand.getDimSize(dim));
}

FloatFacts RangeTransfer::reduction(Operation *op, const FloatMeaning &meaning, const FloatFacts &x,
                                    RowLength rows) const {
  Type type = op->getResult(0).getType();
  int64_t dim = meaning.dims[0];
  auto operand = cast<ShapedType>(op->getOperand(0).getType());
  Extent count = extentAlong(op, dim);
  domains::ReducedElements elements =
      dim + 1 == operand.getRank()
          ? domains::ReducedElements{count, true, Extent::exactly(1), rowLengthOf(operand)}
          : domains::ReducedElements::acrossRows(count);
  if (meaning.reduce == domains::ReduceFn::Sum)
    return sum(x, elements, FloatFacts::constant(0), type);
  bool isMax = meaning.reduce == domains::ReduceFn::Max;
  if (!isMax && meaning.reduce != domains::ReduceFn::Min)
    return roundedTo(domains::reduce(meaning.reduce, x, elements, rows), type, rows);
  // TOSA's extrema begin with the largest finite numbers; those of one element are folded.
  auto format = getNumericsFormat(type);
  double largest = format ? numerics::info(*format).maxFinite : kInfinity;
  BinaryFn fn = isMax ? (meaning.dropsNaN ? BinaryFn::MaxNum : BinaryFn::Maximum)
                      : (meaning.dropsNaN ? BinaryFn::MinNum : BinaryFn::Minimum);
  FloatFacts begun =
      extremum(fn, x, elements, FloatFacts::constant(isMax ? -largest : largest), type);
  return domains::join(begun, domains::reshapeRows(x, rows));
}

/// Subtraction, exponential and quotient each round; what underflows is zero.
static FloatFacts softmaxOf(Operation *op, int64_t dim, const FloatFacts &x,
                            domains::RowLength rows) {
  bool isInnermost = dim + 1 == cast<ShapedType>(op->getOperand(0).getType()).getRank();
  FloatFacts exact = domains::softmax(x, extentAlong(op, dim), isInnermost, rows);
  exact.range = domains::hull(exact.range, {0, 1});
  exact.norm2 = kInfinity;
  exact.nonZero = false;
  FloatFacts facts = slackened(exact, kFunctionError);
  facts.reduce(rows);
  return facts;
}

FloatFacts RangeTransfer::evaluate(Operation *op, const FloatMeaning &meaning,
                                   ArrayRef<const FloatFacts *> operands, RowLength rows) {
  Type type = op->getResult(0).getType();
  Attribute value;
  if (operands.empty()) {
    FloatFacts facts = matchPattern(op, m_Constant(&value)) ? constant(value, type) : Facts::top();
    // In a body it is the same all along the row.
    return isa<ShapedType>(type) ? facts : domains::reshapeRows(facts, rows);
  }
  if (meaning.kind == Kind::Integer)
    return fromInteger(op, rows);
  SmallVector<FloatFacts, 3> x = readOperands(op, meaning, operands, rows);
  if (x.empty())
    return Facts::top();
  switch (meaning.kind) {
  case Kind::Unary: {
    FloatFacts facts = unary(meaning.unary, x[0], rows);
    return domains::isExact(meaning.unary) ? facts : roundedTo(facts, type, rows);
  }
  case Kind::Binary:
    if (meaning.binary == BinaryFn::Pow && x[1].range == Interval::point(2) && !x[1].mayNaN)
      return roundedTo(slackened(unary(UnaryFn::Square, x[0], rows), kFunctionError), type, rows);
    return roundedTo(binary(meaning.binary, x[0], x[1], rows), type, rows);
  case Kind::IntegerPower: return integerPower(x[0], meaning.exponent, type, rows);
  case Kind::Fma: return roundedTo(domains::fma(x[0], x[1], x[2], rows), type, rows);
  case Kind::Clamp: return domains::clamp(x[0], meaning.lo, meaning.hi, meaning.dropsNaN, rows);
  case Kind::Select: return domains::select(x[0], x[1], rows);
  case Kind::Cast: return castOf(op, x[0], rows);
  case Kind::Move: return moved(x[0], meaning, type, rows);
  case Kind::Merge: return merged(x, meaning.padding, rows);
  case Kind::Average: return average(x[0], meaning, type, rows);
  case Kind::Reduction: return reduction(op, meaning, x[0], rows);
  case Kind::Contraction: return contraction(op, meaning, operands, rows);
  case Kind::SplitResidual: return splitResidual(op, x[0], rows);
  case Kind::JoinSplit: {
    SmallVector<const FloatFacts *> parts;
    for (const FloatFacts &part : x)
      parts.push_back(&part);
    return joinSplit(parts, type, rows);
  }
  case Kind::Softmax: return softmaxOf(op, meaning.dims[0], x[0], rows);
  default: return Facts::top();
  }
}

FloatFacts RangeTransfer::select(const FloatFacts &yes, const FloatFacts &no,
                                 const ChoiceBound &bound, RowLength rows) const {
  auto constrained = [&](FloatFacts facts, Interval range, bool isNumber) {
    facts.range = domains::intersect(facts.range, range);
    facts.mayNaN &= !isNumber;
    facts.normalize();
    return facts;
  };
  FloatFacts first = constrained(yes, bound.ifTrue, bound.trueIsNumber);
  FloatFacts second = constrained(no, bound.ifFalse, bound.falseIsNumber);
  return domains::select(first, second, rows);
}

FloatFacts RangeTransfer::constant(Attribute value, Type type) {
  auto [known, isNew] = constants.try_emplace(value, Facts::top());
  if (!isNew)
    return known->second;
  Facts &facts = known->second;
  auto elements = dyn_cast<ElementsAttr>(value);
  std::optional<numerics::Format> source =
      elements ? getNumericsFormat(elements.getElementType()) : std::nullopt;
  auto raw = source ? getRawElements(elements) : std::nullopt;
  if (auto scalar = dyn_cast<FloatAttr>(value)) {
    facts = Facts::constant(scalar.getValueAsDouble());
  } else if (auto splat = dyn_cast<SplatElementsAttr>(value); splat && source) {
    facts = Facts::constant(splat.getSplatValue<APFloat>().convertToDouble());
    facts.reduce(rowLengthOf(type));
  } else if (raw) {
    unsigned width = numerics::storageBytes(*source);
    int64_t count = raw->size() / width;
    int64_t length = std::max<int64_t>(rowLengthOf(type).value_or(1), 1);
    facts =
        domains::scanElements(count / length, length, [&](int64_t row, MutableArrayRef<double> to) {
          numerics::convertArray(raw->data() + row * length * width, *source, to.data(),
                                 numerics::Format::F64, length);
        });
  }
  return facts;
}

//===-- split precision ---------------------------------------------------------------------===//

/// The residual of a value after as many parts is a rounding of the last of them; NaN where the
/// first is infinite.
FloatFacts RangeTransfer::splitResidual(Operation *op, const FloatFacts &x, RowLength rows) {
  auto next = cast<SplitResidualOp>(op);
  const numerics::FormatInfo &format = numerics::info(*getNumericsFormat(next.getFormat()));
  double size =
      std::pow(format.unitRoundoff, double(next.getParts().size())) * (1 + 2 * format.unitRoundoff);
  double largest = addUp(mulUp(x.mag(), size), format.underflowUnit);
  FloatFacts part = FloatFacts::finite(Interval::symmetric(largest), x.provenance);
  part.mayNaN = x.mayNaN || x.mayInf || !(x.mag() < format.maxFinite);
  if (rows)
    part.norm2 =
        addUp(mulUp(x.norm2, size), mulUp(format.underflowUnit, domains::sqrtUp(double(*rows))));
  part.reduce(rows);
  return part;
}

/// large + small, or large alone where small is NaN; then + init.
FloatFacts RangeTransfer::joinSplit(ArrayRef<const FloatFacts *> parts, Type type,
                                    RowLength rows) const {
  FloatFacts large = *parts[0], small = *parts[1];
  bool mayStandAlone = small.mayNaN;
  small.mayNaN = false;
  FloatFacts sum = roundedTo(domains::binary(BinaryFn::Add, large, small, rows), type, rows);
  if (mayStandAlone)
    sum = domains::join(sum, large);
  return parts.size() < 3
             ? sum
             : roundedTo(domains::binary(BinaryFn::Add, sum, *parts[2], rows), type, rows);
}
