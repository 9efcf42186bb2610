// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with scales for blocks of the reduction, as mma.block_scale (sm_120) and tcgen05
// (sm_100) compute them. No recorded hardware result is known: the arithmetic is that of a
// published simulator (MMA-Sim, arXiv 2511.10909), and every model says ModelSource::Published.

#ifndef MP_NUMERICS_BLOCKSCALED_H
#define MP_NUMERICS_BLOCKSCALED_H

#include "mp/Numerics/TensorCore.h"

namespace mpcore::numerics {

/// c + sum over blocks of scaleA * scaleB * (sum of a * b), in f32, in steps of `step` products.
struct BlockScaledModel {
  Format operandA, operandB; ///< both f4E2M1FN for steps of 64; any of 8, 6, 4 bits for 32
  Format scale;              ///< f8E8M0FNU, or f8E4M3FN without its sign
  unsigned blockSize;        ///< products that share a scale of A and one of B: 32 or 16
  unsigned step;             ///< 32 or 64
  /// Below the largest exponent, terms are cut (see TensorCore.h). Terms of steps of 32 are
  /// products, seen at the sum of the exponents of both factors and both scales; terms of steps of
  /// 64 are exact sums of 16 products, seen at the sum of the exponents of their scales alone.
  int alignmentBits;
  ModelSource source = ModelSource::Published;
};

/// The kinds of the PTX manual: "mxf8f6f4" (blocks of 32), "mxf4" (32), "mxf4nvf4" (blocks of 16
/// with scales in f8E4M3FN). Nullopt for formats a kind does not take.
std::optional<BlockScaledModel> blockScaledModel(llvm::StringRef kind, Format operandA,
                                                 Format operandB);

/// `k` products; the last step is padded with zeros. scaleA and scaleB hold a value of the scale
/// format for each block. The result is f32, cut to 24 significant bits after each step; NaN is
/// 0x7FFFFFFF.
float blockScaledDot(const BlockScaledModel &model, const float *a, const float *b,
                     const float *scaleA, const float *scaleB, size_t k, float c);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_BLOCKSCALED_H
