// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contraction kernels, executed: the PTX that ships against the Tensor Core model of lib/Numerics,
// bit for bit, in the kernel's order of the reduction.

#include "../Support/Sample.h"
#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "mp/Numerics/TensorCore.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Operands {
  int64_t batch, m, n, k;
  bool transposeA, transposeB;
  std::string schedule = ""; ///< pinned
};

/// An attribute that pins a schedule.
std::string pin(const std::string &schedule) {
  return schedule.empty()
             ? ""
             : ", mpk.schedule = #mpk.schedule<matmul, \"unit=mma.sync " + schedule + "\">";
}

/// Values of `format` that neither overflow nor vanish; wide exponents, both signs.
float draw(std::mt19937 &random, numerics::Format format) {
  float exponent = std::uniform_int_distribution<int>(-6, 6)(random);
  float value = std::uniform_real_distribution<float>(-1, 1)(random) * std::exp2(exponent);
  return numerics::roundTo(value, format);
}

std::string shape(std::initializer_list<int64_t> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// The formats of A and B in a name such as f16 or f8E4M3FN_f8E5M2.
std::pair<std::string, std::string> operandFormats(const std::string &name) {
  auto [a, b] = llvm::StringRef(name).split('_');
  return {a.str(), (b.empty() ? a : b).str()};
}

/// A batched product with either operand transposed, spelled as a generic.
std::string moduleText(const Operands &o, const std::string &format, bool fresh) {
  bool tf32 = format == "tf32";
  auto [elementA, elementB] = operandFormats(tf32 ? "f32" : format);
  std::string a =
      o.transposeA ? shape({o.batch, o.k, o.m}, elementA) : shape({o.batch, o.m, o.k}, elementA);
  std::string b =
      o.transposeB ? shape({o.batch, o.n, o.k}, elementB) : shape({o.batch, o.k, o.n}, elementB);
  std::string c = shape({o.batch, o.m, o.n}, "f32");
  std::string mapA = o.transposeA ? "(z, k, m)" : "(z, m, k)",
              mapB = o.transposeB ? "(z, n, k)" : "(z, k, n)";
  std::string text = "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c + " {\n";
  std::string nameA = "%a", nameB = "%b";
  if (tf32) {
    text += "%ra = mp.round tf32 %a : " + a + "\n%rb = mp.round tf32 %b : " + b + "\n";
    nameA = "%ra";
    nameB = "%rb";
  }
  std::string init = "%c";
  if (fresh) {
    text += "%e = tensor.empty() : " + c +
            "\n%z = arith.constant 0.0 : f32\n%i = linalg.fill ins(%z : f32) outs(%e : " + c +
            ") -> " + c + "\n";
    init = "%i";
  }
  text += "%r = linalg.generic {indexing_maps = [affine_map<(z, m, n, k) -> " + mapA +
          ">, affine_map<(z, m, n, k) -> " + mapB +
          ">, affine_map<(z, m, n, k) -> (z, m, n)>], iterator_types = [\"parallel\", "
          "\"parallel\", \"parallel\", "
          "\"reduction\"]" +
          pin(o.schedule) + "} ins(" + nameA + ", " + nameB + " : " + a + ", " + b + ") outs(" +
          init + " : " + c + ") {\n^bb0(%x: " + elementA + ", %y: " + elementB + ", %s: f32):\n";
  if (tf32)
    text += "%p = arith.mulf %x, %y : f32\n";
  else
    text += "%wx = arith.extf %x : " + elementA + " to f32\n%wy = arith.extf %y : " + elementB +
            " to f32\n%p = arith.mulf %wx, %wy : f32\n";
  text += "%q = arith.addf %s, %p : f32\nlinalg.yield %q : f32\n} -> " + c + "\nreturn %r : " + c +
          "\n}\n";
  return text;
}

Array makeArray(numerics::Format format, std::initializer_list<int64_t> sizes, std::mt19937 &random,
                numerics::Format drawn) {
  Array array(ElementType::floating(format), llvm::ArrayRef<int64_t>(sizes));
  for (int64_t i = 0; i < array.size(); ++i)
    array.setPattern(i, numerics::encode(draw(random, drawn), format));
  return array;
}

void check(const Operands &o, const std::string &name, const std::string &chip, bool fresh) {
  SCOPED_TRACE(name + " " + chip + " " + std::to_string(o.batch) + "x" + std::to_string(o.m) + "x" +
               std::to_string(o.n) + "x" + std::to_string(o.k) + (o.transposeA ? " At" : "") +
               (o.transposeB ? " Bt" : "") + (fresh ? " fresh " : " ") + o.schedule);
  auto [nameA, nameB] = operandFormats(name);
  numerics::Format formatA = *numerics::parseFormat(nameA), formatB = *numerics::parseFormat(nameB);
  auto storage = [](numerics::Format format) {
    return format == numerics::Format::TF32 ? numerics::Format::F32 : format;
  };
  Lowered lowered(moduleText(o, name, fresh), chip);
  ASSERT_EQ(lowered.error, "");
  std::mt19937 random(1);
  Array a = o.transposeA ? makeArray(storage(formatA), {o.batch, o.k, o.m}, random, formatA)
                         : makeArray(storage(formatA), {o.batch, o.m, o.k}, random, formatA);
  Array b = o.transposeB ? makeArray(storage(formatB), {o.batch, o.n, o.k}, random, formatB)
                         : makeArray(storage(formatB), {o.batch, o.k, o.n}, random, formatB);
  Array c = makeArray(numerics::Format::F32, {o.batch, o.m, o.n}, random, numerics::Format::F32);
  std::vector<Array> results = lowered.run({a, b, c});
  ASSERT_EQ(lowered.error, "");
  ASSERT_EQ(results.size(), 1u);
  bool hasMma = false;
  for (const auto &[opcode, count] : lowered.stats.opcodes)
    hasMma |= llvm::StringRef(opcode).starts_with("mma.sync") && count > 0;
  EXPECT_EQ(hasMma, o.batch * o.m * o.n * o.k > 0);
  if (!o.schedule.empty()) {
    EXPECT_EQ(lowered.stats.bankConflicts, 0u);
  }

  auto model = numerics::tensorCoreModel(*numerics::parseArchitecture(chip), formatA, formatB,
                                         numerics::Format::F32, numerics::Route::MmaSync);
  ASSERT_TRUE(model.has_value());
  if (numerics::info(formatA).bits == 8) // what the kernel does for few accumulator bits
    model->promoteEvery = 128;
  std::vector<float> row(o.k), column(o.k);
  int64_t wrong = 0;
  for (int64_t z = 0; z < o.batch; ++z)
    for (int64_t i = 0; i < o.m; ++i)
      for (int64_t j = 0; j < o.n; ++j) {
        for (int64_t k = 0; k < o.k; ++k) {
          row[k] = a.value(o.transposeA ? (z * o.k + k) * o.m + i : (z * o.m + i) * o.k + k);
          column[k] = b.value(o.transposeB ? (z * o.n + j) * o.k + k : (z * o.k + k) * o.n + j);
        }
        int64_t at = (z * o.m + i) * o.n + j;
        float expected = numerics::modelDot(*model, row.data(), column.data(), o.k, 0.0f);
        if (!fresh)
          expected = float(c.value(at)) + expected;
        float found = results[0].value(at);
        if (found != expected && ++wrong <= 3)
          ADD_FAILURE() << "at " << z << ", " << i << ", " << j << ": " << found << ", expected "
                        << expected;
      }
  EXPECT_EQ(wrong, 0);
}

TEST(EmulatedContraction, FullTilesOfEveryFormat) {
  for (const char *format : {"f16", "bf16", "tf32"})
    check({1, 64, 64, 64, false, false}, format, "sm_80", true);
}

TEST(EmulatedContraction, RaggedEverywhere) {
  for (const char *format : {"f16", "bf16", "tf32"})
    check({1, 37, 29, 45, false, false}, format, "sm_80", false);
}

TEST(EmulatedContraction, EveryTransposition) {
  for (const char *format : {"bf16", "tf32"})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        check({2, 40, 24, 48, transposeA, transposeB}, format, "sm_80", false);
}

// Sums of 128 products move to f32; 300 products end in a part of an interval.
TEST(EmulatedContraction, Fp8IsPromoted) {
  for (const char *format : {"f8E4M3FN", "f8E5M2"}) {
    check({1, 64, 64, 256, false, true}, format, "sm_89", true);
    check({2, 37, 29, 300, false, false}, format, "sm_89", false);
  }
  check({1, 40, 24, 144, true, true}, "f8E4M3FN", "sm_89", false);
  check({1, 40, 24, 96, false, true}, "f8E4M3FN", "sm_120", false);
}

TEST(EmulatedContraction, TwoFp8Formats) {
  for (const char *formats : {"f8E4M3FN_f8E5M2", "f8E5M2_f8E4M3FN"}) {
    check({1, 37, 29, 300, false, true}, formats, "sm_89", false);
    check({1, 37, 29, 96, false, true}, formats, "sm_120", false);
  }
}

/// A product of 8-bit integers, each operand with or without a sign, transposed or not.
struct IntegerOperands {
  int64_t m, n, k;
  bool unsignedA = false, unsignedB = false, fresh = false;
  bool transposeA = false, transposeB = false;
  std::string schedule = "";
};

std::string integerModuleText(const IntegerOperands &o) {
  std::string a = o.transposeA ? shape({o.k, o.m}, "i8") : shape({o.m, o.k}, "i8"),
              b = o.transposeB ? shape({o.n, o.k}, "i8") : shape({o.k, o.n}, "i8"),
              c = shape({o.m, o.n}, "i32");
  std::string zeros = "%z = arith.constant 0 : i32\n%e = tensor.empty() : " + c +
                      "\n%i = linalg.fill ins(%z : i32) outs(%e : " + c + ") -> " + c + "\n";
  auto widen = [](bool isUnsigned) {
    return isUnsigned ? std::string(" = arith.extui ") : std::string(" = arith.extsi ");
  };
  return "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c + " {\n" +
         (o.fresh ? zeros : "") + "%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> " +
         (o.transposeA ? "(k, m)" : "(m, k)") + ">, affine_map<(m, n, k) -> " +
         (o.transposeB ? "(n, k)" : "(k, n)") +
         ">, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", "
         "\"reduction\"]" +
         pin(o.schedule) + "} ins(%a, %b : " + a + ", " + b + ") outs(" + (o.fresh ? "%i" : "%c") +
         " : " + c + ") {\n^bb0(%x: i8, %y: i8, %s: i32):\n%wx" + widen(o.unsignedA) +
         "%x : i8 to i32\n%wy" + widen(o.unsignedB) +
         "%y : i8 to i32\n%p = arith.muli %wx, %wy : i32\n"
         "%q = arith.addi %s, %p : i32\nlinalg.yield %q : i32\n} -> " +
         c + "\nreturn %r : " + c + "\n}\n";
}

void checkIntegers(const IntegerOperands &o, const std::string &chip = "sm_80") {
  SCOPED_TRACE(chip + " " + std::to_string(o.m) + "x" + std::to_string(o.n) + "x" +
               std::to_string(o.k) + (o.unsignedA ? " u8" : " s8") + (o.unsignedB ? " u8" : " s8") +
               (o.fresh ? " fresh" : "") + (o.transposeA ? " At" : "") +
               (o.transposeB ? " Bt " : " ") + o.schedule);
  Lowered lowered(integerModuleText(o), chip);
  ASSERT_EQ(lowered.error, "");
  std::mt19937 random(5);
  auto draw = [&](unsigned width, llvm::ArrayRef<int64_t> sizes) {
    Array array(ElementType::integer(width), sizes);
    for (int64_t i = 0; i < array.size(); ++i)
      array.setPattern(i, random() & ((uint64_t(1) << width) - 1));
    return array;
  };
  Array left = o.transposeA ? draw(8, {o.k, o.m}) : draw(8, {o.m, o.k});
  Array right = o.transposeB ? draw(8, {o.n, o.k}) : draw(8, {o.k, o.n});
  Array old = draw(32, {o.m, o.n});
  std::vector<Array> results = lowered.run({left, right, old});
  ASSERT_EQ(lowered.error, "");
  std::string opcode = std::string("mma.sync.aligned.m16n8k32.row.col.s32.") +
                       (o.unsignedA ? "u8." : "s8.") + (o.unsignedB ? "u8" : "s8") + ".s32";
  EXPECT_GT(lowered.stats.opcodes[opcode], 0u);
  if (!o.schedule.empty()) {
    EXPECT_EQ(lowered.stats.bankConflicts, 0u);
  }
  auto value = [](uint64_t pattern, bool isUnsigned) {
    return isUnsigned ? int32_t(pattern) : int32_t(int8_t(pattern));
  };
  for (int64_t i = 0; i < o.m; ++i)
    for (int64_t j = 0; j < o.n; ++j) {
      uint32_t sum = o.fresh ? 0 : uint32_t(old.pattern(i * o.n + j)); // wraps as hardware does
      for (int64_t l = 0; l < o.k; ++l)
        sum +=
            uint32_t(value(left.pattern(o.transposeA ? l * o.m + i : i * o.k + l), o.unsignedA) *
                     value(right.pattern(o.transposeB ? j * o.k + l : l * o.n + j), o.unsignedB));
      ASSERT_EQ(uint32_t(results[0].pattern(i * o.n + j)), sum) << i << ", " << j;
    }
}

TEST(EmulatedContraction, IntegersAreExact) {
  for (bool fresh : {false, true}) {
    checkIntegers({64, 64, 64, false, false, fresh});
    checkIntegers({37, 29, 75, false, false, fresh});
    checkIntegers({1, 40, 33, false, false, fresh});
  }
}

TEST(EmulatedContraction, IntegersWithoutSign) {
  checkIntegers({37, 29, 75, true, true, true});
  checkIntegers({37, 29, 75, true, false, false});
  checkIntegers({37, 29, 75, false, true, false});
}

/// Every tile of the menu, full, without conflicts of banks: the sum is longer than the ring.
void checkTile(const std::string &format, int64_t m, int64_t n, const char *warps, int stages,
               bool transposeA, bool transposeB, const std::string &chip) {
  const int64_t k = format == "tf32" ? 32 : format == "i8" || format.find("f8") == 0 ? 128 : 64;
  const std::string schedule = "tile=" + std::to_string(m) + "x" + std::to_string(n) + "x" +
                               std::to_string(k) + " warps=" + warps +
                               " stages=" + std::to_string(stages) + " copy=async";
  if (format == "i8")
    checkIntegers({m, n, (stages + 2) * k, false, false, true, transposeA, transposeB, schedule},
                  chip);
  else
    check({1, m, n, (stages + 2) * k, transposeA, transposeB, schedule}, format, chip, true);
}

TEST(EmulatedContraction, TilesOfTheMenuInEveryFormat) {
  checkTile("bf16", 128, 128, "2x2", 3, false, true, "sm_80");
  checkTile("bf16", 64, 128, "2x2", 4, true, false, "sm_80");
  checkTile("tf32", 64, 64, "2x2", 3, true, false, "sm_89");
  checkTile("i8", 64, 64, "2x2", 2, false, true, "sm_120");
  checkTile("f8E5M2", 32, 128, "1x4", 3, false, true, "sm_89");
}

TEST(SlowEmulatedContraction, EveryTileOrderAndFormat) {
  Sample some(11);
  struct {
    int64_t m, n;
    const char *warps;
    int stages;
  } tiles[] = {{128, 256, "2x4", 3}, {256, 128, "4x2", 3}, {128, 128, "2x2", 3},
               {128, 128, "2x4", 4}, {128, 64, "2x2", 5},  {64, 128, "2x2", 4},
               {64, 64, "2x2", 5},   {128, 32, "4x1", 5},  {32, 128, "1x4", 3},
               {16, 128, "1x4", 5}};
  for (auto [m, n, warps, stages] : tiles)
    for (const char *format : {"f16", "bf16", "tf32", "i8"})
      for (bool transposeA : {false, true})
        for (bool transposeB : {false, true})
          if (some.takes())
            checkTile(format, m, n, warps, stages, transposeA, transposeB, "sm_80");
}

TEST(SlowEmulatedContraction, EveryFormatOrderRaggednessAndTarget) {
  Sample some(13);
  const std::array<int64_t, 3> sizes[] = {
      {64, 64, 128}, {61, 64, 128}, {64, 59, 128}, {64, 64, 100}, {37, 29, 45}, {1, 40, 33},
      {40, 1, 33},   {1, 1, 1},     {0, 8, 8},     {8, 0, 8},     {8, 8, 0}};
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    for (const char *format : {"f16", "bf16", "tf32", "f8E4M3FN", "f8E5M2"}) {
      llvm::StringRef target = chip, name = format;
      if (target == "sm_75" && name != "f16")
        continue;
      if (name.starts_with("f8") && target != "sm_89" && target != "sm_120")
        continue;
      for (auto [m, n, k] : sizes)
        for (bool transposeA : {false, true})
          for (bool transposeB : {false, true})
            if (some.takes())
              check({2, m, n, k, transposeA, transposeB}, format, chip, false);
    }
}

TEST(EmulatedContraction, ThinProducts) {
  check({1, 5, 72, 40, false, true}, "f16", "sm_80", true);
  check({1, 72, 3, 40, false, false}, "f16", "sm_80", true);
}

TEST(EmulatedContraction, EveryTargetAndShape) {
  const Operands shapes[] = {{1, 64, 64, 64, false, false},
                             {1, 37, 29, 45, false, true},
                             {2, 1, 1, 1, false, false},
                             {1, 0, 5, 4, false, false},
                             {1, 5, 4, 0, false, false}};
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    for (const char *format : {"f16", "bf16", "tf32"}) {
      if (llvm::StringRef(chip) == "sm_75" && llvm::StringRef(format) != "f16")
        continue; // its Tensor Cores have no other float
      for (const Operands &shape : shapes)
        check(shape, format, chip, false);
    }
}

TEST(SlowEmulatedContraction, LargeTiles) {
  check({1, 1024, 1024, 32, false, false}, "bf16", "sm_80", true);
}

TEST(EmulatedContraction, DynamicSizes) {
  const char *text =
      R"(func.func @f(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  })";
  Lowered lowered(text, "sm_80");
  ASSERT_EQ(lowered.error, "");
  auto model = *numerics::tensorCoreModel(numerics::Architecture::SM80, numerics::Format::BF16);
  for (auto [m, n, k] : {std::array<int64_t, 3>{33, 65, 20}, {1, 1, 1}, {70, 9, 0}, {0, 5, 4}}) {
    std::mt19937 random(4);
    Array a = makeArray(numerics::Format::BF16, {m, k}, random, numerics::Format::BF16);
    Array b = makeArray(numerics::Format::BF16, {k, n}, random, numerics::Format::BF16);
    Array c = makeArray(numerics::Format::F32, {m, n}, random, numerics::Format::F32);
    std::vector<Array> results = lowered.run({a, b, c});
    ASSERT_EQ(lowered.error, "") << m << 'x' << n << 'x' << k;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        std::vector<float> row, column;
        for (int64_t l = 0; l < k; ++l) {
          row.push_back(a.value(i * k + l));
          column.push_back(b.value(l * n + j));
        }
        float expected = float(c.value(i * n + j)) +
                         numerics::modelDot(model, row.data(), column.data(), k, 0.0f);
        EXPECT_EQ(float(results[0].value(i * n + j)), expected);
      }
  }
}

} // namespace
