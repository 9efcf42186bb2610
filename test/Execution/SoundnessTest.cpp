// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every value a program computes lies in its proved range, and no further from what f64 gives than
// its certified bound: random graphs run on the host with every float tensor made a result, and
// each element, NaN and infinity included, is compared with what the analyses say. Errors are those
// of graphs converted to bf16, f16, tf32 and split products, with IEEE arithmetic and that of
// Tensor Cores. The evidence that f16 asks for is held to what it is used for: where arguments and
// contractions stay as small as is assumed, a value that may be f16 fits. The other half, that
// bounds say something, is counted: how many are finite, and how far they lie from what was seen.

#include "../Transforms/RandomGraph.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Compare/BoundCheck.h"
#include "mp/Execution/Compare/Trace.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Execution/Inputs.h"
#include "mp/Execution/TensorCores.h"
#include "mp/InitAll.h"
#include "mp/Transforms/Assign/Passes.h"
#include "mp/Transforms/Materialize/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// Gives every float argument a range that depends on the seed; inputs are drawn from it.
void annotateArguments(func::FuncOp function, uint64_t seed, bool large) {
  static constexpr double kRanges[][2] = {{-1, 1}, {0, 2}, {-3, 0.5}, {0.5, 8}, {-4000, 4000}};
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments())
    if (getFloatFormat(argument.getType())) {
      // Large arguments are for the evidence alone: exponentials of them are infinite.
      const double *range =
          kRanges[(seed + argument.getArgNumber()) % (std::size(kRanges) - !large)];
      function.setArgAttr(argument.getArgNumber(), kRangeAttrName,
                          builder.getArrayAttr({builder.getF64FloatAttr(range[0]),
                                                builder.getF64FloatAttr(range[1])}));
    }
}

/// Phase 3: what mp-optimize-casts does afterwards keeps every value, but rounds constants for
/// good.
LogicalResult convert(ModuleOp module, uint64_t seed) {
  static constexpr llvm::StringLiteral kFormats[] = {"bf16",   "f16",    "tf32",
                                                     "bf16x3", "bf16x6", "tf32x3"};
  AssignPrecisionOptions options;
  options.format =
      *mpcore::support::findWord<ContractionFormat>(kFormats[seed % std::size(kFormats)]);
  PassManager manager(module.getContext());
  manager.addPass(createAssignPrecision(options));
  manager.addPass(createInsertCasts());
  manager.addPass(createSplitContractions());
  return manager.run(module);
}

/// A graph with every float tensor returned, what it is run on, and what came out.
struct GraphRun {
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::vector<Array> inputs, results, exact;
  std::optional<numerics::Architecture> arithmetic;
};

enum class What { Ranges, Errors, Evidence };

/// Nothing where the graph of `seed` has several blocks, or sizes do not fit; an error where it
/// ought to run but does not.
llvm::Expected<std::optional<GraphRun>> runGraph(MLIRContext &context, uint64_t seed, What what) {
  static constexpr std::optional<numerics::Architecture> kArithmetic[] = {
      std::nullopt, numerics::Architecture::SM80, numerics::Architecture::SM90};
  GraphRun run;
  run.module = RandomGraph(&context, seed).build(4 + seed % 13);
  run.function = llvm::cantFail(findEntry(*run.module, "main"));
  if (!run.function.getBody().hasOneBlock())
    return std::nullopt;
  annotateArguments(run.function, seed, what == What::Evidence);
  if (what == What::Errors && failed(convert(*run.module, seed)))
    return llvm::createStringError("not converted");
  run.function = llvm::cantFail(findEntry(*run.module, "main"));
  SmallVector<Value> values;
  for (const TracedValue &traced : tracedValues(run.function))
    values.push_back(traced.value);
  if (llvm::Error error = returnValues(run.function, values))
    return std::move(error);
  auto program = Program::compile(*run.module, "main");
  if (!program)
    return program.takeError();
  InputOptions options;
  options.seed = seed;
  options.dynamicSize = 5;
  std::vector<std::string> notes;
  auto inputs = makeInputs((*program)->signature(), options, notes);
  if (!inputs)
    return inputs.takeError();
  run.inputs = *inputs; // running may write to what it is given
  std::optional<TensorCoreScope> scope;
  if (what == What::Errors && (run.arithmetic = kArithmetic[seed / 3 % 3]))
    scope.emplace(*run.arithmetic);
  auto results = (*program)->run(*inputs);
  if (!results) { // sizes that do not fit: nothing was computed
    llvm::consumeError(results.takeError());
    return std::nullopt;
  }
  run.results = std::move(*results);
  if (what != What::Errors)
    return run;
  ProgramOptions inF64;
  inF64.promoteToF64 = true;
  auto reference = Program::compile(*run.module, "main", inF64);
  if (!reference)
    return reference.takeError();
  std::vector<Array> wide;
  for (auto [argument, parameter] :
       llvm::zip_equal(run.inputs, (*reference)->signature().arguments))
    wide.push_back(llvm::cantFail(convertTo(argument, parameter.type)));
  auto exact = (*reference)->run(wide);
  if (!exact)
    return exact.takeError();
  run.exact = std::move(*exact);
  return run;
}

double largestOf(const Array &array) {
  double largest = 0;
  for (int64_t i = 0, e = array.type.isFloat ? array.size() : 0; i < e; ++i)
    if (double magnitude = std::fabs(array.value(i)); magnitude > largest || std::isnan(magnitude))
      largest = magnitude;
  return largest;
}

/// The class assumption is that arguments and contractions stay a margin below f16's limit; where
/// this run keeps it, what the evidence lets be f16 has to fit. Infinities stay what they are in
/// f16.
BoundCheck checkEvidence(GraphRun &run) {
  const double limit = numerics::info(numerics::Format::F16).maxFinite;
  bool kept = true; // as far as is seen: a contraction in a body is not
  auto keep = [&](const Array &array) { kept &= largestOf(array) <= limit / kAssumedMargin; };
  for (auto [index, input] : llvm::enumerate(run.inputs)) {
    run.function.removeArgAttr(index, kRangeAttrName);
    keep(input);
  }
  ValueRange returned = run.function.getBody().front().getTerminator()->getOperands();
  run.module->walk([&](Operation *op) {
    bool hidden = op->getParentOp() != run.function || isa<func::CallOp>(op);
    kept &= !(hidden && (getOpClass(op) == OpClass::TensorCore || isa<func::CallOp>(op)));
  });
  for (auto [value, array] : llvm::zip_equal(returned, run.results))
    if (Operation *op = value.getDefiningOp(); op && getOpClass(op) == OpClass::TensorCore)
      keep(array);
  auto format = Float16Type::get(run.function.getContext());
  BoundCheck check;
  // Also with loops and branches as blocks, where the function ends in the last.
  for (bool asBlocks : {false, true}) {
    PassManager manager(run.module->getContext());
    if (asBlocks)
      manager.addPass(createSCFToControlFlowPass());
    EXPECT_TRUE(succeeded(manager.run(*run.module)));
    func::ReturnOp end;
    run.function.walk([&](func::ReturnOp op) { end = op; });
    ModuleRanges ranges(*run.module);
    const FunctionRanges &evidence = ranges.get(run.function);
    for (auto [value, array] : llvm::zip_equal(end.getOperands(), run.results)) {
      if (!getFloatFormat(value.getType()))
        continue;
      ++check.values;
      if (!kept || evidence.findEvidence(value, format) == Evidence::None)
        continue;
      ++check.bounded;
      double largest = largestOf(array);
      if (std::isfinite(largest) && largest > limit)
        check.violations.push_back(llvm::formatv("{0} reaches {1}", value, largest).str());
    }
  }
  return check;
}

struct Tally {
  BoundCheck check;
  unsigned graphs = 0; ///< that ran
};

/// Empty when the graph ran, or cannot run; else why it did not, or the graph where something is
/// outside.
std::string check(MLIRContext &context, uint64_t seed, What what, Tally &tally) {
  auto run = runGraph(context, seed, what);
  if (!run)
    return llvm::toString(run.takeError());
  if (!*run)
    return "";
  GraphRun &graph = **run;
  ++tally.graphs;
  BoundCheck found =
      what == What::Evidence ? checkEvidence(graph)
      : what == What::Ranges
          ? checkRanges(*graph.module, graph.function, graph.inputs, graph.results)
          : checkErrors(*graph.module, graph.function, graph.inputs, graph.results, graph.exact,
                        graph.arithmetic ? toString(*graph.arithmetic) : "");
  tally.check.add(found);
  if (found.violations.empty())
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << *graph.module;
  return text;
}

Tally checkSeeds(uint64_t begin, uint64_t end, What what) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  mlir::mp::registerExecution(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Tally tally;
  for (uint64_t seed = begin; seed < end; ++seed) {
    std::string wrong = check(context, seed, what, tally);
    EXPECT_EQ(wrong, "") << "seed " << seed;
    if (!wrong.empty())
      break;
  }
  llvm::outs() << tally.graphs << " graphs: ";
  tally.check.print(llvm::outs());
  llvm::outs().flush();
  EXPECT_TRUE(tally.check.violations.empty());
  EXPECT_GE(tally.graphs, (end - begin) / 4);
  return tally;
}

class Soundness : public testing::TestWithParam<What> {};

TEST_P(Soundness, HoldsOnRandomGraphs) {
  Tally tally = checkSeeds(0, 60, GetParam());
  // Else the test says little; few graphs keep the assumption that evidence rests on.
  EXPECT_GE(tally.check.bounded, tally.check.values * (GetParam() == What::Evidence ? 1 : 9) / 12);
}

std::string nameOf(What what) {
  return what == What::Ranges ? "Ranges" : what == What::Errors ? "Errors" : "Evidence";
}

INSTANTIATE_TEST_SUITE_P(Of, Soundness, testing::Values(What::Ranges, What::Errors, What::Evidence),
                         [](auto &info) { return nameOf(info.param); });

/// More than 10,000 graphs in all: about three of ten seeds run.
constexpr uint64_t kChunks = 40, kSeeds = 1000;

class NightlySoundness : public testing::TestWithParam<std::tuple<What, uint64_t>> {};

TEST_P(NightlySoundness, HoldsOnRandomGraphs) {
  auto [what, chunk] = GetParam();
  checkSeeds(chunk * kSeeds, (chunk + 1) * kSeeds, what);
}

INSTANTIATE_TEST_SUITE_P(Of, NightlySoundness,
                         testing::Combine(testing::Values(What::Ranges, What::Errors,
                                                          What::Evidence),
                                          testing::Range<uint64_t>(0, kChunks)),
                         [](auto &info) {
                           return nameOf(std::get<0>(info.param)) +
                                  std::to_string(std::get<1>(info.param));
                         });

} // namespace
