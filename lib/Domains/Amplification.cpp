// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds the derivatives of functions over their operands' facts, and sweeps them backwards.

#include "mp/Domains/Amplification.h"

#include "mp/Domains/Rounding.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

static constexpr double kInf = std::numeric_limits<double>::infinity();

Gains binaryGains(BinaryFn fn, const FloatFacts &x, const FloatFacts &y) {
  switch (fn) {
  case BinaryFn::Add:
  case BinaryFn::Sub:
  case BinaryFn::Maximum:
  case BinaryFn::Minimum:
  case BinaryFn::MaxNum:
  case BinaryFn::MinNum: return {1, 1};
  case BinaryFn::Mul: return {y.mag(), x.mag()};
  case BinaryFn::Div: {
    double least = y.range.mig();
    if (!(least > 0))
      return {kInf, kInf};
    return {divUp(1, least), divUp(x.mag(), mulDown(least, least))};
  }
  case BinaryFn::Pow: {
    // d(x^y) = y x^(y-1) dx + x^y ln x dy on positive x.
    if (!(x.range.lo > 0))
      return {kInf, kInf};
    double power = powPositive(x.range, y.range).mag();
    double slope = mulUp(y.mag(), powPositive(x.range, sub(y.range, Interval::point(1))).mag());
    return {slope, mulUp(power, image(UnaryFn::Log, x.range).mag())};
  }
  case BinaryFn::CopySign: return {1, kInf};
  case BinaryFn::Rem: return {kInf, kInf};
  case BinaryFn::Atan2: {
    double least = std::max(x.range.mig(), y.range.mig());
    double gain = least > 0 ? divUp(1, least) : kInf;
    bool crossesCut = y.range.lo <= 0 && x.range.contains(0);
    return crossesCut ? Gains{kInf, kInf} : Gains{gain, gain};
  }
  }
  return {kInf, kInf};
}

double normalizationGain(double minVariance, double epsilon, double maxWeight) {
  double least = addDown(minVariance, epsilon);
  return least > 0 ? mulUp(maxWeight, divUp(1, sqrtDown(least))) : kInf;
}

std::vector<double> amplification(unsigned numValues, llvm::ArrayRef<GainEdge> edges,
                                  llvm::ArrayRef<unsigned> outputs) {
  std::vector<double> result(numValues, 0);
  for (unsigned output : outputs)
    result[output] = addUp(result[output], 1);
  for (const GainEdge &edge : llvm::reverse(edges))
    result[edge.operand] = addUp(result[edge.operand], mulUp(edge.gain, result[edge.result]));
  return result;
}

} // namespace mpcore::domains
