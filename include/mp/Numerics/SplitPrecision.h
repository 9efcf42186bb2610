// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 products from several narrow ones: each operand is split into parts,
// x = x0 + x1 (+ x2), and the split products are added smallest first.

#ifndef MP_NUMERICS_SPLITPRECISION_H
#define MP_NUMERICS_SPLITPRECISION_H

#include "mp/Numerics/ModelGemm.h"

#include "llvm/ADT/ArrayRef.h"

#include <utility>

namespace mpcore::numerics {

enum class SplitScheme : uint8_t { BF16x1, BF16x3, BF16x6, BF16x9, TF32x1, TF32x3 };

llvm::StringRef toString(SplitScheme scheme); ///< "bf16x3"
std::optional<SplitScheme> parseSplitScheme(llvm::StringRef spelling);

Format partFormat(SplitScheme scheme);
unsigned partCount(SplitScheme scheme);

/// Part indices of the products (of A, of B), in the order they are added; the
/// last is that of the leading parts.
llvm::ArrayRef<std::pair<uint8_t, uint8_t>> partPairs(SplitScheme scheme);

/// parts[i][j] = part i of values[j], each rounded to nearest even; the
/// remainders are exact in f32. Infinity gives (inf, NaN), and so do finite
/// values that round to infinity in the part format.
void splitIntoParts(const float *values, size_t count, Format format,
                    llvm::MutableArrayRef<float *> parts);

/// D = A * B + C with f32 operands of any value. For every model.promoteEvery
/// products (all K when 0) the part products are chained in one accumulator
/// that starts from zero, smallest first; NaN in it becomes 0 before the
/// leading product, so that infinities come out right; the sum is then added
/// to D to nearest. The model's operands must be partFormat(scheme) and its
/// result f32. Layout and threads as in modelGemm().
void modelGemmSplit(const TensorCoreModel &model, SplitScheme scheme, size_t m, size_t n, size_t k,
                    const float *a, size_t lda, const float *b, size_t ldb, const float *c,
                    size_t ldc, float *d, size_t ldd, unsigned threads = 0);

/// |result - exact| <= bound * sum |a_i b_i| (C = 0), underflow and overflow
/// aside: dropped part products and remainders, plus accumulation.
double splitErrorBound(const TensorCoreModel &model, SplitScheme scheme, size_t k);

/// The part of that bound which the dropped parts cause.
double droppedPartsBound(SplitScheme scheme);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SPLITPRECISION_H
