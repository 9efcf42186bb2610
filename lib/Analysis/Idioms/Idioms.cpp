// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the matchers over the expressions of a function and collects the ops that belong to each
// idiom.

#include "mp/Analysis/Idioms.h"

#include "IdiomMatchers.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Tells which expressions hold another one; asked top-down and remembered.
class Dependence {
public:
  Dependence(const ExpressionGraph &graph, unsigned of) : graph(graph) {
    known[0] = false;
    known[of] = true;
  }
  bool on(unsigned number) {
    auto [it, isNew] = known.try_emplace(number, false);
    if (!isNew)
      return it->second;
    const Expression &e = graph[number];
    bool holds = on(e.a) || on(e.b);
    known[number] = holds;
    return holds;
  }

private:
  const ExpressionGraph &graph;
  DenseMap<unsigned, bool> known;
};
} // namespace

IdiomAnalysis::IdiomAnalysis(FunctionOpInterface function) : graph(function) {
  for (BlockArgument argument : function.getArguments())
    values.try_emplace(graph.lookup(argument), argument);
  DenseMap<unsigned, Operation *> firstOp;
  for (auto [number, op] : graph.getComputed()) {
    firstOp.try_emplace(number, op);
    computedBy[op].push_back(number);
    for (Value result : op->getResults())
      values.try_emplace(graph.lookup(result), result);
  }
  values.erase(0); // no expression
  // Users first: what turns out to be part of an idiom is none of its own.
  llvm::DenseSet<unsigned> covered;
  llvm::DenseSet<std::pair<StringRef, unsigned>> found;
  for (auto [number, op] : llvm::reverse(graph.getComputed())) {
    if (covered.contains(number))
      continue;
    auto match = detail::matchIdiom(graph, number);
    if (!match || !found.insert({match->kind, match->of}).second)
      continue;
    Idiom idiom{match->kind, firstOp[number], {}, {}};
    collectMembers(idiom, match->of, covered);
    idioms.push_back(std::move(idiom));
  }
  std::reverse(idioms.begin(), idioms.end());
}

void IdiomAnalysis::collectMembers(Idiom &idiom, unsigned of, llvm::DenseSet<unsigned> &covered) {
  Dependence dependence(graph, of);
  llvm::SetVector<Operation *> members;
  llvm::SetVector<Value> inputs;
  SmallVector<Operation *> pending = {idiom.root};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!members.insert(op))
      continue;
    SmallVector<Value> read(op->getOperands());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    read.append(captured.begin(), captured.end());
    for (Value value : read) {
      unsigned number = graph.lookup(value);
      Operation *def = value.getDefiningOp();
      bool isInside = number && number != of && dependence.on(number);
      if (isInside && def && def->getBlock() == idiom.root->getBlock())
        pending.push_back(def);
      else if (getFloatFormat(value.getType()) && !matchPattern(value, m_Constant()) &&
               graph[number].kind != ExpressionKind::Constant &&
               !(def && def->getNumOperands() == 0))
        inputs.insert(value);
    }
  }
  for (Operation *op : members)
    for (unsigned number : computedBy.lookup(op))
      if (number != of && dependence.on(number))
        covered.insert(number);
  idiom.members.assign(members.begin(), members.end());
  llvm::sort(idiom.members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  idiom.inputs.assign(inputs.begin(), inputs.end());
}

std::optional<IdiomAnalysis::FoldedNorm> IdiomAnalysis::getFoldedNorm(Value value) const {
  unsigned number = graph.lookup(value);
  auto match = number ? detail::matchFoldedNorm(graph, number) : std::nullopt;
  if (!match)
    return std::nullopt;
  FoldedNorm norm{match->bound, values.lookup(match->factor), {}};
  for (unsigned term : match->terms)
    norm.terms.push_back(values.lookup(term));
  bool isComplete = (norm.factor || !match->factor) && !llvm::is_contained(norm.terms, Value());
  return isComplete ? std::optional(norm) : std::nullopt;
}
