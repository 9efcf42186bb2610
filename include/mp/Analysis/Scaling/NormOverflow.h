// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms whose squares leave their format though the norm itself need not: sqrt(sum x^2 + eps), its
// reciprocal, and what is made of them. On x times 2^-k they give the same, times a power of two,
// where the epsilon is taken times 2^-2k.

#ifndef MP_ANALYSIS_SCALING_NORMOVERFLOW_H
#define MP_ANALYSIS_SCALING_NORMOVERFLOW_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/Scaling/ScalingExponents.h"

namespace mlir::mp {

struct NormOverflow {
  Operation *square;               ///< computes the squares
  SmallVector<OpOperand *> inputs; ///< of it, which are multiplied by 2^exponent
  int64_t exponent = 0;            ///< negative
  /// Results behind the roots, and the power of two that each has to be multiplied by.
  SmallVector<std::pair<OpResult, int64_t>> results;
  /// Constants on the way and what to multiply them by.
  SmallVector<std::pair<OpOperand *, int64_t>> constants;
  /// The largest magnitude of the value that leaves its format, and the limit of that format.
  double found = 0, limit = 0;
  FloatType format = {};
  /// The reason why the norm cannot be rewritten; empty if it can.
  std::string refusal;
};

/// The largest magnitude that is known of a value; infinite: none.
using MagnitudeOf = llvm::function_ref<double(Value)>;
/// Returns the format, beside its own, within which what `operand` reads has to stay; null if there
/// is none.
using NarrowFormatOf = llvm::function_ref<FloatType(OpOperand &operand)>;

/// In program order. Values narrower than f32 count if they are `computedNarrow`. Of what is summed
/// over a dynamic size there may be 2^31.
std::vector<NormOverflow> findNormOverflows(FunctionOpInterface function, MagnitudeOf magnitude,
                                            NarrowFormatOf narrowed, bool computedNarrow);

} // namespace mlir::mp

#endif // MP_ANALYSIS_SCALING_NORMOVERFLOW_H
