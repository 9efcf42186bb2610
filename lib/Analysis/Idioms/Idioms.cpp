// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the matchers over the expressions of a function and collects the ops that belong to each
// idiom.

#include "mp/Analysis/Idioms/Idioms.h"

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
    const Expression &e = graph[Term{number, {}}];
    bool holds = on(e.a.node) || on(e.b.node);
    known[number] = holds;
    return holds;
  }

private:
  const ExpressionGraph &graph;
  DenseMap<unsigned, bool> known;
};
} // namespace

IdiomAnalysis::IdiomAnalysis(FunctionOpInterface function)
    : numbering(function), graph(numbering, function.getContext(), /*tracksPlaces=*/false) {
  for (BlockArgument argument : function.getArguments())
    values.try_emplace(graph.lookup(argument).node, argument);
  DenseMap<unsigned, Operation *> firstOp;
  std::vector<ExpressionGraph::Computed> computed = graph.getComputed(function);
  for (auto [number, op] : computed) {
    firstOp.try_emplace(number, op);
    computedBy[op].push_back(number);
    for (Value result : op->getResults())
      values.try_emplace(graph.lookup(result).node, result);
  }
  values.erase(0); // no expression
  // Users first: what turns out to be part of an idiom is none of its own.
  llvm::DenseSet<unsigned> covered;
  llvm::DenseSet<std::pair<StringRef, unsigned>> found;
  for (auto [number, op] : llvm::reverse(computed)) {
    if (covered.contains(number))
      continue;
    auto match = detail::matchIdiom(graph, Term{number, {}});
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
      unsigned number = graph.lookup(value).node;
      Operation *def = value.getDefiningOp();
      bool isInside = number && number != of && dependence.on(number);
      if (isInside && def && def->getBlock() == idiom.root->getBlock())
        pending.push_back(def);
      else if (getFloatFormat(value.getType()) && !matchPattern(value, m_Constant()) &&
               graph[Term{number, {}}].kind != ExpressionKind::Constant &&
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

TrustedNorms::TrustedNorms(const ValueNumbering &numbering, FunctionOpInterface function)
    : graph(numbering, function.getContext(), /*tracksPlaces=*/true) {
  auto add = [&](Value value) {
    Term term = graph.lookup(value);
    if (term && numbering.coversNode(value))
      values.try_emplace(term.node, value);
  };
  llvm::for_each(function.getArguments(), add);
  function.walk<WalkOrder::PreOrder>([&](Operation *op) { llvm::for_each(op->getResults(), add); });
}

std::optional<TrustedNorms::FoldedNorm> TrustedNorms::find(Value value) const {
  Term term = graph.lookup(value);
  auto match = term ? detail::matchFoldedNorm(graph, {term.node, {}}) : std::nullopt;
  if (!match)
    return std::nullopt;
  FoldedNorm norm{match->bound, values.lookup(match->factor), {}};
  for (unsigned summand : match->terms)
    norm.terms.push_back(values.lookup(summand));
  bool isComplete = (norm.factor || !match->factor) && !llvm::is_contained(norm.terms, Value());
  return isComplete ? std::optional(norm) : std::nullopt;
}
