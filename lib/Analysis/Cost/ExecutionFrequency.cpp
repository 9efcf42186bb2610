// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies trip counts of loops with the calls of functions, from the public functions inwards.

#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SCCIterator.h"

using namespace mlir;
using namespace mlir::mp;

/// Trips assumed of a loop that does not say.
static constexpr double kAssumedTrips = 10;

static std::optional<double> getTrips(LoopLikeOpInterface loop) {
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    return trips->getLimitedValue();
  auto constants = [](std::optional<SmallVector<OpFoldResult>> bounds) {
    return bounds ? getConstantIntValues(*bounds) : std::nullopt;
  };
  auto lower = constants(loop.getLoopLowerBounds()), upper = constants(loop.getLoopUpperBounds()),
       step = constants(loop.getLoopSteps());
  if (!lower || !upper || !step)
    return std::nullopt;
  double trips = 1;
  for (auto [from, to, by] : llvm::zip_equal(*lower, *upper, *step))
    trips *= by > 0 && to > from ? llvm::divideCeil(to - from, by) : 0;
  return trips;
}

RunsPerCall mlir::mp::getRunsPerCall(Operation *op) {
  RunsPerCall runs;
  for (Operation *parent = op->getParentOp(); parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp())
    if (auto loop = dyn_cast<LoopLikeOpInterface>(parent)) {
      std::optional<double> trips = getTrips(loop);
      runs.count *= trips.value_or(kAssumedTrips);
      runs.assumed |= !trips;
    }
  return runs;
}

ExecutionFrequency::ExecutionFrequency(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    functions[function] = function.isPrivate() ? 0 : 1;
  if (functions.size() < 2)
    return; // nobody to call
  // Callers before callees; a call within a cycle of calls counts once.
  const CallGraph graph(module);
  SymbolTableCollection symbols;
  SmallVector<Operation *> order;
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component)
    for (CallGraphNode *node : *component)
      if (!node->isExternal())
        order.push_back(node->getCallableRegion()->getParentOp());
  for (Operation *function : llvm::reverse(order))
    function->walk([&](CallOpInterface call) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallableInTable(&symbols));
      if (callee && functions.contains(callee))
        functions[callee] += functions.lookup(function) * getRunsPerCall(call).count;
    });
}

double ExecutionFrequency::get(Operation *op) const {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? functions.lookup(function) * getRunsPerCall(op).count : 1;
}
