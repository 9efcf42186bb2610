// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage placed in random graphs: proven optimal, never above painting, and the problem written
// out proves it to a checker that shares no code with the solver.

#include "RandomGraph.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Assignment/Explain.h"
#include "mp/Assignment/ProblemJSON.h"
#include "mp/Transforms/Assign/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

std::vector<Placement> place(ModuleOp module, const AssignPrecisionOptions &options) {
  std::vector<Placement> placements;
  PassManager manager(module.getContext());
  manager.addPass(
      createAssignPrecision(options, /*asked=*/nullptr,
                            [&](const Placement &placement) { placements.push_back(placement); }));
  EXPECT_TRUE(succeeded(manager.run(module)));
  return placements;
}

TEST(Placement, IsProvenOptimalAndNeverAbovePainting) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  unsigned decided = 0, better = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    auto module = RandomGraph(&context, seed).build(4 + seed % 29);
    AssignPrecisionOptions options;
    options.objective = seed % 4 ? Objective::Time : Objective::Memory;
    options.assumeDim = seed % 2 ? 2048 : 128;
    for (const Placement &placement : place(*module, options)) {
      ++decided;
      EXPECT_TRUE(placement.provenOptimal) << "seed " << seed;
      EXPECT_EQ(placement.method, "min-cut") << "seed " << seed;
      EXPECT_EQ(placement.lowerBound, placement.after) << "seed " << seed;
      ASSERT_EQ(placement.baselines.size(), 3u);
      for (const PaintedPlacement &painted : placement.baselines) {
        EXPECT_LE(placement.after, painted.cost) << painted.name << ", seed " << seed;
        better += placement.after < painted.cost;
      }
    }
  }
  EXPECT_GE(decided, 400u);
  EXPECT_GE(better, 100u); // else the comparison says nothing
}

/// If contractions may stay in f32, nothing decided is slower than f32, and losses stay forbidden.
TEST(Placement, IsNeverSlowerThanF32WhereAsked) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  unsigned slowerOtherwise = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    AssignPrecisionOptions options;
    auto module = RandomGraph(&context, seed).build(4 + seed % 29);
    auto copy = module->clone();
    for (const Placement &placement : place(copy, options))
      slowerOtherwise += placement.after > placement.before;
    copy->erase();
    options.neverSlower = true;
    for (const Placement &placement : place(*module, options)) {
      EXPECT_TRUE(placement.provenOptimal) << "seed " << seed;
      EXPECT_LE(placement.after, placement.before) << "seed " << seed;
    }
  }
  EXPECT_GE(slowerOtherwise, 10u); // products of vectors, for which casts are kernels
}

static unsigned countFunctions(ModuleOp module) {
  return llvm::count_if(module.getOps<FunctionOpInterface>(),
                        [](FunctionOpInterface function) { return !function.isExternal(); });
}

TEST(Placement, WritesAProblemThatProvesItsAnswer) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("placement", folder));
  for (uint64_t seed = 0; seed < 40; ++seed) {
    auto module = RandomGraph(&context, seed).build(30);
    unsigned before = countFunctions(*module);
    AssignPrecisionOptions options;
    options.dumpProblem = (folder + "/p.json").str();
    std::vector<Placement> placements = place(*module, options);
    unsigned functions = countFunctions(*module), copies = 0; // one for each of callers that differ
    for (auto function : module->getOps<FunctionOpInterface>())
      copies += function->hasAttr("mp.copy_of");
    ASSERT_EQ(functions, before + copies);
    ASSERT_EQ(placements.size(), functions);
    for (const Placement &placement : placements) {
      std::string path = functions == 1 ? (folder + "/p.json").str()
                                        : (folder + "/p." + placement.function + ".json").str();
      auto text = llvm::MemoryBuffer::getFile(path);
      ASSERT_TRUE(bool(text)) << path;
      auto file = assignment::readProblem((*text)->getBuffer());
      ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
      ASSERT_TRUE(file->answer.has_value());
      auto checked = assignment::checkAnswer(file->problem, *file->answer);
      ASSERT_TRUE(bool(checked)) << llvm::toString(checked.takeError());
      EXPECT_EQ(checked->score.cost, placement.after);
      EXPECT_TRUE(checked->certifiedOptimal) << "seed " << seed;
    }
  }
  llvm::sys::fs::remove_directories(folder);
}

} // namespace
