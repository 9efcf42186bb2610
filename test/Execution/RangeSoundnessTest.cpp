// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every value a program computes lies in its proved range: random graphs run on the host with every
// float tensor made a result, and each element, NaN and infinity included, is compared with what
// the analysis says. The other half, that ranges say something, is counted: how many are bounded, and
// how far the bounds lie from what was seen.

#include "../Transforms/RandomGraph.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mp/Execution/Inputs.h"
#include "mp/Execution/RangeCheck.h"
#include "mp/Execution/Trace.h"
#include "mp/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// Gives every float argument a range that depends on the seed; inputs are drawn from it.
void annotateArguments(func::FuncOp function, uint64_t seed) {
  static constexpr double kRanges[][2] = {{-1, 1}, {0, 2}, {-3, 0.5}, {0.5, 8}};
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments())
    if (getFloatFormat(argument.getType())) {
      const double *range = kRanges[(seed + argument.getArgNumber()) % std::size(kRanges)];
      function.setArgAttr(argument.getArgNumber(), kRangeAttrName,
                          builder.getArrayAttr({builder.getF64FloatAttr(range[0]),
                                                builder.getF64FloatAttr(range[1])}));
    }
}

struct Tally {
  RangeCheck check;
  unsigned graphs = 0;
};

/// Loops that may never end, and equal types of unequal sizes (a padded `?` beside the `?` it was made of), which
/// elementwise ops must not be given: what those compute is undefined, and no range holds of it.
bool mayBeUndefined(Operation *op) {
  return isa<scf::WhileOp>(op) ||
         (isa<tensor::PadOp, tensor::ConcatOp, tensor::ExtractSliceOp, tosa::PadOp, tosa::ConcatOp, tosa::SliceOp>(op) &&
          !cast<ShapedType>(op->getResult(0).getType()).hasStaticShape());
}

/// Empty when the graph ran, or cannot run; else why it did not, or the graph where a value is outside its range.
std::string check(MLIRContext &context, uint64_t seed, Tally &tally) {
  auto module = RandomGraph(&context, seed).build(4 + seed % 13);
  auto function = llvm::cantFail(findEntry(*module, "main"));
  WalkResult walked = module->walk(
      [](Operation *op) { return mayBeUndefined(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (!function.getBody().hasOneBlock() || walked.wasInterrupted())
    return "";
  annotateArguments(function, seed);
  SmallVector<Value> values;
  for (const TracedValue &traced : tracedValues(function))
    values.push_back(traced.value);
  if (llvm::Error error = returnValues(function, values))
    return llvm::toString(std::move(error));
  auto program = Program::compile(*module, "main");
  if (!program)
    return llvm::toString(program.takeError());
  InputOptions options;
  options.seed = seed;
  options.dynamicSize = 5;
  std::vector<std::string> notes;
  auto inputs = makeInputs((*program)->signature(), options, notes);
  if (!inputs)
    return llvm::toString(inputs.takeError());
  auto results = (*program)->run(*inputs);
  if (!results) { // sizes that do not fit: nothing was computed
    llvm::consumeError(results.takeError());
    return "";
  }
  ++tally.graphs;
  RangeCheck found = checkRanges(*module, function, *inputs, *results);
  tally.check.add(found);
  if (found.violations.empty())
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

Tally checkSeeds(uint64_t begin, uint64_t end) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  mlir::mp::registerExecution(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Tally tally;
  for (uint64_t seed = begin; seed < end; ++seed) {
    std::string wrong = check(context, seed, tally);
    EXPECT_EQ(wrong, "") << "seed " << seed;
    if (!wrong.empty())
      break;
  }
  llvm::outs() << tally.graphs << " graphs: ";
  tally.check.print(llvm::outs());
  llvm::outs().flush();
  EXPECT_TRUE(tally.check.violations.empty());
  return tally;
}

TEST(RangeSoundness, HoldsOnRandomGraphs) {
  Tally tally = checkSeeds(0, 40);
  EXPECT_GE(tally.graphs, 15u);
  EXPECT_GE(tally.check.bounded, tally.check.values / 2); // else the test says little
}

/// More than 10,000 graphs in all: about three of ten seeds run.
constexpr uint64_t kChunks = 40, kSeeds = 1000;

class NightlyRangeSoundness : public testing::TestWithParam<uint64_t> {};

TEST_P(NightlyRangeSoundness, HoldsOnRandomGraphs) {
  Tally tally = checkSeeds(GetParam() * kSeeds, (GetParam() + 1) * kSeeds);
  EXPECT_GE(tally.graphs * kChunks, 10000u);
}

INSTANTIATE_TEST_SUITE_P(Chunks, NightlyRangeSoundness, testing::Range<uint64_t>(0, kChunks));

} // namespace
