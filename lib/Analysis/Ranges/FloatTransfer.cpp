// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatTransfer.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/AccumulationModes.h"
#include "mp/Analysis/SelectedExtrema.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Relational.h"
#include "mp/Domains/Rounding.h"
#include "mp/Numerics/ArrayCast.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::Extent;
using domains::Interval;
using domains::mulUp;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A constant below this is no growth when it is added.
static constexpr double kModest = 32768;
/// Bounds that hold of exact arithmetic hold of f32 up to this, over groups of any size that are
/// compared element by element.
static constexpr double kElementSlack = 0x1p-18;
/// Sums of more are not bounded.
static constexpr double kMostTerms = 0x1p53;

domains::RowLength mlir::mp::rowLengthOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return isa<TensorType>(type) && !tensor ? domains::RowLength() : domains::RowLength(1);
  int64_t length = tensor.getShape().back();
  return ShapedType::isDynamic(length) ? domains::RowLength() : domains::RowLength(length);
}

std::optional<numerics::Format> FloatTransfer::formatOf(Type type) const {
  std::optional<numerics::Format> format = getNumericsFormat(type);
  return format && of == RangesOf::Exact ? numerics::Format::F64 : format;
}

domains::FloatFacts FloatTransfer::roundedTo(const domains::FloatFacts &exact, Type type,
                                             domains::RowLength rows) const {
  std::optional<numerics::Format> format = formatOf(type);
  return format && *format != numerics::Format::F64 ? domains::roundTo(exact, *format, rows)
                                                    : exact;
}

/// Moves the ends outward by a share of themselves; signs stay.
static domains::FloatFacts slackened(domains::FloatFacts facts, double share) {
  auto outward = [&](double end, bool up) {
    double moved = end * (1 + ((end > 0) == up ? share : -share));
    return end == 0 || moved != moved ? end : moved;
  };
  facts.range = {outward(facts.range.lo, false), outward(facts.range.hi, true)};
  facts.norm2 *= 1 + share;
  facts.channels.reset();
  return facts;
}

/// What library and device code give for a function: some units in the last place off, near zeros
/// of the function by a small amount, and careless about results below the normal numbers.
static domains::FloatFacts asComputed(UnaryFn fn, domains::FloatFacts facts,
                                      domains::RowLength rows) {
  switch (fn) {
  case UnaryFn::Exp:
  case UnaryFn::Exp2: {
    constexpr double smallestNormal = 0x1p-126;
    if (facts.range.lo < 2 * smallestNormal)
      facts.range = domains::hull(facts.range, {0, 2 * smallestNormal});
    facts.nonZero = false;
    return slackened(facts, kElementSlack);
  }
  case UnaryFn::Square:
  case UnaryFn::Reciprocal:
  case UnaryFn::Sqrt:
  case UnaryFn::Rsqrt:
  case UnaryFn::Cbrt:
  case UnaryFn::Sigmoid:
  case UnaryFn::Tanh:
  case UnaryFn::Erf:
  case UnaryFn::Cosh: return slackened(facts, kElementSlack);
  default: return domains::perturb(slackened(facts, kElementSlack), kElementSlack, rows);
  }
}

/// A bounded value counts as growth 1 beside an assumed one.
static double growthOf(const FloatRange &x) {
  return x.facts.mag() <= kModest ? std::min(x.growth, 1.0) : x.growth;
}

static FloatRange lost(Operation *op) { return FloatRange::unknown(op->getName().getStringRef()); }

/// Says where the last bound went.
static FloatRange blame(FloatRange result, Operation *op) {
  if (result.growth == kInfinity && !result.facts.range.isBounded() && result.lostAt.empty())
    result.lostAt = op->getName().getStringRef();
  return result;
}

SmallVector<FloatRange> FloatTransfer::evaluate(Operation *op, ArrayRef<FloatRange> operands,
                                                RowLength rows) {
  FloatMeaning meaning = getFloatMeaning(op);
  if (meaning.kind == Kind::Structured) {
    DenseMap<Value, FloatRange> inside;
    return structured(cast<linalg::LinalgOp>(op), operands, inside);
  }
  SmallVector<FloatRange> results;
  for (Value result : op->getResults())
    results.push_back(getFloatFormat(result.getType())
                          ? blame(evaluateOne(op, meaning, operands, rows), op)
                          : FloatRange::unknown());
  return results;
}

FloatRange FloatTransfer::evaluateOne(Operation *op, const FloatMeaning &meaning,
                                      ArrayRef<FloatRange> operands, RowLength rows) {
  if (meaning.kind == Kind::Constant || (operands.empty() && matchPattern(op, m_Constant()))) {
    FloatRange range = constant(op);
    if (!isa<ShapedType>(op->getResult(0).getType())) // in a body: the same all along the row
      range.facts = domains::reshapeRows(range.facts, rows);
    return range;
  }
  SmallVector<FloatRange, 3> x;
  for (unsigned operand : meaning.operands)
    if (operand < operands.size()) {
      x.push_back(operands[operand]);
      // Repeated along dimensions of size 1 (tosa): rows are longer than they were.
      auto from = dyn_cast<ShapedType>(op->getOperand(operand).getType());
      auto to = dyn_cast<ShapedType>(op->getResult(0).getType());
      bool isElementwise = meaning.kind == Kind::Unary || meaning.kind == Kind::Binary ||
                           meaning.kind == Kind::Fma || meaning.kind == Kind::Clamp;
      if (isElementwise && from && to &&
          !(from.hasRank() && to.hasRank() && from.getShape() == to.getShape()))
        x.back().facts = domains::reshapeRows(x.back().facts, rows);
    }
  if (x.empty())
    return lost(op);
  Type type = op->getResult(0).getType();
  FloatRange result = x[0];
  switch (meaning.kind) {
  case Kind::Unary: return unary(op, meaning.unary, x[0], rows);
  case Kind::Binary: return binary(op, meaning.binary, x[0], x[1], rows);
  case Kind::Fma:
    result.facts = roundedTo(domains::fma(x[0].facts, x[1].facts, x[2].facts, rows), type, rows);
    result.growth = kInfinity;
    return result;
  case Kind::Clamp:
    result.facts = domains::clamp(x[0].facts, meaning.lo, meaning.hi, /*dropsNaN=*/true, rows);
    result.facts.mayNaN |= x[0].facts.mayNaN; // the op's NaN mode is not looked at
    return result;
  case Kind::Cast: {
    auto round = dyn_cast<RoundOp>(op);
    auto narrowing = dyn_cast<CastOp>(op);
    if (narrowing && narrowing.getOverflow() == Overflow::Saturate && formatOf(type)) {
      result.facts =
          domains::castTo(x[0].facts, *formatOf(type), numerics::Overflow::Saturate,
                          numerics::Rounding::SR, rows); // whichever it is, chance is the widest
      result.lostAt = "";
      return result;
    }
    result.facts = roundedTo(x[0].facts, round ? Type(round.getFormat()) : type, rows);
    return result;
  }
  case Kind::Integer: {
    auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getOperand(0).getType()));
    double limit = integer ? std::ldexp(1.0, integer.getWidth()) : kInfinity;
    result = FloatRange::unknown();
    result.facts = roundedTo(domains::FloatFacts::fromInteger(-limit, limit), type, rows);
    return result;
  }
  case Kind::Move:
    result.facts = meaning.rows == FloatMeaning::Rows::Kept ? x[0].facts
                   : meaning.rows == FloatMeaning::Rows::Part
                       ? domains::partOfRows(x[0].facts, rows)
                       : domains::reshapeRows(x[0].facts, rows);
    result.facts.channels.reset();
    return result;
  case Kind::Merge:
    if (auto extremum = getSelectedExtremum(op)) {
      result = join(x[0], x[1]);
      result.facts = domains::binary(*extremum, x[0].facts, x[1].facts, rows);
      result.facts.mayNaN = x[0].facts.mayNaN || x[1].facts.mayNaN;
      return result;
    }
    for (const FloatRange &other : ArrayRef(x).drop_front())
      result = join(result, other);
    if (meaning.padding)
      result.facts = domains::join(result.facts, domains::FloatFacts::constant(*meaning.padding));
    result.facts = domains::reshapeRows(result.facts, rows);
    return result;
  case Kind::Reduction: {
    int64_t dim = meaning.dims[0];
    auto operand = cast<ShapedType>(op->getOperand(0).getType());
    Extent count =
        operand.isDynamicDim(dim) ? Extent::unknown() : Extent::exactly(operand.getDimSize(dim));
    bool isInnermost = dim + 1 == operand.getRank();
    domains::ReducedElements elements =
        isInnermost
            ? domains::ReducedElements{count, true, Extent::exactly(1), rowLengthOf(operand)}
            : domains::ReducedElements::acrossRows(count);
    if (meaning.reduce == domains::ReduceFn::Sum)
      return sum(x[0], elements, type, op->getName().getStringRef());
    result.facts =
        roundedTo(domains::reduce(meaning.reduce, x[0].facts, elements, rows), type, rows);
    if (meaning.reduce == domains::ReduceFn::Product)
      result.growth = kInfinity;
    return result;
  }
  case Kind::Contraction: return contraction(op, meaning, operands, rows);
  case Kind::SplitResidual:
    result.facts = splitResidual(op, x[0].facts, rows);
    result.growth = kInfinity;
    return result;
  case Kind::JoinSplit:
    result.facts = joinSplit(x, type, rows);
    result.growth = kInfinity;
    return result;
  case Kind::Softmax: {
    auto operand = cast<ShapedType>(op->getOperand(0).getType());
    int64_t dim = meaning.dims[0];
    Extent count =
        operand.isDynamicDim(dim) ? Extent::unknown() : Extent::exactly(operand.getDimSize(dim));
    // Subtraction, exponential and quotient each round; what underflows is zero.
    domains::FloatFacts exact =
        domains::softmax(x[0].facts, count, dim + 1 == operand.getRank(), rows);
    exact.range = domains::hull(exact.range, {0, 1});
    exact.norm2 = kInfinity;
    exact.nonZero = false;
    result.facts = slackened(exact, kElementSlack);
    result.facts.reduce(rows);
    result.growth = kInfinity;
    return result;
  }
  case Kind::Unknown:
  case Kind::Constant:
  case Kind::Structured: break;
  }
  return lost(op);
}

FloatRange FloatTransfer::constant(Operation *op) {
  FloatRange result;
  result.growth = kInfinity; // its range says it all
  Attribute value;
  if (!matchPattern(op, m_Constant(&value)))
    return lost(op);
  auto [known, isNew] = constants.try_emplace(value, Facts::top());
  if (!isNew) {
    result.facts = known->second;
    return result;
  }
  Facts &facts = known->second;
  auto elements = dyn_cast<ElementsAttr>(value);
  std::optional<numerics::Format> source =
      elements ? getNumericsFormat(elements.getElementType()) : std::nullopt;
  auto raw = source ? getRawElements(elements) : std::nullopt;
  if (auto scalar = dyn_cast<FloatAttr>(value)) {
    facts = Facts::constant(scalar.getValueAsDouble());
  } else if (auto splat = dyn_cast<SplatElementsAttr>(value); splat && source) {
    facts = Facts::constant(splat.getSplatValue<APFloat>().convertToDouble());
    facts.reduce(rowLengthOf(op->getResult(0).getType()));
  } else if (raw) {
    unsigned width = numerics::storageBytes(*source);
    int64_t count = raw->size() / width;
    int64_t length = std::max<int64_t>(rowLengthOf(op->getResult(0).getType()).value_or(1), 1);
    facts =
        domains::scanMatrix(count / length, length, [&](int64_t row, MutableArrayRef<double> to) {
          numerics::convertArray(raw->data() + row * length * width, *source, to.data(),
                                 numerics::Format::F64, length);
        }).elements;
  }
  result.facts = facts;
  return result;
}

FloatRange FloatTransfer::unary(Operation *op, UnaryFn fn, const FloatRange &x, RowLength rows) {
  FloatRange result;
  result.facts = domains::unary(fn, x.facts, rows);
  if (!domains::isExact(fn))
    result.facts = roundedTo(asComputed(fn, result.facts, rows), op->getResult(0).getType(), rows);
  result.parameter = x.parameter;
  result.growth = kInfinity;
  if (std::optional<double> growth = domains::linearBound(fn); growth && x.growth != kInfinity)
    result.growth = *growth * x.growth;
  // Scales made of given parameters, as batch norm's 1 / sqrt(variance + eps).
  if (x.parameter && (fn == UnaryFn::Rsqrt || fn == UnaryFn::Sqrt || fn == UnaryFn::Reciprocal))
    result.growth = 1;
  result.lostAt = x.lostAt;
  return result;
}

FloatRange FloatTransfer::binary(Operation *op, BinaryFn fn, const FloatRange &x,
                                 const FloatRange &y, RowLength rows) {
  FloatRange result;
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (fn == BinaryFn::Pow && y.facts.range == Interval::point(2)) {
    result = unary(op, UnaryFn::Square, x, rows);
  } else if (fn == BinaryFn::Mul && relations.areEqual(a, b)) {
    result.facts =
        roundedTo(domains::unary(UnaryFn::Square, x.facts, rows), op->getResult(0).getType(), rows);
  } else {
    result.facts = domains::binary(fn, x.facts, y.facts, rows);
    if (fn == BinaryFn::Pow || fn == BinaryFn::Atan2)
      result.facts = slackened(result.facts, kElementSlack);
    result.facts = roundedTo(result.facts, op->getResult(0).getType(), rows);
  }
  refineBinary(op, fn, x, y, rows, result.facts);
  result.facts.mayNaN |= x.facts.mayNaN || y.facts.mayNaN;
  result.parameter = x.parameter && y.parameter;
  result.lostAt = x.lostAt.empty() ? y.lostAt : x.lostAt;
  result.growth = kInfinity;
  auto scaled = [](double growth, const Facts &by) {
    return growth == kInfinity || by.mag() == kInfinity ? kInfinity : growth * by.mag();
  };
  switch (fn) {
  case BinaryFn::Add:
  case BinaryFn::Sub:
  case BinaryFn::Maximum:
  case BinaryFn::Minimum:
  case BinaryFn::MaxNum:
  case BinaryFn::MinNum: result.growth = std::max(growthOf(x), growthOf(y)); break;
  case BinaryFn::Mul:
    if (relations.areEqual(a, b))
      break;
    result.growth = std::min(scaled(x.growth, y.facts), scaled(y.growth, x.facts));
    // A parameter times anything assumed: an affine scale.
    if ((x.parameter && x.isAssumed() && growthOf(y) <= kAssumedMargin) ||
        (y.parameter && y.isAssumed() && growthOf(x) <= kAssumedMargin))
      result.growth = std::min(result.growth, 1.0);
    break;
  case BinaryFn::Div:
    if (double smallest = y.facts.range.mig(); smallest > 0)
      result.growth = x.growth / smallest;
    if (y.parameter && y.isAssumed() && growthOf(x) <= kAssumedMargin)
      result.growth = std::min(result.growth, 1.0);
    break;
  default: break;
  }
  return result;
}

/// Relations between operands: what arithmetic on independent ranges cannot see.
/// The loop along the rows of what `op` gives, alone or in a body.
static std::optional<unsigned> rowLoopAt(Operation *op) {
  if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
    return type.getRank() > 0 ? std::optional<unsigned>(type.getRank() - 1) : std::nullopt;
  auto structured = dyn_cast<linalg::LinalgOp>(op->getParentOp());
  return structured ? rowLoopOf(structured) : std::nullopt;
}

void FloatTransfer::refineBinary(Operation *op, BinaryFn fn, const FloatRange &x,
                                 const FloatRange &y, RowLength rows, Facts &facts) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  auto also = [&](Interval range, domains::Provenance provenance = domains::Provenance::Proved,
                  double norm = kInfinity) {
    Facts bound = facts;
    bound.range = domains::intersect(facts.range, range);
    bound.norm2 = std::min(facts.norm2, norm);
    if (bound.range == facts.range && bound.norm2 == facts.norm2)
      return;
    bound.provenance = domains::weakest(facts.provenance, provenance);
    bound.normalize();
    bound.reduce(rows);
    facts = bound;
  };
  /// x over the root of the sum of its squares, times a factor: the computed sum is at least each
  /// of the squares it adds, but for the roundings of one.
  auto normalized = [&](const Relations::Squares &squares) {
    double bound = (1 + kElementSlack) / std::sqrt(squares.factor);
    bool proved = squares.positive && !squares.cancels;
    // Where the sum runs along rows, their squares are among it, each addition a rounding off.
    std::optional<unsigned> along = rowLoopAt(op);
    bool hasRows = along && *along < 31 && (squares.loops >> *along & 1) && squares.count > 0;
    also(Interval::symmetric(bound),
         proved ? domains::Provenance::Proved : domains::Provenance::Assumed,
         hasRows ? domains::mulUp(bound, 1 + double(squares.count) * 0x1p-23) : kInfinity);
  };
  /// x over the largest of the |x|, times a factor.
  auto scaledTo = [](double factor) {
    return Interval::symmetric(factor + (factor + 1) * kElementSlack);
  };
  switch (fn) {
  case BinaryFn::Sub:
    if (relations.isGroupMax(b, a))
      also({-kInfinity, 0});
    else if (relations.areEqual(a, b))
      also(Interval::point(0));
    break;
  case BinaryFn::Div:
    if (x.facts.isNonNegative() && relations.isSumOf(b, a))
      also({0, 1});
    if (auto squares = relations.rootOfSquares(b, a))
      normalized(*squares);
    // What is computed of a subnormal magnitude may lie anywhere.
    if (auto largest = relations.largestOf(b, a);
        largest && (!largest->isRounded || y.facts.range.lo >= 0x1p-126))
      also(scaledTo(1 / largest->factor));
    break;
  case BinaryFn::Mul:
    for (auto [value, other, range, inverse] :
         {std::tuple(a, b, &x, &y), std::tuple(b, a, &y, &x)}) {
      if (range->facts.isNonNegative() && inverse->facts.range.isBounded() &&
          relations.isReciprocalOfSumOf(other, value))
        also({0, 1 + kElementSlack});
      if (auto squares = relations.inverseRootOfSquares(other, value))
        normalized(*squares);
      if (auto largest = relations.inverseLargestOf(other, value);
          largest && inverse->facts.mag() <= 0x1p126)
        also(scaledTo(largest->factor));
    }
    break;
  default: break;
  }
}

domains::FloatFacts FloatTransfer::withError(const domains::FloatFacts &exact, double radius,
                                             numerics::Format format, domains::RowLength rows) {
  domains::FloatFacts result =
      radius < kInfinity ? domains::perturb(exact, radius, rows) : domains::FloatFacts::top();
  if (exact.isNonNegative()) // rounding never takes a sum of non-negative terms below zero
    result.range.lo = std::max(result.range.lo, 0.0);
  result.provenance = exact.provenance;
  return domains::roundTo(result, format, rows);
}

domains::FloatFacts FloatTransfer::withSumError(const domains::FloatFacts &exact, double terms,
                                                double mag, Type type,
                                                domains::RowLength rows) const {
  std::optional<numerics::Format> format = formatOf(type);
  if (!format)
    return domains::FloatFacts::top();
  if (terms > kMostTerms)
    return withError(exact, kInfinity, *format, rows);
  double relative =
      domains::Accumulation::sequential(*format).relativeError(std::max<int64_t>(terms - 1, 0));
  return withError(exact, mulUp(relative, mulUp(terms, mag)), *format, rows);
}

FloatRange FloatTransfer::sum(const FloatRange &x, const domains::ReducedElements &elements,
                              Type type, StringRef op) {
  FloatRange result = x;
  double terms = elements.count.upper();
  RowLength rows = rowLengthOf(type);
  result.facts = withSumError(domains::reduce(domains::ReduceFn::Sum, x.facts, elements, rows),
                              terms, x.facts.mag(), type, rows);
  result.growth = terms == kInfinity ? kInfinity : x.growth * terms;
  if (terms == kInfinity)
    result.lostAt = op;
  return result;
}

FloatRange FloatTransfer::contraction(Operation *op, const FloatMeaning &meaning,
                                      ArrayRef<FloatRange> operands, RowLength rows) {
  FloatRange result;
  result.growth = 1; // the class assumption about contraction results
  result.parameter = false;
  const Facts &x = operands[meaning.operands[0]].facts, &w = operands[meaning.operands[1]].facts;
  domains::ContractionOperand left = {
      x, domains::contractedNorm(x, meaning.products, meaning.innermost[0])};
  domains::ContractionOperand right = {
      w, domains::contractedNorm(w, meaning.products, meaning.innermost[1])};
  domains::ContractionShape shape = {meaning.products, rows};
  Type type = op->getResult(0).getType();
  result.facts = domains::FloatFacts::top();
  std::optional<numerics::Format> format = formatOf(type);
  double products = meaning.products.upper();
  if (format && products <= kMostTerms) {
    double magnitudes = mulUp(products, mulUp(x.mag(), w.mag())),
           largest = std::max(x.mag(), w.mag());
    double radius = 0;
    Type factor = op->getOperand(meaning.operands[0]).getType();
    for (const domains::Accumulation &sum :
         getAccumulationModes(factor, *format, numerics::allArchitectures))
      radius = std::max(radius, domains::addUp(mulUp(sum.relativeError(products), magnitudes),
                                               sum.subnormalError(products, largest)));
    if (std::min(magnitudes, mulUp(left.norm, right.norm)) > numerics::info(*format).maxFinite)
      radius = kInfinity; // a partial sum may overflow
    result.facts = withError(domains::contract(left, right, shape), radius, *format, rows);
  }
  if (meaning.operands.size() > 2 && meaning.operands[2] < operands.size() &&
      getFloatFormat(op->getOperand(meaning.operands[2]).getType()))
    result.facts = roundedTo(
        domains::binary(BinaryFn::Add, result.facts, operands[meaning.operands[2]].facts, rows),
        type, rows);
  return result;
}
