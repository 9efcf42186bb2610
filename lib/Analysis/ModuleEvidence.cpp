// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Analysis/ModuleEvidence.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

Evidence ModuleEvidence::lookup(Value operand) {
  auto caller = operand.getParentRegion()->getParentOfType<FunctionOpInterface>();
  const EvidenceAnalysis *analysis = caller ? compute(caller) : nullptr;
  return analysis ? analysis->lookup(operand) : Evidence();
}

SmallVector<Evidence> ModuleEvidence::getOperands(Operation *call) {
  return llvm::map_to_vector(call->getOperands(), [&](Value operand) { return lookup(operand); });
}

const EvidenceAnalysis *ModuleEvidence::compute(FunctionOpInterface function) {
  auto [it, isNew] = known.try_emplace(function);
  if (!isNew)
    return it->second.get();
  SmallVector<Evidence> arguments;
  for (BlockArgument argument : function.getArguments()) {
    const TiedValues *tied = ties.find(argument);
    std::optional<Evidence> joined;
    if (!tied || !tied->frozen.empty() || tied->feeds.empty())
      joined = EvidenceAnalysis::assumeArgument(argument);
    if (tied)
      for (OpOperand *feed : tied->feeds) {
        Evidence handed = lookup(feed->get());
        joined = joined ? joinBounds(*joined, handed) : handed;
      }
    arguments.push_back(*joined);
  }
  auto prove = [&](Value value) {
    FloatRange proved = getProofs(function).lookup(value);
    return proved.facts.isBottom() ? std::numeric_limits<double>::infinity() : proved.facts.mag();
  };
  auto analysis = std::make_unique<EvidenceAnalysis>(function, arguments, prove);
  return (known[function] = std::move(analysis)).get();
}

const FloatRanges &ModuleEvidence::getProofs(FunctionOpInterface function) {
  if (!proofs)
    proofs.emplace(function->getParentOp());
  return *proofs;
}
