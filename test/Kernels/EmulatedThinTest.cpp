// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows or columns, executed: warps of a block share a sum, slice by slice. Bit for
// bit the Tensor Core model for each slice and the tree that adds them.

#include "../Support/Sample.h"
#include "Lowering.h"
#include "ThinText.h"
#include "mp/Numerics/Cast.h"
#include "mp/Numerics/TensorCore.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

std::vector<Array> argumentsOf(const Thin &o) {
  using numerics::Format;
  std::mt19937 random(3);
  const Format format = *numerics::parseFormat(o.format);
  const Format stored = format == Format::TF32 ? Format::F32 : format;
  auto operand = [&](int64_t outer, bool transposed, Format memory) {
    std::vector<int64_t> sizes = {outer, o.k};
    if (transposed)
      std::swap(sizes[0], sizes[1]);
    return drawn(memory, sizes, random);
  };
  return {operand(o.m, o.transposeA, stored),
          operand(o.n, !o.transposeB, o.narrowed ? Format::F32 : stored),
          drawn(Format::F32, {o.m, o.n}, random), drawn(Format::F32, {o.n}, random),
          drawn(Format::BF16, {o.m, o.n}, random)};
}

/// Sums of slices in pairs of neighbours, then pairs of these.
float addTree(std::vector<float> parts) {
  for (size_t distance = 1; distance < parts.size(); distance *= 2)
    for (size_t i = 0; i + distance < parts.size(); i += 2 * distance)
      parts[i] += parts[i + distance];
  return parts.front();
}

/// The sum of two vectors as a kernel has it: each of `splits` blocks a run of steps, each of
/// `slices` groups of warps in it every so many parts of these.
float sumOf(const Thin &o, const numerics::TensorCoreModel &model, const std::vector<float> &row,
            const std::vector<float> &column, int64_t depth) {
  const int64_t steps = (o.k + o.slices * depth - 1) / (o.slices * depth);
  std::vector<float> blocks;
  for (int block = 0; block < o.splits; ++block) {
    const int64_t begin = block * steps / o.splits * o.slices * depth,
                  end = std::min((block + 1) * steps / o.splits * o.slices * depth, o.k);
    std::vector<float> parts;
    for (int slice = 0; slice < o.slices; ++slice) {
      std::vector<float> x, y;
      for (int64_t first = begin + slice * depth; first < end; first += o.slices * depth)
        for (int64_t k = first; k < std::min(first + depth, end); ++k) {
          x.push_back(row[k]);
          y.push_back(column[k]);
        }
      parts.push_back(numerics::modelDot(model, x.data(), y.data(), x.size(), 0.0f));
    }
    blocks.push_back(addTree(parts));
  }
  return addTree(blocks);
}

std::string nameOf(const Thin &o, const std::string &chip) {
  return o.format + " " + chip + " " + std::to_string(o.m) + "x" + std::to_string(o.n) + "x" +
         std::to_string(o.k) + (o.transposeA ? " At" : "") + (o.transposeB ? " Bt " : " ") +
         o.schedule + " slices=" + std::to_string(o.slices) +
         " splits=" + std::to_string(o.splits) + (o.fresh ? " fresh" : "") +
         (o.dynamic ? " dynamic " : " ") + (o.dynamicK ? "k of run time " : "") + o.epilogue;
}

void expectModel(const Thin &o, const std::string &chip, const std::vector<Array> &arguments,
                 const Array &found) {
  const numerics::Format format = *numerics::parseFormat(o.format);
  auto model = numerics::tensorCoreModel(*numerics::parseArchitecture(chip), format, format,
                                         numerics::Format::F32, numerics::Route::MmaSync);
  ASSERT_TRUE(model.has_value());
  const int bits = numerics::info(format).bits;
  if (bits == 8 && chip == "sm_89") // what the kernel does for few accumulator bits
    model->promoteEvery = 128;
  const int64_t depth = 1024 / (format == numerics::Format::TF32 ? 32 : bits);
  auto rounded = [&](float value) { return numerics::roundTo(value, format); };
  std::vector<float> row(o.k), column(o.k);
  int64_t wrong = 0;
  for (int64_t i = 0; i < o.m; ++i)
    for (int64_t j = 0; j < o.n; ++j) {
      for (int64_t k = 0; k < o.k; ++k) {
        row[k] = rounded(arguments[0].value(o.transposeA ? k * o.m + i : i * o.k + k));
        column[k] = rounded(arguments[1].value(o.transposeB ? j * o.k + k : k * o.n + j));
      }
      float expected = sumOf(o, *model, row, column, depth);
      if (!o.fresh)
        expected = float(arguments[2].value(i * o.n + j)) + expected;
      const float value = found.value(i * o.n + j);
      if (value != expected && ++wrong <= 3)
        ADD_FAILURE() << "at " << i << ", " << j << ": " << value << ", expected " << expected;
    }
  EXPECT_EQ(wrong, 0);
}

void check(const Thin &o, const std::string &chip = "sm_80") {
  SCOPED_TRACE(nameOf(o, chip));
  Lowered lowered(thinText(o, chip == "sm_75" ? "loads" : "async"), chip, "sums=tree");
  ASSERT_EQ(lowered.error, "");
  const std::vector<Array> arguments = argumentsOf(o);
  std::vector<Array> results = lowered.run(arguments);
  ASSERT_EQ(lowered.error, "");
  ASSERT_EQ(results.size(), 1u);
  bool hasMma = false;
  for (const auto &[opcode, count] : lowered.stats.opcodes)
    hasMma |= llvm::StringRef(opcode).starts_with("mma.sync") && count > 0;
  EXPECT_EQ(hasMma, o.m * o.n * o.k > 0);
  EXPECT_EQ(lowered.stats.bankConflicts, 0u);
  EXPECT_GE(lowered.launches, o.m * o.n == 0 ? 0u : 1u);
  expectModel(o, chip, arguments, results[0]);
}

constexpr const char *kFirst = "tile=16x32x64 warps=1x1 stages=3";

TEST(EmulatedThin, FewRowsEqualTheModelOfEachSlice) {
  for (int64_t m : {1, 2, 7, 16})
    check({m, 64, 1200, "bf16", kFirst, 8});
  check({1, 96, 2048, "f16", kFirst, 4});
  check({3, 50, 700, "f16", "tile=16x64x64 warps=1x1 stages=2", 8});
  check({30, 40, 520, "bf16", "tile=32x32x64 warps=2x1 stages=4", 2, false, true, false});
  check({64, 32, 512, "bf16", "tile=64x32x64 warps=2x1 stages=3", 4});
}

TEST(EmulatedThin, EveryTransposition) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true}) {
      check({8, 64, 1024, "bf16", kFirst, 8, transposeA, transposeB});
      check({5, 40, 600, "bf16", kFirst, 4, transposeA, transposeB, false});
    }
}

// Weights are the rows, and what they are multiplied by is a column.
TEST(EmulatedThin, FewColumns) {
  check({70, 1, 520, "bf16", "tile=32x32x64 warps=1x1 stages=2", 8});
  check({64, 5, 1024, "f16", "tile=64x32x64 warps=2x1 stages=3", 4, true});
}

TEST(EmulatedThin, EveryFormatAndTarget) {
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    for (const char *format : {"f16", "bf16", "tf32", "f8E4M3FN", "f8E5M2"}) {
      llvm::StringRef target = chip, name = format;
      if ((target == "sm_75" && name != "f16") ||
          (name.starts_with("f8") && target != "sm_89" && target != "sm_120"))
        continue;
      const int64_t depth = name == "tf32" ? 32 : name.starts_with("f8") ? 128 : 64;
      const std::string schedule = "tile=16x32x" + std::to_string(depth) + " warps=1x1 stages=2";
      check({3, 40, depth * 9 - 16, format, schedule, 4}, chip);
    }
}

TEST(EmulatedThin, SumsShorterThanAStepAndEmpty) {
  check({1, 40, 33, "bf16", kFirst, 8});
  check({4, 32, 64, "bf16", kFirst, 8});
  check({4, 32, 0, "bf16", kFirst, 8});
  check({0, 32, 64, "bf16", kFirst, 8});
}

TEST(EmulatedThin, RowsThatOnlyRunTimeKnows) {
  for (int64_t m : {1, 9, 16, 21})
    check({m, 64, 640, "bf16", kFirst, 4, false, true, true, /*dynamic=*/true});
}

/// Demands that an epilogue in the kernel gives the bits of the same ops apart.
TEST(EmulatedThin, OrderedSumsHaveNoSlices) {
  for (int64_t m : {1, 16, 40}) {
    Thin o{m, 128, 1088};
    SCOPED_TRACE(nameOf(o, "sm_80"));
    Lowered lowered(thinText(o), "sm_80", "sums=ordered");
    ASSERT_EQ(lowered.error, "");
    const std::vector<Array> arguments = argumentsOf(o);
    std::vector<Array> results = lowered.run(arguments);
    ASSERT_EQ(lowered.error, "");
    expectModel(o, "sm_80", arguments, results[0]);
  }
}

/// An epilogue in the kernel gives the bits of the same ops apart.
void checkEpilogue(const Thin &o, const std::string &chip) {
  SCOPED_TRACE(nameOf(o, chip));
  Lowered fused(thinText(o), chip, "sums=tree"),
      apart(thinText(o), chip, "sums=tree dispatches=false");
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  const std::vector<Array> arguments = argumentsOf(o);
  std::vector<Array> found = fused.run(arguments), expected = apart.run(arguments);
  ASSERT_EQ(fused.error, "");
  ASSERT_EQ(apart.error, "");
  EXPECT_TRUE(found[0].data == expected[0].data);
  EXPECT_LT(fused.launches, apart.launches);
}

TEST(EmulatedThin, EpiloguesAndNarrowedWeights) {
  for (const char *epilogue : {"relu", "gelu"}) {
    Thin o{5, 72, 600, "bf16", kFirst, 8};
    o.epilogue = epilogue;
    checkEpilogue(o, "sm_80");
    o.narrowed = true;
    checkEpilogue(o, "sm_90a");
  }
  Thin narrowed{1, 64, 1024, "bf16", kFirst, 8};
  narrowed.narrowed = true;
  check(narrowed);
}

Thin split(Thin o, int splits) {
  o.splits = splits;
  return o;
}

TEST(EmulatedThin, BlocksShareSums) {
  constexpr const char *square = "tile=64x64x64 warps=2x2 stages=3";
  check(split({64, 64, 1024, "bf16", square}, 4));
  check(split({64, 128, 512, "f16", square}, 2)); // as many steps as stages, but for one
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      check(split({70, 45, 600, "bf16", square, 1, transposeA, transposeB, false}, 4));
  check(split({1, 40, 2000, "bf16", kFirst, 4}, 4));
  check(split({128, 32, 640, "tf32", "tile=64x64x32 warps=2x2 stages=4"}, 8), "sm_89");
  check(split({37, 48, 1300, "f8E4M3FN", "tile=64x64x128 warps=2x2 stages=2"}, 2), "sm_89");
  check(split({40, 64, 300, "f16", "tile=64x64x64 warps=2x2 stages=2"}, 2), "sm_75");
}

TEST(EmulatedThin, BlocksShareSumsOfALengthThatOnlyTheRunKnows) {
  auto ofRunTime = [](Thin o, int splits) {
    o.dynamicK = true;
    return split(o, splits);
  };
  constexpr const char *square = "tile=64x64x64 warps=2x2 stages=3";
  for (int64_t k : {0, 130, 1300}) // some blocks have no step
    check(ofRunTime({70, 64, k, "bf16", square}, 4));
  for (bool transposed : {false, true})
    check(ofRunTime({70, 45, 600, "bf16", square, 1, transposed, !transposed, false}, 4));
  check(ofRunTime({8, 40, 2000, "bf16", kFirst, 4, true, false}, 4));
  for (const char *chip : {"sm_75", "sm_90a"})
    check(ofRunTime({40, 64, 300, "f16", "tile=64x64x64 warps=2x2 stages=2", 1, true, false}, 2),
          chip);
  Thin o = ofRunTime({70, 64, 700, "bf16", square}, 4);
  o.epilogue = "relu";
  checkEpilogue(o, "sm_80");
}

/// As query, key and value: one launch for all, and the bits of each product alone.
TEST(EmulatedThin, BlocksShareSumsOfProductsOfOneOperand) {
  constexpr int count = 3;
  using Case = std::pair<const char *, int64_t>;
  for (auto [chip, columns] : {Case{"sm_75", 45}, Case{"sm_80", 64}, Case{"sm_90a", 45}}) {
    Thin o = split({70, columns, 600, "f16", "tile=64x64x64 warps=2x2 stages=2"}, 4);
    SCOPED_TRACE(nameOf(o, chip));
    const bool loads = llvm::StringRef(chip) == "sm_75";
    Lowered lowered(thinGroupText(o, count, loads ? "loads" : "async"), chip, "sums=tree");
    ASSERT_EQ(lowered.error, "");
    std::mt19937 random(5);
    std::vector<Array> arguments = {drawn(numerics::Format::F16, {o.m, o.k}, random)};
    for (int i = 0; i < count; ++i)
      arguments.push_back(drawn(numerics::Format::F16, {o.n, o.k}, random));
    std::vector<Array> results = lowered.run(arguments);
    ASSERT_EQ(lowered.error, "");
    EXPECT_EQ(lowered.launches, 1u);
    for (int i = 0; i < count; ++i)
      expectModel(o, chip, {arguments[0], arguments[i + 1]}, results[i]);
  }
}

TEST(EmulatedThin, EpiloguesOfSharedSums) {
  for (const char *epilogue : {"relu", "gelu"})
    for (int64_t columns : {64, 45}) {
      Thin o = split({70, columns, 700, "bf16", "tile=64x64x64 warps=2x2 stages=3"}, 4);
      o.epilogue = epilogue;
      checkEpilogue(o, "sm_80");
    }
}

TEST(SlowEmulatedThin, EveryTileFormatOrderAndSize) {
  Sample some(13);
  struct {
    const char *tile;
    int slices;
  } tiles[] = {{"tile=16x32x64 warps=1x1 stages=4", 4}, {"tile=16x32x64 warps=1x1 stages=3", 8},
               {"tile=16x64x64 warps=1x1 stages=2", 8}, {"tile=32x32x64 warps=1x1 stages=4", 4},
               {"tile=32x32x64 warps=1x1 stages=2", 8}, {"tile=32x64x64 warps=2x1 stages=3", 4},
               {"tile=64x32x64 warps=1x1 stages=2", 4}, {"tile=64x32x64 warps=2x1 stages=3", 4},
               {"tile=64x64x64 warps=2x2 stages=3", 2}};
  for (auto [tile, slices] : tiles)
    for (const char *format : {"f16", "bf16"})
      for (bool transposeA : {false, true})
        for (bool transposeB : {false, true})
          for (auto [m, n, k] : {std::array<int64_t, 3>{1, 64, 1024},
                                 {8, 72, 1040},
                                 {16, 64, 2048},
                                 {33, 40, 500},
                                 {64, 1, 640}})
            if (some.takes())
              check({m, n, k, format, tile, slices, transposeA, transposeB});
}

} // namespace
