// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention kernels, executed and held to the bounds of AttentionCheck.cpp.

#include "../Support/Sample.h"
#include "AttentionCheck.h"
#include "mp/Emulator/Approximate.h"
#include "gtest/gtest.h"

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

const Mask kMasks[] = {Mask::Additive,     Mask::Lowest, Mask::Boolean, Mask::CausalAdded,
                       Mask::CausalLowest, Mask::Window, Mask::Softcap};

TEST(EmulatedAttention, IsRightForEachHeadSizeAndFormat) {
  Sample some(3);
  for (const char *element : {"bf16", "f16"})
    for (int64_t head : {8, 16, 32, 40, 64, 72, 80, 96, 128, 248, 256})
      if (some.takes())
        check({.queries = 40, .keys = 72, .head = head, .element = element});
  for (auto [head, width] : {std::pair(64, 32), {32, 128}, {72, 24}})
    check({.queries = 33, .keys = 50, .head = head, .width = width});
}

TEST(EmulatedAttention, IsRightForSizesThatAreNoMultiplesOfTiles) {
  Sample some(2);
  for (int64_t queries : {1, 7, 65})
    for (int64_t keys : {1, 63, 64, 65, 200})
      if (some.takes())
        check({.heads = 1, .queries = queries, .keys = keys});
  check({.batch = 2, .heads = 3, .queries = 130, .keys = 300, .head = 32});
}

TEST(EmulatedAttention, FollowsEachMask) {
  for (Mask mask : kMasks)
    for (const char *numbers : {"", "math=approximate"})
      check({.batch = 2, .queries = 40, .keys = 90, .head = 32, .mask = mask, .numbers = numbers});
}

/// Rounding probabilities hides the instruction, however wrong the manual lets it be, unless a
/// number of keys that nobody knows may add up more of it.
TEST(EmulatedAttention, TakesTheInstructionForExponentialsThatRoundingHides) {
  auto approximates = [](const emulator::LaunchStats &stats) {
    return llvm::any_of(stats.opcodes, [](auto &entry) {
      return llvm::StringRef(entry.first).starts_with("ex2.approx.f32");
    });
  };
  for (const char *element : {"bf16", "f16"}) {
    Attention a{.queries = 40, .keys = 90, .head = 32, .element = element, .numbers = "math=auto"};
    EXPECT_TRUE(approximates(check(a)));
    for (auto toward : {emulator::SkewedApproximations::Toward::Zero,
                        emulator::SkewedApproximations::Toward::Infinity}) {
      emulator::SkewedApproximations skewed(toward);
      check(a);
      a.mask = Mask::Softcap; // whose tanh stays exact
      EXPECT_TRUE(approximates(check(a)));
    }
  }
  EXPECT_FALSE(approximates(check({.heads = 1,
                                   .queries = 40,
                                   .keys = 90,
                                   .head = 32,
                                   .dispatched = false,
                                   .numbers = "math=auto",
                                   .dynamic = true})));
}

TEST(EmulatedAttention, GivesForRowsThatAreMaskedWholeWhatTheGraphGives) {
  for (Mask mask : {Mask::Additive, Mask::Lowest, Mask::Boolean})
    for (const char *numbers : {"", "math=auto", "math=approximate"})
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

TEST(EmulatedAttention, MakesMasksOfIndicesAnew) {
  Attention a{.heads = 1,
              .queries = 128,
              .keys = 128,
              .head = 32,
              .mask = Mask::Causal,
              .dispatched = false,
              .sharesMask = true};
  uint64_t products = 0;
  for (auto &[opcode, times] : check(a).opcodes)
    products += llvm::StringRef(opcode).starts_with("mma.sync") ? times : 0;
  EXPECT_EQ(products, 3u * 4 * (8 * 2 + 4 * 4)); // of four tiles of 64x64 three
  a.queries = 50;
  a.dynamic = true;
  check(a);
}

TEST(EmulatedAttention, ReadsKeysThatLieAlongEitherDimension) {
  for (int64_t keys : {64, 72, 99})
    check({.queries = 20, .keys = keys, .head = 64, .keyTransposed = true});
}

TEST(EmulatedAttention, FollowsSchedules) {
  Sample some(3);
  for (const char *tile :
       {"tile=128x64 warps=4", "tile=128x64 warps=8", "tile=64x32 warps=4",
        "tile=128x32 warps=8 stages=3", "tile=32x64 warps=2", "tile=64x128 warps=4"})
    for (int64_t head : {64, 128})
      if (some.takes())
        check({.heads = 1, .queries = 150, .keys = 280, .head = head, .schedule = tile});
}

TEST(EmulatedAttention, IsRightForSizesOfRunTime) {
  Sample some(3);
  for (Mask mask : {Mask::None, Mask::Additive, Mask::Causal})
    for (int64_t keys : {1, 130})
      if (some.takes())
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

TEST(EmulatedAttention, SharesKeysAmongBlocks) {
  Sample some(5);
  for (int64_t parts : {2, 3, 8, 32})
    for (int64_t keys : {1, 63, 64, 65, 300, 1100})
      if (some.takes())
        checkParts({.heads = 1, .queries = 3, .keys = keys}, parts, "tile=16x32 warps=1");
  for (const char *tile : {"tile=16x64 warps=1", "tile=32x64 warps=2",
                           "tile=64x64 warps=4 stages=3", "tile=128x32 warps=4"})
    checkParts({.queries = 70, .keys = 400, .element = "f16"}, 4, tile);
  for (int64_t head : {16, 80, 128, 256})
    checkParts({.batch = 2, .queries = 1, .keys = 333, .head = head}, 4, "tile=16x32 warps=1");
  checkParts({.queries = 17, .keys = 200, .head = 32, .keyTransposed = true}, 4,
             "tile=16x64 warps=1");
}

TEST(EmulatedAttention, MergesPartsUnderEachMask) {
  Sample some(5);
  for (Mask mask : kMasks)
    for (const char *numbers : {"", "math=approximate"})
      if (some.takes())
        checkParts({.batch = 2,
                    .queries = 20,
                    .keys = 210,
                    .head = 32,
                    .mask = mask,
                    .masksRows = true,
                    .numbers = numbers},
                   4, "tile=16x32 warps=1");
  // Rows that see nothing, one key, keys of some parts, or all.
  for (Mask mask : {Mask::Causal, Mask::CausalLowest})
    for (int64_t offset : {-1, 100, 300})
      checkParts(
          {.heads = 1, .queries = 20, .keys = 300, .head = 32, .mask = mask, .offset = offset}, 4,
          "tile=16x32 warps=1");
}

TEST(EmulatedAttention, MergesPartsOfSizesOfRunTime) {
  for (int64_t keys : {1, 64, 333})
    for (Mask mask : {Mask::None, Mask::Additive, Mask::CausalLowest})
      checkParts(
          {.batch = 2, .queries = 21, .keys = keys, .head = 32, .mask = mask, .dynamic = true}, 4,
          "tile=16x32 warps=1");
}

TEST(EmulatedAttention, MergesPartsOnEachGeneration) {
  for (const char *chip : {"sm_80", "sm_89", "sm_90a", "sm_120"})
    for (const char *numbers : {"", "math=approximate"})
      checkParts({.queries = 4, .keys = 500, .chip = chip, .numbers = numbers}, 8,
                 "tile=16x64 warps=1");
}

TEST(EmulatedAttention, SharesKeysWhereBlocksAreTooFew) {
  // A step of a decoder: eight heads of query share one tile, and blocks the keys.
  Attention a{.heads = 8, .queries = 1, .keys = 4100, .dispatched = false, .group = 8};
  a.parts = 32;
  check(a);
  // Keys of few steps, and blocks enough.
  a.keys = 300;
  a.parts = 1;
  check(a);
  check({.batch = 64, .heads = 2, .queries = 1, .keys = 300, .head = 32, .dispatched = false});
}

/// Numbers of keys of run time around those where one block more has two tiles, and up to the most.
const int64_t kLengths[] = {1,   2,   31,  32,  33,  63,  127, 128,  129,  191,  192,
                            193, 255, 256, 257, 511, 512, 700, 1100, 2047, 4096, 4100};

TEST(EmulatedAttention, SharesAsManyKeysAsThereAreAtRunTime) {
  Attention a{
      .heads = 1, .queries = 1, .schedule = "tile=16x32 warps=1 split-keys=32 split-from=64"};
  checkLengths(a, kLengths);
  a.numbers = "math=approximate";
  checkLengths(a, {1, 200, 4100});
  for (const char *schedule : {"tile=16x64 warps=1 split-keys=8 split-from=160",
                               "tile=64x32 warps=4 stages=3 split-keys=16 split-from=64"})
    checkLengths({.heads = 1, .queries = 17, .head = 128, .element = "f16", .schedule = schedule},
                 {1, 255, 256, 319, 320, 448, 700});
}

TEST(EmulatedAttention, GivesTheBitsOfAKernelThatKnowsTheNumberOfParts) {
  for (Mask mask : {Mask::None, Mask::CausalLowest})
    checkLengths({.queries = 3,
                  .head = 32,
                  .mask = mask,
                  .schedule = "tile=16x32 warps=1 split-keys=16 split-from=128",
                  .offset = 40},
                 {1, 191, 192, 300, 1000, 1100}, /*apart=*/true);
}

TEST(EmulatedAttention, SharesKeysOfRunTimeUnderEachMask) {
  for (Mask mask : kMasks)
    checkLengths({.batch = 2,
                  .queries = 20,
                  .head = 32,
                  .mask = mask,
                  .masksRows = true,
                  .schedule = "tile=16x32 warps=1 split-keys=4 split-from=64"},
                 {1, 127, 128, 210, 333});
  // Rows that see nothing, one key, keys of some parts, or all.
  for (Mask mask : {Mask::Causal, Mask::CausalLowest})
    for (int64_t offset : {-1, 100, 300})
      checkLengths({.heads = 1,
                    .queries = 20,
                    .head = 32,
                    .mask = mask,
                    .schedule = "tile=16x32 warps=1 split-keys=4 split-from=64",
                    .offset = offset},
                   {1, 100, 128, 300});
}

TEST(EmulatedAttention, SharesKeysOfRunTimeOfRowsOfRunTime) {
  for (Mask mask : {Mask::None, Mask::CausalLowest})
    checkLengths({.batch = 2,
                  .queries = 21,
                  .head = 32,
                  .mask = mask,
                  .schedule = "tile=16x32 warps=1 split-keys=8 split-from=64",
                  .dynamic = true},
                 {1, 127, 128, 333, 600});
}

TEST(EmulatedAttention, SharesKeysOfRunTimeOnEachGeneration) {
  Sample some(2);
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    if (some.takes())
      checkLengths({.queries = 4,
                    .element = "f16",
                    .schedule = "tile=16x64 warps=1 split-keys=8 split-from=256",
                    .chip = chip},
                   {1, 383, 384, 900});
}

/// Heads of a group, and a number of keys that only the run knows: a step of a decoder.
TEST(EmulatedAttention, SharesKeysOfRunTimeWhereThatPays) {
  Attention a{.heads = 8, .queries = 1, .dispatched = false, .group = 8, .keysVary = true};
  Lowered lowered(moduleText(a), a.chip, optionsOf(a));
  for (auto [keys, launches] : {std::pair<int64_t, int64_t>{1, 1}, {100, 1}, {4100, 2}}) {
    a.keys = keys;
    a.parts = launches;
    runOnce(lowered, a);
  }
}

/// Blocks share keys as long as they are too few, which only the run knows of a batch or of rows.
TEST(EmulatedAttention, SharesKeysOfFewRowsOfRunTime) {
  const std::string schedule = "tile=16x32 warps=1 split-keys=8 split-from=64 split-blocks=16";
  Sample some(3);
  for (bool keysVary : {false, true})
    for (Mask mask : {Mask::None, Mask::CausalLowest})
      if (some.takes())
        checkSizes({.queries = 1,
                    .keys = 700,
                    .head = 32,
                    .mask = mask,
                    .schedule = schedule,
                    .offset = 600,
                    .keysVary = keysVary,
                    .batchVaries = true},
                   {{1, 1, 700}, {2, 1, 700}, {3, 1, 700}, {4, 1, 700}, {5, 1, 700}, {9, 1, 700}},
                   /*apart=*/true);
  checkSizes({.queries = 1, .schedule = schedule, .keysVary = true, .batchVaries = true},
             {{1, 1, 1}, {1, 1, 127}, {1, 1, 128}, {3, 1, 128}, {2, 1, 300}, {40, 1, 300}});
  checkSizes({.head = 32, .mask = Mask::Causal, .schedule = schedule, .dynamic = true},
             {{1, 1, 300}, {1, 17, 300}, {2, 40, 333}, {2, 3, 90}, {1, 150, 600}});
}

TEST(EmulatedAttention, SharesKeysOfFewRowsOfRunTimeOnEachGeneration) {
  Sample some(4);
  for (const char *chip : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"})
    if (some.takes())
      checkSizes({.heads = 4,
                  .queries = 1,
                  .element = "f16",
                  .schedule = "tile=16x64 warps=1 split-keys=32 split-from=128 split-blocks=108",
                  .chip = chip,
                  .keysVary = true,
                  .batchVaries = true},
                 {{1, 1, 255}, {1, 1, 900}, {7, 1, 900}, {40, 1, 300}});
}

TEST(EmulatedAttention, RunsWithoutCopiesThatAreAsynchronous) {
  const std::string chip = "sm_75", f16 = "f16";
  Sample some(3);
  for (int64_t head : {16, 40, 64, 80, 128})
    check({.queries = 40, .keys = 72, .head = head, .element = f16, .chip = chip});
  for (int64_t queries : {1, 65})
    for (int64_t keys : {1, 64, 200})
      check({.heads = 1, .queries = queries, .keys = keys, .element = f16, .chip = chip});
  for (Mask mask : kMasks)
    for (const char *numbers : {"", "math=approximate"})
      if (some.takes())
        check({.batch = 2,
               .queries = 40,
               .keys = 90,
               .head = 32,
               .element = f16,
               .mask = mask,
               .masksRows = true,
               .chip = chip,
               .numbers = numbers});
  check({.queries = 20, .keys = 99, .element = f16, .keyTransposed = true, .chip = chip});
  check({.heads = 6,
         .queries = 33,
         .keys = 70,
         .head = 32,
         .element = f16,
         .dispatched = false,
         .chip = chip,
         .group = 3,
         .dynamic = true});
  for (const char *t : {"tile=64x64 warps=4", "tile=128x32 warps=4", "tile=64x32 warps=4 stages=3"})
    check({.heads = 1, .queries = 150, .keys = 280, .element = f16, .schedule = t, .chip = chip});
  checkParts({.queries = 3, .keys = 500, .element = f16, .chip = chip}, 8, "tile=16x64 warps=1");
}

} // namespace
