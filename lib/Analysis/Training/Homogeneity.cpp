// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lattice of degrees, propagation over the flat graph, and the search for the seed.

#include "mp/Analysis/Training/Homogeneity.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;

//===-- Degree --------------------------------------------------------------------------===//

std::string Degree::str() const {
  if (isAny())
    return "any";
  std::string text;
  if (isTop())
    return "top";
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

Degree mlir::mp::join(Degree a, Degree b) {
  if (a.isAny())
    return b;
  if (b.isAny() || a == b)
    return a;
  return Degree::top();
}

Degree mlir::mp::product(Degree a, Degree b) {
  // Zero times anything homogeneous is zero.
  if (a.isTop() || b.isTop())
    return Degree::top();
  if (a.isAny() || b.isAny())
    return Degree::any();
  return Degree::of(a.value + b.value);
}

Degree mlir::mp::quotient(Degree a, Degree b) { return product(a, power(b, -1)); }

Degree mlir::mp::power(Degree a, double exponent) {
  return a.isTop() || a.isAny() ? a : Degree::of(a.value * exponent);
}

//===-- Propagation ---------------------------------------------------------------------===//

Degree HomogeneityGraph::evaluate(const Node &node, ArrayRef<Degree> degrees) const {
  ArrayRef<unsigned> operands(operandPool.data() + node.firstOperand, node.numOperands);
  for (unsigned condition : operands.take_front(node.numConditions))
    if (!degrees[condition].isConstant())
      return Degree::top();
  operands = operands.drop_front(node.numConditions);
  auto joined = [&](ArrayRef<unsigned> list) {
    Degree result = Degree::any();
    for (unsigned operand : list)
      result = join(result, degrees[operand]);
    return result;
  };
  switch (node.rule) {
  case Rule::Leaf: return Degree();
  case Rule::Any: return Degree::any();
  case Rule::Join: return joined(operands);
  case Rule::Product: return product(degrees[operands[0]], degrees[operands[1]]);
  case Rule::Contract:
    return join(product(degrees[operands[0]], degrees[operands[1]]),
                joined(operands.drop_front(2)));
  case Rule::Quotient: return quotient(degrees[operands[0]], degrees[operands[1]]);
  case Rule::Power: return power(degrees[operands[0]], node.exponent);
  case Rule::Compare: return joined(operands).isTop() ? Degree::top() : Degree();
  case Rule::Opaque:
    return llvm::all_of(operands, [&](unsigned o) { return degrees[o].isConstant(); })
               ? Degree()
               : Degree::top();
  }
  llvm_unreachable("all rules are handled");
}

/// The first operand of a sum of degree 1 that is computed from a contraction, but not scaled.
std::optional<unsigned> HomogeneityGraph::findUnscaled(const Node &node,
                                                       ArrayRef<Degree> degrees) const {
  auto operands = ArrayRef(operandPool).slice(node.firstOperand, node.numOperands);
  auto depends = [&](unsigned condition) { return !degrees[condition].isConstant(); };
  if (node.rule != Rule::Join || llvm::any_of(operands.take_front(node.numConditions), depends))
    return std::nullopt;
  std::optional<unsigned> unscaled;
  bool anyScaled = false;
  for (unsigned operand : operands.drop_front(node.numConditions)) {
    Degree degree = degrees[operand];
    if (degree.is(1))
      anyScaled = true;
    else if (degree.isConstant() && !degree.isAny() && !unscaled)
      unscaled = operand;
    else if (!degree.isAny() && !degree.isConstant())
      return std::nullopt;
  }
  return anyScaled ? unscaled : std::nullopt;
}

Degree HomogeneityGraph::advance(Degrees &state, unsigned i) const {
  Degree degree = evaluate(graph[i], state.degrees);
  if (state.isOpen && degree.isTop())
    if (auto unscaled = findUnscaled(graph[i], state.degrees);
        unscaled && dependOnContraction[*unscaled]) {
      if (!state.missing)
        state.missing = *unscaled;
      degree = Degree::of(1);
    }
  if (state.ends.contains(i)) {
    if (!degree.isConstant())
      state.losing.insert(graph[i].op);
    return Degree();
  }
  return llvm::is_contained(state.sources, i) ? product(degree, Degree::of(1)) : degree;
}

/// Carried values start below everything and only rise.
void HomogeneityGraph::settle(Degrees &state, const Loop &loop) const {
  std::fill(state.degrees.begin() + loop.begin, state.degrees.begin() + loop.end, Degree::any());
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = loop.begin; i != loop.end; ++i) {
      Degree degree = advance(state, i);
      auto later = carriedFrom.find(i);
      if (later != carriedFrom.end())
        degree = join(degree, state.degrees[later->second]);
      changed |= !(degree == state.degrees[i]);
      state.degrees[i] = degree;
    }
  }
}

HomogeneityGraph::Degrees HomogeneityGraph::propagate(ArrayRef<Value> sources, bool stopWhenLost,
                                                      Beyond beyond, ArrayRef<Value> ends) const {
  Degrees state;
  for (Value end : ends)
    state.ends.insert(nodes.lookup(end));
  if (beyond == Beyond::Optimizer)
    state.results = 0;
  follow(state, sources, stopWhenLost);
  return state;
}

void HomogeneityGraph::follow(Degrees &state, ArrayRef<Value> sources, bool stopWhenLost) const {
  state.graph = this;
  state.degrees = baseline;
  for (Value source : sources)
    state.sources.push_back(nodes.lookup(source));
  if (state.results)
    state.results = countResults(state.sources);
  unsigned start = *llvm::min_element(state.sources);
  auto loop = llvm::find_if(loops, [&](const Loop &l) { return l.end > start; });
  auto inspect = [&](unsigned i) {
    Degree degree = state.degrees[i];
    if (degree.isTop())
      state.losing.insert(graph[i].op);
    if (graph[i].rule != Rule::Contract)
      return;
    state.contractions += degree.is(1);
    bool isLost = degree.isTop() ||
                  (state.isOpen && !degree.is(1) && !degree.isConstant() && !degree.isAny());
    bool mayBeLost = state.results && countResults(i) < *state.results;
    if (isLost && !mayBeLost && !state.lost)
      state.lost = graph[i].op;
  };
  unsigned i = loop != loops.end() ? std::min(start, loop->begin) : start;
  while (i < graph.size()) {
    unsigned end = i + 1;
    if (loop != loops.end() && loop->begin == i) {
      end = loop->end;
      settle(state, *loop++);
    } else {
      state.degrees[i] = advance(state, i);
    }
    for (; i != end; ++i)
      inspect(i);
    if (stopWhenLost && state.lost)
      break;
  }
}

Degree HomogeneityGraph::Degrees::of(Value value) const {
  auto node = graph->nodes.find(value);
  return node == graph->nodes.end() ? Degree() : degrees[node->second];
}

/// The loss scale multiplies in f32.
static bool isF32(Type type) {
  FloatType format = getFloatFormat(type);
  return format && format.isF32() && isa<RankedTensorType>(type);
}

void HomogeneityGraph::markOperands(std::vector<bool> &reaches,
                                    llvm::function_ref<bool(unsigned)> isSource,
                                    const std::vector<bool> &isEnd) const {
  // Walk the graph backwards once.
  for (unsigned i = graph.size(); i-- > 0;)
    if ((reaches[i] && !isEnd[i]) || isSource(i)) {
      auto operands = ArrayRef(operandPool).slice(graph[i].firstOperand, graph[i].numOperands);
      for (unsigned operand : operands)
        reaches[operand] = true;
      if (auto later = carriedFrom.find(i); later != carriedFrom.end())
        reaches[later->second] = true;
    }
}

std::vector<bool> HomogeneityGraph::reachContractions(ArrayRef<Value> ends) const {
  std::vector<bool> reaches(graph.size()), isEnd(graph.size());
  for (Value end : ends)
    isEnd[nodes.lookup(end)] = true;
  markOperands(reaches, [&](unsigned i) { return graph[i].rule == Rule::Contract; }, isEnd);
  return reaches;
}

std::vector<bool> HomogeneityGraph::dependOnContractions() const {
  std::vector<bool> depends(graph.size());
  for (unsigned i = 0; i < graph.size(); ++i) {
    auto operands = ArrayRef(operandPool).slice(graph[i].firstOperand, graph[i].numOperands);
    depends[i] = graph[i].rule == Rule::Contract ||
                 llvm::any_of(operands, [&](unsigned o) { return depends[o]; });
  }
  return depends;
}

/// True for what training is about, parameters and moments; a scalar is a loss or a count.
static bool isReturnedTensor(Value returned) {
  auto type = dyn_cast<RankedTensorType>(returned.getType());
  return type && type.getRank() > 0;
}

const std::vector<llvm::BitVector> &HomogeneityGraph::resultsReached() const {
  if (!results.empty())
    return results;
  Operation *terminator = block->getTerminator();
  results.assign(graph.size(), llvm::BitVector(terminator->getNumOperands()));
  for (auto [index, returned] : llvm::enumerate(terminator->getOperands()))
    if (auto node = nodes.find(returned); node != nodes.end() && isReturnedTensor(returned))
      results[node->second].set(index);
  for (bool changed = true; changed;) { // again, for what loops carry
    changed = false;
    for (unsigned i = graph.size(); i-- > 0;) {
      auto operands = ArrayRef(operandPool).slice(graph[i].firstOperand, graph[i].numOperands);
      for (unsigned operand : operands)
        results[operand] |= results[i];
      if (auto later = carriedFrom.find(i);
          later != carriedFrom.end() && results[i].test(results[later->second])) {
        results[later->second] |= results[i];
        changed = true;
      }
    }
  }
  return results;
}

unsigned HomogeneityGraph::countResults(ArrayRef<unsigned> from) const {
  const std::vector<llvm::BitVector> &reached = resultsReached();
  llvm::BitVector all = reached[from.front()];
  for (unsigned node : from.drop_front())
    all |= reached[node];
  return all.count();
}

SmallVector<std::pair<unsigned, Value>>
HomogeneityGraph::seedCandidates(ArrayRef<Value> ends) const {
  std::vector<bool> reaches = reachContractions(ends), leads(graph.size(), ends.empty()),
                    isEnd(graph.size());
  for (Value end : ends)
    isEnd[nodes.lookup(end)] = true;
  if (!ends.empty())
    markOperands(leads, [&](unsigned i) { return bool(isEnd[i]); }, isEnd);
  SmallVector<std::pair<unsigned, Value>> candidates;
  block->walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto node = nodes.find(result);
      if (node != nodes.end() && reaches[node->second] && leads[node->second] &&
          !isEnd[node->second] && isF32(result.getType()) &&
          graph[node->second].rule != Rule::Leaf && graph[node->second].rule != Rule::Any)
        candidates.push_back({node->second, result});
    }
  });
  llvm::stable_sort(candidates, [](auto &x, auto &y) { return x.first > y.first; });
  return candidates;
}

bool HomogeneityGraph::reachesContraction(Value value) const {
  auto node = nodes.find(value);
  return node != nodes.end() && reachContractions()[node->second];
}

Value HomogeneityGraph::findSeed(ArrayRef<Value> trained, Beyond beyond, ArrayRef<Value> ends,
                                 ArrayRef<Value> excluded) const {
  Value best;
  bool bestDepends = false;
  unsigned most = 0, widest = 0;
  Operation *terminator = block->getTerminator();
  for (auto [node, candidate] : seedCandidates(ends)) {
    if (llvm::is_contained(excluded, candidate))
      continue;
    Degrees degrees = propagate(candidate, /*stopWhenLost=*/true, beyond, ends);
    if (degrees.lostContraction() || degrees.scaledContractions() < std::max(most, 1u))
      continue;
    if (!ends.empty() &&
        llvm::none_of(ends, [&](Value end) { return degrees.loses(end.getDefiningOp()); }))
      continue;
    unsigned reached = llvm::count_if(terminator->getOperands(), [&](Value v) {
      return (isReturnedTensor(v) || llvm::is_contained(trained, v)) && !degrees.of(v).isConstant();
    });
    // Values that depend on no contraction are made of inputs alone: in a linear layer the input
    // scales its weight's gradient as well as the seed does.
    bool forward = dependOnContraction[node];
    if (best && std::tuple(degrees.scaledContractions(), forward, reached) <=
                    std::tuple(most, bestDepends, widest))
      continue;
    bestDepends = forward;
    most = degrees.scaledContractions();
    widest = reached;
    best = candidate;
  }
  return best;
}

SmallVector<Value> HomogeneityGraph::findSeeds(Beyond beyond, ArrayRef<Value> ends,
                                               ArrayRef<Value> excluded) const {
  constexpr unsigned mostSeeds = 16;
  SmallVector<std::pair<unsigned, Value>> candidates = seedCandidates(ends);
  llvm::erase_if(candidates,
                 [&](auto &candidate) { return llvm::is_contained(excluded, candidate.second); });
  SmallVector<Value> seeds;
  std::optional<unsigned> missing;
  do {
    Value best;
    std::pair<unsigned, bool> most;
    std::optional<unsigned> bestMissing;
    for (auto [node, candidate] : candidates) {
      // Values that are missing are computed from the next seed, or are it.
      if (missing && node > *missing)
        continue;
      Degrees degrees;
      degrees.isOpen = true;
      for (Value end : ends)
        degrees.ends.insert(nodes.lookup(end));
      if (beyond == Beyond::Optimizer)
        degrees.results = 0;
      seeds.push_back(candidate);
      follow(degrees, seeds, /*stopWhenLost=*/true);
      seeds.pop_back();
      std::pair<unsigned, bool> merit(degrees.contractions, dependOnContraction[node]);
      if (degrees.lost || (missing && !degrees.degrees[*missing].is(1)) || merit <= most)
        continue;
      best = candidate;
      most = merit;
      bestMissing = degrees.missing;
    }
    if (!best)
      return {};
    seeds.push_back(best);
    missing = bestMissing;
  } while (missing && seeds.size() < mostSeeds);
  return missing ? SmallVector<Value>() : seeds;
}

bool HomogeneityGraph::leavesLoss(ArrayRef<Value> seeds) const {
  Degrees degrees;
  degrees.isOpen = true;
  follow(degrees, seeds, /*stopWhenLost=*/true);
  return degrees.missing && dependOnContraction[*degrees.missing];
}
