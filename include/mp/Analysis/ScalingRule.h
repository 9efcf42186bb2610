// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra of scaling: what an op's result is multiplied by where its operands are multiplied by
// positive numbers. Degrees of homogeneity (Homogeneity.h) and powers of two (ScalingExponents.h)
// are two monoids that follow it.

#ifndef MP_ANALYSIS_SCALINGRULE_H
#define MP_ANALYSIS_SCALINGRULE_H

#include "mp/Interfaces/FloatSemanticsOpInterface.h"

namespace mlir::mp {

struct ScalingRule {
  /// Operands are those of FloatMeaning::operands, in its order.
  enum class Kind : uint8_t {
    Unknown,     ///< unaffected only if every operand is
    Fixed,       ///< reads nothing that is multiplied
    Equal,       ///< by the one number that all operands are multiplied by
    Product,     ///< of the first two operands' numbers
    Quotient,    ///< of the first two operands' numbers
    MultiplyAdd, ///< the first two operands' product, which the rest is multiplied by, too
    Power,       ///< of the first operand's number, by `exponent`
    SignOf,      ///< by the first operand's number; of the second the sign counts
    Compare,     ///< unaffected where both operands are multiplied by one number
  };
  Kind kind = Kind::Unknown;
  double exponent = 1;
  /// Powers of two come out exactly, short of overflow and underflow, as IEEE 754 has it of
  /// arithmetic and roots. Libraries do not promise as much of other powers.
  bool isExact = true;
};

/// Reads the rule of `op` from what it means. Roundings are ignored.
ScalingRule getScalingRule(Operation *op, const FloatMeaning &meaning);

} // namespace mlir::mp

#endif // MP_ANALYSIS_SCALINGRULE_H
