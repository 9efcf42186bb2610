// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sectors that launches touch, and counts of sampled blocks beside those of all.

#include "TestSupport.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

static constexpr uint32_t kThreads = 32, kBlocks = 64;
static constexpr uint32_t kUnwritten = 0xdeadbeef;
static constexpr uint32_t kWords = 1024, kAllocated = kWords / 8; // at P; sectors of it

namespace {
/// A launch of `k(P, Q)`, with kWords at P, and a word at Q for each thread of the grid.
struct Ran {
  LaunchStats stats;
  std::vector<uint32_t> out;
};
} // namespace

static std::string kernel(const std::string &body, const std::string &directives = "") {
  return ".visible .entry k(.param .u64 P, .param .u64 Q) " + directives + R"({
  .reg .pred %p; .reg .b32 %b, %t, %n, %x; .reg .b64 %d, %g, %q;
  ld.param.u64 %g, [P]; ld.param.u64 %q, [Q];
  mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x;
  mad.lo.u32 %n, %b, 32, %t; mul.wide.u32 %d, %n, 4; add.u64 %q, %q, %d;
  mul.wide.u32 %d, %t, 4; add.u64 %g, %g, %d;
)" + body +
         "\n ret;\n}\n";
}

/// Every thread reads what all blocks read, and writes a word that is its own.
static const char *const kShared = "ld.global.u32 %x, [%g]; st.global.u32 [%q], %x;";

static Ran run(const std::string &text, LaunchOptions options, uint32_t blocks = kBlocks) {
  auto module = load(text);
  if (!module)
    return {};
  Device device;
  DevicePtr p = upload(device, std::vector<uint32_t>(kWords, 7));
  DevicePtr q = upload(device, std::vector<uint32_t>(kThreads * blocks, kUnwritten));
  LaunchStats stats = take(device.launch(*module, "k", {blocks}, {kThreads}, 0,
                                         {KernelArg::value(p), KernelArg::value(q)}, options));
  return {stats, download<uint32_t>(device, q, kThreads * blocks)};
}

static LaunchOptions sampled(uint64_t blocks) {
  LaunchOptions options;
  options.countTouched = true;
  options.sampleBlocks = blocks;
  return options;
}

static void expectSameCounts(const LaunchStats &a, const LaunchStats &b) {
  EXPECT_EQ(a.warpInstructions, b.warpInstructions);
  EXPECT_EQ(a.laneInstructions, b.laneInstructions);
  EXPECT_EQ(a.opcodes, b.opcodes);
  EXPECT_EQ(a.globalRequests, b.globalRequests);
  EXPECT_EQ(a.globalSectors, b.globalSectors);
  EXPECT_EQ(a.globalBytes, b.globalBytes);
  EXPECT_EQ(a.sharedWavefronts, b.sharedWavefronts);
  EXPECT_EQ(a.touchedSectors, b.touchedSectors);
  EXPECT_EQ(a.blocks, b.blocks);
}

TEST(Counts, TouchedSectorsCountOnce) {
  const LaunchStats stats = run(kernel(kShared), sampled(0)).stats;
  EXPECT_EQ(stats.globalSectors, kBlocks * (4 + 4));
  EXPECT_EQ(stats.touchedSectors, 4 + kBlocks * 4); // 128 bytes for all, 128 bytes a block
  EXPECT_EQ(stats.sampledBlocks, kBlocks);
  EXPECT_EQ(stats.threads, kThreads);
  EXPECT_EQ(run(kernel(kShared), {}).stats.touchedSectors, 0u); // nobody asked
}

TEST(Counts, TouchedSectorsOfOtherWays) {
  // Memory that is not all written, single bytes, an atomic, and an asynchronous copy.
  auto module = load(R"(.visible .entry k(.param .u64 P) {
  .shared .align 16 .b8 s[16]; .reg .b32 %x; .reg .b64 %g;
  ld.param.u64 %g, [P];
  st.global.u32 [%g+28], 1; st.global.u32 [%g+32], 1;
  st.global.u8 [%g+100], 1;
  atom.global.add.u32 %x, [%g+32], 1;
  cp.async.ca.shared.global [s], [%g+160], 16; cp.async.wait_all;
  ret;
})");
  ASSERT_TRUE(module);
  Device device;
  DevicePtr p = take(device.alloc(1024));
  LaunchOptions options = sampled(0);
  options.checkUninitialized = false;
  LaunchStats stats =
      take(device.launch(*module, "k", {2}, {1}, 0, {KernelArg::value(p)}, options));
  EXPECT_EQ(stats.touchedSectors, 4u); // at 0, 32, 96 and 160
}

TEST(Counts, SamplesAreScaledToTheGrid) {
  const Ran all = run(kernel(kShared), sampled(0));
  for (uint64_t blocks : {2, 4, 8, 64, 1000}) {
    const Ran some = run(kernel(kShared), sampled(blocks));
    EXPECT_EQ(some.stats.sampledBlocks, std::min<uint64_t>(blocks, kBlocks));
    expectSameCounts(some.stats, all.stats);
  }
  // One block alone cannot tell what others would share; it cannot be more than there is.
  const LaunchStats one = run(kernel(kShared), sampled(1)).stats;
  EXPECT_EQ(one.globalSectors, all.stats.globalSectors);
  EXPECT_EQ(one.touchedSectors, kAllocated + kBlocks * 4);
}

TEST(Counts, SamplesAreSpreadEvenly) {
  for (bool reverse : {false, true}) {
    LaunchOptions options = sampled(4);
    options.reverse = reverse;
    const Ran some = run(kernel(kShared), options);
    for (uint32_t block = 0; block < kBlocks; ++block)
      EXPECT_EQ(some.out[block * kThreads] != kUnwritten, block % 16 == 8) << block;
  }
  // Block b runs a loop b times: blocks in the middle of their range stand for it.
  const std::string loop = kernel("add.u32 %n, %b, 1;\nagain: sub.u32 %n, %n, 1; "
                                  "setp.ne.u32 %p, %n, 0; @%p bra again;");
  const double all = double(run(loop, sampled(0)).stats.warpInstructions);
  const double some = double(run(loop, sampled(8)).stats.warpInstructions);
  EXPECT_NEAR(some / all, 1, 0.02);
}

TEST(Counts, ClustersAreSampledWhole) {
  const std::string text =
      kernel(kShared + std::string("barrier.cluster.arrive; barrier.cluster.wait;"),
             ".explicitcluster .reqnctapercluster 4, 1, 1");
  const Ran all = run(text, sampled(0)), some = run(text, sampled(5));
  EXPECT_EQ(some.stats.sampledBlocks, 8u);
  EXPECT_EQ(run(text, sampled(~uint64_t(0))).stats.sampledBlocks, kBlocks);
  expectSameCounts(some.stats, all.stats);
}

TEST(Counts, BlocksThatCountEachOtherRunWhole) {
  // The last block does what no sample would see.
  const std::string count = "atom.acq_rel.gpu.global.inc.u32 %n, [%g], 2047; "
                            "setp.eq.u32 %p, %n, 2047; @%p st.global.u32 [%q], %n;";
  EXPECT_EQ(run(kernel(count), sampled(4)).stats.sampledBlocks, kBlocks);
}

TEST(Counts, SamplesSayThatTheyAre) {
  std::string text;
  llvm::raw_string_ostream os(text);
  run(kernel(kShared), sampled(8)).stats.print(os);
  EXPECT_NE(text.find("blocks 64 (8 ran, counts are scaled)"), std::string::npos) << text;
}
