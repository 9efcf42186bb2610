// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention kernels, executed: each element of the result against attention in doubles, within a
// bound that is derived element by element. Both orders of threads give the same bits.
//
// Let u be the unit roundoff of f32, v that of the operands' format, x the logits, M = max |x| of a
// row (of those above -2^100), p the exact probabilities and V the values. The kernel computes
//   scores    with an error of at most e_s = (d + 2) u sum |q k|, and logits of them with 4 u M
//             more, twice in a difference;
//   exp       of x - m, within e: 2 u for exact polynomials, 2^-20 for ex2.approx, with math=auto
//             2^-17 + 2^-21, since x - m is rounded before it is multiplied by log2 e;
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

#include "AttentionCheck.h"

#include "mp/Numerics/Cast.h"
#include "mp/Performance/Schedule.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace mlir::mp::test {
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
  const double exponential = a.numbers.empty()          ? 2 * u
                             : a.numbers == "math=auto" ? 0x1p-17 + 0x1p-21
                                                        : 0x1p-20;
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
} // namespace

/// Says what is tried.
static std::string describe(const Attention &a) {
  return a.element + " " + a.chip + " " + std::to_string(a.queries) + "x" + std::to_string(a.keys) +
         "x" + std::to_string(a.head) + " mask " + std::to_string(int(a.mask)) +
         (a.keyTransposed ? " Kt " : " ") + a.schedule + " " + a.numbers +
         (a.dynamic ? " dynamic" : "") + (a.keysVary ? " keys vary" : "") +
         (a.batchVaries ? " batch " + std::to_string(a.batch) + " varies" : "") + " group " +
         std::to_string(a.group);
}

std::string optionsOf(const Attention &a) {
  return a.numbers + (a.dispatched ? "" : " dispatches=true attention=fused");
}

Array runOnce(Lowered &lowered, const Attention &a) {
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
  return results[0];
}

emulator::LaunchStats check(const Attention &a) {
  SCOPED_TRACE(describe(a));
  Lowered lowered(moduleText(a), a.chip, optionsOf(a));
  runOnce(lowered, a);
  return lowered.stats;
}

/// The schedule with a known number of parts.
static std::string scheduleApart(llvm::StringRef schedule, int64_t parts) {
  const std::string tile = schedule.split(" split-keys").first.str();
  return parts == 1 ? tile : tile + " split-keys=" + std::to_string(parts);
}

void checkSizes(Attention a, llvm::ArrayRef<RunSizes> sizes, bool apart) {
  auto schedule = std::get<mpcore::performance::AttentionSchedule>(
      llvm::cantFail(mpcore::performance::parseSchedule("attention " + a.schedule)));
  Lowered lowered(moduleText(a), a.chip, optionsOf(a));
  for (auto [batch, queries, keys] : sizes) {
    a.batch = batch, a.queries = queries, a.keys = keys;
    const int64_t tiles = llvm::divideCeil(queries * a.group, schedule.queries);
    a.parts = sharersOf(schedule, keys, batch * (a.heads / a.group) * tiles);
    SCOPED_TRACE(describe(a) + " parts " + std::to_string(a.parts));
    Array result = runOnce(lowered, a);
    if (!apart)
      continue;
    Attention known = a;
    known.keysVary = known.batchVaries = known.dynamic = false;
    known.schedule = scheduleApart(a.schedule, a.parts);
    Lowered alone(moduleText(known), known.chip, optionsOf(known));
    Array same = runOnce(alone, known);
    int64_t different = 0;
    for (int64_t i = 0; i < result.size() && same.size() == result.size(); ++i)
      different += result.pattern(i) != same.pattern(i);
    EXPECT_EQ(result.size(), same.size());
    EXPECT_EQ(different, 0);
  }
}

void checkLengths(Attention a, llvm::ArrayRef<int64_t> lengths, bool apart) {
  a.keysVary = true;
  checkSizes(a,
             llvm::map_to_vector(lengths,
                                 [&](int64_t keys) { return RunSizes{a.batch, a.queries, keys}; }),
             apart);
}

void checkParts(Attention a, int64_t parts, const std::string &tile) {
  a.parts = parts;
  a.schedule = tile + " split-keys=" + std::to_string(parts);
  check(a);
}

} // namespace mlir::mp::test
