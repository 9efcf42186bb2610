// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infinities that a program means: what a mask puts where nothing is to be seen. Frameworks write
// the lowest finite number in their stead, which f32 multiplies by zero and gets zero; rounded to a
// narrower format it is infinite, and zero times that is NaN.

#ifndef MP_ANALYSIS_RANGES_MASKCONSTANTS_H
#define MP_ANALYSIS_RANGES_MASKCONSTANTS_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// The constant with an infinite element, or the largest number of f32 in its stead, that reaches
/// `value` by moves, choices, sums and products, through loops and branches as well; null if there
/// is none. What only bounds a value (the other operand of a maximum) or begins a reduction does
/// not reach it.
Operation *findMaskConstant(Value value);

/// Searches for finite constants that are infinite in a format. What begins a reduction counts
/// where the reduction may have no elements; what pads windows below a maximum counts where a
/// window may be all padding. Values that were searched once are not searched again, so that asking
/// for all factors of a module costs no more than its ops.
class OverflowingConstants {
public:
  OverflowingConstants(Operation *module, ModuleRanges &ranges, FloatType format);

  /// The constant that reaches `value`, by values that no range keeps below the largest number of
  /// the format; null if there is none.
  Operation *find(Value value);

private:
  ModuleRanges &ranges;
  double limit;       ///< a finite constant from here on counts
  bool isAny = false; ///< some constant of the module does
  /// Gives such a number to values that are not followed: a global, an integer of more bits than
  /// i64 has, or a call of any function beside a constant.
  Operation *hidden = nullptr;
  llvm::DenseSet<Value> unreached;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_RANGES_MASKCONSTANTS_H
