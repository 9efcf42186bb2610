// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of contractions and attention with one line of synchronisation less: the emulator faults
// or the result is wrong. A barrier, wait or commit that nobody would miss is one too many, or not
// checked.

#include "AttentionText.h"
#include "Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Numerics/Cast.h"
#include "mp/Pipelines/NVVMPipeline.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

int64_t depthOf(int steps, bool exponential) { return 64 * steps - (exponential ? 8 : 0); }

/// A bf16 product of `steps` steps of 64 with B transposed or not; of the `exponential` the last
/// step is ragged.
std::string productText(int steps, bool transposed, const std::string &schedule, bool exponential) {
  const std::string k = std::to_string(depthOf(steps, exponential));
  const std::string a = "tensor<64x" + k + "xbf16>",
                    b = transposed ? "tensor<64x" + k + "xbf16>" : "tensor<" + k + "x64xbf16>";
  return "func.func @f(%a: " + a + ", %b: " + b +
         ", %c: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
         "%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
         "affine_map<(m, n, k) -> " +
         (transposed ? "(n, k)" : "(k, n)") +
         ">, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", "
         "\"reduction\"], mpk.schedule = #mpk.schedule<matmul, \"" +
         schedule + "\">} ins(%a, %b : " + a + ", " + b +
         ") outs(%c : tensor<64x64xf32>) {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n"
         "%wx = arith.extf %x : bf16 to f32\n%wy = arith.extf %y : bf16 to f32\n"
         "%p = arith.mulf %wx, %wy : f32\n%q = arith.addf %s, %p : f32\nlinalg.yield %q : f32\n"
         "} -> tensor<64x64xf32>\n" +
         (exponential ? "%e = math.exp %r : tensor<64x64xf32>\nreturn %e" : "return %r") +
         " : tensor<64x64xf32>\n}\n";
}

/// The same with B transposed, and with those operands f32 in memory that `narrowed` names.
std::string narrowedText(int steps, const std::string &narrowed, const std::string &schedule) {
  const std::string shape = "tensor<64x" + std::to_string(64 * steps) + "x", wide = shape + "f32>",
                    narrow = shape + "bf16>", c = "tensor<64x64xf32>";
  auto isNarrowed = [&](char name) { return narrowed.find(name) != std::string::npos; };
  const std::string a = isNarrowed('a') ? wide : narrow, b = isNarrowed('b') ? wide : narrow;
  std::string casts;
  for (char name : narrowed) {
    const std::string n(1, name);
    casts += "%e" + n + " = tensor.empty() : " + narrow + "\n%n" + n +
             " = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) "
             "-> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%x" +
             n + " : " + wide + ") outs(%e" + n + " : " + narrow +
             ") {\n^bb0(%p: f32, %q: bf16):\n%r = arith.truncf %p : f32 to bf16\n"
             "linalg.yield %r : bf16\n} -> " +
             narrow + "\n";
  }
  return "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c +
         " {\n%d = mpk.dispatch ins(%a, %b : " + a + ", " + b + ") outs(%c : " + c +
         ") schedule = <matmul> -> " + c + " {\n^bb0(%xa: " + a + ", %xb: " + b + ", %xc: " + c +
         "):\n" + casts +
         "%s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, "
         "k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", "
         "\"parallel\", \"reduction\"], mpk.mma = \"bf16\", mpk.schedule = "
         "#mpk.schedule<matmul, \"" +
         schedule + "\">} ins(" + (isNarrowed('a') ? "%na" : "%xa") + ", " +
         (isNarrowed('b') ? "%nb" : "%xb") + " : " + narrow + ", " + narrow + ") outs(%xc : " + c +
         ") {\n^bb0(%x: bf16, %y: bf16, %s0: f32):\n"
         "%wx = arith.extf %x : bf16 to f32\n%wy = arith.extf %y : bf16 to f32\n"
         "%p0 = arith.mulf %wx, %wy : f32\n%q0 = arith.addf %s0, %p0 : f32\nlinalg.yield %q0 : "
         "f32\n"
         "} -> " +
         c + "\nmpk.yield %s : " + c + "\n}\nreturn %d : " + c + "\n}\n";
}

/// A bf16 product of sums of `k` by constant weights of which two of each four are zero: mma.sp.
std::string sparseText(int k, const std::string &schedule) {
  const std::string w = "tensor<64x" + std::to_string(k) + "xbf16>", c = "tensor<64x64xf32>";
  std::string bits;
  for (int n = 0; n < 64; ++n)
    for (int i = 0; i < k; ++i) {
      const bool isLeft = i % 4 == n % 3 || i % 4 == 3;
      const char *values[] = {"803F", "C0BF", "0040", "40C0"}; // 1, -1.5, 2, -3
      bits += isLeft ? values[(n * 5 + i * 7 + i / 64) % 4] : "0000";
    }
  return "func.func @f(%a: " + w + ", %c: " + c + ") -> " + c +
         " {\n%b = arith.constant dense<\"0x" + bits + "\"> : " + w +
         "\n%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
         "affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = "
         "[\"parallel\", \"parallel\", \"reduction\"], mpk.schedule = #mpk.schedule<matmul, \"" +
         schedule + "\">} ins(%a, %b : " + w + ", " + w + ") outs(%c : " + c +
         ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n"
         "%wx = arith.extf %x : bf16 to f32\n%wy = arith.extf %y : bf16 to f32\n"
         "%p = arith.mulf %wx, %wy : f32\n%q = arith.addf %s, %p : f32\nlinalg.yield %q : f32\n"
         "} -> " +
         c + "\nreturn %r : " + c + "\n}\n";
}

class Mutants {
public:
  Mutants(const std::string &text, const std::string &target, bool sparse = false)
      : context(makeRegistry()) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    PassManager manager(&context);
    NVVMPipelineOptions options;
    options.target = target;
    options.dispatches = true;
    options.sums = SumOrder::Tree;
    options.sparse = sparse;
    buildNVVMPipeline(manager, options);
    if (!module || failed(manager.run(*module)))
      return;
    module->walk([&](gpu::BinaryOp op) { binary = op; });
    object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    object.getObject().getValue().split(lines, '\n', -1, true);
  }

  /// Numbers of the lines that synchronise.
  SmallVector<size_t> synchronising() const {
    SmallVector<size_t> found;
    for (auto [i, line] : llvm::enumerate(lines))
      if (StringRef text = line.ltrim(); text.starts_with("bar") ||
                                         text.starts_with("cp.async.wait") ||
                                         text.starts_with("cp.async.commit"))
        found.push_back(i);
    return found;
  }
  StringRef line(size_t number) const { return lines[number]; }
  bool contains(StringRef text) const {
    return llvm::any_of(lines, [&](StringRef line) { return line.contains(text); });
  }

  /// The result of the kernel without line `number` (all of it, if beyond the end); an error if the
  /// emulator objects.
  llvm::Expected<std::vector<Array>> run(size_t number, llvm::ArrayRef<Array> arguments) {
    std::string text;
    for (auto [i, line] : llvm::enumerate(lines))
      if (i != number)
        text += line.str() + "\n";
    binary.setObjectsAttr(ArrayAttr::get(
        &context, {gpu::ObjectAttr::get(&context, object.getTarget(), object.getFormat(),
                                        StringAttr::get(&context, text), nullptr, nullptr)}));
    DeviceOptions options;
    options.planBuffers = false;
    auto program = DeviceProgram::compile(*module, "f", options);
    if (!program)
      return program.takeError();
    emulator::LaunchStats stats;
    return runInBothOrders(**program, arguments, stats);
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  gpu::BinaryOp binary;
  gpu::ObjectAttr object;
  SmallVector<StringRef> lines;
};

Array drawn(ElementType type, llvm::ArrayRef<int64_t> sizes, std::mt19937 &random) {
  Array array(type, sizes);
  for (int64_t i = 0; i < array.size(); ++i)
    array.setPattern(i, numerics::encode(float(int(random() % 15) - 7), type.format));
  return array;
}

struct Count {
  unsigned objected = 0, tried = 0;
};

/// Leaves out one line after the other.
Count tryAll(Mutants &mutants, llvm::ArrayRef<Array> arguments, llvm::StringRef name) {
  auto whole = mutants.run(size_t(-1), arguments);
  Count count;
  if (!whole) {
    ADD_FAILURE() << llvm::toString(whole.takeError());
    return count;
  }
  for (size_t number : mutants.synchronising()) {
    ++count.tried;
    auto found = mutants.run(number, arguments);
    if (!found) {
      llvm::consumeError(found.takeError());
      ++count.objected;
    } else if ((*found)[0].data != (*whole)[0].data) {
      ++count.objected;
    } else {
      ADD_FAILURE() << "nobody misses '" << mutants.line(number).trim().str() << "' of "
                    << name.str();
    }
  }
  return count;
}

Count tryProduct(int steps, bool transposed, const std::string &schedule, const std::string &target,
                 bool exponential = false) {
  Mutants mutants(productText(steps, transposed, schedule, exponential), target);
  std::mt19937 random(7);
  ElementType narrow = ElementType::floating(numerics::Format::BF16);
  const int64_t k = depthOf(steps, exponential);
  return tryAll(mutants,
                {drawn(narrow, {64, k}, random),
                 transposed ? drawn(narrow, {64, k}, random) : drawn(narrow, {k, 64}, random),
                 drawn(ElementType::floating(numerics::Format::F32), {64, 64}, random)},
                schedule);
}

TEST(KernelMutation, EachWaitCommitAndBarrierIsMissed) {
  Count all;
  for (const char *stages : {"2", "3", "4"})
    for (bool transposed : {false, true}) {
      Count count = tryProduct(6, transposed,
                               std::string("unit=mma.sync tile=64x64x64 warps=2x2 stages=") +
                                   stages + " copy=async",
                               "sm_80");
      all.tried += count.tried;
      all.objected += count.objected;
    }
  EXPECT_GE(all.tried, 36u);
  EXPECT_EQ(all.objected, all.tried);
}

TEST(KernelMutation, EachWaitCommitAndBarrierOfSparseProductsIsMissed) {
  for (const char *more :
       {"tile=64x64x64 warps=2x2 stages=2", "tile=64x64x64 warps=2x2 stages=3",
        "tile=64x64x64 warps=2x2 stages=4", "tile=64x32x64 warps=2x1 stages=3 slices=2"}) {
    const std::string schedule = std::string("unit=mma.sync ") + more + " copy=async";
    // The last step of slices is ragged: its copies write zeros where sums go.
    const int k = schedule.find("slices") == std::string::npos ? 640 : 632;
    Mutants mutants(sparseText(k, schedule), "sm_80", /*sparse=*/true);
    EXPECT_TRUE(mutants.contains("mma.sp::ordered_metadata"));
    std::mt19937 random(7);
    Count count = tryAll(mutants,
                         {drawn(ElementType::floating(numerics::Format::BF16), {64, k}, random),
                          drawn(ElementType::floating(numerics::Format::F32), {64, 64}, random)},
                         "sparse " + schedule);
    EXPECT_GE(count.tried, 6u);
    EXPECT_EQ(count.objected, count.tried);
  }
}

TEST(KernelMutation, EachWaitCommitAndBarrierBesideNarrowedOperandsIsMissed) {
  for (const char *stages : {"2", "3", "4"})
    for (std::string narrowed : {"a", "b", "ab"}) {
      const std::string schedule =
          std::string("unit=mma.sync tile=64x64x64 warps=2x2 stages=") + stages + " copy=async";
      Mutants mutants(narrowedText(6, narrowed, schedule), "sm_80");
      std::mt19937 random(7);
      auto type = [&](char name) {
        return ElementType::floating(narrowed.find(name) != std::string::npos
                                         ? numerics::Format::F32
                                         : numerics::Format::BF16);
      };
      Count count =
          tryAll(mutants,
                 {drawn(type('a'), {64, 384}, random), drawn(type('b'), {64, 384}, random),
                  drawn(ElementType::floating(numerics::Format::F32), {64, 64}, random)},
                 narrowed + " " + schedule);
      EXPECT_GE(count.tried, narrowed == "ab" ? 2u : 6u);
      EXPECT_EQ(count.objected, count.tried);
    }
}

// In the last step, the copies of the step behind it write zeros into the first stage, where sums
// go.
TEST(KernelMutation, EachWaitAndBarrierOfSumsThroughSharedMemoryIsMissed) {
  for (int stages : {3, 4}) {
    Count count = tryProduct(
        stages + 2, true,
        "unit=mma.sync tile=64x64x64 warps=2x2 stages=" + std::to_string(stages) + " copy=async",
        "sm_80", /*exponential=*/true);
    EXPECT_GE(count.tried, 8u);
    EXPECT_EQ(count.objected, count.tried);
  }
}

TEST(KernelMutation, EachWaitCommitAndBarrierOfSlicedSumsIsMissed) {
  for (int stages : {3, 4})
    for (bool transposed : {false, true}) {
      Count count =
          tryProduct(2 * (stages + 2), transposed,
                     "unit=mma.sync tile=64x32x64 warps=2x1 stages=" + std::to_string(stages) +
                         " copy=async slices=2",
                     "sm_80", /*exponential=*/true);
      EXPECT_GE(count.tried, 8u);
      EXPECT_EQ(count.objected, count.tried);
    }
}

TEST(KernelMutation, EachWaitCommitAndBarrierOfSumsThatBlocksShareIsMissed) {
  Count count = tryProduct(
      10, true, "unit=mma.sync tile=64x64x64 warps=2x2 stages=3 copy=async split-k=2", "sm_80");
  EXPECT_GE(count.tried, 6u);
  EXPECT_EQ(count.objected, count.tried);
}

/// Attention with one line less, for each of two masks and three schedules.
void tryAttention(const std::string &element, numerics::Format format, const std::string &target,
                  unsigned least) {
  for (Mask mask : {Mask::None, Mask::CausalLowest})
    for (const char *schedule : {"tile=64x64 warps=4 stages=2", "tile=64x32 warps=4 stages=3",
                                 "tile=64x32 warps=4 stages=2 split-keys=2",
                                 "tile=64x32 warps=4 stages=2 split-keys=2 split-from=64"}) {
      // The first rows see no key, so that a block goes through all of them behind the others.
      Attention a{.heads = 1,
                  .queries = 64,
                  .keys = 320,
                  .head = 32,
                  .element = element,
                  .mask = mask,
                  .schedule = schedule,
                  .offset = -3,
                  .keysVary = StringRef(schedule).contains("split-from")};
      Mutants mutants(moduleText(a), target);
      std::mt19937 random(7);
      ElementType narrow = ElementType::floating(format);
      Count count =
          tryAll(mutants,
                 {drawn(narrow, {1, 1, 64, 32}, random), drawn(narrow, {1, 1, 320, 32}, random),
                  drawn(narrow, {1, 1, 320, 32}, random)},
                 schedule);
      EXPECT_GE(count.tried, least);
      EXPECT_EQ(count.objected, count.tried);
    }
}

TEST(KernelMutation, EachWaitCommitAndBarrierOfAttentionIsMissed) {
  tryAttention("bf16", numerics::Format::BF16, "sm_80", 6);
}

// Without cp.async there is nothing to wait for but barriers.
TEST(KernelMutation, EachBarrierOfAttentionOnTuringIsMissed) {
  tryAttention("f16", numerics::Format::F16, "sm_75", 2);
}

} // namespace
