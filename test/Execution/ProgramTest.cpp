// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs through everything, as tools/dev/sweep/programs runs by the hundred thousand.

#include "ProgramCheck.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp::test;

namespace {

ProgramTally checkSeeds(uint64_t begin, uint64_t end) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadProgramDialects(context);
  ProgramTally tally;
  for (uint64_t seed = begin; seed < end; ++seed)
    checkProgram(context, ProgramRecipe::of(seed), tally);
  for (const ProgramFinding &finding : tally.findings)
    ADD_FAILURE() << finding.recipe.str() << "\n" << finding.what;
  return tally;
}

TEST(Program, KeepsEveryPromise) {
  ProgramTally tally = checkSeeds(0, 30);
  // The test says something only of programs that run, are narrowed, and have bounds.
  EXPECT_GE(tally.ran, 20u);
  EXPECT_GE(tally.casts, 20u);
  EXPECT_GE(tally.lowered, 20u);
  EXPECT_GE(tally.models, 1u);
  EXPECT_GE(tally.bounded, tally.values / 2);
}

TEST(Program, NightlyKeepsEveryPromise) { checkSeeds(30, 5000); }

} // namespace
