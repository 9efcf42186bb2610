// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a function into the flat graph: which rule each op follows. What the op's class
// settles (contraction, move of data) is taken from PrecisionOpInterface, elementwise functions
// from FloatSemanticsOpInterface.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Analysis/ScalingRule.h"
#include "mp/Analysis/Training/Homogeneity.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

HomogeneityGraph::HomogeneityGraph(FunctionOpInterface function) {
  block = &function.getFunctionBody().front();
  for (BlockArgument argument : function.getArguments())
    bind(argument, add(Rule::Leaf, {}));
  for (Operation &op : *block) {
    current = &op;
    visit(&op);
  }
  dependOnContraction = dependOnContractions();
  Degrees state;
  state.degrees.resize(graph.size());
  auto loop = loops.begin();
  for (unsigned i = 0; i < graph.size(); ++i) {
    if (loop != loops.end() && loop->begin == i) {
      i = loop->end - 1;
      settle(state, *loop++);
    } else {
      state.degrees[i] = evaluate(graph[i], state.degrees);
    }
  }
  baseline = std::move(state.degrees);
}

unsigned HomogeneityGraph::add(Rule rule, ArrayRef<unsigned> operands,
                               ArrayRef<unsigned> conditions, float exponent) {
  Node node;
  node.rule = rule;
  node.exponent = exponent;
  node.firstOperand = operandPool.size();
  node.numOperands = operands.size() + conditions.size();
  node.numConditions = conditions.size();
  node.op = current;
  llvm::append_range(operandPool, conditions);
  llvm::append_range(operandPool, operands);
  graph.push_back(node);
  contractionCount += rule == Rule::Contract;
  return graph.size() - 1;
}

unsigned HomogeneityGraph::addCarried(unsigned initial) { return add(Rule::Join, {initial}); }
void HomogeneityGraph::close(unsigned carried, unsigned later) { carriedFrom[carried] = later; }

unsigned HomogeneityGraph::nodeOf(Value value) {
  auto [it, isNew] = nodes.try_emplace(value, 0);
  if (isNew) {
    // Values of bodies nobody read: only bodies of opaque ops, which refer to nothing here.
    unsigned node = add(Rule::Leaf, {});
    nodes[value] = node;
    return node;
  }
  return it->second;
}

SmallVector<unsigned> HomogeneityGraph::conditionsOf(Operation *op) {
  SmallVector<unsigned> list;
  for (Value operand : op->getOperands())
    if (!getFloatFormat(operand.getType()))
      list.push_back(nodeOf(operand));
  return list;
}

SmallVector<unsigned> HomogeneityGraph::floatsOf(Operation *op) {
  SmallVector<unsigned> list;
  for (Value operand : op->getOperands())
    if (getFloatFormat(operand.getType()))
      list.push_back(nodeOf(operand));
  return list;
}

void HomogeneityGraph::bindResults(Operation *op, unsigned node) {
  for (Value result : op->getResults())
    bind(result, node);
}

void HomogeneityGraph::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    visit(&op);
}

/// True for a constant all of whose elements are zero, or all the same infinity.
static bool isFixedPoint(Attribute constant) {
  auto invariant = [](const APFloat &value) { return value.isZero() || value.isInfinity(); };
  if (auto scalar = dyn_cast<FloatAttr>(constant))
    return invariant(scalar.getValue());
  auto dense = dyn_cast<DenseFPElementsAttr>(constant);
  return dense && (dense.isSplat() ? invariant(dense.getSplatValue<APFloat>())
                                   : llvm::all_of(dense.getValues<APFloat>(),
                                                  [](const APFloat &v) { return v.isZero(); }));
}

void HomogeneityGraph::visit(Operation *op) {
  Attribute constant;
  if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&constant)))
    return bindResults(op, add(isFixedPoint(constant) ? Rule::Any : Rule::Leaf, {}));
  if (isa<tensor::EmptyOp>(op))
    return bindResults(op, add(Rule::Any, {}));
  if (visitStructured(op) || visitControlFlow(op) || visitCall(op) || visitMP(op) ||
      visitByMeaning(op))
    return;
  visitOpaque(op);
}

//===-- Ops with bodies -----------------------------------------------------------------===//

bool HomogeneityGraph::visitStructured(Operation *op) {
  if (isContraction(op)) {
    SmallVector<unsigned> factors, rest;
    for (OpOperand &operand : op->getOpOperands())
      if (getFloatFormat(operand.get().getType()))
        (isFactor(operand) ? factors : rest).push_back(nodeOf(operand.get()));
    if (factors.size() != 2)
      return false;
    factors.append(rest);
    bindResults(op, add(Rule::Contract, factors));
    return true;
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || op->getNumRegions() != 1)
    return false;
  bool reduces = structured.getNumReductionLoops() > 0;
  Block *body = structured.getBlock();
  unsigned begin = graph.size();
  SmallVector<unsigned> carried;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned node = nodeOf(operand.get());
    bool isInit = structured.isDpsInit(&operand);
    if (isInit && reduces)
      carried.push_back(node = addCarried(node));
    if (BlockArgument argument = structured.getMatchingBlockArgument(&operand))
      bind(argument, node);
  }
  // All nodes since `begin`, and the operands' own, repeat while the reduction runs.
  loopDepth += reduces;
  visitBlock(*body);
  loopDepth -= reduces;
  Operation *yield = body->getTerminator();
  SmallVector<unsigned> outcome;
  for (auto [index, yielded] : llvm::enumerate(yield->getOperands())) {
    outcome.push_back(reduces ? carried[index] : nodeOf(yielded));
    if (reduces)
      close(carried[index], nodeOf(yielded));
  }
  if (reduces)
    finishLoop(begin);
  for (auto [result, node] : llvm::zip(op->getResults(), outcome))
    bind(result, add(Rule::Join, {node}));
  return true;
}

void HomogeneityGraph::finishLoop(unsigned begin) {
  if (loopDepth == 0)
    loops.push_back({begin, unsigned(graph.size())});
}

void HomogeneityGraph::visitWhile(Operation *op, Region &before, Region &after, ValueRange inits) {
  unsigned begin = graph.size();
  SmallVector<unsigned> carried;
  for (auto [argument, init] : llvm::zip_equal(before.getArguments(), inits)) {
    carried.push_back(addCarried(nodeOf(init)));
    bind(argument, carried.back());
  }
  ++loopDepth;
  visitBlock(before.front());
  Operation *condition = before.front().getTerminator();
  // The first operand decides; scf passes the rest on, tosa passes the arguments.
  bool passes = isa<scf::ConditionOp>(condition);
  SmallVector<unsigned> passed;
  for (unsigned i = 0, e = after.getNumArguments(); i != e; ++i) {
    unsigned value = passes ? nodeOf(condition->getOperand(i + 1)) : carried[i];
    passed.push_back(add(Rule::Join, {value}, {nodeOf(condition->getOperand(0))}));
    bind(after.getArgument(i), passed.back());
  }
  visitBlock(after.front());
  for (auto [node, yielded] :
       llvm::zip_equal(carried, after.front().getTerminator()->getOperands()))
    close(node, nodeOf(yielded));
  --loopDepth;
  finishLoop(begin);
  for (auto [result, node] : llvm::zip_equal(op->getResults(), passed))
    bind(result, add(Rule::Join, {node}));
}

bool HomogeneityGraph::visitControlFlow(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned begin = graph.size();
    bind(loop.getInductionVar(), add(Rule::Leaf, {}));
    SmallVector<unsigned> carried;
    for (auto [argument, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
      carried.push_back(addCarried(nodeOf(init)));
      bind(argument, carried.back());
    }
    ++loopDepth;
    visitBlock(*loop.getBody());
    --loopDepth;
    for (auto [node, yielded] : llvm::zip_equal(carried, loop.getYieldedValues()))
      close(node, nodeOf(yielded));
    finishLoop(begin);
    for (auto [node, result] : llvm::zip_equal(carried, loop.getResults()))
      bind(result, add(Rule::Join, {node}));
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    visitWhile(op, loop.getBefore(), loop.getAfter(), loop.getInits());
    return true;
  }
  if (auto loop = dyn_cast<tosa::WhileOp>(op)) {
    visitWhile(op, loop.getCondGraph(), loop.getBodyGraph(), loop.getInputList());
    return true;
  }
  if (isa<scf::IfOp, tosa::IfOp, scf::ExecuteRegionOp, tensor::GenerateOp, tensor::PadOp>(op)) {
    SmallVector<SmallVector<unsigned>> yields(op->getNumResults());
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      if (!region.hasOneBlock())
        return false;
      // tosa passes its inputs as arguments; elsewhere arguments are indices.
      unsigned first = op->getNumOperands() - region.getNumArguments();
      for (BlockArgument argument : region.getArguments())
        bind(argument, isa<tosa::IfOp>(op) ? nodeOf(op->getOperand(first + argument.getArgNumber()))
                                           : add(Rule::Leaf, {}));
      visitBlock(region.front());
      for (auto [list, value] :
           llvm::zip_equal(yields, region.front().getTerminator()->getOperands()))
        list.push_back(nodeOf(value));
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      yields[0].push_back(nodeOf(pad.getSource()));
    for (auto [result, list] : llvm::zip_equal(op->getResults(), yields))
      bind(result, add(Rule::Join, list, conditionsOf(op)));
    return true;
  }
  return false;
}

bool HomogeneityGraph::visitCall(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  if (!call)
    return false;
  auto callee = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(op, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getFunctionBody().hasOneBlock() ||
      llvm::is_contained(callStack, callee.getOperation()))
    return false;
  callStack.push_back(callee);
  for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), op->getOperands()))
    bind(argument, nodeOf(operand));
  Block &body = callee.getFunctionBody().front();
  visitBlock(body);
  for (auto [result, returned] :
       llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
    bind(result, add(Rule::Join, {nodeOf(returned)}));
  callStack.pop_back();
  return true;
}

void HomogeneityGraph::visitOpaque(Operation *op) {
  SmallVector<unsigned> operands;
  for (Value operand : op->getOperands())
    operands.push_back(nodeOf(operand));
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    operands.push_back(nodeOf(value));
  if (op->getNumResults() || !op->hasTrait<OpTrait::IsTerminator>())
    bindResults(op, add(Rule::Opaque, operands));
}

//===-- Elementwise ops -----------------------------------------------------------------===//

bool HomogeneityGraph::visitMP(Operation *op) {
  if (auto unscale = dyn_cast<UnscaleOp>(op)) {
    for (auto [gradient, result] : llvm::zip(unscale.getGradients(), unscale.getUnscaled()))
      bind(result, add(Rule::Quotient, {nodeOf(gradient), nodeOf(unscale.getScale())}));
    bind(unscale.getFoundInf(), add(Rule::Leaf, {}));
    return true;
  }
  if (auto guard = dyn_cast<GuardedUpdateOp>(op)) {
    for (auto [old, updated, result] :
         llvm::zip(guard.getOld(), guard.getUpdated(), guard.getResults()))
      bind(result, add(Rule::Join, {nodeOf(old), nodeOf(updated)}, {nodeOf(guard.getFoundInf())}));
    return true;
  }
  // Values of the forward pass decide where a gradient passes, and how it moves a step.
  if (isa<StraightThroughOp, StepGradientOp>(op)) {
    SmallVector<unsigned> conditions;
    for (Value operand : op->getOperands().drop_front())
      conditions.push_back(nodeOf(operand));
    bindResults(op, add(Rule::Join, {nodeOf(op->getOperand(0))}, conditions));
    return true;
  }
  // The next scale is another quantity than the one this step is homogeneous in.
  if (isa<UpdateLossScaleOp>(op)) {
    bindResults(op, add(Rule::Leaf, {}));
    return true;
  }
  if (isa<ScaleLossOp>(op)) {
    bindResults(op, add(Rule::Product, {nodeOf(op->getOperand(0)), nodeOf(op->getOperand(1))}));
    return true;
  }
  return false;
}

std::optional<HomogeneityGraph::Rule> HomogeneityGraph::ruleOf(const ScalingRule &rule) {
  using Kind = ScalingRule::Kind;
  switch (rule.kind) {
  case Kind::Equal:
  case Kind::SignOf: return Rule::Join;
  case Kind::Product: return Rule::Product;
  case Kind::Quotient: return Rule::Quotient;
  case Kind::Power: return Rule::Power;
  case Kind::Compare: return Rule::Compare;
  // Contractions are told by their roles, which know masks of truth values among the factors.
  case Kind::MultiplyAdd:
  case Kind::Fixed:
  case Kind::Unknown: return std::nullopt;
  }
  llvm_unreachable("all kinds are handled");
}

bool HomogeneityGraph::visitByMeaning(Operation *op) {
  FloatMeaning meaning = getFloatMeaning(op);
  ScalingRule known = getScalingRule(op, meaning);
  SmallVector<unsigned> floats = floatsOf(op), conditions = conditionsOf(op);
  auto result = [&](Rule rule) {
    bindResults(op, add(rule, floats, conditions, known.exponent));
    return true;
  };
  if (meaning.kind == FloatMeaning::Kind::Fma && floats.size() == 3)
    return bindResults(op, add(Rule::Join, {add(Rule::Product, floats), floats[2]})), true;
  // Unlike bounds that are attributes, these are operands.
  std::optional<Rule> rule = isa<math::ClampFOp, tosa::ResizeOp>(op) ? Rule::Join : ruleOf(known);
  bool isClamp = meaning.kind == FloatMeaning::Kind::Clamp;
  bool allFloat = llvm::any_of(op->getResultTypes(), getFloatFormat);
  if (rule && !floats.empty() && (*rule == Rule::Compare || allFloat)) {
    // The sign of what is scaled stays; of what is not homogeneous it may not.
    if (known.kind == ScalingRule::Kind::SignOf)
      conditions.push_back(add(Rule::Compare, {floats[1]}));
    if (known.kind == ScalingRule::Kind::SignOf || *rule == Rule::Power)
      floats.resize(1);
    if ((*rule == Rule::Product || *rule == Rule::Quotient) && floats.size() != 2)
      return false;
    return result(*rule);
  }
  if (isClamp)
    return result(Rule::Opaque);
  if (allFloat && getOpClass(op) == OpClass::ExactCommute && op->getNumRegions() == 0)
    return result(Rule::Join);
  return false;
}
