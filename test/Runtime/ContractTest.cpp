// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocked contraction against loops in f64.

#include "mp/Numerics/Cast.h"
#include "mp/Runtime/Runtime.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace mpcore;

namespace {

struct Loop {
  int64_t size, a, b, c;
};

struct Case {
  const char *name;
  std::vector<Loop> loops;
};

} // namespace

static std::vector<int64_t> describe(const std::vector<Loop> &loops) {
  std::vector<int64_t> result = {int64_t(loops.size())};
  for (auto member : {&Loop::size, &Loop::a, &Loop::b, &Loop::c})
    for (const Loop &loop : loops)
      result.push_back(loop.*member);
  return result;
}

static int64_t extent(const std::vector<Loop> &loops, int64_t Loop::*stride) {
  int64_t last = 0;
  for (const Loop &loop : loops)
    last += (loop.size - 1) * (loop.*stride);
  return last + 1;
}

template <typename Body>
static void forEachPoint(const std::vector<Loop> &loops, size_t depth, int64_t a, int64_t b,
                         int64_t c, Body body) {
  if (depth == loops.size())
    return body(a, b, c);
  for (int64_t i = 0; i < loops[depth].size; ++i)
    forEachPoint(loops, depth + 1, a + i * loops[depth].a, b + i * loops[depth].b,
                 c + i * loops[depth].c, body);
}

static const Case cases[] = {
    {"matmul", {{70, 90, 0, 50}, {50, 0, 1, 1}, {90, 1, 50, 0}}},
    {"matmul, several blocks", {{261, 400, 0, 530}, {530, 0, 1, 1}, {400, 1, 530, 0}}},
    {"several blocks of columns and depth", {{20, 400, 0, 530}, {530, 0, 1, 1}, {400, 1, 530, 0}}},
    {"A transposed", {{33, 1, 0, 40}, {40, 0, 1, 1}, {17, 33, 40, 0}}},
    {"B transposed", {{33, 17, 0, 40}, {40, 0, 17, 1}, {17, 1, 1, 0}}},
    {"C transposed", {{33, 17, 0, 1}, {40, 0, 17, 33}, {17, 1, 1, 0}}},
    {"batch", {{3, 35, 77, 55}, {5, 7, 0, 11}, {11, 0, 1, 1}, {7, 1, 11, 0}}},
    {"heads in the middle", {{4, 8, 8, 63}, {9, 32, 0, 7}, {7, 0, 32, 1}, {8, 1, 1, 0}}},
    {"vector times matrix", {{1, 500, 0, 9}, {9, 0, 1, 1}, {500, 1, 9, 0}}},
    {"matrix times vector", {{300, 20, 0, 1}, {20, 1, 1, 0}}},
    {"dot", {{1000, 1, 1, 0}}},
    {"outer product", {{12, 1, 0, 13}, {13, 0, 1, 1}}},
    // nchw 2x3x9x9 * fchw 5x3x3x3, stride 2: n f oh ow c kh kw
    {"convolution, nchw, stride 2",
     {{2, 243, 0, 80},
      {5, 0, 27, 16},
      {4, 18, 0, 4},
      {4, 2, 0, 1},
      {3, 81, 9, 0},
      {3, 9, 3, 0},
      {3, 1, 1, 0}}},
    // nhwc 1x10x10x4 * hwcf 3x3x4x6, dilation 2
    {"convolution, nhwc, dilation 2",
     {{6, 40, 0, 36}, {6, 4, 0, 6}, {6, 0, 1, 1}, {3, 80, 72, 0}, {3, 8, 24, 0}, {4, 1, 6, 0}}},
    {"depthwise convolution",
     {{8, 100, 9, 64}, {8, 10, 0, 8}, {8, 1, 0, 1}, {3, 10, 3, 0}, {3, 1, 1, 0}}},
    {"sum of A over a loop B lacks", {{6, 20, 0, 5}, {5, 0, 1, 1}, {4, 5, 5, 0}, {5, 1, 0, 0}}},
    {"broadcast over a loop only C has", {{3, 0, 0, 30}, {5, 8, 0, 6}, {6, 0, 1, 1}, {8, 1, 6, 0}}},
};

static void agreesOnSmallIntegers() {
  std::mt19937 random(1);
  for (const Case &test : cases) {
    std::vector<float> a(extent(test.loops, &Loop::a)), b(extent(test.loops, &Loop::b));
    std::vector<float> c(extent(test.loops, &Loop::c)), expected;
    for (auto *values : {&a, &b, &c})
      for (float &value : *values)
        value = float(int(random() % 15) - 7);
    expected = c;
    forEachPoint(test.loops, 0, 0, 0, 0,
                 [&](int64_t i, int64_t j, int64_t k) { expected[k] += a[i] * b[j]; });
    std::vector<int64_t> loops = describe(test.loops);
    mp_rt_contract(loops.data(), a.data(), b.data(), c.data(),
                   MP_RT_F32 | MP_RT_F32 << 8 | MP_RT_F32 << 16);
    EXPECT_EQ(c, expected) << test.name;
  }
}

TEST(Contract, AgreesWithLoopsOnSmallIntegersExactly) { agreesOnSmallIntegers(); }

TEST(Contract, WidensNarrowOperandsExactly) {
  const Case &test = cases[2];
  std::mt19937 random(2);
  for (numerics::Format format : {numerics::Format::BF16, numerics::Format::F16,
                                  numerics::Format::F8E4M3FN, numerics::Format::F8E5M2}) {
    bool wide = numerics::info(format).bits == 16;
    std::vector<uint16_t> a16(extent(test.loops, &Loop::a));
    std::vector<uint8_t> a8(a16.size());
    std::vector<double> b(extent(test.loops, &Loop::b)), c(extent(test.loops, &Loop::c)), expected;
    for (size_t i = 0; i < a16.size(); ++i)
      a8[i] = uint8_t(a16[i] = uint16_t(numerics::encode(int(random() % 15) - 7, format)));
    std::vector<double> values(a16.size());
    for (size_t i = 0; i < a16.size(); ++i)
      values[i] = numerics::decode(a16[i], format);
    for (double &value : b)
      value = int(random() % 15) - 7;
    expected = c;
    forEachPoint(test.loops, 0, 0, 0, 0,
                 [&](int64_t i, int64_t j, int64_t k) { expected[k] += values[i] * b[j]; });
    std::vector<int64_t> loops = describe(test.loops);
    mp_rt_contract(loops.data(), wide ? (const void *)a16.data() : a8.data(), b.data(), c.data(),
                   int(format) | MP_RT_F64 << 8 | MP_RT_F64 << 16);
    EXPECT_EQ(c, expected) << numerics::toString(format).str();
  }
}

TEST(Contract, RoundingErrorIsWithinTheBoundOfTheSum) {
  const Case &test = cases[2];
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(extent(test.loops, &Loop::a)), b(extent(test.loops, &Loop::b));
  for (auto *values : {&a, &b})
    for (float &value : *values)
      value = uniform(random);
  std::vector<float> c(extent(test.loops, &Loop::c));
  std::vector<double> expected(c.size()), magnitude(c.size());
  forEachPoint(test.loops, 0, 0, 0, 0, [&](int64_t i, int64_t j, int64_t k) {
    expected[k] += double(a[i]) * b[j];
    magnitude[k] += std::fabs(double(a[i]) * b[j]);
  });
  std::vector<int64_t> loops = describe(test.loops);
  int64_t formats = MP_RT_F32 | MP_RT_F32 << 8 | MP_RT_F32 << 16;
  mp_rt_contract(loops.data(), a.data(), b.data(), c.data(), formats);
  double worst = 0;
  for (size_t i = 0; i < c.size(); ++i)
    worst = std::max(worst, std::fabs(c[i] - expected[i]) / magnitude[i]);
  EXPECT_LE(worst, 400 * std::ldexp(1.0, -24)); // n u, Higham section 3.1
  EXPECT_GT(worst, 0);                          // the comparison compares something
}

TEST(Contract, DoesNotDependOnTheNumberOfThreads) {
  const Case &test = cases[1];
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(extent(test.loops, &Loop::a)), b(extent(test.loops, &Loop::b));
  for (auto *values : {&a, &b})
    for (float &value : *values)
      value = uniform(random);
  std::vector<int64_t> loops = describe(test.loops);
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 7}) {
    mp_rt_set_threads(threads);
    results.emplace_back(extent(test.loops, &Loop::c));
    mp_rt_contract(loops.data(), a.data(), b.data(), results.back().data(),
                   MP_RT_F32 | MP_RT_F32 << 8 | MP_RT_F32 << 16);
  }
  mp_rt_set_threads(0);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Contract, EmptyLoopsLeaveCAlone) {
  float c[2] = {3, 4}, operand[2] = {1, 1};
  int64_t loops[] = {2, /*sizes*/ 2, 0, /*a*/ 0, 1, /*b*/ 0, 1, /*c*/ 1, 0};
  mp_rt_contract(loops, operand, operand, c, MP_RT_F32 | MP_RT_F32 << 8 | MP_RT_F32 << 16);
  EXPECT_EQ(c[0], 3);
  EXPECT_EQ(c[1], 4);
}

TEST(Contract, AHookSeesDenseProductsAndMayReplaceThem) {
  auto hook = [](void *user, const mp_rt_product *p) -> int {
    ++*static_cast<int *>(user);
    auto *a = static_cast<const float *>(p->a), *b = static_cast<const float *>(p->b);
    for (int64_t i = 0; i < p->m; ++i)
      for (int64_t j = 0; j < p->n; ++j)
        for (int64_t k = 0; k < p->k; ++k)
          p->c[i * p->n + j] += a[i * p->k + k] * b[k * p->n + j];
    return 1;
  };
  int calls = 0;
  mp_rt_set_product_hook(hook, &calls);
  agreesOnSmallIntegers();
  mp_rt_set_product_hook(nullptr, nullptr);
  EXPECT_EQ(calls, int(std::size(cases)) + 2 + 3 + 7); // three and four and eight batches
}
