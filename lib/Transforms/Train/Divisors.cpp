// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds optimizer state under a division or a root, and proves which of it stays non-negative.

#include "Divisors.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Dialect/MP/MPDialect.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

/// Returns the candidates that stay at zero or above if all of them began there.
static llvm::SmallDenseSet<unsigned> findNonNegative(func::FuncOp step,
                                                     ArrayRef<TrainingState> candidates) {
  Builder builder(step.getContext());
  auto atLeastZero = builder.getArrayAttr(
      {builder.getF32FloatAttr(0),
       builder.getFloatAttr(builder.getF32Type(), APFloat::getLargest(APFloat::IEEEsingle()))});
  SmallVector<std::pair<unsigned, Attribute>> said;
  llvm::SmallDenseSet<unsigned> assumed;
  for (const TrainingState &s : candidates) {
    said.push_back({s.argument, step.getArgAttr(s.argument, kRangeAttrName)});
    step.setArgAttr(s.argument, kRangeAttrName, atLeastZero);
    assumed.insert(s.argument);
  }
  // Induction over steps: what is not shown to stay so under the assumption may not be assumed.
  Operation *terminator = step.getBody().front().getTerminator();
  for (bool changed = true; changed;) {
    changed = false;
    ModuleRanges ranges(step->getParentOfType<ModuleOp>());
    for (const TrainingState &s : candidates) {
      bool stays = ranges.lookup(terminator->getOperand(s.result)).facts.range.lo >= 0;
      if (stays || !assumed.erase(s.argument))
        continue;
      step.removeArgAttr(s.argument, kRangeAttrName);
      changed = true;
    }
  }
  for (auto [argument, range] : said) {
    step.removeArgAttr(argument, kRangeAttrName);
    if (range)
      step.setArgAttr(argument, kRangeAttrName, range);
  }
  return assumed;
}

/// True if something is proportional to a root of `value`, or to a power below zero.
static bool entersRootOrDenominator(func::FuncOp step, const HomogeneityGraph &graph, Value value) {
  HomogeneityGraph::Degrees degrees = graph.propagate(value);
  WalkResult walk = step.walk([&](Operation *op) {
    bool divides = llvm::any_of(op->getResults(), [&](Value result) {
      Degree degree = degrees.of(result);
      return degree.isScaled() && (degree.get() < 0 || degree.get() != std::floor(degree.get()));
    });
    return divides ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

llvm::SmallDenseSet<unsigned> mlir::mp::findDivisors(func::FuncOp step,
                                                     ArrayRef<TrainingState> candidates) {
  llvm::SmallDenseSet<unsigned> divisors = findNonNegative(step, candidates);
  HomogeneityGraph graph(step);
  for (const TrainingState &s : candidates)
    if (!divisors.contains(s.argument) &&
        entersRootOrDenominator(step, graph,
                                step.getBody().front().getTerminator()->getOperand(s.result)))
      divisors.insert(s.argument);
  return divisors;
}
