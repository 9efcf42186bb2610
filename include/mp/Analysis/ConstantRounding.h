// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells what rounding a constant to a narrower format would do to it.

#ifndef MP_ANALYSIS_CONSTANTROUNDING_H
#define MP_ANALYSIS_CONSTANTROUNDING_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

/// Counts and errors of rounding every element to nearest even.
struct ConstantRounding {
  int64_t elements = 0;
  int64_t overflowed = 0; ///< finite elements that would become infinite or NaN
  int64_t infinite = 0;   ///< elements that are infinite
  int64_t flushed = 0;    ///< non-zero elements that would become zero, noise apart
  int64_t nonZero = 0;    ///< finite non-zero elements
  double largest = 0;     ///< largest finite magnitude before rounding
  /// |x - round(x)| / |x| in the 2-norm over the finite elements that stay finite.
  double relativeError = 0;
};

/// Inspects a float constant (FloatAttr, dense, sparse, or a resource whose data is there);
/// nullopt for others.
std::optional<ConstantRounding> inspectRounding(Attribute constant, FloatType to);

/// Returns whether a finite element of a float constant reaches `limit`.
bool hasFiniteFrom(Attribute constant, double limit);

/// Returns how a constant that reaches `value` by data movement alone overflows in `to`, if it may
/// be saturated: an infinite element is intended, and keeps all others from being clamped.
Overflow overflowOfConstant(Value value, FloatType to);
/// Says on `op`, the converted constant, how many elements of `original` were clamped, if any.
void markSaturated(Operation *op, Attribute original, FloatType to);

/// Says why `constant` must not be stored in `to`, or nothing (an empty string) if it may: an
/// element overflows, unless less than `maxSaturated` (a fraction) of all do and none is infinite;
/// more than `maxUnderflow` (a fraction) of the non-zero elements flush to zero; or the constant as
/// a whole loses more than twice the format's unit roundoff, as when it lies among the subnormals.
std::string whyNotRounded(Attribute constant, FloatType to, double maxUnderflow,
                          double maxSaturated = 0);

} // namespace mlir::mp

#endif // MP_ANALYSIS_CONSTANTROUNDING_H
