// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products with a Tensor Core's arithmetic, fast enough for whole models.

#ifndef MP_NUMERICS_MODELGEMM_H
#define MP_NUMERICS_MODELGEMM_H

#include "mp/Numerics/Simd.h"
#include "mp/Numerics/TensorCore.h"

namespace mpcore::numerics {

/// D = A * B + C as the modelled hardware computes it: every element is
/// modelDot() of a row of A and a column of B, bit for bit, whatever the number
/// of threads and the instructions used.
///
/// Row-major: A is M x K with rows `lda` elements apart, B is K x N, C and D are
/// M x N. A and B hold f32 values already rounded to the model's operand
/// formats (roundArray()); C may be null, for zero; D may be C. `threads` of 0
/// takes one per processor.
void modelGemm(const TensorCoreModel &model, size_t m, size_t n, size_t k, const float *a,
               size_t lda, const float *b, size_t ldb, const float *c, size_t ldc, float *d,
               size_t ldd, unsigned threads = 0, Simd simd = bestSimd());

} // namespace mpcore::numerics

#endif // MP_NUMERICS_MODELGEMM_H
