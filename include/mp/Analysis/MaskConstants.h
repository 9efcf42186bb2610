// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infinities that a program means: what a mask puts where nothing is to be seen.

#ifndef MP_ANALYSIS_MASKCONSTANTS_H
#define MP_ANALYSIS_MASKCONSTANTS_H

#include "mlir/IR/Value.h"

namespace mlir::mp {

/// The constant with an infinite element, or the largest number of f32 in its stead, that reaches
/// `value` by moves, choices, sums and products, through loops and branches as well; null if there
/// is none. What only bounds a value (the other operand of a maximum) or begins a reduction does
/// not reach it.
Operation *findMaskConstant(Value value);

} // namespace mlir::mp

#endif // MP_ANALYSIS_MASKCONSTANTS_H
