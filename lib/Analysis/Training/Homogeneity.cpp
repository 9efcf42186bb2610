// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lattice of degrees, propagation over the flat graph, and the search for the seed.

#include "mp/Analysis/Homogeneity.h"
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
  case Rule::Leaf:
    return Degree();
  case Rule::Any:
    return Degree::any();
  case Rule::Join:
    return joined(operands);
  case Rule::Product:
    return product(degrees[operands[0]], degrees[operands[1]]);
  case Rule::Contract:
    return join(product(degrees[operands[0]], degrees[operands[1]]),
                joined(operands.drop_front(2)));
  case Rule::Quotient:
    return quotient(degrees[operands[0]], degrees[operands[1]]);
  case Rule::Power:
    return power(degrees[operands[0]], node.exponent);
  case Rule::Compare:
    return joined(operands).isTop() ? Degree::top() : Degree();
  case Rule::Opaque:
    return llvm::all_of(operands, [&](unsigned o) { return degrees[o].isConstant(); })
               ? Degree()
               : Degree::top();
  }
  llvm_unreachable("all rules are handled");
}

/// Carried values start below everything and only rise.
void HomogeneityGraph::settle(Degrees &state, const Loop &loop) const {
  std::fill(state.degrees.begin() + loop.begin, state.degrees.begin() + loop.end, Degree::any());
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = loop.begin; i != loop.end; ++i) {
      Degree degree = evaluate(graph[i], state.degrees);
      auto later = carriedFrom.find(i);
      if (later != carriedFrom.end())
        degree = join(degree, state.degrees[later->second]);
      changed |= !(degree == state.degrees[i]);
      state.degrees[i] = degree;
    }
  }
}

HomogeneityGraph::Degrees HomogeneityGraph::propagate(Value source, bool stopWhenLost) const {
  Degrees state;
  state.graph = this;
  state.degrees = baseline;
  unsigned start = nodes.lookup(source);
  state.degrees[start] = Degree::of(1);
  auto loop = llvm::find_if(loops, [&](const Loop &l) { return l.begin > start; });
  auto inspect = [&](unsigned i) {
    if (state.degrees[i].isTop())
      state.losing.insert(graph[i].op);
    if (graph[i].rule != Rule::Contract)
      return;
    state.contractions += state.degrees[i].is(1);
    if (state.degrees[i].isTop() && !state.lost)
      state.lost = graph[i].op;
  };
  for (unsigned i = start + 1; i < graph.size();) {
    unsigned end = i + 1;
    if (loop != loops.end() && loop->begin == i) {
      end = loop->end;
      settle(state, *loop++);
    } else {
      state.degrees[i] = evaluate(graph[i], state.degrees);
    }
    for (; i != end; ++i)
      inspect(i);
    if (stopWhenLost && state.lost)
      break;
  }
  return state;
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

Value HomogeneityGraph::findSeed() const {
  // Only what reaches a contraction can be the seed: walk the graph backwards once.
  std::vector<bool> reaches(graph.size());
  for (unsigned i = graph.size(); i-- > 0;)
    if (reaches[i] || graph[i].rule == Rule::Contract) {
      auto operands = ArrayRef(operandPool).slice(graph[i].firstOperand, graph[i].numOperands);
      for (unsigned operand : operands)
        reaches[operand] = true;
      if (auto later = carriedFrom.find(i); later != carriedFrom.end())
        reaches[later->second] = true;
    }
  // What depends on none is made of inputs alone: in a linear layer the input scales its
  // weight's gradient as well as the seed does.
  std::vector<bool> depends(graph.size());
  for (unsigned i = 0; i < graph.size(); ++i) {
    auto operands = ArrayRef(operandPool).slice(graph[i].firstOperand, graph[i].numOperands);
    depends[i] = graph[i].rule == Rule::Contract ||
                 llvm::any_of(operands, [&](unsigned o) { return depends[o]; });
  }
  Value best;
  bool bestDepends = false;
  unsigned most = 0, widest = 0;
  Operation *terminator = block->getTerminator();
  for (Operation &op : llvm::reverse(*block))
    for (Value result : llvm::reverse(op.getResults())) {
      auto node = nodes.find(result);
      if (node == nodes.end() || !reaches[node->second] || !isF32(result.getType()) ||
          graph[node->second].rule == Rule::Leaf || graph[node->second].rule == Rule::Any)
        continue;
      Degrees degrees = propagate(result, /*stopWhenLost=*/true);
      if (degrees.lostContraction() || degrees.scaledContractions() < std::max(most, 1u))
        continue;
      // A scalar is a loss or a measure: to move it too is no merit.
      unsigned reached = llvm::count_if(terminator->getOperands(), [&](Value v) {
        auto type = dyn_cast<RankedTensorType>(v.getType());
        return type && type.getRank() > 0 && !degrees.of(v).isConstant();
      });
      bool forward = depends[node->second];
      if (best && std::tuple(degrees.scaledContractions(), forward, reached) <=
                      std::tuple(most, bestDepends, widest))
        continue;
      bestDepends = forward;
      most = degrees.scaledContractions();
      widest = reached;
      best = result;
    }
  return best;
}
