// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions of f32 in tiles on the scalar units, executed: the bits of a loop for each element,
// which is what the same module is lowered to with mma=false.

#include "../Support/Sample.h"
#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <array>
#include <random>

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// A product whose sizes are in the types only as far as they are known.
struct Product {
  int64_t batch, m, n, k;
  bool transposeA = false, transposeB = false, dynamic = false;
  std::string schedule = ""; ///< pinned
  std::string epilogue = ""; ///< body of an elementwise op that makes %o of the sum %p and bias %v
};

std::string shape(const Product &p, std::initializer_list<int64_t> sizes) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (p.dynamic ? "?" : std::to_string(size)) + "x";
  return text + "f32>";
}

std::string textOf(const Product &p) {
  const std::string a = p.transposeA ? shape(p, {p.batch, p.k, p.m})
                                     : shape(p, {p.batch, p.m, p.k}),
                    b = p.transposeB ? shape(p, {p.batch, p.n, p.k})
                                     : shape(p, {p.batch, p.k, p.n}),
                    c = shape(p, {p.batch, p.m, p.n}), bias = shape(p, {p.n});
  const std::string pin =
      p.schedule.empty()
          ? ""
          : ", mpk.schedule = #mpk.schedule<matmul, \"unit=fma " + p.schedule + "\">";
  auto dim = [&](const char *name, const char *of, int number) {
    return std::string("%") + name + "i = arith.constant " + std::to_string(number) +
           " : index\n%" + name + " = tensor.dim %" + of + ", %" + name +
           "i : " + (of[0] == 'a' ? a : b) + "\n";
  };
  std::string text =
      "func.func @f(%a: " + a + ", %b: " + b + ", %v: " + bias + ") -> " + c + " {\n";
  if (p.dynamic)
    text += dim("dz", "a", 0) + dim("dm", "a", p.transposeA ? 2 : 1) +
            dim("dn", "b", p.transposeB ? 1 : 2);
  const std::string empty =
      std::string("tensor.empty(") + (p.dynamic ? "%dz, %dm, %dn" : "") + ") : " + c + "\n";
  text +=
      "%e = " + empty +
      "%z = arith.constant 0.0 : f32\n%i = linalg.fill ins(%z : f32) outs(%e : " + c + ") -> " + c +
      "\n%r = linalg.generic {indexing_maps = [affine_map<(z, m, n, k) -> " +
      (p.transposeA ? "(z, k, m)" : "(z, m, k)") + ">, affine_map<(z, m, n, k) -> " +
      (p.transposeB ? "(z, n, k)" : "(z, k, n)") +
      ">, affine_map<(z, m, n, k) -> (z, m, n)>], iterator_types = [\"parallel\", \"parallel\", "
      "\"parallel\", \"reduction\"]" +
      pin + "} ins(%a, %b : " + a + ", " + b + ") outs(%i : " + c +
      ") {\n^bb0(%x: f32, %y: f32, %s: f32):\n%p = arith.mulf %x, %y : f32\n"
      "%q = arith.addf %s, %p : f32\nlinalg.yield %q : f32\n} -> " +
      c + "\n";
  if (p.epilogue.empty())
    return text + "return %r : " + c + "\n}\n";
  return text + "%e2 = " + empty +
         "%t = linalg.generic {indexing_maps = [affine_map<(z, m, n) -> (z, m, n)>, "
         "affine_map<(z, m, n) -> (n)>, affine_map<(z, m, n) -> (z, m, n)>], iterator_types = "
         "[\"parallel\", \"parallel\", \"parallel\"]} ins(%r, %v : " +
         c + ", " + bias + ") outs(%e2 : " + c + ") {\n^bb0(%p: f32, %v0: f32, %u: f32):\n" +
         p.epilogue + "linalg.yield %o : f32\n} -> " + c + "\nreturn %t : " + c + "\n}\n";
}

/// Numbers of wide exponents and both signs, zeros of both signs among them.
Array draw(std::initializer_list<int64_t> sizes, std::mt19937 &random) {
  Array array(ElementType::floating(numerics::Format::F32), llvm::ArrayRef<int64_t>(sizes));
  for (int64_t i = 0; i < array.size(); ++i) {
    const uint32_t bits = random();
    const float scale = std::exp2(float(int(bits % 13) - 6));
    float value = std::uniform_real_distribution<float>(-1, 1)(random) * scale;
    if (bits % 61 == 0)
      value = bits & 64 ? 0.0f : -0.0f;
    array.setPattern(i, numerics::encode(value, numerics::Format::F32));
  }
  return array;
}

/// True if a kernel of tiles ran: nothing else here has shared memory.
bool ranTiles(const emulator::LaunchStats &stats) {
  return llvm::any_of(stats.opcodes, [](const auto &entry) {
    return llvm::StringRef(entry.first).starts_with("ld.shared") && entry.second > 0;
  });
}

/// A module in tiles, and in loops.
struct BothRoutes {
  Lowered tiles, loops;
  BothRoutes(const std::string &text, const std::string &chip)
      : tiles(text, chip), loops(text, chip, "mma=false dispatches=false") {}

  void expectSameBits(llvm::ArrayRef<Array> arguments, bool noConflicts = false) {
    ASSERT_EQ(tiles.error, "");
    ASSERT_EQ(loops.error, "");
    std::vector<Array> found = tiles.run(arguments), expected = loops.run(arguments);
    ASSERT_EQ(tiles.error, "");
    ASSERT_EQ(loops.error, "");
    ASSERT_EQ(found.size(), 1u);
    ASSERT_EQ(found[0].size(), expected[0].size());
    EXPECT_FALSE(ranTiles(loops.stats));
    if (found[0].size() > 0 && arguments[0].size() > 0) {
      EXPECT_TRUE(ranTiles(tiles.stats));
    }
    if (noConflicts) {
      EXPECT_EQ(tiles.stats.bankConflicts, 0u);
    }
    int64_t wrong = 0;
    for (int64_t i = 0; i < found[0].size(); ++i)
      if (found[0].pattern(i) != expected[0].pattern(i) && ++wrong <= 3)
        ADD_FAILURE() << "element " << i << ": " << found[0].value(i) << ", expected "
                      << expected[0].value(i);
    EXPECT_EQ(wrong, 0);
  }
};

void expectSameBits(const std::string &text, const std::string &chip,
                    llvm::ArrayRef<Array> arguments, bool noConflicts = false) {
  BothRoutes(text, chip).expectSameBits(arguments, noConflicts);
}

std::vector<Array> argumentsOf(const Product &p) {
  std::mt19937 random(7);
  Array a = p.transposeA ? draw({p.batch, p.k, p.m}, random) : draw({p.batch, p.m, p.k}, random);
  Array b = p.transposeB ? draw({p.batch, p.n, p.k}, random) : draw({p.batch, p.k, p.n}, random);
  return {a, b, draw({p.n}, random)};
}

void check(const Product &p, const std::string &chip = "sm_80") {
  SCOPED_TRACE(chip + " " + std::to_string(p.batch) + "x" + std::to_string(p.m) + "x" +
               std::to_string(p.n) + "x" + std::to_string(p.k) + (p.transposeA ? " At" : "") +
               (p.transposeB ? " Bt" : "") + (p.dynamic ? " dynamic " : " ") + p.schedule +
               p.epilogue);
  expectSameBits(textOf(p), chip, argumentsOf(p), !p.schedule.empty());
}

void forOrders(Product p, llvm::function_ref<void(const Product &)> visit) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      p.transposeA = a;
      p.transposeB = b;
      visit(p);
    }
}

TEST(EmulatedScalarContraction, FullAndRaggedInEveryOrder) {
  for (const Product &p : {Product{1, 64, 64, 64}, Product{2, 37, 29, 45}, Product{1, 66, 130, 36}})
    forOrders(p, [](const Product &ordered) { check(ordered); });
}

// Without cp.async tiles come through registers.
TEST(EmulatedScalarContraction, EveryTarget) {
  for (const char *chip : {"sm_75", "sm_89", "sm_90a", "sm_100", "sm_120"}) {
    check({1, 64, 64, 64, false, true}, chip);
    check({1, 37, 29, 45, true, false}, chip);
  }
}

TEST(EmulatedScalarContraction, SizesOfRunTime) {
  forOrders({2, 1, 1, 1, false, false, /*dynamic=*/true}, [](Product p) {
    BothRoutes routes(textOf(p), "sm_80");
    for (auto [m, n, k] : {std::array<int64_t, 3>{33, 65, 20},
                           {64, 64, 32},
                           {1, 1, 1},
                           {1, 40, 17},
                           {70, 1, 16},
                           {70, 9, 0},
                           {0, 5, 4},
                           {5, 0, 4}}) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k));
      p.m = m, p.n = n, p.k = k;
      routes.expectSameBits(argumentsOf(p));
    }
  });
}

// The tiles that the menu has, without conflicts of banks: the sum is longer than the ring.
TEST(EmulatedScalarContraction, TilesOfTheMenu) {
  forOrders({1, 128, 128, 80, false, false, false, "tile=128x128x16 warps=2x4 stages=3 copy=async"},
            [](const Product &ordered) { check(ordered); });
  forOrders({1, 128, 64, 112, false, false, false, "tile=128x64x16 warps=2x2 stages=5 copy=async"},
            [](const Product &ordered) { check(ordered); });
  forOrders({1, 64, 64, 64, false, false, false, "tile=64x64x16 warps=2x2 stages=2 copy=async"},
            [](const Product &ordered) { check(ordered); });
  forOrders({1, 32, 32, 64, false, false, false, "tile=32x32x16 warps=2x2 stages=4 copy=async"},
            [](const Product &ordered) { check(ordered); });
}

constexpr const char *kRelu = "%w = arith.addf %p, %v0 : f32\n%k0 = arith.constant 0.0 : f32\n"
                              "%o = arith.maximumf %w, %k0 : f32\n";
/// Long enough that sums go through shared memory.
constexpr const char *kTanh = "%w = arith.addf %p, %v0 : f32\n%h = math.tanh %w : f32\n"
                              "%o = arith.mulf %h, %w : f32\n";

TEST(EmulatedScalarContraction, Epilogues) {
  for (const char *epilogue : {kRelu, kTanh}) {
    check({1, 64, 64, 64, false, false, false, "", epilogue});
    check({1, 37, 29, 45, true, true, false, "", epilogue});
    check({2, 70, 33, 20, false, true, true, "", epilogue});
  }
  for (bool transposeA : {false, true})
    check({1, 128, 128, 64, transposeA, false, false,
           "tile=128x128x16 warps=2x4 stages=4 copy=async", kTanh});
}

// Infinities and what comes of them: no element beyond the end of a sum or a row takes part.
TEST(EmulatedScalarContraction, NothingBeyondTheEnds) {
  const Product p{1, 33, 35, 19, true, false};
  std::vector<Array> arguments = argumentsOf(p);
  for (Array *operand : {&arguments[0], &arguments[1]})
    for (int64_t i = 0; i < operand->size(); i += 97)
      operand->setPattern(i, numerics::encode(INFINITY, numerics::Format::F32));
  expectSameBits(textOf(p), "sm_80", arguments);
}

// Images with zeros around them, and the elements of a window as one sum.
TEST(EmulatedScalarContraction, Convolution) {
  const char *text =
      R"(func.func @f(%x: tensor<2x9x8x8xf32>, %w: tensor<3x3x8x24xf32>) -> tensor<2x9x8x24xf32> {
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z : f32
    } : tensor<2x9x8x8xf32> to tensor<2x11x10x8xf32>
    %e = tensor.empty() : tensor<2x9x8x24xf32>
    %c = linalg.fill ins(%z : f32) outs(%e : tensor<2x9x8x24xf32>) -> tensor<2x9x8x24xf32>
    %0 = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<2x11x10x8xf32>, tensor<3x3x8x24xf32>) outs(%c : tensor<2x9x8x24xf32>) -> tensor<2x9x8x24xf32>
    return %0 : tensor<2x9x8x24xf32>
  })";
  std::mt19937 random(3);
  const std::vector<Array> arguments = {draw({2, 9, 8, 8}, random), draw({3, 3, 8, 24}, random)};
  for (const char *chip : {"sm_75", "sm_80"})
    expectSameBits(text, chip, arguments);
}

/// C + A B in f32; with a maximum behind, and of a C that is a repeated row of `c`.
std::string addedText(int64_t m, int64_t n, int64_t k, bool transposeB, bool behind) {
  auto shaped = [](std::initializer_list<int64_t> sizes) {
    std::string text = "tensor<";
    for (int64_t size : sizes)
      text += std::to_string(size) + "x";
    return text + "f32>";
  };
  const std::string a = shaped({m, k}), b = transposeB ? shaped({n, k}) : shaped({k, n}),
                    c = shaped({m, n}), row = behind ? shaped({n}) : c;
  std::string text = "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + row + ") -> " + c + " {\n";
  const std::string both = "iterator_types = [\"parallel\", \"parallel\"]}";
  if (behind)
    text += "%e = tensor.empty() : " + c +
            "\n%i = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) "
            "-> (m, n)>], " +
            both + " ins(%c : " + row + ") outs(%e : " + c +
            ") {\n^bb0(%x: f32, %y: f32):\nlinalg.yield %x : f32\n} -> " + c + "\n";
  text +=
      "%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, "
      "k) -> " +
      std::string(transposeB ? "(n, k)" : "(k, n)") +
      ">, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", "
      "\"reduction\"]} ins(%a, %b : " +
      a + ", " + b + ") outs(" + (behind ? "%i" : "%c") + " : " + c +
      ") {\n^bb0(%x: f32, %y: f32, %s: f32):\n%p = arith.mulf %x, %y : f32\n"
      "%q = arith.addf %s, %p : f32\nlinalg.yield %q : f32\n} -> " +
      c + "\n";
  if (!behind)
    return text + "return %r : " + c + "\n}\n";
  return text + "%z = arith.constant 0.0 : f32\n%e2 = tensor.empty() : " + c +
         "\n%o = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) "
         "-> (m, n)>], " +
         both + " ins(%r : " + c + ") outs(%e2 : " + c +
         ") {\n^bb0(%x: f32, %y: f32):\n%w = arith.maximumf %x, %z : f32\nlinalg.yield %w : f32\n} "
         "-> " +
         c + "\nreturn %o : " + c + "\n}\n";
}

// A sum starts from C: what is -0 there stays so where all products are.
TEST(EmulatedScalarContraction, StartsFromATensor) {
  Sample some(7);
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 48}, {37, 29, 16}, {70, 130, 96}})
      for (bool transposeB : {false, true})
        for (bool behind : {false, true}) {
          if (!some.takes())
            continue;
          SCOPED_TRACE(std::string(chip) + " " + std::to_string(m) + (transposeB ? " Bt" : "") +
                       (behind ? " behind" : ""));
          std::mt19937 random(11);
          Array a = draw({m, k}, random),
                b = transposeB ? draw({n, k}, random) : draw({k, n}, random),
                c = behind ? draw({n}, random) : draw({m, n}, random);
          for (int64_t i = 0; i < k; ++i) { // two rows of zeros
            a.setPattern(i, 0);
            a.setPattern(k + i, 0x80000000u);
          }
          for (int64_t j = 0; j < n; j += 2)
            c.setPattern(j, 0x80000000u);
          expectSameBits(addedText(m, n, k, transposeB, behind), chip, {a, b, c});
        }
}

} // namespace
