// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of sums, extrema, averages and contractions, with the errors of their accumulation.

#include "RangeTransfer.h"
#include "mp/Analysis/AccumulationModes.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Domains/Infinity.h"
#include "mp/Domains/Reductions.h"
#include "mp/Domains/Rounding.h"
#include "mp/Numerics/ArrayCast.h"

using namespace mlir;
using namespace mlir::mp;
using domains::addUp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;
using domains::kInfinity;
using domains::mulUp;

/// Sums of more terms are not bounded.
static constexpr double kMostTerms = 0x1p53;

namespace {
/// Bounds how far a sum is off before it is stored.
struct SumError {
  double radius;   ///< at most
  bool isPositive; ///< none of its terms is negative
  double share;    ///< of all magnitudes, that additions lose,
  double smallest; ///< and what they lose where partial sums are too small for normal numbers
};
} // namespace

/// No rounding takes a sum of terms that are not negative below zero, nor more of it than a share:
/// it is all of their magnitudes. None gives inf - inf.
static FloatFacts withError(const FloatFacts &exact, const SumError &error, numerics::Format format,
                            domains::RowLength rows) {
  FloatFacts result =
      error.radius < kInfinity ? domains::perturb(exact, error.radius, rows) : FloatFacts::top();
  if (error.isPositive) {
    double least = error.share < 1 ? exact.range.lo * (1 - error.share) * (1 - 0x1p-40) : 0;
    result.range.lo = std::max({result.range.lo, least - error.smallest, 0.0});
    result.mayNaN = exact.mayNaN;
  }
  result.provenance = exact.provenance;
  return domains::flushSubnormals(domains::roundTo(result, format, rows), format);
}

/// `exact` sums of `count` of these terms, on top of `init`, as they are computed in whatever
/// order.
FloatFacts RangeTransfer::finishSum(FloatFacts exact, const FloatFacts &terms, double count,
                                    const FloatFacts &init, Type type) const {
  std::optional<numerics::Format> format = formatOf(type);
  RowLength rows = rowLengthOf(type);
  if (!format)
    return Facts::top();
  bool isPositive = terms.isNonNegative() && init.isNonNegative();
  exact = domains::binary(BinaryFn::Add, exact, domains::reshapeRows(init, rows), rows);
  // Every partial sum is at most the sum of all magnitudes, the initial value's among them.
  double magnitudes = addUp(mulUp(count, terms.mag()), init.mag());
  const numerics::FormatInfo &info = numerics::info(*format);
  if (!(count <= kMostTerms))
    return withError(exact, {kInfinity, isPositive, 1, 0}, *format, rows);
  bool startsAtZero = init.range == Interval::point(0) && !init.mayNaN;
  int64_t additions = std::max<int64_t>(int64_t(count) - startsAtZero, 0);
  double relative = domains::Accumulation::sequential(*format).relativeError(additions);
  bool mayOverflow = !(mulUp(magnitudes, 1.01) <= info.maxFinite);
  return withError(exact,
                   {mayOverflow ? kInfinity : mulUp(relative, magnitudes), isPositive, relative,
                    mulUp(count, info.minNormal)},
                   *format, rows);
}

FloatFacts RangeTransfer::sum(const FloatFacts &x, const domains::ReducedElements &elements,
                              const FloatFacts &init, Type type) const {
  FloatFacts exact = domains::reduce(domains::ReduceFn::Sum, x, elements, rowLengthOf(type));
  return finishSum(exact, x, elements.count.upper(), init, type);
}

FloatFacts RangeTransfer::sumOfSquares(const FloatFacts &x,
                                       const domains::ReducedElements &elements,
                                       const FloatFacts &init, const FloatFacts &squares,
                                       Type type) const {
  FloatFacts exact = domains::reduce(domains::ReduceFn::SumSquares, x, elements, rowLengthOf(type));
  // Each square is rounded before it is added.
  double count = elements.count.upper();
  if (std::optional<numerics::Format> format = formatOf(type)) {
    const numerics::FormatInfo &info = numerics::info(*format);
    double share = 2 * info.unitRoundoff, smallest = mulUp(count, info.minNormal);
    exact = withError(
        exact, {addUp(mulUp(exact.mag(), share), smallest), /*isPositive=*/true, share, smallest},
        numerics::Format::F64, rowLengthOf(type));
  }
  return finishSum(exact, squares, count, init, type);
}

FloatFacts RangeTransfer::extremum(BinaryFn fn, const FloatFacts &x,
                                   domains::ReducedElements elements, const FloatFacts &init,
                                   Type type) const {
  bool isMax = fn == BinaryFn::Maximum || fn == BinaryFn::MaxNum;
  bool dropsNaN = fn == BinaryFn::MaxNum || fn == BinaryFn::MinNum;
  RowLength rows = rowLengthOf(type);
  bool mayBeEmpty = elements.count.min == 0;
  // An empty group gives the initial value, which takes part anyway.
  elements.count.min = std::max<int64_t>(elements.count.min, 1);
  FloatFacts all =
      domains::reduce(isMax ? domains::ReduceFn::Max : domains::ReduceFn::Min, x, elements, rows);
  FloatFacts facts = domains::binary(isMax ? BinaryFn::Maximum : BinaryFn::Minimum, all,
                                     domains::reshapeRows(init, rows), rows);
  facts.mayNaN = x.mayNaN || init.mayNaN;
  if (mayBeEmpty || (dropsNaN && x.mayNaN))
    facts = domains::join(facts, domains::reshapeRows(init, rows));
  return facts;
}

FloatFacts RangeTransfer::average(const FloatFacts &x, const FloatMeaning &meaning, Type type,
                                  RowLength rows) const {
  std::optional<numerics::Format> format = formatOf(type);
  double terms = meaning.products.upper();
  if (!format || !(terms <= kMostTerms))
    return Facts::top();
  double magnitudes = mulUp(terms, x.mag());
  double relative = domains::Accumulation::sequential(*format).relativeError(int64_t(terms) + 1);
  FloatFacts exact = domains::reshapeRows(x, rows);
  exact.integerValued = exact.nonZero = false;
  bool mayOverflow = !(mulUp(magnitudes, 1.01) <= numerics::info(*format).maxFinite);
  return withError(exact,
                   {mayOverflow ? kInfinity : mulUp(relative, x.mag()), x.isNonNegative(), relative,
                    mulUp(terms + 1, numerics::info(*format).minNormal)},
                   *format, rows);
}

FloatFacts RangeTransfer::asFactor(const FloatFacts &x, Type type, RowLength rows) const {
  if (!options.narrow || !getFloatFormat(type).isF32())
    return x;
  numerics::Format narrow = *numerics::formatOf(options.narrow.getFloatSemantics());
  if (!(x.mag() <= numerics::info(narrow).maxFinite))
    return x;
  return domains::join(x, domains::roundTo(x, narrow, rows));
}

FloatFacts RangeTransfer::contraction(Operation *op, const FloatMeaning &meaning,
                                      ArrayRef<const FloatFacts *> operands, RowLength rows) const {
  for (unsigned index : {0, 1}) // of integers, or complex numbers
    if (!operands[meaning.operands[index]])
      return FloatFacts::top();
  auto factor = [&](unsigned index) {
    Type type = op->getOperand(meaning.operands[index]).getType();
    return asFactor(*operands[meaning.operands[index]], type, rowLengthOf(type));
  };
  const FloatFacts x = factor(0), w = factor(1);
  domains::ContractionOperand left = {
      x, domains::contractedNorm(x, meaning.products, meaning.innermost[0])};
  domains::ContractionOperand right = {
      w, domains::contractedNorm(w, meaning.products, meaning.innermost[1])};
  Type type = op->getResult(0).getType();
  std::optional<numerics::Format> format = formatOf(type);
  double products = meaning.products.upper();
  if (!format || !(products <= kMostTerms))
    return Facts::top();
  FloatFacts exact = domains::contract(left, right, meaning.products, rows);
  double started = 0;
  bool isPositive = x.isNonNegative() && w.isNonNegative();
  if (meaning.operands.size() > 2 && meaning.operands[2] < operands.size() &&
      operands[meaning.operands[2]]) {
    const FloatFacts &init = *operands[meaning.operands[2]];
    exact = domains::binary(BinaryFn::Add, exact, domains::reshapeRows(init, rows), rows);
    started = init.mag();
    isPositive &= init.isNonNegative();
  }
  // Partial sums are at most the sum of all magnitudes, or of the norms, on top of the start.
  double largest = std::max(x.mag(), w.mag());
  double magnitudes = addUp(mulUp(products, mulUp(x.mag(), w.mag())), started);
  double partial = addUp(
      std::min(mulUp(products, mulUp(x.mag(), w.mag())), mulUp(left.norm, right.norm)), started);
  SumError error = {0, isPositive, 0, mulUp(products + 1, numerics::info(*format).minNormal)};
  Type factorType = op->getOperand(meaning.operands[0]).getType();
  SmallVector<domains::Accumulation> modes =
      getAccumulationModes(factorType, *format, numerics::allArchitectures);
  if (options.narrow && getFloatFormat(factorType).isF32())
    llvm::append_range(modes,
                       getAccumulationModes(options.narrow, *format, numerics::allArchitectures));
  for (const domains::Accumulation &mode : modes) {
    double share = mode.relativeError(products + 1),
           smallest = mode.subnormalError(products + 1, largest);
    error.radius = std::max(error.radius, addUp(mulUp(share, magnitudes), smallest));
    error.share = std::max(error.share, share);
    error.smallest = std::max(error.smallest, smallest);
  }
  if (!(mulUp(partial, 1.01) <= numerics::info(*format).maxFinite))
    error.radius = kInfinity; // a partial sum may overflow
  if (!options.anyContraction)
    return withError(exact, error, *format, rows);
  // Rounding moves each factor by a quarter in E2M1, the coarsest float (1.25^2 < 1.6); f16 has
  // nothing between 0 and 2^-24. Signs stay, but what is small may become zero.
  constexpr double share = 0.6, smallest = 0x1p-25;
  double moved =
      addUp(mulUp(share, partial), mulUp(mulUp(products, smallest), addUp(x.mag(), w.mag())));
  error.radius = addUp(error.radius, moved);
  FloatFacts any = withError(exact, error, *format, rows);
  return FloatFacts::finite(domains::hull(any.range, Interval::point(0)), any.provenance);
}
