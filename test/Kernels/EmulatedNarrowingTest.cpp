// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions that narrow f32 operands on their way to shared memory, executed: bit for bit what
// casts of their own and a contraction of the narrow operands give.

#include "../Support/Sample.h"
#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Narrowing {
  int64_t m, n, k;
  std::string operands = "ab"; ///< those that are f32 in memory
  bool transposeA = false, transposeB = true;
  /// The cast also transposes: the operand in memory has its dimensions the other way round.
  bool transposedByCast = false;
  bool dynamic = false;
  std::string schedule = ""; ///< pinned
};

/// Holds what the text says of one operand of the contraction.
struct OperandText {
  std::string stored, narrow, map; ///< types in memory and multiplied; map of the contraction
  std::vector<int64_t> sizes;      ///< in memory
  bool isNarrowed;
};

OperandText operandText(const Narrowing &o, char name, const std::string &element) {
  const int64_t outer = name == 'a' ? o.m : o.n;
  const bool transposed = name == 'a' ? o.transposeA : o.transposeB;
  const std::string loop = name == 'a' ? "m" : "n";
  OperandText text;
  text.sizes = transposed == (name == 'a') ? std::vector{o.k, outer} : std::vector{outer, o.k};
  text.map = transposed == (name == 'a') ? "(k, " + loop + ")" : "(" + loop + ", k)";
  text.isNarrowed = o.operands.find(name) != std::string::npos;
  auto shaped = [&](const std::string &type) {
    std::string shape = "tensor<";
    for (int64_t size : text.sizes)
      shape += (o.dynamic ? "?" : std::to_string(size)) + "x";
    return shape + type + ">";
  };
  text.narrow = shaped(element);
  if (text.isNarrowed && o.transposedByCast)
    std::swap(text.sizes[0], text.sizes[1]);
  text.stored = shaped(text.isNarrowed ? "f32" : element);
  return text;
}

/// The op that narrows argument %NAME to %NAMEn.
std::string castText(const Narrowing &o, char name, const OperandText &text,
                     const std::string &format, const std::string &element) {
  if (!text.isNarrowed)
    return "";
  std::string s(1, name), empty = "%" + s + "e = tensor.empty(", maps = "(d0, d1)";
  if (o.dynamic)
    empty += name == 'a' ? "%sm, %sk" : "%sn, %sk";
  // Dynamic sizes are given in the order of an operand that is not transposed.
  return empty + ") : " + text.narrow + "\n%" + s + "n = linalg.generic {indexing_maps = [" +
         "affine_map<(d0, d1) -> " + (o.transposedByCast ? "(d1, d0)" : "(d0, d1)") +
         ">, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = [\"parallel\", \"parallel\"]} " +
         "ins(%" + s + "x : " + text.stored + ") outs(%" + s + "e : " + text.narrow +
         ") {\n^bb0(%in: f32, %out: " + element + "):\n" +
         (format == "tf32"   ? "%r = mp.round tf32 %in : f32\n"
          : format[1] == '8' ? "%r = mp.cast saturate %in : f32 to " + element + "\n"
                             : "%r = mp.cast ieee %in : f32 to " + element + "\n") +
         "linalg.yield %r : " + element + "\n} -> " + text.narrow + "\n";
}

std::string moduleText(const Narrowing &o, const std::string &format) {
  const std::string element = format == "tf32" ? "f32" : format;
  const OperandText a = operandText(o, 'a', element), b = operandText(o, 'b', element);
  const std::string c = o.dynamic
                            ? "tensor<?x?xf32>"
                            : "tensor<" + std::to_string(o.m) + "x" + std::to_string(o.n) + "xf32>";
  const std::string ins = a.stored + ", " + b.stored;
  const std::string sizes = ", index, index, index";
  std::string text =
      "func.func @f(%a: " + a.stored + ", %b: " + b.stored + ", %c: " + c + ") -> " + c + " {\n";
  if (o.dynamic)
    text += "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n"
            "%sm = tensor.dim %a, %zero : " +
            a.stored + "\n%sk = tensor.dim %a, %one : " + a.stored +
            "\n%sn = tensor.dim %b, %zero : " + b.stored + "\n";
  text += "%d = mpk.dispatch ins(%a, %b" + std::string(o.dynamic ? ", %sm, %sn, %sk" : "") + " : " +
          ins + (o.dynamic ? sizes : "") + ") outs(%c : " + c + ") schedule = <matmul> -> " + c +
          " {\n^bb0(%ax: " + a.stored + ", %bx: " + b.stored +
          (o.dynamic ? ", %im: index, %jn: index, %ik: index" : "") + ", %cx: " + c + "):\n";
  std::string body = castText(o, 'a', a, format, element) + castText(o, 'b', b, format, element);
  for (auto [from, to] : {std::pair("%sm", "%im"), {"%sn", "%jn"}, {"%sk", "%ik"}})
    for (size_t at; (at = body.find(from)) != std::string::npos;)
      body.replace(at, 3, to);
  text += body + "%s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> " + a.map +
          ">, affine_map<(m, n, k) -> " + b.map +
          ">, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", "
          "\"reduction\"], mpk.mma = \"" +
          format + "\"" +
          (o.schedule.empty()
               ? ""
               : ", mpk.schedule = #mpk.schedule<matmul, \"unit=mma.sync " + o.schedule + "\">") +
          "} ins(" + (a.isNarrowed ? "%an" : "%ax") + ", " + (b.isNarrowed ? "%bn" : "%bx") +
          " : " + a.narrow + ", " + b.narrow + ") outs(%cx : " + c + ") {\n^bb0(%x: " + element +
          ", %y: " + element + ", %t: f32):\n";
  text += format == "tf32"
              ? "%p = arith.mulf %x, %y : f32\n"
              : "%wx = arith.extf %x : " + element + " to f32\n%wy = arith.extf %y : " + element +
                    " to f32\n%p = arith.mulf %wx, %wy : f32\n";
  return text + "%q = arith.addf %t, %p : f32\nlinalg.yield %q : f32\n} -> " + c +
         "\nmpk.yield %s : " + c + "\n}\nreturn %d : " + c + "\n}\n";
}

/// A tie of bf16, or a tie of tf32 (of an even or an odd number) or a neighbor of one.
float besideTie(float value, const std::string &format, std::mt19937 &random) {
  const uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (format != "tf32")
    return llvm::bit_cast<float>((bits & 0xffff0000u) | 0x8000u);
  const uint32_t behind = 0xfff + uint32_t(random() % 3);
  return llvm::bit_cast<float>((bits & 0xffffe000u) | behind);
}

/// f32 on and beside the boundaries of rounding, and each special value of f32.
Array drawn(const OperandText &text, const std::string &format, std::mt19937 &random,
            bool specials) {
  numerics::Format narrow = *numerics::parseFormat(format);
  numerics::Format stored = text.isNarrowed || format == "tf32" ? numerics::Format::F32 : narrow;
  Array array(ElementType::floating(stored), text.sizes);
  const float special[] = {0.0f,
                           -0.0f,
                           1e-42f,
                           -3e38f,
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           65519.9f,
                           1e-8f};
  for (int64_t i = 0; i < array.size(); ++i) {
    float value = std::uniform_real_distribution<float>(-1, 1)(random);
    if (specials && random() % 97 == 0)
      value = special[random() % 8];
    else if (random() % 4 == 0)
      value = besideTie(value, format, random);
    if (!text.isNarrowed)
      value = numerics::roundTo(value, narrow);
    array.setPattern(i, numerics::encode(value, stored));
    if (text.isNarrowed && std::isnan(value)) // of those some that a carry makes zeros
      array.setPattern(i, std::array{0x7fc00000u, 0x7fffffffu, 0xffffffffu, 0xffdfffffu}[i % 4]);
  }
  return array;
}

void check(const Narrowing &o, const std::string &format, const std::string &chip,
           bool specials = false) {
  SCOPED_TRACE(format + " " + chip + " " + std::to_string(o.m) + "x" + std::to_string(o.n) + "x" +
               std::to_string(o.k) + " " + o.operands + (o.transposeA ? " At" : "") +
               (o.transposeB ? " Bt" : "") + (o.transposedByCast ? " by the cast" : "") +
               (o.dynamic ? " dynamic " : " ") + o.schedule);
  const std::string text = moduleText(o, format);
  Lowered fused(text, chip), apart(inlineDispatches(text), chip, "dispatches=false");
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  std::mt19937 random(13);
  const std::string element = format == "tf32" ? "f32" : format;
  Array c(ElementType::floating(numerics::Format::F32), {o.m, o.n});
  for (int64_t i = 0; i < c.size(); ++i)
    c.setPattern(i, llvm::bit_cast<uint32_t>(float(i % 5)));
  std::vector<Array> arguments = {drawn(operandText(o, 'a', element), format, random, specials),
                                  drawn(operandText(o, 'b', element), format, random, specials), c};
  std::vector<Array> found = fused.run(arguments), expected = apart.run(arguments);
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].data == expected[0].data);
  // A copy of C, which the kernel adds to, and the kernel; nothing is added to it of no products.
  EXPECT_EQ(fused.launches, o.m * o.n == 0 ? 0u : o.k == 0 && !o.dynamic ? 1u : 2u);
  if (o.m * o.n * o.k > 1) { // one product is a map of everything
    EXPECT_EQ(apart.launches, 2 + o.operands.size());
    bool hasMma = false;
    for (const auto &[opcode, count] : fused.stats.opcodes)
      hasMma |= llvm::StringRef(opcode).starts_with("mma.sync") && count > 0;
    EXPECT_TRUE(hasMma);
  }
  if (!o.schedule.empty()) {
    EXPECT_EQ(fused.stats.bankConflicts, 0u);
  }
}

TEST(EmulatedNarrowing, EqualsCastsApartOnFullAndRaggedTiles) {
  for (const char *operands : {"a", "b", "ab"}) {
    check({64, 64, 128, operands}, "bf16", "sm_80");
    check({37, 29, 45, operands}, "bf16", "sm_80");
  }
  check({37, 28, 44, "b"}, "bf16", "sm_80"); // rows of 16 bytes in memory, not in the tile
}

TEST(EmulatedNarrowing, EveryTransposition) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (bool byCast : {false, true})
        check({40, 24, 48, "ab", transposeA, transposeB, byCast}, "bf16", "sm_80");
}

TEST(EmulatedNarrowing, EveryFormatAndTarget) {
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    for (const char *format : {"f16", "bf16", "tf32", "f8E4M3FN"}) {
      llvm::StringRef target = chip, name = format;
      if ((target == "sm_75" && name != "f16") ||
          (name.starts_with("f8") && target != "sm_89" && target != "sm_120"))
        continue;
      check({37, 40, 160, "ab"}, format, chip, /*specials=*/true);
    }
}

TEST(EmulatedNarrowing, TF32OfEverySizeOrderAndTarget) {
  Sample some(5);
  for (const char *chip : {"sm_80", "sm_89", "sm_90a", "sm_120"}) {
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 64}, {37, 29, 45}})
          if (some.takes())
            check({m, n, k, "ab", transposeA, transposeB}, "tf32", chip, /*specials=*/true);
    for (auto [m, n, k] : {std::array<int64_t, 3>{1, 40, 33}, {40, 1, 33}, {0, 8, 8}, {8, 8, 0}})
      if (some.takes())
        check({m, n, k, "ab"}, "tf32", chip);
    for (auto [m, n, k] : {std::array<int64_t, 3>{33, 65, 20}, {0, 8, 8}, {8, 8, 0}})
      if (some.takes())
        check({m, n, k, "ab", false, true, false, /*dynamic=*/true}, "tf32", chip,
              /*specials=*/true);
    for (const char *operands : {"a", "b", "ab"})
      if (some.takes())
        check({128, 128, 96, operands, false, true, false, false,
               "tile=128x128x32 warps=2x2 stages=2 copy=async"},
              "tf32", chip);
  }
}

void checkSizes(std::initializer_list<std::array<int64_t, 3>> sizes, bool dynamic) {
  for (auto [m, n, k] : sizes)
    check({m, n, k, "ab", false, true, false, dynamic}, "bf16", "sm_80");
}

TEST(EmulatedNarrowing, ThinEmptyAndDynamic) {
  checkSizes({{1, 40, 33}, {40, 1, 33}, {0, 8, 8}, {8, 8, 0}}, /*dynamic=*/false);
  checkSizes({{33, 65, 20}, {0, 8, 8}, {8, 8, 0}}, /*dynamic=*/true);
}

TEST(SlowEmulatedNarrowing, EverySizeOperandFormatAndTarget) {
  Sample some(11);
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    for (const char *format : {"f16", "bf16", "tf32", "f8E4M3FN"}) {
      llvm::StringRef target = chip, name = format;
      if ((target == "sm_75" && name != "f16") ||
          (name.starts_with("f8") && target != "sm_89" && target != "sm_120"))
        continue;
      for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 128},
                             {61, 59, 100},
                             {1, 40, 33},
                             {40, 1, 33},
                             {1, 1, 1},
                             {0, 8, 8},
                             {8, 8, 0}})
        for (const char *operands : {"a", "b", "ab"})
          for (bool transposed : {false, true})
            if (some.takes())
              check({m, n, k, operands, transposed, !transposed}, format, chip);
    }
}

TEST(EmulatedNarrowing, TilesOfTheMenuHaveNoBankConflicts) {
  Sample some(5);
  for (const char *operands : {"a", "b", "ab"})
    for (bool transposed : {false, true})
      for (const char *schedule : {"tile=64x64x64 warps=2x2 stages=3 copy=async",
                                   "tile=128x128x64 warps=2x4 stages=4 copy=async",
                                   "tile=16x128x64 warps=1x4 stages=2 copy=async"}) {
        if (!some.takes())
          continue;
        int64_t m = schedule[5] == '6' ? 64 : schedule[6] == '2' ? 128 : 16;
        check(
            {m, m == 64 ? 64 : 128, 384, operands, transposed, !transposed, false, false, schedule},
            "bf16", "sm_80");
      }
}

} // namespace
