// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions are executed: one has the bits of the Tensor Core model of lib/Numerics, and those
// that read zeros beyond the ends of their input what a padded copy of it gives.

#include "Lowering.h"
#include "mp/Numerics/Cast.h"
#include "mp/Numerics/TensorCore.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Convolution {
  int64_t batch, height, width, channels, filters, window, stride, low, high;
  bool channelsFirst = false;
  int64_t groups = 1;    ///< each of so many channels and filters
  bool narrowed = false; ///< input and filters are f32 in memory
  bool anyBatch = false; ///< known at run time only
  std::string schedule = "";

  int64_t out(int64_t in) const { return (in + low + high - window) / stride + 1; }
};

std::string type(llvm::ArrayRef<int64_t> sizes, const std::string &element, bool anyFirst) {
  std::string text = "tensor<";
  for (auto [i, size] : llvm::enumerate(sizes))
    text += (anyFirst && i == 0 ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

/// Sizes of input, padded input, filters and result.
struct Shapes {
  std::vector<int64_t> input, padded, filters, result;
};

Shapes shapesOf(const Convolution &o) {
  const int64_t ph = o.height + o.low + o.high, pw = o.width + o.low + o.high;
  const int64_t oh = o.out(o.height), ow = o.out(o.width);
  if (o.channelsFirst)
    return {{o.batch, o.groups, o.channels, o.height, o.width},
            {o.batch, o.groups, o.channels, ph, pw},
            {o.groups, o.filters, o.channels, o.window, o.window},
            {o.batch, o.groups, o.filters, oh, ow}};
  return {{o.batch, o.height, o.width, o.groups, o.channels},
          {o.batch, ph, pw, o.groups, o.channels},
          {o.window, o.window, o.groups, o.channels, o.filters},
          {o.batch, oh, ow, o.groups, o.filters}};
}

std::string castText(const std::string &from, const std::string &to, const std::string &wide,
                     const std::string &narrow, const std::string &format) {
  const std::string id = "affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>";
  return to + " = linalg.generic {indexing_maps = [" + id + ", " + id +
         "], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
         "\"parallel\"]} ins(" +
         from + " : " + wide + ") outs(" + to + "e : " + narrow +
         ") {\n^bb0(%in: f32, %out: " + format + "):\n%r = arith.truncf %in : f32 to " + format +
         "\nlinalg.yield %r : " + format + "\n} -> " + narrow + "\n";
}

std::string moduleText(const Convolution &o, const std::string &format) {
  const Shapes s = shapesOf(o);
  const std::string stored = o.narrowed ? "f32" : format;
  const std::string x = type(s.input, stored, o.anyBatch), w = type(s.filters, stored, false),
                    xn = type(s.input, format, o.anyBatch), wn = type(s.filters, format, false),
                    p = type(s.padded, format, o.anyBatch), c = type(s.result, "f32", o.anyBatch);
  const std::string stride = std::to_string(o.stride);
  const std::string loops = "(n, g, y, x, f, c, r, s) -> ";
  const std::string at = "y * " + stride + " + r, x * " + stride + " + s";
  const std::string maps =
      o.channelsFirst ? "affine_map<" + loops + "(n, g, c, " + at + ")>, affine_map<" + loops +
                            "(g, f, c, r, s)>, affine_map<" + loops + "(n, g, f, y, x)>"
                      : "affine_map<(n, g, y, x, f, r, s, c) -> (n, " + at +
                            ", g, c)>, affine_map<(n, g, y, x, f, r, s, c) -> (r, s, g, c, f)>, "
                            "affine_map<(n, g, y, x, f, r, s, c) -> (n, y, x, g, f)>";
  auto amounts = [&](int64_t amount) {
    const std::string a = std::to_string(amount);
    return o.channelsFirst ? "[0, 0, 0, " + a + ", " + a + "]" : "[0, " + a + ", " + a + ", 0, 0]";
  };
  std::string text = "func.func @f(%x: " + x + ", %w: " + w + ", %c: " + c + ") -> " + c + " {\n";
  if (o.anyBatch)
    text += "%zero = arith.constant 0 : index\n%nb = tensor.dim %x, %zero : " + x + "\n";
  text += "%d = mpk.dispatch ins(%x, %w" + std::string(o.anyBatch ? ", %nb" : "") + " : " + x +
          ", " + w + (o.anyBatch ? ", index" : "") + ") outs(%c : " + c +
          ") schedule = <matmul> -> " + c + " {\n^bb0(%x0: " + x + ", %w0: " + w +
          (o.anyBatch ? ", %size: index" : "") + ", %c0: " + c + "):\n";
  std::string input = "%x0", filters = "%w0";
  if (o.narrowed) {
    text += "%x1e = tensor.empty(" + std::string(o.anyBatch ? "%size" : "") + ") : " + xn +
            "\n%w1e = tensor.empty() : " + wn + "\n" + castText("%x0", "%x1", x, xn, format) +
            castText("%w0", "%w1", w, wn, format);
    input = "%x1";
    filters = "%w1";
  }
  return text + "%z = arith.constant 0.0 : " + format + "\n%p = tensor.pad " + input + " low" +
         amounts(o.low) + " high" + amounts(o.high) +
         " {\n^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):\ntensor.yield %z "
         ": " +
         format + "\n} : " + xn + " to " + p + "\n%s = linalg.generic {indexing_maps = [" + maps +
         "], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
         "\"parallel\", \"reduction\", \"reduction\", \"reduction\"], mpk.mma = \"" +
         format + "\"" +
         (o.schedule.empty()
              ? ""
              : ", mpk.schedule = #mpk.schedule<matmul, \"unit=mma.sync " + o.schedule + "\">") +
         "} ins(%p, " + filters + " : " + p + ", " + wn + ") outs(%c0 : " + c +
         ") {\n^bb0(%a: " + format + ", %b: " + format +
         ", %t: f32):\n%wa = arith.extf %a : " + format +
         " to f32\n%wb = arith.extf %b : " + format +
         " to f32\n%m = arith.mulf %wa, %wb : f32\n%q = arith.addf %t, %m : f32\nlinalg.yield %q : "
         "f32\n} -> " +
         c + "\nmpk.yield %s : " + c + "\n}\nreturn %d : " + c + "\n}\n";
}

void check(const Convolution &o, const std::string &chip) {
  SCOPED_TRACE(chip + " " + std::to_string(o.height) + "x" + std::to_string(o.width) + "x" +
               std::to_string(o.channels) + " to " + std::to_string(o.filters) + ", window " +
               std::to_string(o.window) + ", stride " + std::to_string(o.stride) +
               (o.channelsFirst ? ", channels first " : " ") + o.schedule);
  const std::string format = chip == "sm_75" ? "f16" : "bf16";
  const std::string text = moduleText(o, format);
  Lowered inside(text, chip), apart(inlineDispatches(text), chip, "dispatches=false");
  ASSERT_EQ(inside.error, "");
  ASSERT_EQ(apart.error, "");
  const Shapes s = shapesOf(o);
  std::mt19937 random(17);
  const numerics::Format stored =
      o.narrowed ? numerics::Format::F32 : *numerics::parseFormat(format);
  std::vector<Array> arguments = {drawn(stored, s.input, random), drawn(stored, s.filters, random),
                                  drawn(numerics::Format::F32, s.result, random)};
  std::vector<Array> found = inside.run(arguments), expected = apart.run(arguments);
  ASSERT_EQ(inside.error, "");
  ASSERT_EQ(apart.error, "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].data == expected[0].data);
  // A copy of C, which the kernel adds to, and the kernel.
  EXPECT_EQ(inside.launches, found[0].size() ? 2u : 0u);
  if (found[0].size()) {
    EXPECT_GE(apart.launches, 4u);
  }
  if (!o.schedule.empty()) {
    EXPECT_EQ(inside.stats.bankConflicts, 0u);
  }
}

TEST(EmulatedConvolution, IsAnImplicitProductOfSmallSizes) {
  const char *text =
      R"(func.func @f(%x: tensor<1x10x9x8xbf16>, %w: tensor<3x3x8x24xbf16>, %c: tensor<1x4x7x24xf32>) -> tensor<1x4x7x24xf32> {
    %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>} ins(%x, %w : tensor<1x10x9x8xbf16>, tensor<3x3x8x24xbf16>) outs(%c : tensor<1x4x7x24xf32>) -> tensor<1x4x7x24xf32>
    return %0 : tensor<1x4x7x24xf32>
  })";
  Lowered lowered(text, "sm_80");
  ASSERT_EQ(lowered.error, "");
  std::mt19937 random(3);
  Array x = drawn(numerics::Format::BF16, {1, 10, 9, 8}, random);
  Array w = drawn(numerics::Format::BF16, {3, 3, 8, 24}, random);
  Array c = drawn(numerics::Format::F32, {1, 4, 7, 24}, random);
  std::vector<Array> results = lowered.run({x, w, c});
  ASSERT_EQ(lowered.error, "");
  auto model = *numerics::tensorCoreModel(numerics::Architecture::SM80, numerics::Format::BF16);
  for (int64_t oh = 0; oh < 4; ++oh)
    for (int64_t ow = 0; ow < 7; ++ow)
      for (int64_t oc = 0; oc < 24; ++oc) {
        std::vector<float> row, column;
        for (int64_t kh = 0; kh < 3; ++kh)
          for (int64_t kw = 0; kw < 3; ++kw)
            for (int64_t ic = 0; ic < 8; ++ic) {
              row.push_back(x.value(((oh * 2 + kh) * 9 + ow + kw) * 8 + ic));
              column.push_back(w.value(((kh * 3 + kw) * 8 + ic) * 24 + oc));
            }
        int64_t at = (oh * 7 + ow) * 24 + oc;
        float expected = float(c.value(at)) +
                         numerics::modelDot(model, row.data(), column.data(), row.size(), 0.0f);
        EXPECT_EQ(float(results[0].value(at)), expected) << oh << ' ' << ow << ' ' << oc;
      }
}

TEST(EmulatedConvolution, ReadsZerosBeyondTheEnds) {
  check({1, 8, 8, 64, 64, 3, 1, 1, 1}, "sm_80"); // a step is one tap
  check({2, 9, 7, 8, 24, 3, 2, 1, 1}, "sm_80");  // a step is several
  check({1, 5, 6, 4, 5, 3, 1, 1, 1}, "sm_80");   // accesses of 8 bytes
  check({1, 9, 9, 3, 16, 7, 2, 3, 3}, "sm_80");  // more taps than bits
  check({1, 6, 5, 16, 8, 2, 1, 0, 1}, "sm_80");  // beyond one end
  check({1, 3, 3, 16, 8, 5, 1, 2, 2}, "sm_80");  // nothing inside of some taps
  check({1, 8, 8, 16, 16, 1, 2, 1, 1}, "sm_80"); // rows of zeros alone
}

TEST(EmulatedConvolution, EveryTarget) {
  for (const char *chip : {"sm_75", "sm_89", "sm_90a", "sm_120"}) {
    check({1, 7, 6, 16, 24, 3, 1, 1, 1}, chip);
    check({1, 7, 6, 3, 8, 7, 2, 3, 3}, chip);
  }
}

TEST(EmulatedConvolution, ChannelsFirstGroupsAndNarrowed) {
  check({2, 7, 6, 8, 16, 3, 1, 1, 1, /*channelsFirst=*/true}, "sm_80");
  check({2, 7, 6, 3, 8, 7, 2, 3, 3, /*channelsFirst=*/true}, "sm_80");
  check({1, 7, 6, 16, 8, 3, 1, 1, 1, /*channelsFirst=*/false, /*groups=*/3}, "sm_80");
  check({1, 7, 6, 8, 8, 3, 2, 1, 1, /*channelsFirst=*/true, /*groups=*/2}, "sm_80");
  check({1, 7, 6, 16, 8, 3, 1, 1, 1, false, 1, /*narrowed=*/true}, "sm_80");
  check({2, 7, 6, 8, 8, 3, 1, 1, 1, true, 1, /*narrowed=*/true}, "sm_120");
}

TEST(EmulatedConvolution, AnyBatch) {
  for (int64_t batch : {0, 1, 3}) {
    check({batch, 6, 5, 16, 8, 3, 1, 1, 1, false, 1, false, /*anyBatch=*/true}, "sm_80");
    check({batch, 6, 5, 16, 8, 3, 1, 1, 1, false, 1, true, /*anyBatch=*/true}, "sm_80");
  }
}

TEST(EmulatedConvolution, HasNoBankConflicts) {
  check({1, 16, 16, 64, 128, 3, 1, 1, 1, false, 1, false, false,
         "tile=128x128x64 warps=2x4 stages=3 copy=async"},
        "sm_80");
}

/// A function with dispatches and without: the same bits, by this many kernels.
void checkRoutes(const std::string &text, llvm::ArrayRef<std::vector<int64_t>> sizes,
                 uint64_t launches) {
  std::mt19937 random(19);
  std::vector<Array> arguments;
  for (const std::vector<int64_t> &each : sizes)
    arguments.push_back(drawn(numerics::Format::F32, each, random));
  for (const char *chip : {"sm_75", "sm_80", "sm_120"}) {
    Lowered together(text, chip, "sums=ordered"), apart(text, chip, "dispatches=false");
    ASSERT_EQ(together.error, "");
    ASSERT_EQ(apart.error, "");
    std::vector<Array> found = together.run(arguments), expected = apart.run(arguments);
    ASSERT_EQ(together.error, "");
    ASSERT_EQ(apart.error, "");
    EXPECT_TRUE(found[0].data == expected[0].data) << chip;
    EXPECT_EQ(together.launches, launches);
    EXPECT_GT(apart.launches, launches);
  }
}

TEST(EmulatedConvolution, PoolsPaddedInputsInOneKernel) {
  checkRoutes(R"(func.func @f(%x: tensor<2x5x9x7xf32>) -> tensor<2x5x5x4xf32> {
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<2x5x5x4xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %i = linalg.fill ins(%low : f32) outs(%e : tensor<2x5x5x4xf32>) -> tensor<2x5x5x4xf32>
    %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %low : f32
    } : tensor<2x5x9x7xf32> to tensor<2x5x11x9xf32>
    %0 = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>}
        ins(%p, %w : tensor<2x5x11x9xf32>, tensor<3x3xf32>) outs(%i : tensor<2x5x5x4xf32>) -> tensor<2x5x5x4xf32>
    return %0 : tensor<2x5x5x4xf32>
  })",
              {{2, 5, 9, 7}}, 1);
}

TEST(EmulatedConvolution, SumsAllOfAnImageAsARow) {
  checkRoutes(R"(func.func @f(%x: tensor<2x5x7x7xf32>) -> tensor<2x5x1x1xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5x1x1xf32>
    %w = tensor.empty() : tensor<7x7xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x1x1xf32>) -> tensor<2x5x1x1xf32>
    %0 = linalg.pooling_nchw_sum ins(%x, %w : tensor<2x5x7x7xf32>, tensor<7x7xf32>) outs(%i : tensor<2x5x1x1xf32>) -> tensor<2x5x1x1xf32>
    return %0 : tensor<2x5x1x1xf32>
  })",
              {{2, 5, 7, 7}}, 1);
}

TEST(EmulatedConvolution, ConvolvesEachChannelByItselfInOneKernel) {
  checkRoutes(
      R"(func.func @f(%x: tensor<1x6x7x12xf32>, %w: tensor<3x3x12xf32>) -> tensor<1x6x7x12xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x6x7x12xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6x7x12xf32>) -> tensor<1x6x7x12xf32>
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : f32
    } : tensor<1x6x7x12xf32> to tensor<1x8x9x12xf32>
    %0 = linalg.depthwise_conv_2d_nhwc_hwc ins(%p, %w : tensor<1x8x9x12xf32>, tensor<3x3x12xf32>) outs(%i : tensor<1x6x7x12xf32>) -> tensor<1x6x7x12xf32>
    return %0 : tensor<1x6x7x12xf32>
  })",
      {{1, 6, 7, 12}, {3, 3, 12}}, 1);
}

} // namespace
