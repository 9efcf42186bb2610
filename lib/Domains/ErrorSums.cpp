// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of reductions, contractions and the idioms built on them.

#include "ErrorDetail.h"

#include <algorithm>

namespace mpcore::domains {

using namespace detail;

/// Would a running sum of this magnitude leave the accumulator's range?
static bool accumulatorOverflows(double magnitude, const Accumulation &accumulation) {
  return roundingError(magnitude, {accumulation.format}) == kInf;
}

/// Sums before they are stored: inherited error, accumulation error, magnitude of the running sum.
struct SumParts {
  double inherited, accumulation, magnitude;
};

static SumParts sumParts(const Measured &x, const ReducedElements &elements,
                         const Accumulation &accumulation) {
  double count = elements.count.upper();
  SumParts parts;
  parts.inherited = mulUp(count, x.error.abs);
  double magnitudes = mulUp(count, x.computedMag());
  if (elements.wholeRows) {
    // Cauchy-Schwarz over the group: sqrt(count) times its 2-norm.
    double root = mulUp(sqrtUp(count), sqrtUp(elements.rows.upper()));
    parts.inherited = std::min(parts.inherited, mulUp(root, x.error.norm2));
    magnitudes = std::min(magnitudes, mulUp(root, addUp(x.value.norm2, x.error.norm2)));
  }
  int64_t terms = elements.count.max.value_or(0);
  if (accumulation.group == 1)
    terms = std::max<int64_t>(terms - 1, 0);
  parts.accumulation =
      elements.count.max ? mulUp(accumulation.relativeError(terms), magnitudes) : kInf;
  parts.magnitude = addUp(magnitudes, parts.accumulation);
  if (accumulatorOverflows(parts.magnitude, accumulation))
    parts.accumulation = kInf;
  return parts;
}

static ErrorFacts stored(const SumParts &parts, const Measured &x, const FloatFacts &exact,
                         bool roundsAgain, const Arithmetic &arithmetic) {
  ErrorFacts error;
  error.provenance = weakest(x.error.provenance, x.value.provenance);
  error.abs = addUp(parts.inherited, parts.accumulation);
  return roundsAgain ? rounded(error, exact, arithmetic) : finish(error, exact, arithmetic);
}

ErrorFacts sumError(const Measured &x, const ReducedElements &elements,
                    const Accumulation &accumulation, const Arithmetic &arithmetic) {
  if (x.error.isBottom() || x.value.isBottom())
    return ErrorFacts::bottom();
  FloatFacts exact = reduce(ReduceFn::Sum, x.value, elements, arithmetic.rowLength);
  return stored(sumParts(x, elements, accumulation), x, exact,
                accumulation.format != arithmetic.format, arithmetic);
}

/// Relative and absolute parts of converting an operand: |converted - x| <= u |x| + eta.
struct Conversion {
  double u = 0, eta = 0;
  bool overflows = false;

  Conversion(const ContractionSide &side, double magnitude) {
    if (!side.conversion)
      return;
    const numerics::FormatInfo &facts = numerics::info(*side.conversion);
    u = facts.unitRoundoff;
    eta = facts.underflowUnit;
    overflows = roundingError(magnitude, {*side.conversion}) == kInf;
  }
};

/// Magnitudes of a side once its error is in it.
struct ComputedSide {
  double mag, norm1, norm2;

  ComputedSide(const ContractionSide &side, double k) {
    mag = addUp(side.operand.facts.mag(), side.error.abs);
    double exactNorm1 = std::min(side.norm1, mulUp(k, side.operand.facts.mag()));
    norm1 = addUp(exactNorm1, mulUp(k, side.error.abs));
    norm2 = addUp(side.operand.norm, std::min(side.error.norm2, mulUp(sqrtUp(k), side.error.abs)));
  }
};

ContractionError contractionError(const ContractionSide &x, const ContractionSide &w, int64_t k,
                                  const Accumulation &accumulation, const Extent &contracted,
                                  const Arithmetic &arithmetic) {
  ContractionError result;
  if (x.error.isBottom() || w.error.isBottom() || x.operand.facts.isBottom() ||
      w.operand.facts.isBottom()) {
    result.total = ErrorFacts::bottom();
    return result;
  }
  double terms = static_cast<double>(k), ex = x.error.abs, ew = w.error.abs;
  ComputedSide cx(x, terms), cw(w, terms);
  // A bounds sum |x w| over the computed operands.
  double products = std::min({mulUp(terms, mulUp(cx.mag, cw.mag)), mulUp(cx.norm1, cw.mag),
                              mulUp(cw.norm1, cx.mag), mulUp(cx.norm2, cw.norm2)});

  double exactNorm1X = std::min(x.norm1, mulUp(terms, x.operand.facts.mag()));
  double byElements = addUp(addUp(mulUp(ex, cw.norm1), mulUp(ew, exactNorm1X)), 0);
  double byNorms = addUp(mulUp(x.error.norm2, cw.norm2), mulUp(w.error.norm2, x.operand.norm));
  result.inherited = std::min(byElements, std::isnan(byNorms) ? kInf : byNorms);

  Conversion ux(x, cx.mag), uw(w, cw.mag);
  double relative = addUp(addUp(ux.u, uw.u), mulUp(ux.u, uw.u));
  double underflow = addUp(
      addUp(mulUp(ux.eta, mulUp(cw.norm1, 1 + uw.u)), mulUp(uw.eta, mulUp(cx.norm1, 1 + ux.u))),
      mulUp(terms, mulUp(ux.eta, uw.eta)));
  result.conversion = addUp(mulUp(relative, products), underflow);
  double convertedProducts = addUp(mulUp(addUp(1, relative), products), underflow);

  double accumulated = accumulation.relativeError(k);
  double subnormal = accumulation.subnormalError(k, 2 * std::max(cx.mag, cw.mag));
  result.accumulation = addUp(mulUp(accumulated, convertedProducts), subnormal);
  if (ux.overflows || uw.overflows ||
      accumulatorOverflows(addUp(convertedProducts, result.accumulation), accumulation))
    result.accumulation = kInf;

  FloatFacts exact = contract(x.operand, w.operand, contracted, arithmetic.rowLength);
  ErrorFacts error;
  error.provenance = weakest(weakest(x.error.provenance, w.error.provenance), exact.provenance);
  error.abs = addUp(addUp(result.inherited, result.conversion), result.accumulation);
  result.total = accumulation.format == arithmetic.format ? finish(error, exact, arithmetic)
                                                          : rounded(error, exact, arithmetic);
  result.result = accumulation.format == arithmetic.format
                      ? 0
                      : roundingError(addUp(exact.mag(), error.abs), arithmetic);
  return result;
}

double splitError(double x, double w, int64_t k, numerics::SplitScheme scheme,
                  const Accumulation &accumulation) {
  const numerics::FormatInfo &part = numerics::info(numerics::partFormat(scheme));
  if (roundingError(x, {numerics::partFormat(scheme)}) == kInf ||
      roundingError(w, {numerics::partFormat(scheme)}) == kInf)
    return kInf;
  double terms = static_cast<double>(k), u = part.unitRoundoff, grown = (1 + u) * (1 + u);
  // Relative to k |x| |w|: the smaller products, each a rounding of a factor below the one before.
  double smaller = 0;
  for (auto [i, j] : numerics::partPairs(scheme))
    smaller += i + j == 0 ? 0 : std::pow(u, i + j) * grown;
  int64_t pairs = numerics::partPairs(scheme).size();
  // They add up in one sum or several: each is rounded once more at most.
  double sums = addUp(accumulation.relativeError(pairs * k), double(pairs) * 0x1p-23);
  double relative = numerics::droppedPartsBound(scheme) +
                    accumulation.relativeError(k) * (grown - 1) + sums * smaller;
  double lost = mulUp(2.0 * numerics::partCount(scheme) * part.underflowUnit,
                      mulUp(terms, addUp(std::max(x, w), part.underflowUnit)));
  double subnormal = accumulation.subnormalError(pairs * k, 2 * std::max(x, w));
  return addUp(mulUp(mulUp(relative, 1 + 1e-12), mulUp(terms, mulUp(x, w))),
               addUp(lost, subnormal));
}

SoftmaxError softmaxError(const Measured &x, int64_t n, double expUlps,
                          const Arithmetic &arithmetic) {
  SoftmaxError result;
  if (x.error.isBottom() || x.value.isBottom()) {
    result.elements = ErrorFacts::bottom();
    return result;
  }
  result.elements.provenance = weakest(x.error.provenance, x.value.provenance);
  const numerics::FormatInfo &facts = numerics::info(arithmetic.format);
  double u = facts.unitRoundoff, terms = static_cast<double>(n);
  double entropy = image(UnaryFn::Log, Interval::point(std::max(terms, 1.0))).hi;
  // An ulp is at most 2u of its value; numerator and sum both contain exponentials; sum, division
  // or reciprocal and product round once each.
  double common = addUp(mulUp(4 * expUlps + 3, u), mulUp(terms, u));
  // Rounding x_i - m moves y_i by u |x_i - m| y_i <= u / e, and the sum by u sum y_j |x_j - m| <= u
  // ln n.
  double each = addUp(mulUp(u, addUp(0.37, entropy)), common);
  double group = addUp(mulUp(u, 2 * entropy), common);
  // An error that is small to first order stays so: 1 / (1 - 2 t) covers the remainder.
  if (!(group < 0.25) || !(x.error.abs < kInf))
    return result;
  double remainder = divUp(1, subDown(1, 2 * group));
  double underflow = mulUp(2 * terms + 2, facts.underflowUnit);
  double rounding = addUp(mulUp(each, remainder), underflow);
  double groupRounding = addUp(mulUp(group, remainder), mulUp(terms, underflow));
  result.elements.abs = addUp(x.error.abs / 2, rounding);
  result.elements.norm2 = addUp(std::min(x.error.norm2 / 2, x.error.abs), groupRounding);
  result.norm1 = addUp(x.error.abs, groupRounding);
  // Both vectors are distributions up to rounding.
  result.elements.abs = std::min(result.elements.abs, addUp(1, rounding));
  return result;
}

} // namespace mpcore::domains
