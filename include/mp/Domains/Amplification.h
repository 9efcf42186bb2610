// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds how much an error made at one value can grow on its way to the outputs. A backward sweep
// multiplies Lipschitz constants (gains) along every path and adds over paths. First order in the
// errors; certificates come from the forward rules of Error.h. It is the reverse mode of automatic
// differentiation, with bounds in place of derivatives.

#ifndef MP_DOMAINS_AMPLIFICATION_H
#define MP_DOMAINS_AMPLIFICATION_H

#include "mp/Domains/Error.h"

namespace mpcore::domains {

/// |change of the result| <= x * |change of x| + y * |change of y|, in the largest element.
struct Gains {
  double x = 0, y = 0;
};

Gains binaryGains(BinaryFn fn, const FloatFacts &x, const FloatFacts &y);
/// Row 2-norm: 1 / sqrt(minVariance + epsilon), times the largest weight.
double normalizationGain(double minVariance, double epsilon, double maxWeight);

/// One operand of one result.
struct GainEdge {
  unsigned operand, result; ///< value numbers
  double gain;
};

/// amplification[v] = sum over paths from v to an output of the product of gains; outputs start
/// at 1. `edges` in program order (every edge into a value before the edges out of it).
std::vector<double> amplification(unsigned numValues, llvm::ArrayRef<GainEdge> edges,
                                  llvm::ArrayRef<unsigned> outputs);

} // namespace mpcore::domains

#endif // MP_DOMAINS_AMPLIFICATION_H
