// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention kernels, executed: each element of the result against attention in doubles, within a
// bound that is derived element by element. Both orders of threads give the same bits.
//
// Let u be the unit roundoff of f32, v that of the operands' format, x the logits, M = max |x| of a
// row (of those above -2^100), p the exact probabilities and V the values. The kernel computes
//   scores    with an error of at most e_s = (d + 2) u sum |q k|, and logits of them with 4 u M
//   more; exp       of x - m, within 2^-20 of it (exact polynomials are within 2 u; ex2.approx and
//   the
//             folded factor within 2^-21 + 4 u M);
//   each probability rounded to the format, v, and to nothing below 2^-24 (f16), when it is not
//             divided by the sum yet: the largest of a row is 1, so that 2^-24 is beside it;
//   sums      of n terms in f32, n u each, rescaled at most n times, u each.
// A relative error r of each unnormalised probability (and 2^-24 absolute) moves the result by at
// most (2 r + 2 v + 4 n u) sum p |V| + 2^-24 sum |V|, since the sum it is divided by is at least 1.

#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

enum class Mask {
  None,
  Additive,
  Lowest,
  Boolean,
  Causal,
  CausalLowest,
  CausalAdded,
  Window,
  Softcap
};

struct Attention {
  int64_t batch = 1, heads = 2, queries = 64, keys = 64, head = 64, width = 0; ///< 0: as head
  std::string element = "bf16";
  Mask mask = Mask::None;
  bool keyTransposed = false, dispatched = true, masksRows = false;
  std::string schedule = "", chip = "sm_80", numbers = "";
  int64_t group = 1;    ///< heads of query that share one of key and value
  int64_t offset = 0;   ///< causal masks show keys up to query + offset
  bool dynamic = false; ///< sizes of batch, queries and keys are known at run time only
  int64_t valueWidth() const { return width ? width : head; }
};

/// Stand in shapes for sizes that are known at run time.
enum Unknown : int64_t { kBatch = -1, kQueries = -2, kKeys = -3 };

std::string shape(std::initializer_list<int64_t> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + type + ">";
}

std::string emptyTensor(const std::string &name, std::initializer_list<int64_t> sizes,
                        const std::string &type) {
  std::string unknown;
  for (int64_t size : sizes)
    if (size < 0)
      unknown += std::string(unknown.empty() ? "" : ", ") + (size == kBatch     ? "%nb"
                                                             : size == kQueries ? "%nq"
                                                                                : "%nk");
  return name + " = tensor.empty(" + unknown + ") : " + shape(sizes, type) + "\n";
}

/// linalg.generic over the loops named in `loops`, of which capitals are reduced; `maps` have one
/// name of loops for each operand. `body` sees %i0, %i1, .. and %o, and defines %r; an empty one
/// yields %i0.
std::string generic(const std::string &result, const std::string &loops,
                    std::vector<std::string> maps,
                    std::vector<std::pair<std::string, std::string>> inputs,
                    std::pair<std::string, std::string> out, const std::string &body) {
  auto list = [](const std::string &names) {
    std::string text = "(";
    for (char c : names)
      text += std::string(text.size() > 1 ? ", " : "") + char(std::tolower(c));
    return text + ")";
  };
  auto elementOf = [](const std::string &type) {
    return type.substr(type.rfind('x') + 1, type.size() - type.rfind('x') - 2);
  };
  std::string text = result + " = linalg.generic {indexing_maps = [", names, types, arguments;
  for (size_t i = 0; i < maps.size(); ++i)
    text += (i ? ", affine_map<" : "affine_map<") + list(loops) + " -> " + list(maps[i]) + ">";
  text += "], iterator_types = [";
  for (size_t i = 0; i < loops.size(); ++i)
    text +=
        std::string(i ? ", " : "") + (std::isupper(loops[i]) ? "\"reduction\"" : "\"parallel\"");
  for (size_t i = 0; i < inputs.size(); ++i) {
    names += (i ? ", " : "") + inputs[i].first;
    types += (i ? ", " : "") + inputs[i].second;
    arguments += "%i" + std::to_string(i) + ": " + elementOf(inputs[i].second) + ", ";
  }
  return text + "]} ins(" + names + " : " + types + ") outs(" + out.first + " : " + out.second +
         ") {\n^bb0(" + arguments + "%o: " + elementOf(out.second) + "):\n" + body +
         "linalg.yield " + (body.empty() ? "%i0 : " : "%r : ") + elementOf(out.second) + "\n} -> " +
         out.second + "\n";
}

/// Defines %c: key %ik <= query %iq + offset.
std::string causal(const Attention &a) {
  const std::string by = std::to_string(std::abs(a.offset));
  return "%by = arith.constant " + by + " : index\n%moved = arith.addi " +
         (a.offset < 0 ? "%ik" : "%iq") + ", %by : index\n%c = arith.cmpi ule, " +
         (a.offset < 0 ? "%moved, %iq" : "%ik, %moved") + " : index\n";
}

/// What makes a logit of a score %i0 and, where there is one, a mask %i1.
std::string logitBody(const Attention &a) {
  const std::string scaled = "%u = arith.mulf %i0, %scale : f32\n";
  const std::string indices = "%iq = linalg.index 2 : index\n%ik = linalg.index 3 : index\n";
  switch (a.mask) {
  case Mask::None: return "%r = arith.mulf %i0, %scale : f32\n";
  case Mask::Additive:
  case Mask::Lowest: return scaled + "%r = arith.addf %u, %i1 : f32\n";
  case Mask::Boolean: return scaled + "%r = arith.select %i1, %u, %low : f32\n";
  case Mask::Causal: return scaled + indices + causal(a) + "%r = arith.select %c, %u, %low : f32\n";
  case Mask::CausalLowest:
    return scaled + indices + causal(a) +
           "%least = arith.constant 0xFF7FFFFF : f32\n%r = arith.select %c, %u, %least : f32\n";
  case Mask::CausalAdded:
    return scaled + indices + causal(a) +
           "%g = arith.constant 0.0 : f32\n%bias = arith.select %c, %g, %low : f32\n"
           "%r = arith.addf %u, %bias : f32\n";
  case Mask::Window:
    return scaled + indices +
           "%w = arith.constant 9 : index\n%far = arith.addi %ik, %w : index\n"
           "%c0 = arith.cmpi ule, %ik, %iq : index\n%c1 = arith.cmpi ugt, %far, %iq : index\n"
           "%c = arith.andi %c0, %c1 : i1\n%r = arith.select %c, %u, %low : f32\n";
  case Mask::Softcap:
    return scaled + "%cap = arith.constant 2.0 : f32\n%t0 = arith.divf %u, %cap : f32\n"
                    "%t1 = math.tanh %t0 : f32\n%r = arith.mulf %t1, %cap : f32\n";
  }
  return "";
}

bool hasOperand(Mask mask) {
  return mask == Mask::Additive || mask == Mask::Lowest || mask == Mask::Boolean;
}

/// Key or value `name` of `type`, each head repeated for the group of queries that shares it.
std::string repeated(const std::string &name, const std::string &thin, const std::string &type,
                     std::initializer_list<int64_t> sizes, const std::string &whole,
                     const std::string &element) {
  return emptyTensor("%e" + name, sizes, element) +
         generic("%r" + name, "bhgxy", {"bhxy", "bhgxy"}, {{"%" + thin, type}},
                 {"%e" + name, shape(sizes, element)}, "") +
         "%" + name + " = tensor.collapse_shape %r" + name +
         " [[0], [1, 2], [3], [4]] : " + shape(sizes, element) + " into " + whole + "\n";
}

std::string moduleText(const Attention &a) {
  const std::string &e = a.element;
  const int64_t batch = a.dynamic ? kBatch : a.batch, queries = a.dynamic ? kQueries : a.queries;
  const int64_t keys = a.dynamic ? kKeys : a.keys, few = a.heads / a.group;
  auto keyShape = [&](int64_t heads) {
    return a.keyTransposed ? shape({batch, heads, a.head, keys}, e)
                           : shape({batch, heads, keys, a.head}, e);
  };
  const std::string q = shape({batch, a.heads, queries, a.head}, e);
  const std::string k = keyShape(a.heads), fewKeys = keyShape(few);
  const std::string v = shape({batch, a.heads, keys, a.valueWidth()}, e);
  const std::string fewValues = shape({batch, few, keys, a.valueWidth()}, e);
  const std::string o = shape({batch, a.heads, queries, a.valueWidth()}, "f32");
  const std::string s = shape({batch, a.heads, queries, keys}, "f32");
  const std::string p = shape({batch, a.heads, queries, keys}, e);
  const std::string r = shape({batch, a.heads, queries}, "f32");
  const std::string m = shape({batch, queries, keys}, a.mask == Mask::Boolean ? "i1" : "f32");
  const std::string product = "%w0 = arith.extf %i0 : " + e +
                              " to f32\n%w1 = arith.extf %i1 : " + e +
                              " to f32\n%t = arith.mulf %w0, %w1 : f32\n"
                              "%r = arith.addf %o, %t : f32\n";
  std::string body = "%zero = arith.constant 0.0 : f32\n%low = arith.constant 0xFF800000 : f32\n"
                     "%scale = arith.constant 0.125 : f32\n";
  if (a.group > 1) {
    body += repeated("k", "k0", fewKeys, {batch, few, a.group, keys, a.head}, k, e);
    body += repeated("v", "v0", fewValues, {batch, few, a.group, keys, a.valueWidth()}, v, e);
  }
  body += emptyTensor("%es", {batch, a.heads, queries, keys}, "f32") +
          emptyTensor("%er", {batch, a.heads, queries}, "f32") +
          emptyTensor("%ep", {batch, a.heads, queries, keys}, e);
  auto fill = [&](const std::string &name, const std::string &value, const std::string &into,
                  const std::string &type) {
    body += name + " = linalg.fill ins(" + value + " : f32) outs(" + into + " : " + type + ") -> " +
            type + "\n";
  };
  fill("%zs", "%zero", "%es", s);
  body += generic("%s", "bhqkD", {"bhqd", a.keyTransposed ? "bhdk" : "bhkd", "bhqk"},
                  {{"%q", q}, {"%k", k}}, {"%zs", s}, product);
  if (hasOperand(a.mask))
    body += generic("%l", "bhqk", {"bhqk", "bqk", "bhqk"}, {{"%s", s}, {"%m", m}}, {"%es", s},
                    logitBody(a));
  else
    body += generic("%l", "bhqk", {"bhqk", "bhqk"}, {{"%s", s}}, {"%es", s}, logitBody(a));
  fill("%lo", "%low", "%er", r);
  body += generic("%x", "bhqK", {"bhqk", "bhq"}, {{"%l", s}}, {"%lo", r},
                  "%r = arith.maximumf %i0, %o : f32\n");
  body += generic("%e", "bhqk", {"bhqk", "bhq", "bhqk"}, {{"%l", s}, {"%x", r}}, {"%es", s},
                  "%t = arith.subf %i0, %i1 : f32\n%r = math.exp %t : f32\n");
  fill("%zr", "%zero", "%er", r);
  body += generic("%n", "bhqK", {"bhqk", "bhq"}, {{"%e", s}}, {"%zr", r},
                  "%r = arith.addf %i0, %o : f32\n");
  body += generic("%p", "bhqk", {"bhqk", "bhq", "bhqk"}, {{"%e", s}, {"%n", r}}, {"%ep", p},
                  "%t = arith.divf %i0, %i1 : f32\n%r = arith.truncf %t : f32 to " + e + "\n");
  fill("%zo", "%zero", "%out", o);
  body +=
      generic("%y", "bhqwK", {"bhqk", "bhkw", "bhqw"}, {{"%p", p}, {"%v", v}}, {"%zo", o}, product);
  const std::string names = hasOperand(a.mask) ? "%aq, %ak, %av, %am" : "%aq, %ak, %av";
  const std::string types = q + ", " + k + ", " + v + (hasOperand(a.mask) ? ", " + m : "");
  const std::string few0 = a.group > 1 ? "0: " : ": ";
  auto arguments = [&](const std::string &prefix) {
    return prefix + "q: " + q + ", " + prefix + "k" + few0 + fewKeys + ", " + prefix + "v" + few0 +
           fewValues + (hasOperand(a.mask) ? ", " + prefix + "m: " + m : "");
  };
  if (!a.dispatched) {
    const std::string sizes = "%i_0 = arith.constant 0 : index\n%i_2 = arith.constant 2 : index\n"
                              "%nb = tensor.dim %q, %i_0 : " +
                              q + "\n%nq = tensor.dim %q, %i_2 : " + q + "\n%nk = tensor.dim %v" +
                              (a.group > 1 ? "0" : "") + ", %i_2 : " + fewValues + "\n";
    return "func.func @f(" + arguments("%") + ") -> " + o + " {\n" + (a.dynamic ? sizes : "") +
           emptyTensor("%out", {batch, a.heads, queries, a.valueWidth()}, "f32") + body +
           "return %y : " + o + "\n}\n";
  }
  const std::string schedule =
      a.schedule.empty() ? "" : " schedule = <attention, \"" + a.schedule + "\">";
  return "func.func @f(" + arguments("%a") + ") -> " + o + " {\n%oo = tensor.empty() : " + o +
         "\n%d = mpk.dispatch ins(" + names + " : " + types + ") outs(%oo : " + o + ")" + schedule +
         " -> " + o + " {\n^bb0(" + arguments("%") + ", %out: " + o + "):\n" + body +
         "mpk.yield %y : " + o + "\n}\nreturn %d : " + o + "\n}\n";
}

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
  const double relative = error + 8 * u * size + 0x1p-20;
  const double factor = 2 * relative + 2 * v + 4 * a.keys * u;
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
  EXPECT_EQ(lowered.launches, 1u);
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

} // namespace
