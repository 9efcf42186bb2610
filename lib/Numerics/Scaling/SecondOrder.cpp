// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPTQ in f64, with the Cholesky factor of the inverse second moments.

#include "mp/Numerics/Scaling/SecondOrder.h"
#include "SymmetricMatrix.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace mpcore::numerics;
using llvm::ArrayRef;

void SecondMoments::add(ArrayRef<float> given) {
  for (; given.size() >= size; given = given.drop_front(size)) {
    ArrayRef<float> row = given.take_front(size);
    if (!std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); }))
      continue;
    ++rows;
    for (size_t i = 0; i != size; ++i) {
      firstSums[i] += row[i];
      if (row[i] != 0)
        for (size_t j = 0; j != size; ++j)
          sums[i * size + j] += double(row[i]) * row[j];
    }
  }
}

std::vector<double> SecondMoments::means() const {
  std::vector<double> means(firstSums);
  for (double &mean : means)
    mean /= double(std::max<size_t>(rows, 1));
  return means;
}

void CrossMoments::add(ArrayRef<float> now, ArrayRef<float> before) {
  auto finite = [](ArrayRef<float> row) {
    return std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); });
  };
  assert(now.size() == before.size() && "expected pairs of rows");
  for (; now.size() >= size; now = now.drop_front(size), before = before.drop_front(size)) {
    if (!finite(now.take_front(size)) || !finite(before.take_front(size)))
      continue;
    for (size_t i = 0; i != size; ++i)
      if (now[i] != 0)
        for (size_t j = 0; j != size; ++j)
          sums[i * size + j] += double(now[i]) * before[j];
  }
}

std::vector<float> mpcore::numerics::stepsOf(ArrayRef<float> weights, const WeightRounding &shape) {
  std::vector<float> steps(shape.inputs / shape.group * shape.outputs);
  for (size_t i = 0; i != shape.inputs; ++i)
    for (size_t j = 0; j != shape.outputs; ++j) {
      float &largest = steps[i / shape.group * shape.outputs + j];
      largest = std::max(largest, std::abs(weights[i * shape.outputs + j]));
    }
  for (float &step : steps)
    step = step > 0 ? step / float(shape.largest) : 1;
  return steps;
}

/// The code nearest to `weight`; as `mp.fake_quantize`, by the reciprocal step.
static int8_t nearest(double weight, float step, int largest) {
  double code = std::nearbyint(weight * double(1 / step));
  return int8_t(std::clamp(code, -double(largest), double(largest)));
}

std::vector<float> mpcore::numerics::stepsOfLeastError(ArrayRef<float> weights,
                                                       const SecondMoments &moments,
                                                       const WeightRounding &shape) {
  const std::vector<float> widest = stepsOf(weights, shape);
  std::vector<float> steps(widest);
  for (size_t at = 0; at != steps.size(); ++at) {
    size_t first = at / shape.outputs * shape.group, output = at % shape.outputs;
    auto errorOf = [&](float step) {
      double total = 0;
      for (size_t i = first; i != first + shape.group; ++i) {
        double weight = weights[i * shape.outputs + output];
        double error = weight - double(nearest(weight, step, shape.largest)) * step;
        total += error * error * moments.get()[i * shape.inputs + i];
      }
      return total;
    };
    double least = errorOf(widest[at]);
    for (int hundredths = 99; hundredths >= 30; --hundredths) {
      float step = widest[at] * float(hundredths) / 100;
      if (double error = errorOf(step); error < least) {
        least = error;
        steps[at] = step;
      }
    }
  }
  return steps;
}

std::vector<int8_t> mpcore::numerics::roundNearest(ArrayRef<float> weights, ArrayRef<float> steps,
                                                   const WeightRounding &shape) {
  std::vector<int8_t> codes(weights.size());
  for (size_t i = 0; i != shape.inputs; ++i)
    for (size_t j = 0; j != shape.outputs; ++j)
      codes[i * shape.outputs + j] =
          nearest(weights[i * shape.outputs + j], steps[i / shape.group * shape.outputs + j],
                  shape.largest);
  return codes;
}

std::vector<int8_t> mpcore::numerics::roundSecondOrder(ArrayRef<float> weights,
                                                       ArrayRef<float> steps,
                                                       const SecondMoments &moments,
                                                       const WeightRounding &shape) {
  size_t n = shape.inputs;
  // Nothing else makes up for the error of an input that is always 0.
  std::vector<double> damped = dampedMoments(moments, shape, 1);
  factorize(damped, n);
  // With lower L, L L^T = H^-1, weight k makes up for weight j by L[k][j] / L[j][j].
  std::vector<double> lower = invert(damped, n);
  factorize(lower, n);

  std::vector<double> left(weights.begin(), weights.end());
  std::vector<int8_t> codes(weights.size());
  for (size_t j = 0; j != n; ++j)
    for (size_t c = 0; c != shape.outputs; ++c) {
      float step = steps[j / shape.group * shape.outputs + c];
      double weight = left[j * shape.outputs + c];
      bool staysZero = shape.keepsZeros && weights[j * shape.outputs + c] == 0;
      int8_t code = staysZero ? int8_t(0) : nearest(weight, step, shape.largest);
      codes[j * shape.outputs + c] = code;
      double error = (weight - double(code) * step) / lower[j * n + j];
      for (size_t k = j + 1; k != n; ++k)
        left[k * shape.outputs + c] -= error * lower[k * n + j];
    }
  return codes;
}

std::vector<float> mpcore::numerics::retarget(ArrayRef<float> weights, const SecondMoments &now,
                                              const CrossMoments &cross,
                                              const WeightRounding &shape) {
  size_t n = shape.inputs;
  std::vector<double> factor = dampedMoments(now, shape, 1);
  factorize(factor, n);
  std::vector<double> inverse = invert(factor, n), moved(n);
  std::vector<float> result(weights);
  for (size_t c = 0; c != shape.outputs; ++c) {
    std::fill(moved.begin(), moved.end(), 0.0);
    for (size_t i = 0; i != n; ++i)
      for (size_t j = 0; j != n; ++j)
        moved[i] +=
            (cross.get()[i * n + j] - now.get()[i * n + j]) * weights[j * shape.outputs + c];
    for (size_t i = 0; i != n; ++i) {
      double by = 0;
      for (size_t j = 0; j != n; ++j)
        by += inverse[i * n + j] * moved[j];
      result[i * shape.outputs + c] += float(by);
    }
  }
  return result;
}

namespace {
/// One output's codes, which sink towards a local minimum of e^T H e.
class Descent {
public:
  Descent(ArrayRef<float> weights, std::vector<int8_t> &codes, std::vector<float> &steps,
          ArrayRef<double> moments, const WeightRounding &shape, size_t output)
      : codes(codes), steps(steps), moments(moments), shape(shape), output(output),
        slope(shape.inputs) {
    for (size_t i = 0; i != shape.inputs; ++i)
      move(i, double(code(i)) * step(i) - weights[i * shape.outputs + output]);
  }

  /// Gives each code its best value while the others stay; false if all have it.
  bool changeCodes() {
    bool changed = false;
    for (size_t i = 0; i != shape.inputs; ++i) {
      if (shape.keepsZeros && code(i) == 0)
        continue;
      double best = double(code(i)) - slope[i] / (diagonal(i) * step(i));
      double limit = shape.largest;
      double to = std::clamp(std::nearbyint(best), -limit, limit), from = double(code(i));
      // A tie, but for rounding, would go back and forth.
      if (std::abs(to - best) >= std::abs(from - best) * (1 - 1e-9))
        continue;
      code(i) = int8_t(to);
      move(i, (to - from) * step(i));
      changed = true;
    }
    return changed;
  }

  /// Gives each step its best value for the codes; false if all have it.
  bool changeSteps() {
    bool changed = false;
    for (size_t first = 0; first != shape.inputs; first += shape.group) {
      double along = 0, curvature = 0;
      for (size_t i = first; i != first + shape.group; ++i) {
        along += code(i) * slope[i];
        for (size_t j = first; j != first + shape.group; ++j)
          curvature += code(i) * moments[i * shape.inputs + j] * code(j);
      }
      if (curvature <= 0)
        continue;
      float to = float(step(first) - along / curvature), from = step(first);
      double by = double(to) - from;
      if (to <= 0 || std::abs(by) < 1e-6 * from)
        continue;
      step(first) = to;
      changed = true;
      for (size_t i = first; i != first + shape.group; ++i)
        move(i, code(i) * by);
    }
    return changed;
  }

private:
  int8_t &code(size_t input) { return codes[input * shape.outputs + output]; }
  float &step(size_t input) { return steps[input / shape.group * shape.outputs + output]; }
  double diagonal(size_t input) const { return moments[input * shape.inputs + input]; }
  /// The error of an input grows by `by`.
  void move(size_t input, double by) {
    if (by != 0)
      for (size_t k = 0; k != shape.inputs; ++k)
        slope[k] += by * moments[input * shape.inputs + k];
  }

  std::vector<int8_t> &codes;
  std::vector<float> &steps;
  ArrayRef<double> moments;
  const WeightRounding &shape;
  size_t output;
  std::vector<double> slope; ///< H e
};
} // namespace

void mpcore::numerics::descend(ArrayRef<float> weights, std::vector<int8_t> &codes,
                               std::vector<float> &steps, const SecondMoments &moments,
                               const WeightRounding &shape) {
  std::vector<double> damped = dampedMoments(moments, shape, 1e-6);
  for (size_t output = 0; output != shape.outputs; ++output) {
    Descent descent(weights, codes, steps, damped, shape, output);
    bool changed = true;
    for (unsigned round = 0; round != 32 && changed; ++round) {
      changed = descent.changeCodes();
      changed |= descent.changeSteps();
    }
  }
}

double mpcore::numerics::squaredError(ArrayRef<float> weights, ArrayRef<int8_t> codes,
                                      ArrayRef<float> steps, const SecondMoments &moments,
                                      const WeightRounding &shape) {
  size_t n = shape.inputs;
  double total = 0;
  std::vector<double> error(n);
  for (size_t c = 0; c != shape.outputs; ++c) {
    for (size_t i = 0; i != n; ++i)
      error[i] = double(codes[i * shape.outputs + c]) * steps[i / shape.group * shape.outputs + c] -
                 weights[i * shape.outputs + c];
    for (size_t i = 0; i != n; ++i)
      for (size_t j = 0; j != n; ++j)
        total += error[i] * error[j] * moments.get()[i * n + j];
  }
  return total;
}
