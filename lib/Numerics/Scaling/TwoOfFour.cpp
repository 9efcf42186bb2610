// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves two of four weights, and lets them make up for the others.

#include "SymmetricMatrix.h"
#include "mp/Numerics/Scaling/SecondOrder.h"

#include <array>
#include <cassert>
#include <cmath>

using namespace mpcore::numerics;
using llvm::ArrayRef;

/// The two largest of four scores; of equal ones the first.
static std::array<bool, 4> largestTwo(const std::array<double, 4> &scores) {
  std::array<bool, 4> kept = {};
  for (int i = 0; i != 4; ++i) {
    int larger = 0;
    for (int j = 0; j != 4; ++j)
      larger += scores[j] > scores[i] || (scores[j] == scores[i] && j < i);
    kept[i] = larger < 2;
  }
  return kept;
}

std::vector<float> mpcore::numerics::pruneByMagnitude(ArrayRef<float> weights,
                                                      const WeightRounding &shape) {
  assert(shape.inputs % 4 == 0 && "expected inputs in fours");
  std::vector<float> left(weights);
  for (size_t c = 0; c != shape.outputs; ++c)
    for (size_t first = 0; first != shape.inputs; first += 4) {
      std::array<double, 4> scores;
      for (size_t k = 0; k != 4; ++k)
        scores[k] = std::abs(weights[(first + k) * shape.outputs + c]);
      const std::array<bool, 4> kept = largestTwo(scores);
      for (size_t k = 0; k != 4; ++k)
        if (!kept[k])
          left[(first + k) * shape.outputs + c] = 0;
    }
  return left;
}

/// Moves the weights of one output that `kept` names to the least squared error; others are 0.
static void fit(std::vector<float> &result, ArrayRef<float> weights, ArrayRef<double> moments,
                ArrayRef<size_t> kept, const WeightRounding &shape, size_t output) {
  const size_t n = shape.inputs, m = kept.size();
  std::vector<double> part(m * m), wanted(m);
  for (size_t a = 0; a != m; ++a) {
    for (size_t b = 0; b != m; ++b)
      part[a * m + b] = moments[kept[a] * n + kept[b]];
    for (size_t i = 0; i != n; ++i)
      wanted[a] += moments[kept[a] * n + i] * weights[i * shape.outputs + output];
  }
  factorize(part, m);
  solve(part, wanted);
  for (size_t i = 0; i != n; ++i)
    result[i * shape.outputs + output] = 0;
  for (size_t a = 0; a != m; ++a)
    result[kept[a] * shape.outputs + output] = float(wanted[a]);
}

std::vector<float> mpcore::numerics::pruneSecondOrder(ArrayRef<float> weights,
                                                      const SecondMoments &moments,
                                                      const WeightRounding &shape) {
  assert(shape.inputs % 4 == 0 && "expected inputs in fours");
  const size_t n = shape.inputs;
  const std::vector<double> damped = dampedMoments(moments, shape, 1);
  std::vector<double> factor(damped);
  factorize(factor, n);
  std::vector<double> lower = invert(factor, n);
  factorize(lower, n);
  std::vector<float> result(weights.size());
  std::vector<double> left(n);
  for (size_t c = 0; c != shape.outputs; ++c) {
    for (size_t i = 0; i != n; ++i)
      left[i] = weights[i * shape.outputs + c];
    std::vector<size_t> kept;
    for (size_t first = 0; first != n; first += 4) {
      std::array<double, 4> scores;
      for (size_t k = first; k != first + 4; ++k)
        scores[k - first] = std::abs(left[k] / lower[k * n + k]);
      const std::array<bool, 4> stays = largestTwo(scores);
      for (size_t k = first; k != first + 4; ++k) {
        if (stays[k - first]) {
          kept.push_back(k);
          continue;
        }
        const double error = left[k] / lower[k * n + k];
        for (size_t later = k + 1; later != n; ++later)
          left[later] -= error * lower[later * n + k];
      }
    }
    fit(result, weights, damped, kept, shape, c);
  }
  return result;
}
