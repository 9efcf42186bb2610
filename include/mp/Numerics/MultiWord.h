// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 products from several narrow ones: each operand is split into words,
// x = x0 + x1 (+ x2), and the products of words are added smallest first.

#ifndef MP_NUMERICS_MULTIWORD_H
#define MP_NUMERICS_MULTIWORD_H

#include "mp/Numerics/ModelGemm.h"

#include "llvm/ADT/ArrayRef.h"

#include <utility>

namespace mp::numerics {

enum class MultiWord : uint8_t { BF16x1, BF16x3, BF16x6, BF16x9, TF32x1, TF32x3 };

llvm::StringRef toString(MultiWord scheme); ///< "bf16x3"
std::optional<MultiWord> parseMultiWord(llvm::StringRef spelling);

Format wordFormat(MultiWord scheme);
unsigned wordCount(MultiWord scheme);

/// Word indices of the products (of A, of B), in the order they are added; the
/// last is that of the leading words.
llvm::ArrayRef<std::pair<uint8_t, uint8_t>> wordPairs(MultiWord scheme);

/// words[i][j] = word i of values[j], each rounded to nearest even; the
/// remainders are exact in f32. Infinity gives (inf, NaN), and so do finite
/// values that round to infinity in the word format.
void splitWords(const float *values, size_t count, Format format,
                llvm::MutableArrayRef<float *> words);

/// D = A * B + C with f32 operands of any value. For every model.promoteEvery
/// products (all K when 0) the word products are chained in one accumulator
/// that starts from zero, smallest first; NaN in it becomes 0 before the
/// leading product, so that infinities come out right; the sum is then added
/// to D to nearest. The model's operands must be wordFormat(scheme) and its
/// result f32. Layout and threads as in modelGemm().
void modelGemmMultiWord(const TensorCoreModel &model, MultiWord scheme, size_t m, size_t n,
                        size_t k, const float *a, size_t lda, const float *b, size_t ldb,
                        const float *c, size_t ldc, float *d, size_t ldd, unsigned threads = 0);

/// |result - exact| <= bound * sum |a_i b_i| (C = 0), underflow and overflow
/// aside: dropped word products and remainders, plus accumulation.
double multiWordErrorBound(const TensorCoreModel &model, MultiWord scheme, size_t k);

/// The part of that bound which the dropped words cause.
double droppedWordsBound(MultiWord scheme);

} // namespace mp::numerics

#endif // MP_NUMERICS_MULTIWORD_H
