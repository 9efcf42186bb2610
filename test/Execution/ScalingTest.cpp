// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaling ops, compiled for the host and as kernels on the emulator, against lib/Numerics/Scaling,
// bit for bit.

#include "mp/Dialect/MP/Scaling.h"
#include "CastProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Numerics/Scaling/Blocks.h"
#include "mp/Numerics/Scaling/Hadamard.h"
#include "mp/Numerics/Scaling/NamedRules.h"
#include "mp/Numerics/Scaling/Philox.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace mpcore;
using namespace mlir::mp::test;
using mlir::mp::Array;
using mlir::mp::ElementType;
using numerics::CodeFormat;
using numerics::Format;
using numerics::NamedRule;

namespace {

std::unique_ptr<MLIRContext> makeContext() {
  auto context = makeExecutionContext();
  context->getOrLoadDialect<mlir::mp::MPDialect>();
  return context;
}

using Runner = std::vector<Array> (*)(ModuleOp, ArrayRef<Array>);

std::vector<Array> take(llvm::Expected<std::vector<Array>> results) {
  if (!results) {
    ADD_FAILURE() << llvm::toString(results.takeError());
    return {};
  }
  return *results;
}

std::vector<Array> onHost(ModuleOp module, ArrayRef<Array> arguments) {
  auto program = mlir::mp::Program::compile(module, "f");
  EXPECT_TRUE(bool(program)) << llvm::toString(program.takeError());
  return program ? take((*program)->run(arguments)) : std::vector<Array>();
}

std::vector<Array> onEmulator(ModuleOp module, ArrayRef<Array> arguments) {
  auto program = mlir::mp::DeviceProgram::compile(module, "f", {});
  EXPECT_TRUE(bool(program)) << llvm::toString(program.takeError());
  return program ? take((*program)->run(arguments)) : std::vector<Array>();
}

std::vector<Array> runText(MLIRContext &context, const std::string &text, ArrayRef<Array> arguments,
                           Runner run) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  return module ? run(*module, arguments) : std::vector<Array>();
}

Array arrayOf(ArrayRef<float> values, ArrayRef<int64_t> shape) {
  Array array(ElementType::floating(Format::F32), shape);
  for (auto [i, value] : llvm::enumerate(values))
    array.setPattern(int64_t(i), llvm::bit_cast<uint32_t>(value));
  return array;
}

float floatAt(const Array &array, int64_t index) { return float(array.value(index)); }

void expectSame(float found, float expected, const llvm::Twine &where) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(found)) << where.str() << ": " << found;
  else
    EXPECT_EQ(llvm::bit_cast<uint32_t>(found), llvm::bit_cast<uint32_t>(expected))
        << where.str() << ": " << found << " for " << expected;
}

/// Rows of different magnitudes: ordinary, tiny, large, zero, subnormal, infinite, NaN.
std::vector<float> difficultRows(int64_t columns) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (float factor : {1.f, 1e-3f, 1e30f, 0.f, 1e-41f, 37.f, 1e-25f, .02f})
    for (int64_t i = 0; i < columns; ++i)
      values.push_back(normal(random) * factor);
  values[5 * columns] = std::numeric_limits<float>::infinity();
  values[7 * columns + 3] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

std::string ruleText(MLIRContext &context, const numerics::ScaleRule &rule) {
  std::string text;
  llvm::raw_string_ostream(text) << Attribute(mlir::mp::scalingAttrOf(&context, rule));
  return text.substr(strlen("#mp.scaling"));
}

std::string nameOf(CodeFormat code) {
  return code.isInteger() ? "i" + std::to_string(code.bits())
                          : numerics::toString(code.floatFormat()).str();
}

/// Block quantisation and back by one rule on one path.
void checkBlocks(MLIRContext &context, const NamedRule &named, CodeFormat code, Runner run) {
  constexpr int64_t rows = 8, columns = 64;
  std::string form = nameOf(code), stored = numerics::toString(named.scaleFormat).str();
  SCOPED_TRACE(named.name.str() + " " + form);
  std::string text = llvm::formatv(
      R"(func.func @f(%x: tensor<8x64xf32>) -> (tensor<8x64x{0}>, tensor<8x2xf32>, tensor<8x64xf32>) {{
        %q, %s = mp.block_quantize %x by {2} : tensor<8x64xf32> to tensor<8x64x{0}>, tensor<8x2x{1}>
        %y = mp.dequantize %q by %s : tensor<8x64x{0}>, tensor<8x2x{1}> to tensor<8x64xf32>
        %one = arith.constant dense<1.0> : tensor<f32>
        %wide = mp.dequantize %s by %one : tensor<8x2x{1}>, tensor<f32> to tensor<8x2xf32>
        return %q, %wide, %y : tensor<8x64x{0}>, tensor<8x2xf32>, tensor<8x64xf32>
      })",
      form, stored, ruleText(context, named.rule));
  std::vector<float> x = difficultRows(columns);
  std::vector<Array> results = runText(context, text, arrayOf(x, {rows, columns}), run);
  ASSERT_EQ(results.size(), 3u);

  auto layout = *numerics::BlockLayout::get({rows, columns}, {rows, 2});
  std::vector<uint8_t> codes(x.size());
  std::vector<float> scales(layout.scales()), back(x.size());
  numerics::blockQuantize(x.data(), layout, named.rule, code, named.scaleFormat, codes.data(),
                          scales.data());
  numerics::dequantizeArray(codes.data(), layout, scales.data(), code, back.data());
  for (size_t i = 0; i < scales.size(); ++i)
    expectSame(floatAt(results[1], int64_t(i)), scales[i], "scale " + llvm::Twine(i));
  for (size_t i = 0; i < x.size(); ++i) {
    // Any NaN will do.
    if (!std::isnan(code.decode(codes[i])))
      EXPECT_EQ(results[0].pattern(int64_t(i)), codes[i]) << "code " << i << " of " << x[i];
    expectSame(floatAt(results[2], int64_t(i)), back[i], "value " + llvm::Twine(i));
  }
}

TEST(Scaling, BlocksByEveryRuleOnTheHost) {
  auto context = makeContext();
  for (const NamedRule &named : numerics::namedScaleRules()) {
    bool keeps = named.rule.onZero == numerics::OnZero::Keep;
    if (keeps)
      continue; // AmaxHistory below
    checkBlocks(*context, named, Format::F8E4M3FN, onHost);
    checkBlocks(*context, named, Format::F4E2M1FN, onHost);
  }
  for (CodeFormat code : {CodeFormat(Format::F8E5M2), CodeFormat::integer(8)})
    checkBlocks(*context, *numerics::findScaleRule("te-current"), code, onHost);
}

TEST(Scaling, BlocksOnTheEmulator) {
  auto context = makeContext();
  checkBlocks(*context, *numerics::findScaleRule("te-mxfp8"), Format::F8E4M3FN, onEmulator);
  checkBlocks(*context, *numerics::findScaleRule("te-current"), CodeFormat::integer(8), onEmulator);
  checkBlocks(*context, *numerics::findScaleRule("te-nvfp4-block"), Format::F4E2M1FN, onEmulator);
}

/// Scales of rank 0, of rows, of columns and of two-dimensional blocks over dynamic or static
/// sizes.
TEST(Scaling, EveryGranularity) {
  auto context = makeContext();
  const NamedRule &named = *numerics::findScaleRule("te-current");
  std::vector<float> x = difficultRows(64);
  struct Case {
    StringRef data, scale;
    SmallVector<int64_t> scales;
  };
  for (const Case &c : {Case{"?x?x", "", {}}, Case{"?x64x", "?x1x", {8, 1}},
                        Case{"?x?x", "1x?x", {1, 64}}, Case{"8x64x", "2x4x", {2, 4}},
                        Case{"8x64x", "8x64x", {8, 64}}, Case{"8x64x", "1x1x", {1, 1}}}) {
    SCOPED_TRACE((c.data + " " + c.scale).str());
    std::string text = llvm::formatv(
        R"(func.func @f(%x: tensor<{0}f32>) -> tensor<{0}f8E4M3FN> {{
          %q, %s = mp.block_quantize %x by {2} : tensor<{0}f32> to tensor<{0}f8E4M3FN>, tensor<{1}f32>
          return %q : tensor<{0}f8E4M3FN>
        })",
        c.data, c.scale, ruleText(*context, named.rule));
    std::vector<Array> results = runText(*context, text, arrayOf(x, {8, 64}), onHost);
    ASSERT_EQ(results.size(), 1u);
    auto layout = *numerics::BlockLayout::get({8, 64}, c.scales);
    std::vector<uint8_t> codes(x.size());
    std::vector<float> scales(layout.scales());
    numerics::blockQuantize(x.data(), layout, named.rule, Format::F8E4M3FN, named.scaleFormat,
                            codes.data(), scales.data());
    for (size_t i = 0; i < x.size(); ++i)
      if ((codes[i] & 0x7F) != 0x7F)
        ASSERT_EQ(results[0].pattern(int64_t(i)), codes[i]) << i << " of " << x[i];
  }
}

/// A delayed scale over steps, all rules of a history.
TEST(Scaling, HistoriesAndKeptScales) {
  auto context = makeContext();
  const float steps[] = {2, 8, 1, 0, .5, INFINITY, 4, 1e-40f, NAN, 1e-40f, 3};
  const NamedRule &named = *numerics::findScaleRule("te-delayed");
  for (auto choice : {numerics::HistoryChoice::Max, numerics::HistoryChoice::MostRecent})
    for (auto order : {numerics::HistoryOrder::AfterCurrent, numerics::HistoryOrder::BeforeCurrent})
      for (bool rolls : {false, true})
        for (int64_t length : {1, 4}) {
          numerics::HistoryRule rule{choice, order, rolls};
          std::string text = llvm::formatv(
              R"(func.func @f(%h: tensor<{0}xf32>, %amax: tensor<f32>, %old: tensor<f32>) -> (tensor<{0}xf32>, tensor<f32>) {{
                %next, %a = mp.update_amax_history %h, %amax {1} {2} {3} : tensor<{0}xf32>
                %enc, %s = mp.compute_scale %a or %old : tensor<f32> for f8E4M3FN by {4} : tensor<f32> to tensor<f32>
                return %next, %enc : tensor<{0}xf32>, tensor<f32>
              })",
              length, mlir::mp::stringifyHistoryChoice(mlir::mp::HistoryChoice(choice)),
              mlir::mp::stringifyHistoryOrder(mlir::mp::HistoryOrder(order)),
              rolls ? "" : "keep_on_zero", ruleText(*context, named.rule));
          SCOPED_TRACE(text);
          auto module = parseSourceString<ModuleOp>(text, context.get());
          ASSERT_TRUE(module);
          auto program = mlir::mp::Program::compile(*module, "f");
          ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
          std::vector<float> history(size_t(length), 0);
          float scale = 1;
          for (float amax : steps) {
            std::vector<Array> results = take(
                (*program)->run({arrayOf(history, length), arrayOf(amax, {}), arrayOf(scale, {})}));
            ASSERT_EQ(results.size(), 2u);
            float effective = numerics::updateAmaxHistory(history, amax, rule);
            scale =
                numerics::computeScale(named.rule, Format::F8E4M3FN, Format::F32, effective, scale)
                    .encode;
            for (int64_t i = 0; i < length; ++i)
              expectSame(floatAt(results[0], i), history[size_t(i)], "slot " + llvm::Twine(i));
            expectSame(floatAt(results[1], 0), scale, "scale");
          }
        }
}

TEST(Scaling, TwoLevelsWithRandomBits) {
  auto context = makeContext();
  const NamedRule &tensor = *numerics::findScaleRule("te-nvfp4-tensor"),
                  &block = *numerics::findScaleRule("te-nvfp4-block");
  std::string text = llvm::formatv(
      R"(func.func @f(%x: tensor<8x64xf32>, %seed: tensor<i64>) -> (tensor<8x64xf4E2M1FN>, tensor<8x64xf32>) {{
        %amax = mp.amax %x : tensor<8x64xf32> to tensor<f32>
        %enc, %all = mp.compute_scale %amax for f4E2M1FN by {0} : tensor<f32> to tensor<f32>
        %offset = arith.constant dense<4294967295> : tensor<i64>
        %bits = mp.random_bits %seed, %offset : tensor<8x64xi32>
        %q, %s = mp.block_quantize sr %x within %enc random %bits : tensor<8x64xi32> by {1} : tensor<8x64xf32> to tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
        %y = mp.dequantize %q by %s, %all : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>, tensor<f32> to tensor<8x64xf32>
        return %q, %y : tensor<8x64xf4E2M1FN>, tensor<8x64xf32>
      })",
      ruleText(*context, tensor.rule), ruleText(*context, block.rule));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(8 * 64);
  for (float &value : x)
    value = normal(random);
  Array seed(ElementType::integer(64), {});
  seed.setPattern(0, 0x123456789abcdef0);
  auto layout = *numerics::BlockLayout::get({8, 64}, {8, 4});
  float amax;
  numerics::amaxArray(x.data(), *numerics::BlockLayout::get({8, 64}, {}), &amax);
  numerics::Scale outer = numerics::computeScale(tensor.rule, Format::F4E2M1FN, Format::F32, amax);
  std::vector<uint32_t> bits;
  for (size_t i = 0; i < x.size(); ++i)
    bits.push_back(numerics::randomWord(0x123456789abcdef0, 4294967295, i));
  std::vector<uint8_t> codes(x.size());
  std::vector<float> scales(layout.scales()), back(x.size());
  numerics::blockQuantize(x.data(), layout, block.rule, Format::F4E2M1FN, block.scaleFormat,
                          codes.data(), scales.data(), outer.encode, numerics::NaNRule::Ignore,
                          numerics::Rounding::SR, bits.data());
  numerics::dequantizeArray(codes.data(), layout, scales.data(), Format::F4E2M1FN, back.data());
  for (Runner run : {onHost, onEmulator}) {
    std::vector<Array> results = runText(*context, text, {arrayOf(x, {8, 64}), seed}, run);
    ASSERT_EQ(results.size(), 2u);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(results[0].pattern(int64_t(i)), codes[i]) << i;
      expectSame(floatAt(results[1], int64_t(i)), back[i] * outer.decode, llvm::Twine(i));
    }
  }
}

TEST(Scaling, Hadamard) {
  auto context = makeContext();
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(4 * 48);
  for (float &value : x)
    value = normal(random);
  std::string signs;
  for (int8_t sign : numerics::hadamardSigns16())
    signs += (signs.empty() ? "" : ", ") + std::to_string(sign);
  std::string text = llvm::formatv(
      R"(func.func @f(%x: tensor<4x48xf32>) -> (tensor<4x48xf32>, tensor<4x48xf32>) {{
        %0 = mp.hadamard %x axis 1 signs [{0}] : tensor<4x48xf32>
        %1 = mp.hadamard inverse %x axis 1 signs [{0}] : tensor<4x48xf32>
        return %0, %1 : tensor<4x48xf32>, tensor<4x48xf32>
      })",
      signs);
  for (Runner run : {onHost, onEmulator}) {
    std::vector<Array> results = runText(*context, text, arrayOf(x, {4, 48}), run);
    ASSERT_EQ(results.size(), 2u);
    for (bool inverse : {false, true}) {
      std::vector<float> expected = x;
      for (size_t i = 0; i < x.size(); i += 16)
        numerics::hadamard(MutableArrayRef<float>(expected).slice(i, 16),
                           numerics::hadamardSigns16(), inverse);
      for (size_t i = 0; i < x.size(); ++i)
        expectSame(floatAt(results[inverse], int64_t(i)), expected[i], llvm::Twine(i));
    }
  }
}

/// Small integers as codes, so that sums are exact in any order; what scales do is not.
void checkProduct(MLIRContext &context, StringRef code, StringRef scaleA, StringRef scaleB,
                  ArrayRef<int64_t> scalesA, ArrayRef<int64_t> scalesB, Runner run) {
  SCOPED_TRACE((code + " by " + scaleA + " and " + scaleB).str());
  constexpr int64_t batches = 2, rows = 4, columns = 6, depth = 64;
  std::string text = llvm::formatv(
      R"(func.func @f(%x: tensor<2x4x64xf32>, %sa: tensor<{1}f32>, %y: tensor<64x6xf32>, %sb: tensor<{2}f32>, %c: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {{
        %one = arith.constant dense<1.0> : tensor<f32>
        %a = mp.quantize saturate %x by %one : tensor<2x4x64xf32>, tensor<f32> to tensor<2x4x64x{0}>
        %b = mp.quantize saturate %y by %one : tensor<64x6xf32>, tensor<f32> to tensor<64x6x{0}>
        %0 = mp.scaled_matmul %a by(%sa) with %b by(%sb) onto %c
               maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
             : tensor<2x4x64x{0}> by(tensor<{1}f32>) with tensor<64x6x{0}> by(tensor<{2}f32>) to tensor<2x4x6xf32>
        return %0 : tensor<2x4x6xf32>
      })",
      code, scaleA, scaleB);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> small(-4, 4);
  std::uniform_real_distribution<float> positive(.1f, 3);
  auto layoutA = *numerics::BlockLayout::get({batches, rows, depth}, scalesA);
  auto layoutB = *numerics::BlockLayout::get({depth, columns}, scalesB);
  std::vector<float> a(layoutA.elements()), b(layoutB.elements()), sa(layoutA.scales()),
      sb(layoutB.scales()), c(batches * rows * columns);
  for (std::vector<float> *values : {&a, &b, &c})
    for (float &value : *values)
      value = float(small(random));
  for (std::vector<float> *scales : {&sa, &sb})
    for (float &scale : *scales)
      scale = positive(random);
  auto spread = [](const numerics::BlockLayout &layout, ArrayRef<float> scales) {
    std::vector<float> all(layout.elements());
    layout.forEachRun([&](size_t first, size_t length, size_t scale) {
      std::fill_n(all.begin() + first, length, scales[scale]);
    });
    return all;
  };
  std::vector<float> scaleOfA = spread(layoutA, sa), scaleOfB = spread(layoutB, sb);
  int64_t blocks =
      std::max<int64_t>(scalesA.empty() ? 1 : scalesA[2], scalesB.empty() ? 1 : scalesB[0]);
  std::vector<Array> results = runText(context, text,
                                       {arrayOf(a, {batches, rows, depth}), arrayOf(sa, scalesA),
                                        arrayOf(b, {depth, columns}), arrayOf(sb, scalesB),
                                        arrayOf(c, {batches, rows, columns})},
                                       run);
  ASSERT_EQ(results.size(), 1u);
  for (int64_t row = 0; row < batches * rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      float expected = c[row * columns + column];
      for (int64_t block = 0; block < blocks; ++block) {
        int64_t first = block * depth / blocks, last = (block + 1) * depth / blocks;
        float sum = 0;
        for (int64_t k = first; k < last; ++k)
          sum += a[row * depth + k] * b[k * columns + column];
        // Volatile: never one half of a fused multiply-add.
        volatile float product =
            sum * (scaleOfA[row * depth + first] * scaleOfB[first * columns + column]);
        expected += product;
      }
      expectSame(floatAt(results[0], row * columns + column), expected,
                 llvm::Twine(row) + ", " + llvm::Twine(column));
    }
}

TEST(Scaling, ProductsOfScaledValues) {
  auto context = makeContext();
  for (StringRef code : {"f8E4M3FN", "f8E5M2", "i8", "f4E2M1FN"}) {
    checkProduct(*context, code, "", "", {}, {}, onHost);
    checkProduct(*context, code, "2x4x1x", "1x6x", {2, 4, 1}, {1, 6}, onHost);
    checkProduct(*context, code, "2x4x4x", "4x6x", {2, 4, 4}, {4, 6}, onHost);
    checkProduct(*context, code, "2x4x8x", "2x2x", {2, 4, 8}, {2, 2}, onHost);
  }
  checkProduct(*context, "f8E4M3FN", "2x4x1x", "1x6x", {2, 4, 1}, {1, 6}, onEmulator);
  checkProduct(*context, "i8", "2x4x4x", "2x2x", {2, 4, 4}, {2, 2}, onEmulator);
}

} // namespace
