// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes facts of values that share operands, from the shape of the expression.

#include "mp/Domains/Relational.h"

#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

static constexpr double kInf = std::numeric_limits<double>::infinity();

/// A finite result that depends on x alone; infinities in x make NaN in every idiom below.
static FloatFacts dependingOn(const FloatFacts &x, Interval range, double norm2,
                              RowLength rowLength) {
  FloatFacts result = FloatFacts::finite(range, x.provenance);
  result.mayNaN = x.mayNaN || x.mayInf;
  result.norm2 = norm2;
  result.normalize();
  result.reduce(rowLength);
  return result;
}

FloatFacts minusGroupMax(const FloatFacts &x, RowLength rowLength) {
  if (x.isBottom())
    return x;
  FloatFacts result = dependingOn(x, {subDown(x.range.lo, x.range.hi), 0}, kInf, rowLength);
  result.integerValued = x.integerValued;
  // -inf among finite elements is a common mask: it stays -inf.
  result.mayInf = x.mayBeNegativeInf();
  return result;
}

FloatFacts sumOfShiftedExp(const FloatFacts &shifted, const Extent &n, RowLength resultRowLength) {
  if (shifted.isBottom())
    return shifted;
  // One term is exp(0) = 1, the others at least the smallest exponential.
  double others = std::max<double>(static_cast<double>(n.min) - 1, 0);
  double least = image(UnaryFn::Exp, shifted.range).lo;
  FloatFacts result = FloatFacts::finite(
      {addDown(1, mulDown(others, least)), std::max(1.0, n.upper())}, shifted.provenance);
  result.mayNaN = shifted.mayNaN;
  result.reduce(resultRowLength);
  return result;
}

FloatFacts softmax(const FloatFacts &x, const Extent &n, bool groupsAreRows, RowLength rowLength) {
  if (x.isBottom())
    return x;
  // Largest when the others are all as small as possible, smallest the other way round.
  double ratio = image(UnaryFn::Exp, {subDown(x.range.lo, x.range.hi), 0}).lo;
  double others = std::max<double>(static_cast<double>(n.min) - 1, 0);
  double highest = std::min(1.0, divUp(1, addDown(1, mulDown(others, ratio))));
  double lowest = n.max ? divDown(ratio, std::max(1.0, n.upper())) : 0;
  FloatFacts result =
      dependingOn(x, {std::max(0.0, lowest), highest}, groupsAreRows ? 1 : kInf, rowLength);
  // A group of -inf alone is NaN; single masked elements are zeros.
  result.nonZero = !x.mayBeNegativeInf();
  return result;
}

FloatFacts logSoftmax(const FloatFacts &x, const Extent &n, RowLength rowLength) {
  if (x.isBottom())
    return x;
  double spread = subUp(x.range.hi, x.range.lo);
  double lowest = -addUp(spread, image(UnaryFn::Log, {1, std::max(1.0, n.upper())}).hi);
  FloatFacts result = dependingOn(x, {lowest, 0}, kInf, rowLength);
  result.mayInf = x.mayBeNegativeInf();
  return result;
}

FloatFacts minusGroupMean(const FloatFacts &x, const Extent &n, bool groupsAreRows,
                          RowLength rowLength) {
  if (x.isBottom())
    return x;
  double bound = x.range.width();
  if (n.max && *n.max > 0)
    bound = mulUp(bound, divUp(static_cast<double>(*n.max - 1), n.upper()));
  // The projection is no longer than x; nor than half the spread per element (each deviation's
  // square sums to at most n (hi - lo)^2 / 4).
  double norm = kInf;
  if (groupsAreRows)
    norm = std::min(x.norm2, mulUp(sqrtUp(n.upper()), x.range.width() / 2));
  return dependingOn(x, Interval::symmetric(bound), norm, rowLength);
}

FloatFacts variance(const FloatFacts &x, const Extent &n, bool unbiased,
                    RowLength resultRowLength) {
  if (x.isBottom())
    return x;
  double half = x.range.width() / 2;
  double bound = mulUp(half, half);
  bool mayDivideByZero = n.min < (unbiased ? 2 : 1);
  if (unbiased) // n / (n - 1) is largest for the smallest group
    bound = mulUp(bound, divUp(static_cast<double>(std::max<int64_t>(n.min, 2)),
                               static_cast<double>(std::max<int64_t>(n.min, 2) - 1)));
  FloatFacts result = dependingOn(x, {0, bound}, kInf, resultRowLength);
  result.mayNaN |= mayDivideByZero;
  return result;
}

static FloatFacts normalized(const FloatFacts &x, double magnitude, double norm, double epsilon,
                             bool groupsAreRows, RowLength rowLength) {
  FloatFacts result =
      dependingOn(x, Interval::symmetric(magnitude), groupsAreRows ? norm : kInf, rowLength);
  result.mayNaN |= !(epsilon > 0);
  return result;
}

FloatFacts layerNormalized(const FloatFacts &x, const Extent &n, double epsilon, bool groupsAreRows,
                           RowLength rowLength) {
  if (x.isBottom())
    return x;
  // One element against n - 1 equal ones: (n - 1) / sqrt(n - 1).
  double magnitude = sqrtUp(std::max(0.0, n.upper() - 1));
  FloatFacts result =
      normalized(x, magnitude, sqrtUp(n.upper()), epsilon, groupsAreRows, rowLength);
  if (epsilon > 0) {
    // The deviations themselves over sqrt(epsilon), when that is less.
    FloatFacts deviation = minusGroupMean(x, n, groupsAreRows, rowLength);
    double root = sqrtDown(epsilon);
    result.range = intersect(result.range, Interval::symmetric(divUp(deviation.mag(), root)));
    result.norm2 = std::min(result.norm2, divUp(deviation.norm2, root));
  }
  result.reduce(rowLength);
  return result;
}

FloatFacts rmsNormalized(const FloatFacts &x, const Extent &n, double epsilon, bool groupsAreRows,
                         RowLength rowLength) {
  if (x.isBottom())
    return x;
  double root = sqrtUp(n.upper());
  FloatFacts result = normalized(x, root, root, epsilon, groupsAreRows, rowLength);
  if (epsilon > 0) {
    double factor = divUp(1, sqrtDown(epsilon));
    result.range = intersect(result.range, mul(x.range, {0, factor}));
    result.norm2 = std::min(result.norm2, mulUp(x.norm2, factor));
  } else {
    result.range = intersect(result.range, mul(x.range, {0, kInf}));
  }
  result.nonZero = !x.mayBeZero() && !x.mayInf;
  result.normalize();
  result.reduce(rowLength);
  return result;
}

FloatFacts l2Normalized(const FloatFacts &x, double epsilon, bool groupsAreRows,
                        RowLength rowLength) {
  if (x.isBottom())
    return x;
  FloatFacts result = normalized(x, 1, 1, epsilon, groupsAreRows, rowLength);
  result.range = intersect(result.range, mul(x.range, {0, kInf}));
  result.nonZero = !x.mayBeZero() && !x.mayInf;
  result.normalize();
  return result;
}

FloatFacts timesOwnSigmoid(const FloatFacts &x, RowLength rowLength) {
  return unary(UnaryFn::Silu, x, rowLength);
}

FloatFacts overOwnMagnitude(const FloatFacts &a, const FloatFacts &b, RowLength rowLength) {
  if (a.isBottom() || b.isBottom())
    return FloatFacts::bottom();
  if (!b.isNonNegative()) {
    FloatFacts magnitude = unary(UnaryFn::Abs, a, rowLength);
    return binary(BinaryFn::Div, a, binary(BinaryFn::Add, magnitude, b, rowLength), rowLength);
  }
  // a / (|a| + b) rises with a; for one sign of a it falls with b.
  auto ratio = [&](double x, double y) {
    return div(Interval::point(x), add(Interval::point(std::fabs(x)), Interval::point(y)));
  };
  Interval range{-1, 1};
  if (a.range.isBounded() && b.range.lo > 0) {
    range.hi = a.range.hi > 0 ? ratio(a.range.hi, b.range.lo).hi : 0;
    range.lo = a.range.lo < 0 ? ratio(a.range.lo, b.range.lo).lo : 0;
  } else {
    range = intersect(range, mul(a.range, {0, kInf}));
  }
  FloatFacts result = FloatFacts::finite(range, weakest(a.provenance, b.provenance));
  result.mayNaN = a.mayNaN || b.mayNaN || a.mayInf || (a.mayBeZero() && b.mayBeZero());
  result.nonZero = !a.mayBeZero() && !b.mayInf;
  result.normalize();
  result.reduce(rowLength);
  return result;
}

FloatFacts overGroupSum(const FloatFacts &x, const Extent &n, bool groupsAreRows,
                        RowLength rowLength) {
  if (x.isBottom())
    return x;
  if (!x.isNonNegative()) {
    FloatFacts sum = reduce(ReduceFn::Sum, x, ReducedElements::acrossRows(n), std::nullopt);
    return binary(BinaryFn::Div, x, reshapeRows(sum, rowLength), rowLength);
  }
  // hi / (hi + (n - 1) lo) and lo / (lo + (n - 1) hi).
  Interval range{0, 1};
  double others = std::max<double>(static_cast<double>(n.min) - 1, 0);
  if (x.range.lo > 0 && x.range.isBounded()) {
    range.hi = std::min(1.0, divUp(x.range.hi, addDown(x.range.hi, mulDown(others, x.range.lo))));
    if (n.max)
      range.lo =
          divDown(x.range.lo, addUp(x.range.lo, mulUp(std::max(0.0, n.upper() - 1), x.range.hi)));
  }
  FloatFacts result = dependingOn(x, range, groupsAreRows ? 1 : kInf, rowLength);
  result.mayNaN |= x.mayBeZero();
  result.nonZero = !x.mayBeZero();
  return result;
}

} // namespace mpcore::domains
