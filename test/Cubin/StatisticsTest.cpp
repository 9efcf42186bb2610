// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks, dominators, loops and counts of small functions written as text.

#include "mp/Cubin/CubinStatistics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

using namespace mpcore::cubin;

namespace {

/// A function of lines "LABEL:" and instructions, branches as "BRA LABEL".
Function assemble(llvm::StringRef text) {
  Function function;
  function.name = "f";
  llvm::StringMap<uint32_t> labels;
  llvm::SmallVector<llvm::StringRef, 32> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  uint32_t address = 0;
  for (llvm::StringRef line : lines) {
    if (line.ends_with(":"))
      labels[line.drop_back()] = address;
    else if (auto i = parseInstruction(line, address)) {
      function.instructions.push_back(*i);
      address += 16;
    }
  }
  size_t k = 0;
  for (llvm::StringRef line : lines)
    if (!line.ends_with(":")) {
      Instruction &i = function.instructions[k++];
      llvm::StringRef label = line.rsplit(' ').second;
      if (i.flow == Flow::Branch && labels.count(label))
        i.target = labels[label];
    }
  function.codeBytes = address;
  return function;
}

TEST(ControlFlow, DominatorsOfADiamondWithALoop) {
  //   0 -> 1 -> {2, 3} -> 4 -> 1, 4 -> 5; 6 is not reached
  const Graph graph = {{1}, {2, 3}, {4}, {4}, {1, 5}, {}, {5}};
  const std::vector<unsigned> expected = {0, 0, 1, 1, 1, 4, ~0u};
  EXPECT_EQ(immediateDominators(graph, 0), expected);
  EXPECT_EQ(dominatorsOf(expected, 5), (llvm::SmallVector<unsigned, 8>{5, 4, 1, 0}));
  EXPECT_TRUE(dominatorsOf(expected, 6).empty());
}

const char *const kMatmul = R"(MOV R1, RZ
LOOP:
LDSM.16.M88.4 R4, [R1]
@P1 BRA RARE
BACK:
HMMA.16816.F32.BF16 R8, R4, R12, R8
HMMA.16816.F32.BF16 R16, R4, R14, R16
LDGSTS.E.BYPASS.LTC128B.128 [R2], desc[UR4][R6.64]
IADD3 R1, R1, 0x10, RZ
BAR.SYNC.DEFER_BLOCKING 0x0
@P0 BRA LOOP
STG.E.64 desc[UR4][R2.64], R8
EXIT
RARE:
MUFU.EX2 R3, R3
MUFU.EX2 R5, R5
BRA BACK
STAY:
BRA STAY
NOP
NOP
)";

TEST(Statistics, MainLoopLeavesRarePathsOut) {
  const Function function = assemble(kMatmul);
  const FunctionStatistics s = statisticsOf(function, 80);
  ASSERT_TRUE(s.mainLoop);
  const LoopStatistics &loop = s.loops[*s.mainLoop];
  EXPECT_EQ(loop.begin, 0x10u);
  EXPECT_EQ(loop.hot.instructions, 8u); // with the branch to the rare path
  EXPECT_EQ(loop.rare, 3u);
  EXPECT_EQ(loop.hot[Kind::Matrix], 2u);
  EXPECT_EQ(loop.hot[Kind::MatrixLoad], 1u);
  EXPECT_EQ(loop.hot[Kind::Special], 0u);
  EXPECT_EQ(loop.hot.mma16816(), 2);
  EXPECT_EQ(loop.hot.nonMatrixPerMma16816(), 3);
  EXPECT_EQ(loop.hot.sharedBytesPerMma16816(), 16 * 32 / 2);
  EXPECT_EQ(loop.hot.asyncCopied, 16 * 32);
  EXPECT_EQ(loop.hot.waits, 1u);
  EXPECT_EQ(loop.hot.products.at("HMMA 16x8x16"), 2u);
  EXPECT_EQ(s.barriers(), 1u);
  EXPECT_EQ(s.spills(), 0u);
  EXPECT_EQ(s.whole.instructions, 15u); // padding at the end left out
  EXPECT_EQ(s.whole.globalStored, 8u);
  EXPECT_EQ(s.loops.size(), 2u); // and the branch to itself
}

TEST(Statistics, NestedLoopsAndProducers) {
  const Function function = assemble(R"(PRODUCER:
IADD3 R1, R1, 0x8, RZ
SPIN:
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], R2
@!P0 BRA SPIN
UTMALDG.2D [UR8], [UR4]
@P2 BRA PRODUCER
TILE:
MOV R1, RZ
STEP:
HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24, gsb0
WARPGROUP.DEPBAR.LE gsb0, 0x1
@P0 BRA STEP
STL [R1], R3
@P1 BRA TILE
EXIT
)");
  const FunctionStatistics s = statisticsOf(function, 90);
  ASSERT_TRUE(s.mainLoop);
  const LoopStatistics &step = s.loops[*s.mainLoop];
  EXPECT_EQ(step.depth, 2u);
  EXPECT_EQ(step.hot.instructions, 3u);
  EXPECT_EQ(step.hot.mma16816(), 64 * 256 * 16 / 4 / 2048);
  // A and B of the warpgroup, of which this warp stands for a quarter.
  EXPECT_EQ(step.hot.matrixOperands, (64 + 256) * 16 * 2 / 4);
  EXPECT_EQ(step.hot.waits, 1u);
  ASSERT_TRUE(s.producerLoop);
  EXPECT_EQ(s.loops[*s.producerLoop].hot[Kind::BulkLoad], 1u);
  EXPECT_EQ(s.spills(), 1u);
}

TEST(Statistics, BytesInFlightCountLoadsUntilTheFirstWait) {
  // Two loads on scoreboard 0, one on 1; somebody waits for 0, then one more load.
  auto load = [](uint32_t address, uint8_t board, uint8_t waits) {
    Instruction i = *parseInstruction("LDG.E.128 R4, desc[UR4][R2.64]", address);
    i.writeBarrier = board;
    i.waitMask = waits;
    return i;
  };
  Function function;
  function.instructions = {load(0, 0, 0), load(16, 0, 0), load(32, 1, 0), load(48, 2, 1)};
  EXPECT_EQ(statisticsOf(function, 80).bytesInFlight, 48u);
}

TEST(Statistics, EmptyAndStrangeFunctions) {
  EXPECT_EQ(statisticsOf(Function(), 80).whole.instructions, 0u);
  const Function nops = assemble("NOP\nNOP\n");
  EXPECT_EQ(statisticsOf(nops, 80).whole.instructions, 0u);
  // A branch to nowhere, and one into the middle of itself.
  Function function = assemble("BRA X\nEXIT\n");
  function.instructions[0].target = 7;
  EXPECT_EQ(statisticsOf(function, 80).loops.size(), 0u);
  const Function unknown = assemble("FROB R1\nEXIT\n");
  const FunctionStatistics s = statisticsOf(unknown, 80);
  EXPECT_EQ(s.whole[Kind::Other], 1u);
  const llvm::json::Object json = toJSON(s);
  EXPECT_EQ(json.getInteger("spill_instructions"), 0);
  EXPECT_EQ(json.getObject("whole")->getInteger("instructions"), 2);
}

} // namespace
