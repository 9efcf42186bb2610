// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention kernels, executed: each element of the result against attention in doubles, within a
// bound that is derived element by element. Both orders of threads give the same bits.
//
// Let u be the unit roundoff of f32, v that of the operands' format, x the logits, M = max |x| of a
// row (of those above -2^100), p the exact probabilities and V the values. The kernel computes
//   scores    with an error of at most e_s = (d + 2) u sum |q k|, and logits of them with 4 u M
//             more, twice in a difference;
//   exp       of x - m, within e: 2 u for exact polynomials, 2^-20 for ex2.approx;
//   factors   of steps of 32 keys or more, within e and rounded twice, so that the keys of two
//   tiles
//             are apart by e + 2 u for each step, in the sum and in the output;
//   each probability rounded to the format, v, and to nothing below 2^-24 (f16), when it is not
//             divided by the sum yet: the largest of a row is 1, so that 2^-24 is beside it;
//   sums      of n terms: n u in f32, 2 n u by Tensor Cores, which truncate; the division u.
//   factors   of parts, if s' blocks share keys: exp of exact polynomials, within 2 u and 4 u M;
//             products with them, and s' sums, within u each, in the sum and in the output.
// Together (2 (e_s + 8 u M) + 2 e + 2 s (e + 2 u) + (3 n + 1) u + v) sum p |V| for n keys in s
// steps, times 1 + 2 v for what is not of first order, and 2^-24 sum |V|. Without scores and logits
// and for exact functions this is what mp-select-schedules says of a fused attention (roundingOf).

#include "AttentionText.h"
#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Case {
  Attention a;
  Array q, k, v, m;

  double keyAt(int64_t z, int64_t key, int64_t d) const {
    z /= a.group;
    return k.value(a.keyTransposed ? (z * a.head + d) * a.keys + key
                                   : (z * a.keys + key) * a.head + d);
  }
  double valueAt(int64_t z, int64_t key, int64_t w) const {
    return v.value((z / a.group * a.keys + key) * a.valueWidth() + w);
  }
};

/// The logit of exact scores, -inf where it is masked.
double logit(const Case &c, int64_t batch, int64_t query, int64_t key, double score) {
  const double x = score * 0.125, inf = std::numeric_limits<double>::infinity();
  const int64_t at = (batch * c.a.queries + query) * c.a.keys + key;
  switch (c.a.mask) {
  case Mask::None: return x;
  case Mask::Additive:
  case Mask::Lowest: return float(float(x) + float(c.m.value(at)));
  case Mask::Boolean: return c.m.value(at) != 0 ? x : -inf;
  case Mask::Causal:
  case Mask::CausalAdded: return key <= query + c.a.offset ? x : -inf;
  case Mask::CausalLowest:
    return key <= query + c.a.offset ? x : -double(std::numeric_limits<float>::max());
  case Mask::Window: return key <= query && key + 9 > query ? x : -inf;
  case Mask::Softcap: return 2 * std::tanh(x / 2);
  }
  return x;
}

Array drawn(ElementType type, std::initializer_list<int64_t> sizes, std::mt19937 &random) {
  Array array(type, llvm::ArrayRef<int64_t>(sizes));
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < array.size(); ++i)
    array.setPattern(i,
                     numerics::encode(numerics::roundTo(normal(random), type.format), type.format));
  return array;
}

/// Rows of masks: some keys, and for some queries all.
Array drawnMask(const Attention &a, std::mt19937 &random) {
  ElementType type = a.mask == Mask::Boolean ? ElementType::integer(1)
                                             : ElementType::floating(numerics::Format::F32);
  Array array(type, {a.batch, a.queries, a.keys});
  for (int64_t i = 0; i < array.size(); ++i) {
    const bool hidden = random() % 3 == 0 || (a.masksRows && i / a.keys % 5 == 2);
    if (a.mask == Mask::Boolean) {
      array.setPattern(i, !hidden);
      continue;
    }
    const float lowest = a.mask == Mask::Lowest ? -std::numeric_limits<float>::max()
                                                : -std::numeric_limits<float>::infinity();
    const float bias = std::uniform_real_distribution<float>(-1, 1)(random);
    array.setPattern(i, numerics::encode(hidden ? lowest : bias, numerics::Format::F32));
  }
  return array;
}

/// Compares row `query` of batch and head `z`; the number of wrong elements.
int64_t wrongInRow(const Case &c, const Array &result, int64_t z, int64_t query) {
  const Attention &a = c.a;
  const double u = 0x1p-24, v = a.element == "f16" ? 0x1p-11 : 0x1p-8;
  std::vector<double> x(a.keys);
  double most = -std::numeric_limits<double>::infinity(), size = 0, error = 0;
  for (int64_t key = 0; key < a.keys; ++key) {
    double score = 0, magnitude = 0;
    for (int64_t d = 0; d < a.head; ++d) {
      double term = c.q.value((z * a.queries + query) * a.head + d) * c.keyAt(z, key, d);
      score += term;
      magnitude += std::abs(term);
    }
    x[key] = logit(c, z / a.heads, query, key, score);
    most = std::max(most, x[key]);
    if (x[key] > -0x1p100) {
      size = std::max(size, std::abs(x[key]));
      error = std::max(error, (a.head + 2) * u * magnitude * 0.125);
    }
  }
  double sum = 0;
  for (double &e : x)
    sum += e = std::exp(e - most);
  const double exponential = a.numbers.empty() ? 2 * u : 0x1p-20;
  const double steps = std::ceil(a.keys / 32.0);
  const double factor =
      (2 * (error + 8 * u * size) + 2 * exponential + 2 * steps * (exponential + 2 * u) +
       (3 * a.keys + 1) * u + v + (a.parts > 1 ? (6 + 2 * a.parts + 8 * size) * u : 0)) *
      (1 + 2 * v);
  int64_t wrong = 0;
  for (int64_t w = 0; w < a.valueWidth(); ++w) {
    double expected = 0, weight = 0, all = 0;
    for (int64_t key = 0; key < a.keys; ++key) {
      double value = c.valueAt(z, key, w);
      expected += x[key] / sum * value;
      weight += x[key] / sum * std::abs(value);
      all += std::abs(value);
    }
    const double found = result.value((z * a.queries + query) * a.valueWidth() + w);
    const double bound = factor * weight + 0x1p-24 * all;
    if (std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) <= bound)
      continue;
    if (++wrong <= 2)
      ADD_FAILURE() << "at " << z << ", " << query << ", " << w << ": " << found << ", expected "
                    << expected << " within " << bound;
  }
  return wrong;
}

emulator::LaunchStats check(const Attention &a) {
  SCOPED_TRACE(a.element + " " + a.chip + " " + std::to_string(a.queries) + "x" +
               std::to_string(a.keys) + "x" + std::to_string(a.head) + " mask " +
               std::to_string(int(a.mask)) + (a.keyTransposed ? " Kt " : " ") + a.schedule + " " +
               a.numbers + (a.dynamic ? " dynamic" : "") + " group " + std::to_string(a.group));
  const std::string forming = a.dispatched ? "" : " dispatches=true attention=fused";
  Lowered lowered(moduleText(a), a.chip, a.numbers + forming);
  EXPECT_EQ(lowered.error, "");
  if (!lowered.error.empty())
    return {};
  std::mt19937 random(1);
  ElementType type = ElementType::floating(*numerics::parseFormat(a.element));
  const int64_t few = a.heads / a.group;
  Case c{a, drawn(type, {a.batch, a.heads, a.queries, a.head}, random),
         a.keyTransposed ? drawn(type, {a.batch, few, a.head, a.keys}, random)
                         : drawn(type, {a.batch, few, a.keys, a.head}, random),
         drawn(type, {a.batch, few, a.keys, a.valueWidth()}, random), drawnMask(a, random)};
  std::vector<Array> arguments = {c.q, c.k, c.v};
  if (hasOperand(a.mask))
    arguments.push_back(c.m);
  std::vector<Array> results = lowered.run(arguments);
  EXPECT_EQ(lowered.error, "");
  if (!lowered.error.empty())
    return {};
  EXPECT_EQ(lowered.stats.bankConflicts, 0u);
  EXPECT_EQ(lowered.launches, 1u + a.sharesMask + (a.parts > 1));
  int64_t wrong = 0;
  for (int64_t z = 0; z < a.batch * a.heads; ++z)
    for (int64_t query = 0; query < a.queries; ++query)
      wrong += wrongInRow(c, results[0], z, query);
  EXPECT_EQ(wrong, 0);
  return lowered.stats;
}

TEST(EmulatedAttention, IsRightForEachHeadSizeAndFormat) {
  for (const char *element : {"bf16", "f16"})
    for (int64_t head : {16, 32, 64, 80, 96, 128, 256})
      check({.queries = 40, .keys = 72, .head = head, .element = element});
  check({.queries = 33, .keys = 50, .head = 64, .width = 32});
  check({.queries = 33, .keys = 50, .head = 32, .width = 128});
}

TEST(EmulatedAttention, IsRightForSizesThatAreNoMultiplesOfTiles) {
  for (int64_t queries : {1, 7, 65})
    for (int64_t keys : {1, 63, 64, 65, 200})
      check({.heads = 1, .queries = queries, .keys = keys});
  check({.batch = 2, .heads = 3, .queries = 130, .keys = 300, .head = 32});
}

TEST(EmulatedAttention, FollowsEachMask) {
  for (Mask mask : {Mask::Additive, Mask::Lowest, Mask::Boolean, Mask::CausalAdded, Mask::Window,
                    Mask::Softcap})
    for (const char *numbers : {"", "math=approximate"})
      check({.batch = 2, .queries = 40, .keys = 90, .head = 32, .mask = mask, .numbers = numbers});
}

TEST(EmulatedAttention, GivesForRowsThatAreMaskedWholeWhatTheGraphGives) {
  for (Mask mask : {Mask::Additive, Mask::Lowest, Mask::Boolean})
    for (const char *numbers : {"", "math=approximate"})
      check({.batch = 2,
             .queries = 20,
             .keys = 100,
             .head = 32,
             .mask = mask,
             .masksRows = true,
             .numbers = numbers});
}

TEST(EmulatedAttention, LeavesOutKeysThatNoQuerySees) {
  for (Mask mask : {Mask::Causal, Mask::CausalLowest})
    for (int64_t offset : {-70, 0, 30})
      check({.heads = 1, .queries = 90, .keys = 150, .head = 32, .mask = mask, .offset = offset});
  // Rows that see nothing, or all keys, beside rows that see one.
  check({.heads = 1,
         .queries = 20,
         .keys = 300,
         .head = 32,
         .mask = Mask::CausalLowest,
         .offset = -1});
  check({.heads = 1, .queries = 150, .keys = 200, .head = 32, .mask = Mask::Window});
  check({.heads = 4,
         .queries = 60,
         .keys = 100,
         .head = 32,
         .mask = Mask::CausalLowest,
         .dispatched = false,
         .group = 2,
         .dynamic = true});
}

TEST(EmulatedAttention, DoesHalfTheWorkUnderACausalMask) {
  auto products = [](Mask mask) {
    Attention a{.heads = 1, .queries = 256, .keys = 256, .head = 32, .mask = mask};
    emulator::LaunchStats stats = check(a);
    uint64_t count = 0;
    for (auto &[opcode, times] : stats.opcodes)
      count += llvm::StringRef(opcode).starts_with("mma.sync") ? times : 0;
    return count;
  };
  const uint64_t all = products(Mask::None);
  EXPECT_EQ(all, 4u * 4 * 4 * (8 * 2 + 4 * 4)); // blocks, tiles, warps, products of a tile
  // 64 queries see 1, 2, 3 or 4 tiles of 64 keys.
  EXPECT_EQ(products(Mask::Causal) * 16, all * 10);
  EXPECT_EQ(products(Mask::CausalLowest) * 16, all * 10);
}

TEST(EmulatedAttention, MakesMasksOfIndicesAnew) {
  Attention a{.heads = 1,
              .queries = 128,
              .keys = 128,
              .head = 32,
              .mask = Mask::Causal,
              .dispatched = false,
              .sharesMask = true};
  uint64_t products = 0;
  for (auto &[opcode, times] : check(a).opcodes)
    products += llvm::StringRef(opcode).starts_with("mma.sync") ? times : 0;
  EXPECT_EQ(products, 3u * 4 * (8 * 2 + 4 * 4)); // of four tiles of 64x64 three
  a.queries = 50;
  a.dynamic = true;
  check(a);
}

TEST(EmulatedAttention, ReadsKeysThatLieAlongEitherDimension) {
  for (int64_t keys : {64, 72, 99})
    check({.queries = 20, .keys = keys, .head = 64, .keyTransposed = true});
}

TEST(EmulatedAttention, FollowsSchedules) {
  for (const char *tile :
       {"tile=128x64 warps=4", "tile=128x64 warps=8", "tile=64x32 warps=4",
        "tile=128x32 warps=8 stages=3", "tile=32x64 warps=2", "tile=64x128 warps=4"})
    for (int64_t head : {64, 128})
      check({.heads = 1, .queries = 150, .keys = 280, .head = head, .schedule = tile});
}

TEST(EmulatedAttention, IsRightForSizesOfRunTime) {
  for (Mask mask : {Mask::None, Mask::Additive, Mask::Causal})
    for (int64_t keys : {1, 130})
      check({.queries = 70,
             .keys = keys,
             .head = 32,
             .mask = mask,
             .dispatched = false,
             .dynamic = true});
}

TEST(EmulatedAttention, ReadsHeadsThatAGroupSharesWhereTheyLie) {
  for (Mask mask : {Mask::None, Mask::Boolean, Mask::Causal})
    for (bool dynamic : {false, true})
      check({.heads = 6,
             .queries = 33,
             .keys = 70,
             .head = 32,
             .mask = mask,
             .dispatched = false,
             .group = 3,
             .dynamic = dynamic});
  check({.heads = 8, .queries = 1, .keys = 100, .dispatched = false, .group = 8});
}

TEST(EmulatedAttention, IsRightOnEachGenerationByApproximateFunctionsToo) {
  for (const char *chip : {"sm_80", "sm_89", "sm_90a", "sm_120"})
    check({.queries = 50, .keys = 130, .chip = chip, .numbers = "math=approximate"});
}

/// The same with the keys of a row shared by `parts` blocks.
void checkParts(Attention a, int64_t parts, const std::string &tile) {
  a.parts = parts;
  a.schedule = tile + " split-keys=" + std::to_string(parts);
  check(a);
}

TEST(EmulatedAttention, SharesKeysAmongBlocks) {
  for (int64_t parts : {2, 3, 8, 32})
    for (int64_t keys : {1, 63, 64, 65, 300, 1100})
      checkParts({.heads = 1, .queries = 3, .keys = keys}, parts, "tile=16x32 warps=1");
  for (const char *tile : {"tile=16x64 warps=1", "tile=32x64 warps=2",
                           "tile=64x64 warps=4 stages=3", "tile=128x32 warps=4"})
    checkParts({.queries = 70, .keys = 400, .element = "f16"}, 4, tile);
  for (int64_t head : {16, 80, 128, 256})
    checkParts({.batch = 2, .queries = 1, .keys = 333, .head = head}, 4, "tile=16x32 warps=1");
  checkParts({.queries = 17, .keys = 200, .head = 32, .keyTransposed = true}, 4,
             "tile=16x64 warps=1");
}

TEST(EmulatedAttention, MergesPartsUnderEachMask) {
  for (Mask mask : {Mask::Additive, Mask::Lowest, Mask::Boolean, Mask::CausalAdded, Mask::Window,
                    Mask::Softcap})
    for (const char *numbers : {"", "math=approximate"})
      checkParts({.batch = 2,
                  .queries = 20,
                  .keys = 210,
                  .head = 32,
                  .mask = mask,
                  .masksRows = true,
                  .numbers = numbers},
                 4, "tile=16x32 warps=1");
  // Rows that see nothing, one key, keys of some parts, or all.
  for (Mask mask : {Mask::Causal, Mask::CausalLowest})
    for (int64_t offset : {-1, 100, 300})
      checkParts(
          {.heads = 1, .queries = 20, .keys = 300, .head = 32, .mask = mask, .offset = offset}, 4,
          "tile=16x32 warps=1");
}

TEST(EmulatedAttention, MergesPartsOfSizesOfRunTime) {
  for (int64_t keys : {1, 64, 333})
    for (Mask mask : {Mask::None, Mask::Additive, Mask::CausalLowest})
      checkParts(
          {.batch = 2, .queries = 21, .keys = keys, .head = 32, .mask = mask, .dynamic = true}, 4,
          "tile=16x32 warps=1");
}

TEST(EmulatedAttention, MergesPartsOnEachGeneration) {
  for (const char *chip : {"sm_80", "sm_89", "sm_90a", "sm_120"})
    for (const char *numbers : {"", "math=approximate"})
      checkParts({.queries = 4, .keys = 500, .chip = chip, .numbers = numbers}, 8,
                 "tile=16x64 warps=1");
}

TEST(EmulatedAttention, SharesKeysWhereBlocksAreTooFew) {
  // A step of a decoder: eight heads of query share one tile, and blocks the keys.
  Attention a{.heads = 8, .queries = 1, .keys = 4100, .dispatched = false, .group = 8};
  a.parts = 32;
  check(a);
  // Keys of few steps, and blocks enough.
  a.keys = 300;
  a.parts = 1;
  check(a);
  check({.batch = 64, .heads = 2, .queries = 1, .keys = 300, .head = 32, .dispatched = false});
}

} // namespace
