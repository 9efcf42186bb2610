// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The t-mixture martingale, its confidence sequence, and a mixture over signs.

#include "mp/Watch/PairedTest.h"
#include "mp/Watch/Numbers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace mpcore;
using namespace mpcore::watch;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

llvm::StringRef watch::toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Identical: return "identical";
  case Verdict::ABetter: return "a-better";
  case Verdict::BBetter: return "b-better";
  case Verdict::Equivalent: return "equivalent";
  case Verdict::Undecided: break;
  }
  return "undecided";
}

/// E_n = sqrt(g / (n + g)) (1 - S^2 / (n V) n / (n + g))^(-n/2), S the sum, V that of squares.
static double tMixture(double n, double sum, double squares, double g) {
  if (!(squares > 0))
    return 1;
  const double share = sum * sum / (n * squares) * n / (n + g);
  return std::sqrt(g / (n + g)) * std::pow(1 - share, -n / 2);
}

/// The half width of the confidence sequence: deviation times sqrt((n - 1) r / (n (1 - r))) with
/// r = ((n + g) / n) (1 - (alpha^2 g / (n + g))^(1/n)), infinite where r reaches one.
static double halfWidth(double n, double deviation, double alpha, double g) {
  const double r = (n + g) / n * (1 - std::pow(alpha * alpha * g / (n + g), 1 / n));
  return n > 1 && r < 1 ? deviation * std::sqrt((n - 1) * r / (n * (1 - r))) : kInfinity;
}

/// Krichevsky-Trofimov mixture over the probability of a positive sign, against one half:
/// B(k + 1/2, n - k + 1/2) / B(1/2, 1/2) 2^n.
static double signMixture(double positive, double n) {
  auto logBeta = [](double x, double y) {
    return std::lgamma(x) + std::lgamma(y) - std::lgamma(x + y);
  };
  return std::exp(logBeta(positive + 0.5, n - positive + 0.5) - logBeta(0.5, 0.5) +
                  n * std::log(2.0));
}

static double correlate(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  double meanA = 0, meanB = 0, ab = 0, aa = 0, bb = 0;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    meanA += x / double(a.size());
    meanB += y / double(b.size());
  }
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    ab += (x - meanA) * (y - meanB);
    aa += (x - meanA) * (x - meanA);
    bb += (y - meanB) * (y - meanB);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

/// The first number of pairs at which mean and deviation as they are would decide.
static size_t project(const PairedResult &result, const PairedOptions &options) {
  for (size_t n = result.pairs + 1; n < 100000; n += std::max<size_t>(1, n / 50)) {
    const double width = halfWidth(double(n), result.deviation, options.alpha, options.prior);
    if (width < std::fabs(result.mean) || std::fabs(result.mean) + width < options.margin)
      return n;
  }
  return 0;
}

PairedResult watch::comparePairs(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b,
                                 const PairedOptions &options) {
  PairedResult result;
  std::vector<double> keptA, keptB;
  double positive = 0, signs = 0, sum = 0, squares = 0;
  bool identical = true;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    identical &= x == y || (std::isnan(x) && std::isnan(y));
    // A run without a number has a sign, since it is worse than any, but no size.
    const double difference = std::isfinite(x) && std::isfinite(y) ? y - x
                              : std::isfinite(x)                   ? kInfinity
                              : std::isfinite(y)                   ? -kInfinity
                                                                   : 0;
    signs += difference != 0;
    positive += difference > 0;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++result.dropped;
      continue;
    }
    keptA.push_back(x);
    keptB.push_back(y);
    sum += difference;
    squares += difference * difference;
  }
  const double n = double(keptA.size());
  result.pairs = keptA.size();
  result.low = -kInfinity;
  result.high = kInfinity;
  result.signEvidence = signMixture(positive, signs);
  if (result.pairs) {
    result.mean = sum / n;
    result.deviation = n > 1 ? std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1)) : 0;
    result.evidence = tMixture(n, sum, squares, options.prior);
    const double width = halfWidth(n, result.deviation, options.alpha, options.prior);
    result.low = result.mean - width;
    result.high = result.mean + width;
    result.correlation = correlate(keptA, keptB);
  }
  if (identical) {
    result.verdict = Verdict::Identical;
    return result;
  }
  // Pairs without numbers leave only their signs.
  const double evidence = result.dropped ? result.signEvidence : result.evidence;
  const bool bIsWorse = result.dropped ? 2 * positive > signs : result.mean > 0;
  if (evidence >= 1 / options.alpha)
    result.verdict = bIsWorse ? Verdict::ABetter : Verdict::BBetter;
  if (!result.dropped && result.low > -options.margin && result.high < options.margin)
    result.verdict = Verdict::Equivalent;
  if (result.verdict == Verdict::Undecided && !result.dropped && result.pairs > 1)
    result.pairsNeeded = project(result, options);
  return result;
}

std::string watch::describeInterval(const PairedResult &result, const PairedOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const bool isBounded = std::isfinite(result.low) && std::isfinite(result.high);
  os << (isBounded ? "" : "no ") << llvm::format("%g", 100 * (1 - options.alpha)) << " % interval";
  if (isBounded)
    os << llvm::format(" %.4g", result.low) << " to " << llvm::format("%.4g", result.high)
       << " at any look";
  else
    os << " from so few pairs";
  return text;
}

llvm::json::Object PairedResult::toJSON() const {
  return llvm::json::Object{
      {"pairs", int64_t(pairs)},
      {"dropped", int64_t(dropped)},
      {"mean_difference", numberOrNull(mean)},
      {"deviation", numberOrNull(deviation)},
      {"interval", llvm::json::Array{numberOrNull(low), numberOrNull(high)}},
      {"odds", numberOrNull(evidence)},
      {"odds_by_signs", numberOrNull(signEvidence)},
      {"correlation", numberOrNull(correlation)},
      {"verdict", toString(verdict)},
      {"pairs_needed", pairsNeeded ? llvm::json::Value(int64_t(pairsNeeded)) : nullptr}};
}
