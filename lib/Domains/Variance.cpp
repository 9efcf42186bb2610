// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the variance of rounding errors in sums, contractions and softmax.

#include "mp/Domains/Variance.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace mpcore::domains {

using numerics::Format;

static double square(double x) { return x * x; }

static double roundingVariance(double rms, Format format) {
  const numerics::FormatInfo &facts = numerics::info(format);
  double relative = kRoundingRms * facts.unitRoundoff * rms;
  // Below the normal range the error is uniform within a fixed last place: eta / sqrt(3).
  return rms < facts.minNormal ? square(facts.underflowUnit) / 3 : square(relative);
}

static Signal roundedSignal(Signal signal, Format format) {
  signal.variance += roundingVariance(signal.rms, format);
  return signal;
}

Signal castSignal(const Signal &x, Format format) { return roundedSignal(x, format); }

/// Steps of a chained sum are each off by a uniform error of the size of the running sum, which
/// grows like a square root; cut terms lose half a step on average, but towards zero, so that signs
/// cancel. What is cut off the running sum itself keeps its sign: over n steps of a random walk
/// that adds up to n / sqrt(3) times the last sum.
static double accumulationVariance(double resultRms, int64_t k, const Accumulation &accumulation) {
  double chunk =
      static_cast<double>(accumulation.promoteEvery ? std::min(accumulation.promoteEvery, k) : k);
  double total = static_cast<double>(k), group = static_cast<double>(accumulation.group);
  double stepRms = (accumulation.biased ? 1 / std::sqrt(3.0) : kRoundingRms) * accumulation.step;
  if (accumulation.biased) // b + 1 independent cuts rather than their sum
    stepRms /= std::sqrt(group + 1);
  double steps = std::ceil(chunk / group);
  double chunkRms = resultRms * std::sqrt(chunk / total);
  double inner = square(stepRms * chunkRms) * steps / 2 * (total / chunk);
  inner += square(accumulation.drift * steps * resultRms) / 3;
  double outer = square(kRoundingRms * accumulation.promotion * resultRms) * (total / chunk) / 2;
  return inner + (accumulation.promoteEvery ? outer : 0);
}

Signal contractionSignal(const Signal &x, const Signal &w, int64_t k,
                         std::optional<Format> operands, const Accumulation &accumulation,
                         Format result) {
  Signal cx = operands ? castSignal(x, *operands) : x;
  Signal cw = operands ? castSignal(w, *operands) : w;
  double terms = static_cast<double>(k);
  Signal y;
  y.rms = std::sqrt(terms) * x.rms * w.rms;
  y.variance = terms * (square(cx.rms) * cw.variance + square(cw.rms) * cx.variance +
                        cx.variance * cw.variance);
  y.variance += accumulationVariance(y.rms, k, accumulation);
  return accumulation.format == result ? y : roundedSignal(y, result);
}

Signal splitSignal(const Signal &x, const Signal &w, int64_t k, numerics::SplitScheme scheme,
                   const Accumulation &accumulation) {
  Format format = numerics::partFormat(scheme);
  unsigned parts = numerics::partCount(scheme);
  // Each part is to the one before as a rounding error is to its value.
  double step = square(kRoundingRms * numerics::info(format).unitRoundoff);
  double dropped = parts * numerics::info(format).precision >= 24 ? 0 : 2 * std::pow(step, parts);
  for (uint8_t i = 0; i < parts; ++i)
    for (uint8_t j = 0; j < parts; ++j)
      if (!llvm::is_contained(numerics::partPairs(scheme), std::pair<uint8_t, uint8_t>(i, j)))
        dropped += std::pow(step, i + j);
  Signal y = contractionSignal(x, w, k, std::nullopt, accumulation, Format::F32);
  y.variance += square(y.rms) * dropped;
  return roundedSignal(y, Format::F32); // where small and large products meet
}

Signal softmaxSignal(const Signal &x, int64_t n, Format format) {
  // For logits of variance s^2 exponentials are log-normal: mean square of y is e^(s^2) / n^2.
  double terms = static_cast<double>(n);
  double rms = std::min(1.0, std::exp(std::min(square(x.rms), 2 * std::log(terms)) / 2) / terms);
  return roundedSignal({rms, square(rms) * x.variance}, format);
}

double softmaxShare(double logitRms, int64_t n) {
  // Rows of a part are much alike where they are long. The logits that come close to the largest
  // decide, so quantiles would not do.
  size_t length = size_t(std::clamp<int64_t>(n, 1, 256)),
         rows = std::max<size_t>(32, 8192 / length);
  std::mt19937_64 bits(1);
  auto uniform = [&] { return (double(bits() >> 11) + 0.5) * 0x1p-53; };
  std::vector<double> row(length);
  double kept = 0, all = 0;
  for (size_t r = 0; r < rows; ++r) {
    double largest = -HUGE_VAL, total = 0, squares = 0, cubes = 0;
    for (double &x : row) {
      x = logitRms * std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform());
      largest = std::max(largest, x);
    }
    for (double x : row) {
      double y = std::exp(x - largest);
      total += y;
      squares += y * y;
      cubes += y * y * y;
    }
    double q = squares / (total * total);
    kept += q * (1 + q) - 2 * cubes / (total * total * total);
    all += q;
  }
  return std::max(kept, 0.0) / all;
}

} // namespace mpcore::domains
