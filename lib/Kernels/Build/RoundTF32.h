// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds f32 to nearest even tf32 for Tensor Cores, in as few instructions as a target allows.

#ifndef MP_LIB_KERNELS_BUILD_ROUNDTF32_H
#define MP_LIB_KERNELS_BUILD_ROUNDTF32_H

#include "DeviceBuilder.h"

namespace mlir::mp {

/// The way f32 become what a Tensor Core reads as tf32.
enum class TF32Rounding {
  None,
  Instruction, ///< cvt.rn.tf32.f32, from sm_90 on
  /// Leaves bits behind the fraction of tf32, which mma.sync ignores: a signalling NaN that has no
  /// others set is an infinity there, as it is behind an mp.round of its own.
  Integers,
};

/// The bits (i32) of what `words`, the bits of f32, are rounded to. With `ofOneSum` all are factors
/// of the same sums: where one of them is NaN, those are NaN whatever becomes of the others.
SmallVector<Value> roundToTF32(DeviceBuilder &d, ArrayRef<Value> words, TF32Rounding rounding,
                               bool ofOneSum);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_ROUNDTF32_H
