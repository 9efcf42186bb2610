// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/MultiWord.h"

#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/ErrorBounds.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

using namespace mp::numerics;

using Pair = std::pair<uint8_t, uint8_t>;

namespace {
struct Scheme {
  llvm::StringRef name;
  Format format;
  unsigned words;
  llvm::ArrayRef<Pair> pairs;
};
} // namespace

// Smallest products first. x3 drops (1,1); x6 drops what is below 2^-23.
static constexpr Pair one[] = {{0, 0}};
static constexpr Pair three[] = {{1, 0}, {0, 1}, {0, 0}};
static constexpr Pair six[] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
static constexpr Pair nine[] = {{2, 2}, {2, 1}, {1, 2}, {1, 1}, {2, 0},
                                {0, 2}, {1, 0}, {0, 1}, {0, 0}};

static const Scheme &schemeOf(MultiWord scheme) {
  static const Scheme schemes[] = {
      {"bf16x1", Format::BF16, 1, one}, {"bf16x3", Format::BF16, 2, three},
      {"bf16x6", Format::BF16, 3, six}, {"bf16x9", Format::BF16, 3, nine},
      {"tf32x1", Format::TF32, 1, one}, {"tf32x3", Format::TF32, 2, three}};
  return schemes[size_t(scheme)];
}

llvm::StringRef mp::numerics::toString(MultiWord scheme) { return schemeOf(scheme).name; }

std::optional<MultiWord> mp::numerics::parseMultiWord(llvm::StringRef spelling) {
  for (int i = 0; i <= int(MultiWord::TF32x3); ++i)
    if (schemeOf(MultiWord(i)).name == spelling)
      return MultiWord(i);
  return std::nullopt;
}

Format mp::numerics::wordFormat(MultiWord scheme) { return schemeOf(scheme).format; }

unsigned mp::numerics::wordCount(MultiWord scheme) { return schemeOf(scheme).words; }

llvm::ArrayRef<Pair> mp::numerics::wordPairs(MultiWord scheme) { return schemeOf(scheme).pairs; }

void mp::numerics::splitWords(const float *values, size_t count, Format format,
                              llvm::MutableArrayRef<float *> words) {
  std::vector<float> rest(values, values + count);
  for (float *word : words) {
    roundArray(rest.data(), word, count, format);
    for (size_t i = 0; i < count; ++i)
      rest[i] -= word[i];
  }
}

namespace {
/// The words of one operand, packed densely.
struct Words {
  size_t columns;
  std::vector<std::vector<float>> data;

  Words(const float *matrix, size_t rows, size_t columns, size_t stride, Format format,
        unsigned count)
      : columns(columns), data(count, std::vector<float>(rows * columns)) {
    llvm::SmallVector<float *> row(count);
    for (size_t r = 0; r < rows; ++r) {
      for (unsigned w = 0; w < count; ++w)
        row[w] = data[w].data() + r * columns;
      splitWords(matrix + r * stride, columns, format, row);
    }
  }
};
} // namespace

void mp::numerics::modelGemmMultiWord(const TensorCoreModel &model, MultiWord scheme, size_t m,
                                      size_t n, size_t k, const float *a, size_t lda,
                                      const float *b, size_t ldb, const float *c, size_t ldc,
                                      float *d, size_t ldd, unsigned threads) {
  assert(model.operandA == wordFormat(scheme) && model.operandB == wordFormat(scheme) &&
         model.result == Format::F32 && "model does not take this scheme's words");
  const Scheme &s = schemeOf(scheme);
  Words aWords(a, m, k, lda, s.format, s.words);
  Words bWords(b, k, n, ldb, s.format, s.words);

  TensorCoreModel step = model;
  step.promoteEvery = 0;
  size_t interval = model.promoteEvery ? model.promoteEvery : k;
  for (size_t row = 0; row < m; ++row)
    for (size_t column = 0; column < n; ++column)
      d[row * ldd + column] = c ? c[row * ldc + column] : 0;

  std::vector<float> partial(m * n);
  for (size_t start = 0; start < k; start += interval) {
    size_t length = std::min(interval, k - start);
    std::fill(partial.begin(), partial.end(), 0.0f);
    for (Pair pair : s.pairs) {
      if (pair == Pair(0, 0))
        for (float &value : partial)
          value = std::isnan(value) ? 0 : value;
      modelGemm(step, m, n, length, aWords.data[pair.first].data() + start, k,
                bWords.data[pair.second].data() + start * n, n, partial.data(), n, partial.data(),
                n, threads);
    }
    for (size_t row = 0; row < m; ++row)
      for (size_t column = 0; column < n; ++column)
        d[row * ldd + column] += partial[row * n + column];
  }
}

/// Largest |word i| / |x|: the remainder before it, rounded up by its own u.
static double wordSize(const Scheme &s, unsigned index) {
  double u = info(s.format).unitRoundoff;
  return std::pow(u, double(index)) * (1 + u);
}

double mp::numerics::droppedWordsBound(MultiWord scheme) {
  const Scheme &s = schemeOf(scheme);
  const FormatInfo &f = info(s.format);
  double dropped = 0;
  for (uint8_t i = 0; i < s.words; ++i)
    for (uint8_t j = 0; j < s.words; ++j)
      if (!llvm::is_contained(s.pairs, Pair(i, j)))
        dropped += wordSize(s, i) * wordSize(s, j);
  // What the words leave of x; nothing when they hold all 24 bits.
  double rest = s.words * f.precision >= 24 ? 0 : std::pow(f.unitRoundoff, double(s.words));
  return dropped + 2 * rest + rest * rest;
}

double mp::numerics::multiWordErrorBound(const TensorCoreModel &model, MultiWord scheme, size_t k) {
  const Scheme &s = schemeOf(scheme);
  size_t interval = model.promoteEvery ? model.promoteEvery : k;
  size_t length = std::min(interval, k);
  double steps = std::ceil(double(length) / model.groupSize);
  double perPair = std::expm1(steps * std::log1p(stepError(model)));
  // `sum` bounds the exact partial sum, `error` how far the computed one is off.
  double sum = 0, error = 0;
  for (Pair pair : s.pairs) {
    sum += wordSize(s, pair.first) * wordSize(s, pair.second);
    error += (sum + error) * perPair;
  }
  double additions = std::ceil(double(k) / double(interval));
  double rounding = std::expm1(additions * std::log1p(0x1p-24));
  return droppedWordsBound(scheme) + error + (sum + error) * rounding;
}
