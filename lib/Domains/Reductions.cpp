// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the facts of sums, products, extrema and softmax in closed form.

#include "mp/Domains/Reductions.h"

#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

double Extent::upper() const { return max ? static_cast<double>(*max) : kInfinity; }

Interval times(const Extent &extent, const Interval &range) {
  double fewest = static_cast<double>(extent.min), most = extent.upper();
  if (range.isEmpty())
    return fewest == 0 ? Interval::point(0) : range;
  return {range.lo < 0 ? mulDown(most, range.lo) : mulDown(fewest, range.lo),
          range.hi > 0 ? mulUp(most, range.hi) : mulUp(fewest, range.hi)};
}

ReducedElements ReducedElements::ofRows(int64_t rows, int64_t length) {
  return {Extent::exactly(rows * length), true, Extent::exactly(rows), length};
}

llvm::StringRef getName(ReduceFn fn) {
  static constexpr const char *names[] = {"sum",   "mean",        "product",      "max",
                                          "min",   "sum_squares", "mean_squares", "sum_abs",
                                          "norm2", "logsumexp"};
  static_assert(sizeof(names) / sizeof(names[0]) == kNumReduceFns);
  return names[static_cast<unsigned>(fn)];
}

/// Range of x^n for n in [min, max].
static Interval productRange(const Interval &x, const Extent &count) {
  if (count.min == 0 && count.max == 0)
    return Interval::point(1);
  if (x.isEmpty())
    return count.min == 0 ? Interval::point(1) : x;
  double mag = x.mag();
  double largest = mag <= 1 ? 1 : kInfinity;
  if (count.max)
    largest = std::max(1.0, powInteger(Interval::point(mag), *count.max).hi);
  if (count.isExact())
    largest = powInteger(Interval::point(mag), count.min).hi;
  if (x.lo >= 0) {
    // Powers of numbers in [lo, hi]: monotone in n on either side of 1.
    double least = x.lo >= 1   ? powInteger(Interval::point(x.lo), count.min).lo
                   : count.max ? powInteger(Interval::point(x.lo), *count.max).lo
                               : 0;
    return {std::max(0.0, least), largest};
  }
  return {-largest, largest};
}

/// Bound on the 2-norm of all reduced elements together.
static double groupNorm(const FloatFacts &x, const ReducedElements &elements) {
  if (!elements.wholeRows)
    return mulUp(sqrtUp(elements.count.upper()), x.mag());
  return std::min(mulUp(sqrtUp(elements.rows.upper()), x.norm2),
                  mulUp(sqrtUp(elements.count.upper()), x.mag()));
}

static Interval reducedRange(ReduceFn fn, const FloatFacts &x, const ReducedElements &elements) {
  const Extent &count = elements.count;
  double norm = groupNorm(x, elements);
  double rootCount = sqrtUp(count.upper());
  switch (fn) {
  case ReduceFn::Sum:
    // Cauchy-Schwarz: |sum| <= sqrt(n) * 2-norm.
    return intersect(times(count, x.range), Interval::symmetric(mulUp(rootCount, norm)));
  case ReduceFn::Mean: {
    Interval mean = x.range;
    if (count.isExact() && count.min > 0)
      mean = intersect(mean, Interval::symmetric(divUp(norm, sqrtDown(count.upper()))));
    return mean;
  }
  case ReduceFn::Product: return productRange(x.range, count);
  case ReduceFn::Max: return count.min > 0 ? x.range : hull(x.range, Interval::point(-kInfinity));
  case ReduceFn::Min: return count.min > 0 ? x.range : hull(x.range, Interval::point(kInfinity));
  case ReduceFn::SumSquares:
    return intersect(times(count, square(x.range)), {0, mulUp(norm, norm)});
  case ReduceFn::MeanSquares: {
    Interval mean = square(x.range);
    if (count.isExact() && count.min > 0)
      mean = intersect(mean, {0, divUp(mulUp(norm, norm), count.upper())});
    return mean;
  }
  case ReduceFn::SumAbs: return intersect(times(count, abs(x.range)), {0, mulUp(rootCount, norm)});
  case ReduceFn::Norm2: {
    Interval squares = times(count, square(x.range));
    return intersect({sqrtDown(std::max(0.0, squares.lo)), sqrtUp(squares.hi)}, {0, norm});
  }
  case ReduceFn::LogSumExp: {
    Interval terms{static_cast<double>(count.min), count.upper()};
    Interval range = add(x.range, image(UnaryFn::Log, terms));
    return count.min > 0 ? range : hull(range, Interval::point(-kInfinity));
  }
  }
  return Interval::top();
}

/// 2-norm of a result row when rows are combined element by element.
static double combinedRowNorm(ReduceFn fn, const FloatFacts &x, const ReducedElements &elements) {
  if (elements.wholeRows)
    return kInfinity;
  double count = elements.count.upper();
  switch (fn) {
  case ReduceFn::Sum:
  case ReduceFn::SumAbs: return mulUp(count, x.norm2);
  case ReduceFn::Mean: return elements.count.min > 0 ? x.norm2 : kInfinity;
  case ReduceFn::Max:
  case ReduceFn::Min:
  case ReduceFn::Norm2: return elements.count.min > 0 ? mulUp(sqrtUp(count), x.norm2) : kInfinity;
  default: return kInfinity;
  }
}

FloatFacts reduce(ReduceFn fn, const FloatFacts &x, const ReducedElements &elements,
                  RowLength resultRowLength) {
  if (x.isBottom())
    return x;
  FloatFacts result = FloatFacts::finite(reducedRange(fn, x, elements), x.provenance);
  bool mayBeEmpty = elements.count.min == 0;
  bool several = !elements.count.max || *elements.count.max > 1;
  bool isSum = fn == ReduceFn::Sum || fn == ReduceFn::Mean;
  result.mayNaN = x.mayNaN;
  result.mayNaN |= several && isSum && x.mayBePositiveInf() && x.mayBeNegativeInf();
  result.mayNaN |= several && fn == ReduceFn::Product && x.mayInf && x.mayBeZero();
  result.mayNaN |= mayBeEmpty && (fn == ReduceFn::Mean || fn == ReduceFn::MeanSquares);
  // Written as log(sum(exp x)): log(inf) is inf; with a subtracted maximum inf - inf appears.
  result.mayNaN |= fn == ReduceFn::LogSumExp && x.mayInf;
  result.mayInf =
      x.mayInf ||
      (mayBeEmpty && (fn == ReduceFn::Max || fn == ReduceFn::Min || fn == ReduceFn::LogSumExp));
  bool averages = fn == ReduceFn::Mean || fn == ReduceFn::MeanSquares || fn == ReduceFn::Norm2 ||
                  fn == ReduceFn::LogSumExp;
  result.integerValued = x.integerValued && !averages;
  bool selects = fn == ReduceFn::Max || fn == ReduceFn::Min;
  bool keepsNonZero = selects || fn == ReduceFn::Product ||
                      (!mayBeEmpty && (fn == ReduceFn::SumAbs || fn == ReduceFn::SumSquares ||
                                       fn == ReduceFn::MeanSquares || fn == ReduceFn::Norm2));
  result.nonZero = keepsNonZero && !x.mayBeZero();
  result.norm2 = combinedRowNorm(fn, x, elements);
  result.normalize();
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
  FloatFacts result = FloatFacts::finite({std::max(0.0, lowest), highest}, x.provenance);
  result.mayNaN = x.mayNaN || x.mayInf;
  result.norm2 = groupsAreRows ? 1 : kInfinity;
  result.normalize();
  result.reduce(rowLength);
  // A group of -inf alone is NaN; single masked elements are zeros.
  result.nonZero = !x.mayBeNegativeInf();
  return result;
}

} // namespace mpcore::domains
