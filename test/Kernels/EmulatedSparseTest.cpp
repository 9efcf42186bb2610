// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by constant weights of which two of each four are zero, executed: mma.sp beside the
// Tensor Core model of the elements that are stored, and beside the dense kernel where sums are
// exact.

#include "../Support/Sample.h"
#include "Lowering.h"
#include "mp/Kernels/MmaSelection.h"
#include "mp/Layouts/SparseRows.h"
#include "mp/Numerics/Cast.h"
#include "mp/Numerics/TensorCore.h"
#include "mp/Target/Targets.h"
#include "gtest/gtest.h"

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// x [m][k] times w, whose rows are [n][k].
struct Product {
  int64_t m, n, k;
  std::string format = "f16";
  bool transposed = false;  ///< w lies as [n][k], else as [k][n]
  bool firstFactor = false; ///< w is the first factor of the op, x the second, as it lies
  int64_t batch = 0;        ///< weights of their own each; 0: there is none
  bool isExact = false;     ///< small integers
  bool isFresh = true;      ///< starts from zeros, else from a tensor
  std::string schedule = "";
  std::string epilogue = "";
};

std::string typeOf(llvm::ArrayRef<int64_t> sizes, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

bool isInteger(const Product &p) { return p.format == "i8"; }
bool isByte(const Product &p) { return isInteger(p) || p.format.rfind("f8", 0) == 0; }
uint64_t signOf(const Product &p) { return isByte(p) ? 0x80 : 0x8000; }

ElementType elementOf(const Product &p) {
  return isInteger(p) ? ElementType::integer(8)
                      : ElementType::floating(*numerics::parseFormat(p.format));
}

uint64_t drawElement(const Product &p, std::mt19937 &random) {
  if (isInteger(p))
    return random() & 255;
  const auto format = *numerics::parseFormat(p.format);
  if (p.isExact)
    return numerics::encode(float(int(random() % 15) - 7), format);
  const float exponent = float(int(random() % 13)) - 6;
  return numerics::encode(
      std::uniform_real_distribution<float>(-1, 1)(random) * std::exp2(exponent), format);
}

/// Weights [batch][n][k], two of each four at most not zero; floats have zeros of both signs.
std::vector<uint64_t> drawWeights(const Product &p, std::mt19937 &random) {
  const int64_t rows = std::max<int64_t>(p.batch, 1) * p.n;
  std::vector<uint64_t> made(size_t(rows * p.k), 0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t first = 0; first < p.k; first += 4) {
      if (!isInteger(p) && random() % 4 == 0)
        made[row * p.k + first] = signOf(p);
      for (unsigned i = 0, count = random() % 8 ? 2 : random() % 3; i < count; ++i)
        if (int64_t at = first + random() % 4; at < p.k)
          made[row * p.k + at] = drawElement(p, random);
    }
  return made;
}

/// The sizes of the weights as they lie.
std::vector<int64_t> weightSizes(const Product &p) {
  std::vector<int64_t> sizes =
      p.transposed ? std::vector<int64_t>{p.n, p.k} : std::vector<int64_t>{p.k, p.n};
  if (p.batch)
    sizes.insert(sizes.begin(), p.batch);
  return sizes;
}

std::string weightText(const Product &p, const std::vector<uint64_t> &rows) {
  const unsigned bytes = isByte(p) ? 1 : 2;
  std::string text;
  auto push = [&](uint64_t pattern) {
    for (unsigned byte = 0; byte < bytes; ++byte)
      for (unsigned half : {4, 0})
        text += "0123456789ABCDEF"[pattern >> (8 * byte + half) & 15];
  };
  for (int64_t z = 0; z < std::max<int64_t>(p.batch, 1); ++z)
    for (int64_t i = 0; i < p.n * p.k; ++i) {
      const int64_t row = p.transposed ? i / p.k : i % p.n, k = p.transposed ? i % p.k : i / p.n;
      push(rows[(z * p.n + row) * p.k + k]);
    }
  return "dense<\"0x" + text + "\">";
}

std::string moduleText(const Product &p, const std::vector<uint64_t> &rows) {
  const std::string batch = p.batch ? "z, " : "", sum = isInteger(p) ? "i32" : "f32";
  std::vector<int64_t> sizesX = {p.m, p.k}, sizesC = {p.m, p.n};
  if (p.batch) {
    sizesX.insert(sizesX.begin(), p.batch);
    sizesC.insert(sizesC.begin(), p.batch);
  }
  const std::string x = typeOf(sizesX, p.format), w = typeOf(weightSizes(p), p.format),
                    c = typeOf(sizesC, sum);
  auto map = [&](const std::string &to) {
    return "affine_map<(" + batch + "m, n, k) -> (" + batch + to + ")>";
  };
  const std::string mapX = map("m, k"), mapW = map(p.transposed ? "n, k" : "k, n");
  const bool swap = p.firstFactor;
  std::string text = "func.func @f(%x: " + x + ", %c: " + c + ") -> " + c +
                     " {\n%w = arith.constant " + weightText(p, rows) + " : " + w + "\n";
  std::string init = "%c";
  if (p.isFresh) {
    text += "%zero = arith.constant " + std::string(isInteger(p) ? "0 : i32" : "0.0 : f32") +
            "\n%e = tensor.empty() : " + c + "\n%i = linalg.fill ins(%zero : " + sum +
            ") outs(%e : " + c + ") -> " + c + "\n";
    init = "%i";
  }
  const std::string widen = isInteger(p) ? "arith.extsi" : "arith.extf",
                    suffix = isInteger(p) ? "i" : "f",
                    pin = p.schedule.empty() ? ""
                                             : ", mpk.schedule = #mpk.schedule<matmul, "
                                               "\"unit=mma.sync " +
                                                   p.schedule + " copy=async\">";
  text += "%r = linalg.generic {indexing_maps = [" + (swap ? mapW : mapX) + ", " +
          (swap ? mapX : mapW) + ", " + map("m, n") + "], iterator_types = [" +
          (p.batch ? "\"parallel\", " : "") + "\"parallel\", \"parallel\", \"reduction\"]" + pin +
          "} ins(" + (swap ? "%w, %x : " + w + ", " + x : "%x, %w : " + x + ", " + w) + ") outs(" +
          init + " : " + c + ") {\n^bb0(%p: " + p.format + ", %q: " + p.format + ", %s: " + sum +
          "):\n%wp = " + widen + " %p : " + p.format + " to " + sum + "\n%wq = " + widen +
          " %q : " + p.format + " to " + sum + "\n%t = arith.mul" + suffix + " %wp, %wq : " + sum +
          "\n%u = arith.add" + suffix + " %s, %t : " + sum + "\nlinalg.yield %u : " + sum +
          "\n} -> " + c + "\n" + p.epilogue;
  return text + "return %" + (p.epilogue.empty() ? "r" : "y") + " : " + c + "\n}\n";
}

uint64_t countOf(const emulator::LaunchStats &stats, llvm::StringRef prefix) {
  uint64_t sum = 0;
  for (const auto &[opcode, count] : stats.opcodes)
    if (llvm::StringRef(opcode).starts_with(prefix))
      sum += count;
  return sum;
}

/// The model multiplies only what is stored, in the order of the sum, as mma.sp does; `interval`
/// products are summed apart, if it is not 0, and added in f32.
float sparseDot(const numerics::TensorCoreModel &model, const std::vector<uint64_t> &weights,
                size_t first, const Product &p, const std::vector<float> &x, int64_t interval) {
  const auto format = *numerics::parseFormat(p.format);
  std::vector<float> stored, met;
  float total = 0;
  for (int64_t group = 0; group < p.k; group += 4) {
    unsigned mask = 0;
    for (int64_t i = group; i < std::min(group + 4, p.k); ++i)
      mask |= unsigned((weights[first + i] & ~signOf(p)) != 0) << (i - group);
    const auto pair = mpcore::layouts::storedPair(mask);
    for (unsigned place : {pair->first, pair->second}) {
      const int64_t at = group + place;
      const bool isStored = at < p.k && mask >> place & 1;
      stored.push_back(isStored ? float(numerics::decode(weights[first + at], format)) : 0);
      met.push_back(at < p.k ? x[at] : 0);
    }
    if (group + 4 < p.k && (!interval || (group + 4) % interval))
      continue;
    total += numerics::modelDot(model, stored.data(), met.data(), stored.size(), 0.0f);
    stored.clear(), met.clear();
  }
  return total;
}

void check(const Product &p, const std::string &chip = "sm_80") {
  SCOPED_TRACE(chip + " " + p.format + " " + std::to_string(p.batch) + "x" + std::to_string(p.m) +
               "x" + std::to_string(p.n) + "x" + std::to_string(p.k) +
               (p.transposed ? " transposed " : " ") + (p.firstFactor ? "first " : "") +
               p.schedule);
  std::mt19937 random(11);
  const std::vector<uint64_t> weights = drawWeights(p, random);
  Lowered sparse(moduleText(p, weights), chip, "sparse=true");
  ASSERT_EQ(sparse.error, "");
  const int64_t batches = std::max<int64_t>(p.batch, 1);
  std::vector<int64_t> sizesX = {p.m, p.k}, sizesC = {p.m, p.n};
  if (p.batch) {
    sizesX.insert(sizesX.begin(), p.batch);
    sizesC.insert(sizesC.begin(), p.batch);
  }
  Array x(elementOf(p), sizesX);
  for (int64_t i = 0; i < x.size(); ++i)
    x.setPattern(i, drawElement(p, random));
  Array c(isInteger(p) ? ElementType::integer(32) : ElementType::floating(numerics::Format::F32),
          sizesC);
  for (int64_t i = 0; i < c.size(); ++i)
    c.setPattern(i, isInteger(p)
                        ? random()
                        : numerics::encode(float(int(random() % 9) - 4), numerics::Format::F32));
  std::vector<Array> results = sparse.run({x, c});
  ASSERT_EQ(sparse.error, "");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_GT(countOf(sparse.stats, "mma.sp"), 0u);
  EXPECT_EQ(countOf(sparse.stats, "mma.sync"), 0u);
  EXPECT_EQ(sparse.stats.bankConflicts, 0u);
  if (isInteger(p) || p.isExact || !p.epilogue.empty()) {
    Lowered dense(moduleText(p, weights), chip, "sparse=false");
    ASSERT_EQ(dense.error, "");
    std::vector<Array> expected = dense.run({x, c});
    ASSERT_EQ(dense.error, "");
    EXPECT_EQ(countOf(dense.stats, "mma.sp"), 0u);
    EXPECT_EQ(results[0].data, expected[0].data) << "the dense kernel has other bits";
    return;
  }
  const auto format = *numerics::parseFormat(p.format);
  auto model = numerics::tensorCoreModel(*numerics::parseArchitecture(chip), format, format,
                                         numerics::Format::F32, numerics::Route::MmaSync);
  ASSERT_TRUE(model.has_value());
  const target::TargetModel &target = *target::lookupTarget(chip);
  const int64_t interval = promotionInterval(target, *selectSparseInstruction(target, p.format));
  int64_t wrong = 0;
  std::vector<float> row(p.k);
  for (int64_t z = 0; z < batches; ++z)
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t k = 0; k < p.k; ++k)
        row[k] = float(x.value((z * p.m + i) * p.k + k));
      for (int64_t j = 0; j < p.n; ++j) {
        const int64_t at = (z * p.m + i) * p.n + j;
        float expected = sparseDot(*model, weights, size_t((z * p.n + j) * p.k), p, row, interval);
        if (!p.isFresh)
          expected = float(c.value(at)) + expected;
        if (results[0].value(at) != expected && ++wrong <= 3)
          ADD_FAILURE() << "at " << z << ", " << i << ", " << j << ": " << results[0].value(at)
                        << ", expected " << expected;
      }
    }
  EXPECT_EQ(wrong, 0);
}

/// A schedule that need not be modelled to be faster.
const std::string kSmall = "tile=64x64x64 warps=2x2 stages=3",
                  kSmallBytes = "tile=64x64x128 warps=2x2 stages=3";

TEST(EmulatedSparse, WeightsInEitherOrderAndPlace) {
  for (const char *format : {"f16", "bf16"})
    for (bool transposed : {false, true})
      for (bool firstFactor : {false, true})
        check({64, 64, 256, format, transposed, firstFactor, 0, false, true, kSmall});
  for (bool transposed : {false, true})
    check({64, 64, 512, "i8", transposed, false, 0, false, true, kSmallBytes});
}

TEST(EmulatedSparse, RaggedEverywhere) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{37, 29, 45},
                         {1, 40, 33},
                         {40, 1, 36},
                         {1, 1, 3},
                         {65, 17, 130},
                         {16, 80, 64}}) {
    for (const char *format : {"f16", "bf16"})
      check({m, n, k, format, false, false, 0, false, false, kSmall});
    check({m, n, k, "i8", true, false, 0, false, false, kSmallBytes});
  }
}

TEST(EmulatedSparse, BatchesOfWeights) {
  check({37, 29, 68, "f16", false, false, 3, false, true, kSmall});
  check({37, 29, 68, "bf16", true, true, 3, false, false, kSmall});
  check({16, 40, 132, "i8", false, false, 2, false, true, kSmallBytes});
}

TEST(EmulatedSparse, EveryTargetThatHasIt) {
  for (const char *chip : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_120"}) {
    check({37, 29, 68, "f16", false, false, 0, false, true, kSmall}, chip);
    check({37, 29, 68, "bf16", true, false, 0, false, true, kSmall}, chip);
    check({37, 29, 132, "i8", false, false, 0, false, true, kSmallBytes}, chip);
  }
}

/// max(x w + bias + c, 0), with a bias of the columns: rows of mma.sp.
std::string biasAndResidual(const Product &p) {
  const std::string c = typeOf({p.m, p.n}, "f32"), n = typeOf({p.n}, "f32");
  std::string bias;
  for (int64_t j = 0; j < p.n; ++j)
    bias += (j ? ", " : "") + std::to_string(j % 7 - 3) + ".0";
  return "%bias = arith.constant dense<[" + bias + "]> : " + n + "\n%o = tensor.empty() : " + c +
         "\n%y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) "
         "-> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = "
         "[\"parallel\", \"parallel\"]} ins(%r, %bias, %c : " +
         c + ", " + n + ", " + c + ") outs(%o : " + c +
         ") {\n^bb0(%v: f32, %g: f32, %h: f32, %k: f32):\n%z0 = arith.constant 0.0 : f32\n"
         "%a0 = arith.addf %v, %g : f32\n%a1 = arith.addf %a0, %h : f32\n"
         "%a2 = arith.maximumf %a1, %z0 : f32\nlinalg.yield %a2 : f32\n} -> " +
         c + "\n";
}

/// 8-bit floats are multiplied as they are where the dense instruction is there, on sm_89 and
/// sm_120; products of both kinds are exact.
TEST(EmulatedSparse, EightBitFloats) {
  for (const char *chip : {"sm_89", "sm_120"})
    for (const char *format : {"f8E4M3FN", "f8E5M2"}) {
      check({64, 64, 512, format, true, false, 0, false, true, kSmallBytes}, chip);
      check({37, 29, 132, format, false, false, 0, false, false, kSmallBytes}, chip);
      check({61, 59, 400, format, false, true, 0, true, true, kSmallBytes}, chip);
    }
}

/// Blocks that share a sum add what their parts are: exact sums have the bits of the dense kernel.
TEST(EmulatedSparse, BlocksShareSums) {
  check({64, 64, 512, "bf16", true, false, 0, true, true, kSmall + " split-k=2"});
  check({37, 45, 452, "f16", false, false, 2, true, false, kSmall + " split-k=3"});
  check({37, 45, 836, "i8", false, false, 0, false, true, kSmallBytes + " split-k=4"});
  Product p{37, 45, 324, "f16", false, false, 0, true, true, kSmall + " split-k=2"};
  p.epilogue = biasAndResidual(p);
  check(p);
}

/// Small integers, whose sums are exact: the bits of the dense kernel.
TEST(EmulatedSparse, ExactSumsAreThoseOfTheDenseKernel) {
  for (const char *format : {"f16", "bf16"})
    for (bool isFresh : {false, true})
      check({61, 59, 200, format, false, false, 0, true, isFresh, kSmall});
}

TEST(EmulatedSparse, TilesOfTheMenu) {
  Sample some(3);
  for (const char *schedule :
       {"tile=128x128x64 warps=2x4 stages=3", "tile=128x64x64 warps=2x2 stages=4",
        "tile=64x128x64 warps=2x2 stages=3", "tile=256x64x64 warps=4x2 stages=2",
        "tile=16x32x64 warps=1x1 stages=2 slices=8", "tile=16x128x64 warps=1x4 stages=5",
        "tile=32x32x64 warps=1x1 stages=4 slices=4", "tile=64x32x64 warps=4x1 stages=8"})
    // Slices of a sum are added by a tree: exact sums have the bits of the dense kernel anyway.
    if (some.takes())
      check({130, 150, 520, "bf16", false, false, 0, llvm::StringRef(schedule).contains("slices"),
             true, schedule});
  check({130, 150, 520, "i8", false, false, 0, false, true,
         "tile=32x64x128 warps=2x1 stages=3 slices=4"});
}

TEST(EmulatedSparse, EpiloguesSeeRowsAndColumns) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{64, 64}, {37, 45}}) {
    Product p{m, n, 132, "f16", false, false, 0, true, true, kSmall};
    p.epilogue = biasAndResidual(p);
    check(p);
  }
}

/// Each product of 16 rows, 8 columns and 32 products of a sum is one instruction, not two.
TEST(EmulatedSparse, HalfOfTheInstructions) {
  const Product p{128, 128, 256, "f16", true, false, 0, true, true, kSmall};
  std::mt19937 random(11);
  const std::vector<uint64_t> weights = drawWeights(p, random);
  Array x(elementOf(p), {p.m, p.k}), c(ElementType::floating(numerics::Format::F32), {p.m, p.n});
  uint64_t counts[2], sectors[2];
  for (bool sparse : {false, true}) {
    Lowered lowered(moduleText(p, weights), "sm_80", sparse ? "sparse=true" : "sparse=false");
    ASSERT_EQ(lowered.error, "");
    lowered.run({x, c});
    ASSERT_EQ(lowered.error, "");
    counts[sparse] = countOf(lowered.stats, "mma.");
    sectors[sparse] = lowered.stats.globalSectors;
  }
  EXPECT_EQ(counts[false], uint64_t(p.m * p.n * p.k / (16 * 8 * 16)));
  EXPECT_EQ(counts[true] * 2, counts[false]);
  EXPECT_LT(sectors[true], sectors[false]);
}

} // namespace
