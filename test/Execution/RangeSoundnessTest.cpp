// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every value a program computes lies in its proved range. Random graphs with annotated arguments
// run on the host with every float tensor made a result; each element, NaN and infinity included, is
// compared with what the analysis said beforehand. The other half, that ranges say something, is
// counted: how many are bounded, and how far the bounds lie from what was seen.

#include "../Transforms/RandomGraph.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mp/Analysis/FloatRanges.h"
#include "mp/Execution/Inputs.h"
#include "mp/Execution/Trace.h"
#include "mp/InitAll.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Tightness {
  unsigned graphs = 0, values = 0, bounded = 0;
  double excess = 0; ///< sum over bounded values of log2(bound / largest seen)

  void print() const {
    std::printf("%u graphs, %u values, %u bounded (%.0f %%), bounds 2^%.1f above what was seen\n", graphs,
                values, bounded, 100.0 * bounded / std::max(values, 1u),
                excess / std::max(bounded, 1u));
  }
};

/// Gives every float argument a range that depends on the seed.
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

/// Empty when all elements lie within the facts; else the first that does not.
std::string compare(const Array &array, const ::mp::domains::FloatFacts &facts, double &largest) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double value = array.value(i);
    if (std::isnan(value) ? facts.mayNaN
        : std::isinf(value) ? facts.mayInf
                            : facts.range.contains(value) && !(facts.nonZero && value == 0) &&
                                  !(facts.integerValued && value != std::floor(value))) {
      if (std::isfinite(value))
        largest = std::max(largest, std::fabs(value));
      continue;
    }
    os << "element " << i << " is " << value << ", but the analysis says " << facts;
    return text;
  }
  // Rows are as long as the facts allow.
  int64_t length = array.shape.empty() ? 1 : array.shape.back();
  for (int64_t row = 0; length > 0 && row < array.size() / length; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < length; ++i)
      squares += array.value(row * length + i) * array.value(row * length + i);
    if (std::isfinite(squares) && std::sqrt(squares) > facts.norm2 * (1 + 1e-12)) {
      os << "row " << row << " has norm " << std::sqrt(squares) << ", but the analysis says " << facts;
      return text;
    }
  }
  return text;
}

/// Empty when the graph's values lie in their ranges, or it cannot be run.
std::string check(MLIRContext &context, uint64_t seed, Tightness &tightness) {
  auto module = RandomGraph(&context, seed).build(4 + seed % 13);
  auto function = llvm::cantFail(findEntry(*module, "main"));
  if (!function.getBody().hasOneBlock())
    return "";
  annotateArguments(function, seed);
  FloatRanges ranges(*module);
  SmallVector<FloatRange> said;
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    said.push_back(ranges.lookup(result));
  SmallVector<Value> values;
  for (const TracedValue &traced : tracedValues(function)) {
    values.push_back(traced.value);
    said.push_back(ranges.lookup(traced.value));
  }
  auto describe = [&](size_t result, const std::string &what) {
    std::string text;
    llvm::raw_string_ostream(text) << "result " << result << ": " << what << "\n" << *module;
    return text;
  };
  if (llvm::Error error = returnValues(function, values))
    return describe(0, llvm::toString(std::move(error)));
  auto program = Program::compile(*module, "main");
  if (!program)
    return describe(0, llvm::toString(program.takeError()));
  InputOptions options;
  options.seed = seed;
  options.dynamicSize = 5;
  std::vector<std::string> notes;
  auto inputs = makeInputs((*program)->signature(), options, notes);
  if (!inputs)
    return describe(0, llvm::toString(inputs.takeError()));
  auto results = (*program)->run(*inputs);
  if (!results) { // sizes that do not fit: nothing was computed
    llvm::consumeError(results.takeError());
    return "";
  }
  ++tightness.graphs;
  for (auto [index, array] : llvm::enumerate(*results)) {
    if (!array.type.isFloat)
      continue;
    double largest = 0;
    const auto &facts = said[index].facts;
    if (std::string wrong = compare(array, facts, largest); !wrong.empty())
      return describe(index, wrong);
    ++tightness.values;
    if (!facts.range.isBounded())
      continue;
    ++tightness.bounded;
    if (largest > 0)
      tightness.excess += std::log2(facts.mag() / largest);
  }
  return "";
}

Tightness checkSeeds(uint64_t begin, uint64_t end) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  mlir::mp::registerExecution(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Tightness tightness;
  for (uint64_t seed = begin; seed < end; ++seed) {
    std::string wrong = check(context, seed, tightness);
    EXPECT_EQ(wrong, "") << "seed " << seed;
    if (!wrong.empty())
      break;
  }
  tightness.print();
  return tightness;
}

TEST(RangeSoundness, HoldsOnRandomGraphs) {
  Tightness tightness = checkSeeds(0, 40);
  EXPECT_GE(tightness.graphs, 20u);
  EXPECT_GE(tightness.bounded, tightness.values / 3); // else the test says little
}

TEST(RangeSoundness, NightlyHoldsOnTenThousandRandomGraphs) {
  Tightness tightness = checkSeeds(40, 14000);
  EXPECT_GE(tightness.graphs, 10000u);
}

} // namespace
