// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the answer of an assignment problem: what it costs, and what it decides.

#include "StorageProblem.h"

using namespace mlir;
using namespace mlir::mp;
using assignment::Node;
using assignment::NodeId;
using assignment::ValueId;
using assignment::Variant;

const Variant *StorageProblem::getWideVariant(NodeId node) const {
  auto found = llvm::lower_bound(wideContractions, node,
                                 [](auto &entry, NodeId id) { return entry.first < id; });
  return found != wideContractions.end() && found->first == node ? &found->second : nullptr;
}

assignment::Problem StorageProblem::force(NodeId node, const Variant &variant) const {
  assignment::Problem forced = problem;
  forced.nodes[node].variants = {variant};
  forced.nodes[node].pinned = std::nullopt;
  forbidLosses(forced);
  return forced;
}

int64_t StorageProblem::countCastBytes(const assignment::Labels &labels, bool perUse) const {
  SmallVector<TypeId> stored(problem.values.size(), wide);
  for (auto [node, label] : llvm::zip_equal(problem.nodes, labels))
    for (auto [value, type] : llvm::zip_equal(node.results, node.variants[label].out))
      stored[value] = type;
  DenseSet<std::pair<ValueId, unsigned>> made;
  int64_t bytes = 0;
  for (auto [node, label] : llvm::zip_equal(problem.nodes, labels))
    for (auto [value, type] : llvm::zip_equal(node.operands, node.variants[label].in))
      if (type != assignment::anyType && type != stored[value] && !problem.values[value].constant &&
          (perUse || made.insert({value, type}).second))
        bytes += costs.getSizes().countBytes(trackedValues[value],
                                             FloatType(formats[stored[value]]).getWidth());
  return bytes;
}

/// Constants that nothing reads in full, now that it is known what every use reads.
void StorageProblem::applyConstants(const assignment::Labels &labels) {
  DenseSet<ValueId> readWide;
  for (auto [node, label] : llvm::zip_equal(problem.nodes, labels))
    for (auto [value, type] : llvm::zip_equal(node.operands, node.variants[label].in))
      if (type != assignment::anyType && type != narrowTypeOf(trackedValues[value]))
        readWide.insert(value);
  for (auto [id, value] : llvm::enumerate(trackedValues))
    if (Operation *def = value.getDefiningOp();
        def && decisions.find(def) && isMadeNarrow(def).has_value() && !readWide.contains(id) &&
        decisions.getStorage(value).isF32())
      decisions.setStorage(value, permissions.getNarrow(value));
}

/// True if an op that commutes with rounding had better run in the narrow format: all its data are
/// stored so, or there is but one piece of data, which is then rounded on the way in.
bool StorageProblem::runsNarrow(Operation *op, const Decision &decision) const {
  if (!decision.followsStorage() || op->getNumResults() == 0)
    return false;
  FloatType format = decisions.getStorage(op->getResult(0));
  for (Value result : op->getResults())
    if (!isTracked(result) || decisions.getStorage(result) != format)
      return false;
  if (format.isF32())
    return false;
  unsigned stillWide = 0, data = 0;
  for (Value operand : op->getOperands()) {
    if (!isTracked(operand) || costs.isMadeInAnyFormat(operand))
      continue;
    ++data;
    stillWide += decisions.getStorage(operand) != format;
  }
  return stillWide == 0 || data == 1;
}

void StorageProblem::apply(const assignment::Labels &labels) {
  for (NodeId id = 0; id < labels.size(); ++id) {
    const Node &node = problem.nodes[id];
    const Variant &chosen = node.variants[labels[id]];
    Decision *decision = choices[id].empty() ? nullptr : decisions.find(ops[id]);
    ComputeChoice choice = decision ? choices[id][labels[id]] : ComputeChoice();
    if (decision && decisions.isNarrowContraction(ops[id], *decision) && isFree(*decision) &&
        !(choice == decision->getChoice())) {
      decision->split = choice.split;
      decision->scaled = choice.scaled;
      decision->decide(choice.format, Origin::Cost,
                       options.maxRelError > 0 ? "T, within the error allowed"
                       : options.maxTime > 0   ? "T, within the time allowed"
                                               : "T, but its casts would cost more than it saves");
    }
    if (decision && decision->magnitudes && !decision->scaled && choice.scaled) {
      decision->scaled = choice.scaled;
      decision->decide(formats[wide], Origin::Cost, "T, scaled: " + decision->reason);
    }
    for (auto [value, type] : llvm::zip_equal(node.results, chosen.out))
      if (type != wide)
        decisions.setStorage(trackedValues[value], formats[type]);
  }
  if (options.freesContractions())
    applyConstants(labels);
  // Inside a kernel nothing is gained or lost by where a value is rounded that every use rounds:
  // moves and selections run on rounded values.
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    if (!runsNarrow(op, decision))
      continue;
    decision.compute = decisions.getStorage(op->getResult(0));
    for (Value operand : op->getOperands())
      if (permissions.getNarrow(operand) == decision.compute && costs.isInternal(operand))
        decisions.setStorage(operand, decision.compute);
  }
}
