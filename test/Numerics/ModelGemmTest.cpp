// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiled product against modelDot(), bit for bit.

#include "mp/Numerics/ModelGemm.h"

#include "../../lib/Numerics/Parallel.h"
#include "mp/Numerics/ArrayCast.h"

#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>
#include <mutex>
#include <random>
#include <set>
#include <vector>

using namespace mpcore::numerics;

namespace {

std::vector<TensorCoreModel> allModels() {
  std::vector<TensorCoreModel> models;
  for (int arch = 0; arch <= int(Architecture::SM120); ++arch)
    for (Route route : {Route::MmaSync, Route::Wgmma, Route::Tcgen05})
      for (Format a : {Format::F16, Format::BF16, Format::TF32, Format::F8E4M3FN, Format::F8E5M2})
        for (Format b : {a, Format::F8E4M3FN})
          for (Format result : {Format::F32, Format::F16})
            if (auto m = tensorCoreModel(Architecture(arch), a, b, result, route))
              models.push_back(*m);
  return models;
}

using Values = std::vector<float>;

enum class Kind { Normal, Positive, NearOverflow, WideRange, AnyBits, Sparse };

Values makeOperand(size_t count, Format format, Kind kind, std::mt19937 &random) {
  Values values(count);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> unit(0, 1);
  for (float &value : values)
    switch (kind) {
    case Kind::Normal: value = normal(random); break;
    case Kind::Positive: value = unit(random); break;
    case Kind::NearOverflow: // significands near 2, one exponent: sums carry
      value = 2.0f - unit(random) / 64;
      break;
    case Kind::WideRange: // every exponent, subnormals
      do
        value = float(decode(random(), format));
      while (!std::isfinite(value));
      break;
    case Kind::AnyBits: // also a few NaN and infinities
      do
        value = float(decode(random(), format));
      while (!std::isfinite(value) && random() % 64);
      break;
    case Kind::Sparse:
      value = random() % 4 ? 0 : std::ldexp(normal(random), -int(random() % 60));
      break;
    }
  roundArray(values.data(), values.data(), count, format);
  return values;
}

Values makeAccumulator(size_t count, Kind kind, std::mt19937 &random) {
  Values values(count);
  for (float &value : values)
    value = kind == Kind::AnyBits || kind == Kind::WideRange
                ? llvm::bit_cast<float>(uint32_t(random()))
            : kind == Kind::NearOverflow ? 2.0f - float(random() % 1000) / 100000
                                         : float(int(random() % 2001) - 1000) / 997;
  return values;
}

void check(const TensorCoreModel &model, size_t m, size_t n, size_t k, Kind kind, unsigned threads,
           std::mt19937 &random) {
  size_t lda = k + 3, ldb = n + 1, ldc = n + 2, ldd = n + 5;
  Values a = makeOperand(m * lda, model.operandA, kind, random);
  Values b = makeOperand(k * ldb, model.operandB, kind, random);
  Values c = makeAccumulator(m * ldc, kind, random);
  Values d(m * ldd, -7.0f);
  modelGemm(model, m, n, k, a.data(), lda, b.data(), ldb, c.data(), ldc, d.data(), ldd, threads);
  Values column(k);
  for (size_t j = 0; j < ldd; ++j) {
    for (size_t i = 0; i < k && j < n; ++i)
      column[i] = b[i * ldb + j];
    for (size_t i = 0; i < m; ++i) {
      float expected =
          j < n ? modelDot(model, &a[i * lda], column.data(), k, c[i * ldc + j]) : -7.0f;
      ASSERT_EQ(llvm::bit_cast<uint32_t>(d[i * ldd + j]), llvm::bit_cast<uint32_t>(expected))
          << describe(model) << " kind " << int(kind) << " row " << i << " column " << j << " of "
          << m << "x" << n << "x" << k;
    }
  }
}

TEST(ModelGemm, EveryModelOnEveryKindOfData) {
  std::mt19937 random(1);
  for (const TensorCoreModel &model : allModels())
    for (Kind kind : {Kind::Normal, Kind::Positive, Kind::NearOverflow, Kind::WideRange,
                      Kind::AnyBits, Kind::Sparse}) {
      check(model, 9, 37, 75, kind, 1, random);
      if (HasFatalFailure())
        return;
    }
}

TEST(ModelGemm, EveryModelWithPromotion) {
  std::mt19937 random(2);
  for (TensorCoreModel model : allModels())
    for (unsigned every : {32u, 64u}) {
      model.promoteEvery = every;
      check(model, 5, 9, 150, Kind::Normal, 1, random);
      check(model, 5, 9, 150, Kind::WideRange, 1, random);
      if (HasFatalFailure())
        return;
    }
}

TEST(ModelGemm, ShapesAtEveryEdge) {
  std::mt19937 random(3);
  auto model = tensorCoreModel(Architecture::SM90, Format::BF16);
  for (size_t m : {1, 3, 4, 5})
    for (size_t n : {1, 7, 8, 9})
      for (size_t k : {0, 1, 15, 16, 17}) {
        check(*model, m, n, k, Kind::Normal, 1, random);
        if (HasFatalFailure())
          return;
      }
  // More than one block of rows.
  check(*model, 1030, 9, 16, Kind::Normal, 2, random);
}

TEST(ModelGemm, SameBitsWhateverTheThreads) {
  std::mt19937 random(4);
  auto model = tensorCoreModel(Architecture::SM80, Format::F16);
  const size_t m = 33, n = 130, k = 96;
  Values a = makeOperand(m * k, Format::F16, Kind::Normal, random);
  Values b = makeOperand(k * n, Format::F16, Kind::Normal, random);
  Values one(m * n), many(m * n);
  modelGemm(*model, m, n, k, a.data(), k, b.data(), n, nullptr, 0, one.data(), n, 1);
  for (unsigned threads : {2u, 3u, 8u}) {
    modelGemm(*model, m, n, k, a.data(), k, b.data(), n, nullptr, 0, many.data(), n, threads);
    EXPECT_EQ(one, many);
  }
}

TEST(ModelGemm, AccumulatesInPlace) {
  std::mt19937 random(5);
  auto model = tensorCoreModel(Architecture::SM80, Format::F16);
  Values a = makeOperand(4 * 16, Format::F16, Kind::Normal, random);
  Values b = makeOperand(16 * 8, Format::F16, Kind::Normal, random);
  Values c = makeAccumulator(4 * 8, Kind::Normal, random), apart(4 * 8);
  modelGemm(*model, 4, 8, 16, a.data(), 16, b.data(), 8, c.data(), 8, apart.data(), 8);
  modelGemm(*model, 4, 8, 16, a.data(), 16, b.data(), 8, c.data(), 8, c.data(), 8);
  EXPECT_EQ(c, apart);
}

TEST(ModelGemm, PortablePathGivesTheSameBits) {
  std::mt19937 random(6);
  auto model = tensorCoreModel(Architecture::SM90, Format::F8E4M3FN);
  Values a = makeOperand(5 * 40, Format::F8E4M3FN, Kind::Normal, random);
  Values b = makeOperand(40 * 11, Format::F8E4M3FN, Kind::Normal, random);
  Values fast(5 * 11), portable(5 * 11);
  modelGemm(*model, 5, 11, 40, a.data(), 40, b.data(), 11, nullptr, 0, fast.data(), 11);
  modelGemm(*model, 5, 11, 40, a.data(), 40, b.data(), 11, nullptr, 0, portable.data(), 11, 2,
            Simd::Portable);
  EXPECT_EQ(fast, portable);
}

TEST(Threads, AreNoMoreThanAsked) {
  for (unsigned count : {1u, 3u}) {
    setThreads(count);
    EXPECT_EQ(threadCount(), count);
    std::mutex lock;
    std::set<std::thread::id> seen;
    size_t sum = 0;
    detail::parallelFor(1000, 0, [&](size_t i) {
      std::lock_guard<std::mutex> guard(lock);
      seen.insert(std::this_thread::get_id());
      sum += i;
    });
    EXPECT_EQ(sum, 499500u);
    EXPECT_LE(seen.size(), count);
  }
  setThreads(0);
  EXPECT_EQ(threadCount(), std::max(1u, std::thread::hardware_concurrency()));
}

} // namespace
