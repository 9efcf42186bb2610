// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every op that may move its ways to read and store, with their times.

#include "LayoutProblem.h"

using namespace mlir;
using namespace mlir::mp;
using assignment::Node;
using assignment::TypeId;
using assignment::ValueId;
using assignment::Variant;

LayoutProblem::LayoutProblem(Block &block, const Ranks &ranks, LayoutCosts &costs)
    : block(block), ranks(ranks), costs(costs) {
  problem.addType("as it lies");
  problem.addType("channels last");
  addFixed({}, block.getArguments());
  for (Operation &op : block)
    addOp(&op);
}

ValueId LayoutProblem::idOf(Value value) {
  auto [known, isNew] = ids.try_emplace(value, 0);
  if (isNew) {
    const int64_t time = costs.ofTransposition(value);
    Operation *def = value.getDefiningOp();
    known->second = problem.addValue("value", {{kAsIs, kLast, time}, {kLast, kAsIs, time}},
                                     /*constant=*/def && def->hasTrait<OpTrait::ConstantLike>());
    const ValueId id = known->second;
    if (value.getParentBlock() != &block) { // it is made around this block
      Node node;
      node.variants = {Variant{"around", {}, {kAsIs}}};
      node.results = {id};
      problem.addNode(std::move(node));
    }
    return id;
  }
  return known->second;
}

void LayoutProblem::addFixed(ArrayRef<Value> reads, ValueRange results) {
  Node node;
  Variant only{"as it lies", {}, {}};
  for (Value read : reads)
    if (isTracked(read)) {
      node.operands.push_back(idOf(read));
      only.in.push_back(kAsIs);
    }
  for (Value result : results)
    if (isTracked(result)) {
      node.results.push_back(idOf(result));
      only.out.push_back(kAsIs);
    }
  if (node.operands.empty() && node.results.empty())
    return;
  node.variants = {std::move(only)};
  problem.addNode(std::move(node));
}

void LayoutProblem::addOp(Operation *op) {
  SmallVector<Value> inside; // read by regions, from this block
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value read : inner->getOperands())
        if (read.getParentBlock() == &block)
          inside.push_back(read);
    });
  if (Moves moves = movesOf(op, ranks); moves != Moves::No && !isUniform(op->getResult(0))) {
    addMoving(op, moves);
    addFixed(inside, {});
    return;
  }
  llvm::append_range(inside, op->getOperands());
  addFixed(inside, op->getResults());
}

void LayoutProblem::addMoving(Operation *op, Moves moves) {
  Node node;
  Variant asIs{"as it lies", {}, {}}, last{"channels last", {}, {}};
  const bool isTurn = moves == Moves::Away || moves == Moves::Back;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op); structured && !isTurn) {
    asIs.cost = costs.ofProducts(structured, loopsAsTheyAre(structured));
    last.cost = costs.ofProducts(structured, loopsMoved(structured, ranks));
  }
  if (isTurn) // a kernel, or nothing
    asIs.cost = costs.ofTransposition(op->getOperand(0));
  const SmallVector<OpOperand *> moved = movedOperands(op, ranks);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTracked(operand.get()))
      continue;
    node.operands.push_back(idOf(operand.get()));
    asIs.in.push_back(kAsIs);
    last.in.push_back(moves != Moves::Back && llvm::is_contained(moved, &operand) ? kLast : kAsIs);
  }
  if (Value result = op->getResult(0); isTracked(result)) {
    node.results.push_back(idOf(result));
    asIs.out.push_back(kAsIs);
    last.out.push_back(moves == Moves::Away ? kAsIs : kLast);
  }
  node.variants = {std::move(asIs), std::move(last)};
  ops.push_back({op, problem.addNode(std::move(node))});
}
