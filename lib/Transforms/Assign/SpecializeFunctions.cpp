// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A private function has one signature and one evidence for all its callers. Where one of them
// would read a result narrow and others would not, or where what one hands over has evidence that
// others lack, the callers of one mind get a copy. They are found by deciding everything once for
// trial; copies can make callers of other functions disagree, so until none is made.

#include "SpecializeFunctions.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mp/Analysis/FunctionCopies.h"
#include <deque>

using namespace mlir;
using namespace mlir::mp;

/// Copies of one function, beside itself.
static constexpr unsigned kMostCopies = 2;

namespace {
/// The formats that one call would give its callee.
struct CallWish {
  SmallVector<FloatType> results; ///< the narrow format each is read in, or null
  /// Per contraction that ranges left wide: its arguments alone are evidence enough.
  SmallVector<bool> narrows;
  bool operator==(const CallWish &) const = default;
};

struct Group {
  CallWish wish;
  SmallVector<Operation *> calls;
};

/// Everything decided once, up to storage by itself.
class Trial {
public:
  Trial(ModuleOp module, const AssignSettings &settings)
      : module(module), settings(settings), ties(module), carried(ties),
        ranges(module, {.narrow = settings.narrow}) {}

  LogicalResult run() {
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    SmallVector<FunctionDecisions *> all;
    for (auto function : module.getOps<FunctionOpInterface>()) {
      if (function.isExternal() || function->hasAttr(kPhaseAttrName))
        continue;
      FunctionDecisions &decisions = functions.emplace_back(function, carried, ranges);
      byFunction[function] = &decisions;
      if (failed(decideComputing(decisions, settings, [](StringRef) {})))
        return failure();
      all.push_back(&decisions);
    }
    if (!settings.placement.neverSlower)
      chooseCarried(all, carried);
    return success();
  }

  /// The calls of `function`, those of one wish together, in program order.
  SmallVector<Group> groupCalls(FunctionOpInterface function, ArrayRef<Operation *> calls) {
    SmallVector<Group> groups;
    for (Operation *call : calls) {
      CallWish wish = getWish(function, call);
      auto known = llvm::find_if(groups, [&](Group &group) { return group.wish == wish; });
      if (known == groups.end())
        groups.push_back({wish, {call}});
      else
        known->calls.push_back(call);
    }
    return groups;
  }

private:
  CallWish getWish(FunctionOpInterface callee, Operation *call) {
    CallWish wish;
    for (Value result : call->getResults())
      wish.results.push_back(carried.wished.lookup(result));
    SmallVector<Operation *> wide;
    FunctionDecisions &decisions = *byFunction.lookup(callee);
    for (auto &[op, decision] : decisions.getOps())
      if (decision.opClass == OpClass::TensorCore && decision.origin == Origin::Range)
        wide.push_back(op);
    if (wide.empty())
      return wish;
    const FunctionRanges &alone = ranges.getInCall(call, callee);
    auto ofCall = [&]() -> const FunctionRanges & { return alone; };
    for (Operation *op : wide)
      wish.narrows.push_back(findEvidence(op, ofCall, decisions, settings).missing.empty());
    return wish;
  }

  ModuleOp module;
  const AssignSettings &settings;
  TiedStorage ties;
  CarriedStorage carried;
  ModuleRanges ranges;
  std::deque<FunctionDecisions> functions;
  DenseMap<Operation *, FunctionDecisions *> byFunction;
};

/// Private functions that may be copied, with their calls, at least two.
using Candidates = llvm::MapVector<Operation *, SmallVector<Operation *>>;
} // namespace

/// The function that `use` calls by name, from where decisions are still to be made; else null.
static FlatSymbolRefAttr getCallee(SymbolTable::SymbolUse use) {
  auto call = dyn_cast<CallOpInterface>(use.getUser());
  auto callee = call ? dyn_cast<SymbolRefAttr>(call.getCallableForCallee()) : SymbolRefAttr();
  auto caller = call ? call->getParentOfType<FunctionOpInterface>() : FunctionOpInterface();
  if (callee != use.getSymbolRef() || call.getArgOperands().size() != call->getNumOperands() ||
      !caller || caller->hasAttr(kPhaseAttrName))
    return {};
  return dyn_cast<FlatSymbolRefAttr>(callee);
}

static Candidates findCandidates(ModuleOp module) {
  Candidates candidates;
  SymbolTable symbols(module);
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPrivate() && !function.isExternal() && !function->hasAttr(kPhaseAttrName))
      candidates[function];
  if (candidates.empty())
    return candidates;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (StringAttr original = getOriginalName(function)) {
      candidates.erase(function);
      candidates.erase(symbols.lookup(original));
    }
  auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (candidates.empty() || !uses)
    return {};
  DenseMap<Operation *, Operation *> callees;
  for (SymbolTable::SymbolUse use : *uses) {
    Operation *function = symbols.lookup(use.getSymbolRef().getRootReference());
    if (getCallee(use))
      callees[use.getUser()] = function;
    else
      candidates.erase(function);
  }
  // Uses come in no particular order.
  module.walk([&](CallOpInterface call) {
    if (auto known = candidates.find(callees.lookup(call)); known != candidates.end())
      known->second.push_back(call);
  });
  candidates.remove_if([](auto &entry) { return entry.second.size() < 2; });
  return candidates;
}

FunctionOpInterface mlir::mp::copyFunction(FunctionOpInterface function, StringRef name) {
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  auto copy = cast<FunctionOpInterface>(function->clone());
  copy.setName(name);
  copy->setAttr(kCopyOfAttrName, function.getNameAttr());
  auto behind = std::next(Block::iterator(function)), end = function->getBlock()->end();
  auto isOtherCopy = [&](Operation &op) {
    auto other = dyn_cast<FunctionOpInterface>(op);
    return other && getOriginalName(other) == function.getNameAttr();
  };
  while (behind != end && isOtherCopy(*behind))
    ++behind;
  symbols.insert(copy, behind);
  return copy;
}

/// If there are more groups, the most frequent get a copy, and the rest share the original.
static void copyForGroups(FunctionOpInterface function, SmallVector<Group> &groups) {
  if (groups.size() > kMostCopies + 1)
    llvm::stable_sort(
        groups, [](const Group &a, const Group &b) { return a.calls.size() > b.calls.size(); });
  else
    std::rotate(groups.begin(), groups.begin() + 1, groups.end());
  size_t copies = std::min<size_t>(kMostCopies, groups.size() - 1);
  for (Group &group : MutableArrayRef(groups).take_front(copies)) {
    auto copy = copyFunction(function, function.getName().str() + "_copy");
    for (Operation *call : group.calls)
      cast<CallOpInterface>(call).setCalleeFromCallable(FlatSymbolRefAttr::get(copy.getNameAttr()));
  }
}

void mlir::mp::copyForCallers(ModuleOp module, const AssignSettings &settings) {
  for (;;) {
    Candidates candidates = findCandidates(module);
    if (candidates.empty())
      return;
    SmallVector<std::pair<Operation *, SmallVector<Group>>> disagreements;
    {
      Trial trial(module, settings);
      if (failed(trial.run()))
        return;
      for (auto &[function, calls] : candidates)
        if (auto groups = trial.groupCalls(cast<FunctionOpInterface>(function), calls);
            groups.size() > 1)
          disagreements.push_back({function, std::move(groups)});
    }
    if (disagreements.empty())
      return;
    for (auto &[function, groups] : disagreements)
      copyForGroups(cast<FunctionOpInterface>(function), groups);
  }
}
