// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled arrays: one scale per tensor, per row, or per block.

#ifndef MP_NUMERICS_SCALING_BLOCKS_H
#define MP_NUMERICS_SCALING_BLOCKS_H

#include "mp/Numerics/Scaling/ScaleRule.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mpcore::numerics {

/// Describes how scales lie over a row-major array. The array of scales has rank 0 (one for all),
/// or the rank of the data and in every dimension a size that divides the data's: the quotient is
/// the extent of a block there.
class BlockLayout {
public:
  /// Nullopt where the shapes do not fit so.
  static std::optional<BlockLayout> get(llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<int64_t> scaleShape);

  size_t elements() const { return count; }
  size_t scales() const { return scaleCount; }

  /// Calls `visit(first, length, scale)` for runs of elements that lie side by
  /// side and share a scale, in order; together they are the array.
  void forEachRun(llvm::function_ref<void(size_t first, size_t length, size_t scale)> visit) const;

private:
  size_t count = 1, scaleCount = 1, run = 1;
  llvm::SmallVector<int64_t> shape, block, strides;
};

/// The rule by which a maximum treats NaN.
enum class NaNRule : uint8_t { Ignore, Propagate };

/// The largest magnitude under each scale; 0 where there are no values.
void amaxArray(const float *x, const BlockLayout &layout, float *result,
               NaNRule nan = NaNRule::Ignore);

/// codes[i] = quantize(x[i], encode[its scale]), one byte each.
void quantizeArray(const float *x, const BlockLayout &layout, const float *encode, CodeFormat code,
                   uint8_t *codes, Rounding rounding = Rounding::RNE,
                   Overflow overflow = Overflow::Saturate, const uint32_t *randomBits = nullptr);

/// x[i] = f32(codes[i]) * decode[its scale].
void dequantizeArray(const uint8_t *codes, const BlockLayout &layout, const float *decode,
                     CodeFormat code, float *x);

/// amaxArray, computeScale for each, quantizeArray. `scales` are values of
/// `scaleFormat`; `parent` as in computeScale.
void blockQuantize(const float *x, const BlockLayout &layout, const ScaleRule &rule,
                   CodeFormat code, Format scaleFormat, uint8_t *codes, float *scales,
                   float parent = 1, NaNRule nan = NaNRule::Ignore,
                   Rounding rounding = Rounding::RNE, const uint32_t *randomBits = nullptr);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_BLOCKS_H
