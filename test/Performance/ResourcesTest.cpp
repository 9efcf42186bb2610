// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Performance/Estimate.h"
#include "mp/Performance/Schedule.h"

#include "gtest/gtest.h"

using namespace mpcore::performance;

namespace {

const Part &part(llvm::StringRef name) { return llvm::cantFail(findPart(name)); }
Problem problem(llvm::StringRef text) { return llvm::cantFail(parseProblem(text)); }
Schedule schedule(llvm::StringRef text) { return llvm::cantFail(parseSchedule(text)); }

std::string errorOf(llvm::StringRef problemText, llvm::StringRef scheduleText,
                    llvm::StringRef partName) {
  auto resources = resourcesOf(problem(problemText), schedule(scheduleText), part(partName));
  return resources ? "" : llvm::toString(resources.takeError());
}

TEST(Resources, ResidencyFollowsTheProgrammingGuide) {
  const auto &a100 = *part("A100").specific, &h100 = *part("H100").specific;
  EXPECT_EQ(residentBlocks(a100, 256, 218, 147456), 1u);
  EXPECT_EQ(residentBlocks(a100, 256, 32, 0), 8u); // 2048 threads
  EXPECT_EQ(residentBlocks(a100, 256, 64, 0), 4u); // 65536 registers
  EXPECT_EQ(residentBlocks(a100, 256, 48, 256),
            5u);                                   // 56 warps of 48 registers... 40 in whole blocks
  EXPECT_EQ(residentBlocks(a100, 32, 16, 0), 32u); // blocks
  EXPECT_EQ(residentBlocks(h100, 384, 168, 200000), 1u);
  EXPECT_EQ(residentBlocks(h100, 128, 32, 113 * 1024), 2u); // with the system's KiB each
  EXPECT_EQ(residentBlocks(h100, 128, 32, 114 * 1024), 1u);
  EXPECT_EQ(residentBlocks(h100, 1056, 32, 0), 0u);
  EXPECT_EQ(residentBlocks(h100, 128, 256, 0), 0u);
}

TEST(Resources, RegistersOfMatmulsAreWithinTwelveOfPtxas) {
  // ptxas 13.0 gives kernels of these tiles so many (docs/concepts/Performance.md).
  const std::pair<llvm::StringRef, unsigned> known[] = {
      {"matmul tile=128x256x64 warps=2x4 stages=3", 218},
      {"matmul tile=128x128x64 warps=2x2 stages=3", 216},
      {"matmul tile=128x128x64 warps=2x4 stages=3", 140},
      {"matmul tile=64x64x64 warps=2x2 stages=3", 96},
      {"matmul tile=16x32x64 warps=1x1 stages=3 slices=8", 68},
      {"matmul tile=16x32x64 warps=1x2 stages=16", 46}};
  for (auto [text, registers] : known) {
    Resources r = llvm::cantFail(
        resourcesOf(problem("matmul m=4096 n=4096 k=4096"), schedule(text), part("A100")));
    EXPECT_NEAR(int(r.registers), int(registers), 12) << text.str();
  }
  Resources r = llvm::cantFail(resourcesOf(
      problem("matmul m=4096 n=4096 k=4096"),
      schedule("matmul unit=wgmma tile=128x256x64 warps=8x1 stages=4 copy=bulk"), part("H100")));
  Resources sliced = llvm::cantFail(
      resourcesOf(problem("matmul m=1 n=4096 k=4096"),
                  schedule("matmul tile=16x32x64 warps=1x2 stages=3 slices=4"), part("A100")));
  EXPECT_EQ(sliced.threads, 256u);
  EXPECT_EQ(sliced.sharedBytes, 3u * 4 * (16 + 32) * 128);
  EXPECT_EQ(r.threads, 384u);
  EXPECT_EQ(r.sharedBytes, 4u * (128 + 256) * 128);
  EXPECT_EQ(r.blocksPerMultiprocessor, 1u);
  EXPECT_NEAR(r.bytesInFlight, 3 * (128 + 256) * 128, 1);
}

TEST(Resources, RefusalsNameTheLimit) {
  const llvm::StringRef matmul = "matmul m=4096 n=4096 k=4096";
  EXPECT_EQ(errorOf(matmul, "matmul unit=wgmma", "A100"),
            "A100 SXM 40GB has no wgmma products of bf16");
  EXPECT_EQ(errorOf("matmul format=bf16", "matmul", "T4"), "T4 has no mma.sync products of bf16");
  EXPECT_EQ(errorOf("matmul format=f16", "matmul", "T4"), "T4 has no copies of kind async");
  EXPECT_EQ(errorOf(matmul, "matmul cluster=2x1", "A100"),
            "a cluster of 2 blocks exceeds the 1 of A100 SXM 40GB");
  EXPECT_EQ(errorOf(matmul, "matmul tile=256x256x64 warps=2x4 stages=2", "A100"),
            "about 380 registers exceed the 255 of a thread");
  EXPECT_EQ(errorOf(matmul, "matmul tile=128x256x64 warps=2x4 stages=4", "A100"),
            "196608 bytes of shared memory exceed the 166912 of a block on A100 SXM 40GB");
  EXPECT_EQ(errorOf(matmul, "matmul unit=wgmma tile=256x256x64 warps=8x1", "H100"),
            "accumulators of 256x256 take 296 registers in each thread of 2 warpgroups, at most "
            "240");
  EXPECT_EQ(errorOf(matmul, "matmul tile=16x32x64 warps=1x1 stages=4 slices=8", "A100"),
            "196608 bytes of shared memory exceed the 166912 of a block on A100 SXM 40GB");
  EXPECT_EQ(errorOf(matmul, "matmul unit=wgmma warps=8x1 slices=2", "H100"),
            "slices of a sum are for warps of mma.sync");
  EXPECT_EQ(errorOf(matmul, "matmul tile=128x128x8", "A100"),
            "a step of 8 is no multiple of the 32 bytes of one instruction");
  EXPECT_EQ(errorOf(matmul, "matmul tile=100x128x64", "A100"),
            "each warp of mma.sync needs rows in multiples of 16 and columns of 8");
  EXPECT_EQ(errorOf(matmul, "map", "A100"), "the schedule is one for another kind of problem");
  EXPECT_EQ(errorOf("rows rows=8 columns=8192", "rows threads-per-row=32", "A100"),
            "256 elements of a row in each of 32 threads exceed the registers; at most 32");
}

TEST(Menu, HoldsOnlyWhatFits) {
  for (const Part &part : allParts())
    for (llvm::StringRef text :
         {"matmul m=1024 n=1024 k=1024 format=f16", "matmul m=3 n=5 k=7 format=f32",
          "map elements=1000000", "rows rows=128 columns=768", "rows rows=1 columns=1",
          "column-reduction rows=512 columns=512", "transpose rows=64 columns=64 bits=8",
          "attention heads=8 key-heads=8 queries=512 keys=512 head-dim=128 format=f16"}) {
      const Problem p = problem(text);
      const std::vector<Schedule> all = menu(p, part);
      EXPECT_FALSE(all.empty()) << part.name.str() << ": " << text.str();
      for (const Schedule &s : all) {
        auto resources = resourcesOf(p, s, part);
        EXPECT_TRUE(bool(resources)) << toString(s);
        llvm::consumeError(resources.takeError());
      }
    }
}

TEST(Menu, SaysThatNothingRuns) {
  const Problem bf16 = problem("matmul m=16 n=16 k=16 format=bf16");
  const char *none = "no schedule of the menu runs 'matmul m=16 n=16 k=16' on T4";
  EXPECT_EQ(llvm::toString(rank(bf16, part("T4"), 1).takeError()), none);
  EXPECT_EQ(llvm::toString(choose(bf16, part("T4")).takeError()), none);
}

} // namespace
