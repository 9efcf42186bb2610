// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of 8-bit integers with what quantised models do behind them, executed: one kernel gives
// bit for bit what a kernel for each op gives, without Tensor Cores.

#include "../Support/Sample.h"
#include "Lowering.h"
#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

enum class Behind { ScaleOfTensor, ScalesOfRowsAndColumns, Requantise };

struct Product {
  int64_t m, n, k;
  Behind behind = Behind::Requantise;
  bool transposeB = true, dynamic = false, unsignedA = false;
};

std::string tensorText(const Product &p, std::initializer_list<int64_t> sizes, const char *type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (p.dynamic ? "?" : std::to_string(size)) + "x";
  return text + type + ">";
}

/// The body of the op behind the product: %x is a sum, %b an i32, %s and %t scales of its column
/// and row.
std::string bodyBehind(Behind behind) {
  switch (behind) {
  case Behind::ScaleOfTensor:
    return "%c = arith.constant 0.0123 : f32\n%w = arith.sitofp %x : i32 to f32\n"
           "%v = arith.mulf %w, %c : f32\n%z = arith.constant 0.0 : f32\n"
           "%r = arith.maximumf %v, %z : f32\n";
  case Behind::ScalesOfRowsAndColumns:
    return "%w = arith.sitofp %x : i32 to f32\n%v = arith.mulf %w, %s : f32\n"
           "%u = arith.mulf %v, %t : f32\n%r = math.tanh %u : f32\n";
  case Behind::Requantise:
    return "%y = arith.addi %x, %b : i32\n%w = arith.sitofp %y : i32 to f32\n"
           "%v = arith.mulf %w, %s : f32\n%near = math.roundeven %v : f32\n"
           "%lo = arith.constant -128.0 : f32\n%hi = arith.constant 127.0 : f32\n"
           "%c0 = arith.maximumf %near, %lo : f32\n%c1 = arith.minimumf %c0, %hi : f32\n"
           "%r = arith.fptosi %c1 : f32 to i8\n";
  }
  return "";
}

std::string moduleText(const Product &p) {
  const std::string a = tensorText(p, {p.m, p.k}, "i8"),
                    b = p.transposeB ? tensorText(p, {p.n, p.k}, "i8")
                                     : tensorText(p, {p.k, p.n}, "i8"),
                    c = tensorText(p, {p.m, p.n}, "i32"), bias = tensorText(p, {p.n}, "i32"),
                    columns = tensorText(p, {p.n}, "f32"), rows = tensorText(p, {p.m}, "f32");
  const char *element = p.behind == Behind::Requantise ? "i8" : "f32";
  const std::string o = tensorText(p, {p.m, p.n}, element), sizes = p.dynamic ? "%m, %n" : "";
  std::string text = "func.func @f(%a: " + a + ", %b: " + b + ", %bias: " + bias +
                     ", %columns: " + columns + ", %rows: " + rows + ") -> " + o + " {\n";
  if (p.dynamic)
    text += "%i0 = arith.constant 0 : index\n%m = tensor.dim %rows, %i0 : " + rows +
            "\n%n = tensor.dim %bias, %i0 : " + bias + "\n";
  return text + "%zero = arith.constant 0 : i32\n%e = tensor.empty(" + sizes + ") : " + c +
         "\n%f = linalg.fill ins(%zero : i32) outs(%e : " + c + ") -> " + c +
         "\n%p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
         "affine_map<(m, n, k) -> " +
         (p.transposeB ? "(n, k)" : "(k, n)") +
         ">, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", "
         "\"reduction\"]} ins(%a, %b : " +
         a + ", " + b + ") outs(%f : " + c + ") {\n^bb0(%x: i8, %y: i8, %s: i32):\n%wx = arith." +
         (p.unsignedA ? "extui" : "extsi") +
         " %x : i8 to i32\n%wy = arith.extsi %y : i8 to i32\n%t = arith.muli %wx, %wy : i32\n"
         "%q = arith.addi %s, %t : i32\nlinalg.yield %q : i32\n} -> " +
         c + "\n%oe = tensor.empty(" + sizes + ") : " + o +
         "\n%o = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) "
         "-> (n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, "
         "n)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%p, %bias, %columns, %rows : " +
         c + ", " + bias + ", " + columns + ", " + rows + ") outs(%oe : " + o +
         ") {\n^bb0(%x: i32, " + "%b0: i32, %s: f32, %t: f32, %out: " + element + "):\n" +
         [&] {
           std::string body = bodyBehind(p.behind);
           for (size_t at; (at = body.find("%b :")) != std::string::npos;)
             body.replace(at, 2, "%b0");
           return body;
         }() +
         "linalg.yield %r : " + element + "\n} -> " + o + "\nreturn %o : " + o + "\n}\n";
}

Array drawnIntegers(unsigned bits, llvm::ArrayRef<int64_t> sizes, std::mt19937 &random,
                    int64_t most) {
  Array array(ElementType::integer(bits), sizes);
  const uint64_t mask = bits == 64 ? ~0ull : (uint64_t(1) << bits) - 1;
  for (int64_t i = 0; i < array.size(); ++i)
    array.setPattern(i, uint64_t(int64_t(random() % (2 * most)) - most) & mask);
  return array;
}

/// Runs a module as it is lowered, and with a loop for each result and a kernel for each op.
void expectSame(const std::string &text, const std::string &chip, llvm::ArrayRef<Array> arguments,
                uint64_t launches, bool hasProducts) {
  Lowered fused(text, chip), apart(text, chip, "dispatches=false mma=false");
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  std::vector<Array> found = fused.run(arguments), expected = apart.run(arguments);
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].data == expected[0].data);
  EXPECT_EQ(fused.launches, launches);
  bool hasMma = false;
  for (const auto &[opcode, count] : fused.stats.opcodes)
    hasMma |= llvm::StringRef(opcode).starts_with("mma.sync") && count > 0;
  EXPECT_EQ(hasMma, hasProducts);
}

void check(const Product &p, const std::string &chip) {
  SCOPED_TRACE(chip + " " + std::to_string(p.m) + "x" + std::to_string(p.n) + "x" +
               std::to_string(p.k) + " behind " + std::to_string(int(p.behind)) +
               (p.transposeB ? " Bt" : "") + (p.unsignedA ? " unsigned" : "") +
               (p.dynamic ? " dynamic" : ""));
  std::mt19937 random(3);
  auto scales = [&](int64_t count) {
    Array array = drawn(numerics::Format::F32, {count}, random);
    for (int64_t i = 0; i < count; ++i) // some results are clamped, others not
      array.setPattern(i, llvm::bit_cast<uint32_t>(float(array.value(i)) * 0.01f));
    return array;
  };
  std::vector<Array> arguments = {drawnIntegers(8, {p.m, p.k}, random, 128)};
  arguments.push_back(p.transposeB ? drawnIntegers(8, {p.n, p.k}, random, 128)
                                   : drawnIntegers(8, {p.k, p.n}, random, 128));
  arguments.push_back(drawnIntegers(32, {p.n}, random, 5000));
  arguments.push_back(scales(p.n));
  arguments.push_back(scales(p.m));
  expectSame(moduleText(p), chip, arguments, p.m * p.n ? 1 : 0, p.m * p.n * p.k != 0);
}

constexpr const char *kChips[] = {"sm_80", "sm_89", "sm_90a", "sm_120"};

TEST(EmulatedEightBit, ScalesBehindAProductAreOneKernelOfTheSameBits) {
  for (const char *chip : kChips)
    for (Behind behind :
         {Behind::ScaleOfTensor, Behind::ScalesOfRowsAndColumns, Behind::Requantise}) {
      check({64, 64, 128, behind}, chip);
      check({37, 29, 45, behind}, chip);
    }
}

TEST(EmulatedEightBit, EveryOrderSignAndSize) {
  for (bool transposeB : {false, true})
    for (bool isUnsigned : {false, true})
      for (auto [m, n, k] : {std::array<int64_t, 3>{40, 24, 48}, {1, 40, 33}, {40, 1, 130}})
        check({m, n, k, Behind::Requantise, transposeB, false, isUnsigned}, "sm_80");
  for (auto [m, n, k] : {std::array<int64_t, 3>{0, 8, 8}, {8, 0, 8}, {8, 8, 0}})
    check({m, n, k}, "sm_80");
  for (auto [m, n, k] : {std::array<int64_t, 3>{33, 65, 20}, {1, 16, 16}, {0, 8, 8}})
    check({m, n, k, Behind::Requantise, true, /*dynamic=*/true}, "sm_80");
}

/// A splat constant of TOSA.
std::string constant(const std::string &name, int64_t value, const std::string &type) {
  return "%" + name + " = \"tosa.const\"() {values = dense<" + std::to_string(value) +
         "> : tensor<" + type + ">} : () -> tensor<" + type + ">\n";
}

/// tosa.rescale of %p, of `n` channels each or all alike, to %o.
std::string rescale(const std::string &from, const std::string &to, int64_t n, bool perChannel,
                    bool twice) {
  const std::string channels = perChannel ? std::to_string(n) : "1";
  return constant("mul", 1518500250, channels + "xi32") + constant("shift", 42, channels + "xi8") +
         constant("iz", 0, "1xi32") + constant("oz", 3, "1xi8") +
         "%o = tosa.rescale %p, %mul, %shift, %iz, %oz {scale32 = true, rounding_mode = " +
         (twice ? "DOUBLE_ROUND" : "SINGLE_ROUND") +
         ", per_channel = " + (perChannel ? "true" : "false") +
         ", input_unsigned = false, output_unsigned = false} : (" + from + ", tensor<" + channels +
         "xi32>, tensor<" + channels + "xi8>, tensor<1xi32>, tensor<1xi8>) -> " + to + "\n";
}

struct Quantised {
  int64_t size, channels, filters, window, zero, weightZero = 0;
  bool perChannel = true, twice = true;
  bool constant = false; ///< weights are
};

std::string shape(std::initializer_list<int64_t> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t s : sizes)
    text += std::to_string(s) + "x";
  return text + type + ">";
}

/// A quantised convolution of TOSA: windows, zero points, a bias.
std::string convolutionText(const Quantised &q) {
  const std::string x = shape({2, q.size, q.size, q.channels}, "i8"),
                    w = shape({q.filters, q.window, q.window, q.channels}, "i8"),
                    bias = shape({q.filters}, "i32"),
                    sums = shape({2, q.size, q.size, q.filters}, "i32"),
                    o = shape({2, q.size, q.size, q.filters}, "i8");
  const std::string pad = std::to_string(q.window / 2);
  std::string weights;
  if (q.constant) {
    std::mt19937 random(9);
    for (int64_t i = 0; i < q.filters * q.window * q.window * q.channels; ++i) {
      const char digits[] = "0123456789ABCDEF";
      weights += {digits[random() % 16], digits[random() % 16]};
    }
    weights = "%w = \"tosa.const\"() {values = dense<\"0x" + weights + "\"> : " + w + "} : () -> " +
              w + "\n";
  }
  return "func.func @f(%x: " + x + (q.constant ? "" : ", %w: " + w) + ", %bias: " + bias + ") -> " +
         o + " {\n" + weights + constant("xz", q.zero, "1xi8") +
         constant("wz", q.weightZero, "1xi8") +
         "%p = tosa.conv2d %x, %w, %bias, %xz, %wz {acc_type = i32, pad = array<i64: " + pad +
         ", " + pad + ", " + pad + ", " + pad +
         ">, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (" + x + ", " + w + ", " +
         bias + ", tensor<1xi8>, tensor<1xi8>) -> " + sums + "\n" +
         rescale(sums, o, q.filters, q.perChannel, q.twice) + "return %o : " + o + "\n}\n";
}

void checkConvolution(const Quantised &q, uint64_t launches, const std::string &chip) {
  SCOPED_TRACE(chip + " " + std::to_string(q.size) + " " + std::to_string(q.channels) + " " +
               std::to_string(q.filters) + " " + std::to_string(q.window) + " " +
               std::to_string(q.zero) + " " + std::to_string(q.weightZero));
  std::mt19937 random(5);
  std::vector<Array> arguments = {drawnIntegers(8, {2, q.size, q.size, q.channels}, random, 128)};
  if (!q.constant)
    arguments.push_back(drawnIntegers(8, {q.filters, q.window, q.window, q.channels}, random, 128));
  arguments.push_back(drawnIntegers(32, {q.filters}, random, 100000));
  expectSame(convolutionText(q), chip, arguments, launches, true);
}

// Beside the product: sums of the weights. What lies beyond the ends of an image, its zero point,
// is written while its tiles are copied: 16 bytes, 8, and one at a time.
TEST(EmulatedEightBit, QuantisedConvolutionsOfTOSARunOnTensorCores) {
  Sample some(3);
  for (const char *chip : kChips)
    for (int64_t zero : {-5, 127}) {
      if (!some.takes())
        continue;
      checkConvolution({6, 32, 24, 3, zero}, 2, chip);
      checkConvolution({6, 8, 24, 3, zero}, 2, chip);
      checkConvolution({6, 19, 24, 3, zero}, 2, chip);
      checkConvolution({5, 19, 13, 1, zero}, 2, chip);
    }
  for (bool perChannel : {false, true})
    for (bool twice : {false, true})
      checkConvolution({6, 16, 8, 1, -128, 0, perChannel, twice}, 2, "sm_80");
}

// The compiler sums what is constant.
TEST(EmulatedEightBit, QuantisedConvolutionsByConstantsAreOneKernel) {
  for (const char *chip : kChips)
    for (auto [channels, window] : {std::pair(32, 3), {8, 3}, {19, 1}})
      checkConvolution({6, channels, 24, window, -7, 0, true, true, true}, 1, chip);
}

// Beside the product and the sums of the weights: the image with its border, which two launches
// write, and the sums of what windows of it hold, a loop behind zeros.
TEST(EmulatedEightBit, ZeroPointsOfBothFactorsAreTakenOut) {
  Sample some(2);
  for (const char *chip : kChips) {
    if (!some.takes())
      continue;
    checkConvolution({6, 32, 24, 3, -5, 9}, 6, chip);
    checkConvolution({5, 19, 13, 1, 127, -128}, 4, chip);
    checkConvolution({5, 19, 13, 1, 0, 3}, 3, chip);
    for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 128}, {21, 35, 50}}) {
      const std::string a = shape({2, m, k}, "i8"), b = shape({2, k, n}, "i8"),
                        c = shape({2, m, n}, "i32"), o = shape({2, m, n}, "i8");
      std::mt19937 random(6);
      expectSame(
          "func.func @f(%a: " + a + ", %b: " + b + ") -> " + o + " {\n" +
              constant("az", -128, "1xi8") + constant("bz", 77, "1xi8") +
              "%p = tosa.matmul %a, %b, %az, %bz : (" + a + ", " + b +
              ", tensor<1xi8>, tensor<1xi8>) -> " + c + "\n" +
              rescale(c, o, n, /*perChannel=*/false, /*twice=*/true) + "return %o : " + o + "\n}\n",
          chip,
          {drawnIntegers(8, {2, m, k}, random, 128), drawnIntegers(8, {2, k, n}, random, 128)}, 3,
          true);
    }
  }
}

// They wrap, as 32 bits cut to 16 do.
TEST(EmulatedEightBit, SumsIn16BitsRunOnTensorCores) {
  for (const char *chip : kChips)
    for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 128}, {21, 35, 50}}) {
      const std::string a = shape({m, k}, "i8"), b = shape({k, n}, "i8"), c = shape({m, n}, "i16");
      std::mt19937 random(7);
      expectSame("func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c +
                     " {\n%o = linalg.matmul ins(%a, %b : " + a + ", " + b + ") outs(%c : " + c +
                     ") -> " + c + "\nreturn %o : " + c + "\n}\n",
                 chip,
                 {drawnIntegers(8, {m, k}, random, 128), drawnIntegers(8, {k, n}, random, 128),
                  drawnIntegers(16, {m, n}, random, 32768)},
                 1, true);
    }
}

// As training observes them: tensors of one element, of both factors.
TEST(EmulatedEightBit, ZeroPointsThatOnlyTheRunKnowsAreTakenOut) {
  const std::string map = "affine_map<(m, n, k) -> ";
  const std::string text =
      "func.func @f(%a: tensor<40x48xi8>, %b: tensor<24x48xi8>, %y: tensor<i32>, %z: tensor<i32>) "
      "-> tensor<40x24xi32> {\n%zero = arith.constant 0 : i32\n%e = tensor.empty() : "
      "tensor<40x24xi32>\n%f = linalg.fill ins(%zero : i32) outs(%e : tensor<40x24xi32>) -> "
      "tensor<40x24xi32>\n%p = linalg.generic {indexing_maps = [" +
      map + "(m, k)>, " + map + "(n, k)>, " + map + "()>, " + map + "()>, " + map +
      "(m, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b, %y, %z "
      ": tensor<40x48xi8>, tensor<24x48xi8>, tensor<i32>, tensor<i32>) outs(%f : "
      "tensor<40x24xi32>) {\n^bb0(%l: i8, %r: i8, %i: i32, %j: i32, %s: i32):\n%wl = arith.extsi "
      "%l : i8 to i32\n%cl = arith.subi %wl, %i : i32\n%wr = arith.extui %r : i8 to i32\n%cr = "
      "arith.subi %wr, %j : i32\n%t = arith.muli %cl, %cr : i32\n%q = arith.addi %s, %t : "
      "i32\nlinalg.yield %q : i32\n} -> tensor<40x24xi32>\nreturn %p : tensor<40x24xi32>\n}\n";
  for (const char *chip : kChips) {
    std::mt19937 random(8);
    expectSame(text, chip,
               {drawnIntegers(8, {40, 48}, random, 128), drawnIntegers(8, {24, 48}, random, 128),
                drawnIntegers(32, {}, random, 128), drawnIntegers(32, {}, random, 128)},
               3, true);
  }
}

TEST(EmulatedEightBit, RescaledProductsOfTOSAAreOneKernel) {
  for (bool twice : {false, true})
    for (auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 128}, {21, 35, 50}}) {
      auto shape = [](int64_t x, int64_t y, const char *type) {
        return "tensor<1x" + std::to_string(x) + "x" + std::to_string(y) + "x" + type + ">";
      };
      const std::string a = shape(m, k, "i8"), b = shape(k, n, "i8"), c = shape(m, n, "i32"),
                        o = shape(m, n, "i8");
      std::mt19937 random(6);
      expectSame(
          "func.func @f(%a: " + a + ", %b: " + b + ") -> " + o + " {\n" +
              constant("az", 0, "1xi8") + constant("bz", 0, "1xi8") +
              "%p = tosa.matmul %a, %b, %az, %bz : (" + a + ", " + b +
              ", tensor<1xi8>, tensor<1xi8>) -> " + c + "\n" +
              rescale(c, o, n, /*perChannel=*/false, twice) + "return %o : " + o + "\n}\n",
          "sm_80",
          {drawnIntegers(8, {1, m, k}, random, 128), drawnIntegers(8, {1, k, n}, random, 128)}, 1,
          true);
    }
}

} // namespace
