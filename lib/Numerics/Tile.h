// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner tile of modelGemm: tileRows rows of A against tileColumns columns
// of B, all of K.

#ifndef MP_LIB_NUMERICS_TILE_H
#define MP_LIB_NUMERICS_TILE_H

#include "mp/Numerics/TensorCore.h"

namespace mpcore::numerics::detail {

constexpr unsigned tileRows = 4, tileColumns = 8;

/// Exponents as the aligner sees them, kept beside the values. The two special
/// ones stay apart from all others also when added to each other or to them.
constexpr int32_t zeroExponent = -10000, nonFiniteExponent = 30000;

/// Operands of one tile, k-major: tileRows values of A per k, tileColumns of B.
/// K is padded with zeros to a multiple of the step, and in the order in which
/// the instruction takes its products.
struct Panel {
  const float *values;
  const int32_t *exponents;
};

/// accumulators[row][column] holds C on entry and D on return.
using TileFunction = void (*)(const TensorCoreModel &model, size_t paddedK, Panel a, Panel b,
                              float accumulators[tileRows][tileColumns]);

/// The AVX2 tile for this model, or null where there is none.
TileFunction tileAVX2(const TensorCoreModel &model);

} // namespace mpcore::numerics::detail

#endif // MP_LIB_NUMERICS_TILE_H
