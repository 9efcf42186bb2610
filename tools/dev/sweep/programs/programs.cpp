// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs through everything that ProgramCheck holds them to.
//
//   programs --seed=N                         prints the program of one seed
//   programs --from=A [--to=B] [--seconds=S]  checks those seeds; counts as one line of JSON
//
// Findings go to standard error as they come; tools/dev/fuzz/run-fuzz.py logs the counts. Exits
// with 1 if there are some.

#include "../../../../test/Execution/ProgramCheck.h"
#include "mp/Pipelines/Promises.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"

#include <chrono>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

static llvm::cl::OptionCategory category("random programs");
static llvm::cl::opt<uint64_t> seed("seed", llvm::cl::desc("Seed of the program to print"),
                                    llvm::cl::init(~0ull), llvm::cl::cat(category));
static llvm::cl::opt<uint64_t> from("from", llvm::cl::desc("First seed to check"),
                                    llvm::cl::cat(category));
static llvm::cl::opt<uint64_t> to("to", llvm::cl::desc("Seed behind the last to check"),
                                  llvm::cl::init(~0ull), llvm::cl::cat(category));
static llvm::cl::opt<double> seconds("seconds", llvm::cl::desc("Time after which it ends"),
                                     llvm::cl::init(1e9), llvm::cl::cat(category));

/// Types and attributes stay until their context goes, so that each takes so many programs.
constexpr unsigned kProgramsPerContext = 200;

static llvm::json::Object toJSON(const ProgramTally &tally, uint64_t next) {
  return llvm::json::Object{{"next", int64_t(next)},
                            {"programs", int64_t(tally.programs)},
                            {"models", int64_t(tally.models)},
                            {"ran", int64_t(tally.ran)},
                            {"unrun", int64_t(tally.unrun)},
                            {"casts", int64_t(tally.casts)},
                            {"lowered", int64_t(tally.lowered)},
                            {"refused", int64_t(tally.refused)},
                            {"values", int64_t(tally.values)},
                            {"bounded", int64_t(tally.bounded)},
                            {"findings", int64_t(tally.findings.size())}};
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Random programs\n");
  std::optional<MLIRContext> context;
  auto renew = [&] {
    context.emplace(MLIRContext::Threading::DISABLED);
    loadProgramDialects(*context);
  };
  renew();
  if (seed != ~0ull) {
    ProgramRecipe recipe = ProgramRecipe::of(seed);
    llvm::outs() << "// " << recipe.str() << "\n";
    if (OwningOpRef<ModuleOp> program = buildProgram(*context, recipe))
      llvm::outs() << printModule(*program);
    return 0;
  }
  auto start = std::chrono::steady_clock::now();
  auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ProgramTally tally;
  uint64_t next = from;
  for (; next < to && passed() < seconds; ++next) {
    if ((next - from + 1) % kProgramsPerContext == 0)
      renew();
    size_t before = tally.findings.size();
    checkProgram(*context, ProgramRecipe::of(next), tally);
    for (const ProgramFinding &finding : ArrayRef(tally.findings).drop_front(before))
      llvm::errs() << finding.recipe.str() << "\n  " << finding.what << "\n";
  }
  llvm::outs() << llvm::json::Value(toJSON(tally, next)) << "\n";
  return !tally.findings.empty();
}
