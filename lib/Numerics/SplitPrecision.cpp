// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the table of split schemes, splits arrays, and multiplies with the Tensor Core models.

#include "mp/Numerics/SplitPrecision.h"

#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/DotErrorBounds.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

using namespace mpcore::numerics;

using Pair = std::pair<uint8_t, uint8_t>;

namespace {
struct Scheme {
  llvm::StringRef name;
  Format format;
  unsigned parts;
  llvm::ArrayRef<Pair> pairs;
};
} // namespace

// Smallest products first. x3 drops (1,1); x6 drops what is below 2^-23.
static constexpr Pair one[] = {{0, 0}};
static constexpr Pair three[] = {{1, 0}, {0, 1}, {0, 0}};
static constexpr Pair six[] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
static constexpr Pair nine[] = {{2, 2}, {2, 1}, {1, 2}, {1, 1}, {2, 0},
                                {0, 2}, {1, 0}, {0, 1}, {0, 0}};

static const Scheme &schemeOf(SplitScheme scheme) {
  static const Scheme schemes[] = {
      {"bf16x1", Format::BF16, 1, one}, {"bf16x3", Format::BF16, 2, three},
      {"bf16x6", Format::BF16, 3, six}, {"bf16x9", Format::BF16, 3, nine},
      {"tf32x1", Format::TF32, 1, one}, {"tf32x3", Format::TF32, 2, three}};
  return schemes[size_t(scheme)];
}

llvm::StringRef mpcore::numerics::toString(SplitScheme scheme) { return schemeOf(scheme).name; }

std::optional<SplitScheme> mpcore::numerics::parseSplitScheme(llvm::StringRef spelling) {
  for (int i = 0; i <= int(SplitScheme::TF32x3); ++i)
    if (schemeOf(SplitScheme(i)).name == spelling)
      return SplitScheme(i);
  return std::nullopt;
}

Format mpcore::numerics::partFormat(SplitScheme scheme) { return schemeOf(scheme).format; }

unsigned mpcore::numerics::partCount(SplitScheme scheme) { return schemeOf(scheme).parts; }

llvm::ArrayRef<Pair> mpcore::numerics::partPairs(SplitScheme scheme) {
  return schemeOf(scheme).pairs;
}

void mpcore::numerics::splitIntoParts(const float *values, size_t count, Format format,
                                      llvm::MutableArrayRef<float *> parts) {
  std::vector<float> rest(values, values + count);
  for (float *part : parts) {
    roundArray(rest.data(), part, count, format);
    for (size_t i = 0; i < count; ++i)
      rest[i] -= part[i];
  }
}

namespace {
/// The parts of one operand, packed densely.
struct Parts {
  size_t columns;
  std::vector<std::vector<float>> data;

  Parts(const float *matrix, size_t rows, size_t columns, size_t stride, Format format,
        unsigned count)
      : columns(columns), data(count, std::vector<float>(rows * columns)) {
    llvm::SmallVector<float *> row(count);
    for (size_t r = 0; r < rows; ++r) {
      for (unsigned w = 0; w < count; ++w)
        row[w] = data[w].data() + r * columns;
      splitIntoParts(matrix + r * stride, columns, format, row);
    }
  }
};
} // namespace

void mpcore::numerics::modelGemmSplit(const TensorCoreModel &model, SplitScheme scheme, size_t m,
                                      size_t n, size_t k, const float *a, size_t lda,
                                      const float *b, size_t ldb, const float *c, size_t ldc,
                                      float *d, size_t ldd, unsigned threads) {
  assert(model.operandA == partFormat(scheme) && model.operandB == partFormat(scheme) &&
         model.result == Format::F32 && "model does not take this scheme's parts");
  const Scheme &s = schemeOf(scheme);
  Parts aParts(a, m, k, lda, s.format, s.parts);
  Parts bParts(b, k, n, ldb, s.format, s.parts);

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
      modelGemm(step, m, n, length, aParts.data[pair.first].data() + start, k,
                bParts.data[pair.second].data() + start * n, n, partial.data(), n, partial.data(),
                n, threads);
    }
    for (size_t row = 0; row < m; ++row)
      for (size_t column = 0; column < n; ++column)
        d[row * ldd + column] += partial[row * n + column];
  }
}

/// Largest |part i| / |x|: the remainder before it, rounded up by its own u.
static double partSize(const Scheme &s, unsigned index) {
  double u = info(s.format).unitRoundoff;
  return std::pow(u, double(index)) * (1 + u);
}

double mpcore::numerics::droppedPartsBound(SplitScheme scheme) {
  const Scheme &s = schemeOf(scheme);
  const FormatInfo &f = info(s.format);
  double dropped = 0;
  for (uint8_t i = 0; i < s.parts; ++i)
    for (uint8_t j = 0; j < s.parts; ++j)
      if (!llvm::is_contained(s.pairs, Pair(i, j)))
        dropped += partSize(s, i) * partSize(s, j);
  // The remainder that the parts leave of x; nothing when they hold all 24 bits.
  double rest = s.parts * f.precision >= 24 ? 0 : std::pow(f.unitRoundoff, double(s.parts));
  return dropped + 2 * rest + rest * rest;
}

double mpcore::numerics::splitErrorBound(const TensorCoreModel &model, SplitScheme scheme,
                                         size_t k) {
  const Scheme &s = schemeOf(scheme);
  size_t interval = model.promoteEvery ? model.promoteEvery : k;
  size_t length = std::min(interval, k);
  double steps = std::ceil(double(length) / model.groupSize);
  double perPair = std::expm1(steps * std::log1p(stepError(model)));
  // `sum` bounds the exact partial sum, `error` how far the computed one is off.
  double sum = 0, error = 0;
  for (Pair pair : s.pairs) {
    sum += partSize(s, pair.first) * partSize(s, pair.second);
    error += (sum + error) * perPair;
  }
  double additions = std::ceil(double(k) / double(interval));
  double rounding = std::expm1(additions * std::log1p(0x1p-24));
  return droppedPartsBound(scheme) + error + (sum + error) * rounding;
}
