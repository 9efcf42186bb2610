// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over a function: control flow, structured ops, calls. What single
// operations do to a range stands in EvidenceTransfer.cpp.

#include "mp/Analysis/Evidence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/PiecewiseBounds.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Format.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Evidence EvidenceAnalysis::assumeArgument(BlockArgument argument) {
  Evidence evidence;
  evidence.growth = 1;
  // One number a channel, however it is shaped to be broadcast.
  auto shaped = dyn_cast<ShapedType>(argument.getType());
  evidence.parameter =
      shaped && shaped.hasRank() &&
      llvm::count_if(shaped.getShape(), [](int64_t size) { return size != 1; }) <= 1;
  return evidence;
}

/// What somebody says of a range: where that goes beyond f16, nothing is assumed any more.
static void state(Evidence &evidence, ArrayAttr range) {
  evidence.range =
      domains::intersect(evidence.range, {cast<FloatAttr>(range[0]).getValueAsDouble(),
                                          cast<FloatAttr>(range[1]).getValueAsDouble()});
  if (evidence.range.mag() > numerics::info(numerics::Format::F16).maxFinite)
    evidence.growth = std::numeric_limits<double>::infinity();
}

EvidenceAnalysis::EvidenceAnalysis(FunctionOpInterface function, ArrayRef<Evidence> arguments,
                                   Prover prove)
    : idioms(function), relations(function), prove(prove) {
  for (BlockArgument argument : function.getArguments()) {
    if (!getFloatFormat(argument.getType()))
      continue;
    Evidence evidence =
        arguments.empty() ? assumeArgument(argument) : arguments[argument.getArgNumber()];
    if (auto range = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kRangeAttrName))
      state(evidence, range);
    facts[argument] = evidence;
  }
  collectGuarded(function.getFunctionBody());
  visitRegion(function.getFunctionBody());
  this->prove = nullptr;
}

void EvidenceAnalysis::collectGuarded(Region &body) {
  // What the scaled seed reaches ...
  SmallVector<Value> pending;
  DenseSet<Value> reached;
  body.walk([&](ScaleLossOp op) { pending.push_back(op.getResult()); });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!reached.insert(value).second)
      continue;
    for (Operation *user : value.getUsers())
      if (!isa<UnscaleOp>(user))
        llvm::append_range(pending, user->getResults());
  }
  // ... and what of it reaches the check.
  body.walk([&](UnscaleOp op) { llvm::append_range(pending, op.getGradients()); });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!reached.contains(value) || !guarded.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(pending, op->getOperands());
  }
}

std::string EvidenceAnalysis::whyNot(Value value, FloatType format, double maxUnderflow,
                                     bool mayAssume) const {
  if (Attribute constant = findConstant(value))
    return whyNotRounded(constant, format, maxUnderflow);
  double limit = numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
  Evidence evidence = lookup(value);
  if (evidence.range.mag() <= limit || guarded.contains(value) ||
      (mayAssume && evidence.isAssumed()))
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "no evidence that an operand stays below " << llvm::format("%.6g", limit);
  if (!evidence.lostAt.empty())
    os << ": '" << evidence.lostAt << "' has no bound";
  else if (evidence.range.isBounded())
    os << ": it may reach " << llvm::format("%.4g", evidence.range.mag());
  else if (evidence.isAssumed())
    os << ": it is assumed, not proved";
  return text;
}

/// What is carried grows to what comes back; false if it holds that already. Ranges that still grow
/// on the second visit of a body are given up, growths on the third, on the fourth everything.
static bool grow(Evidence &known, const Evidence &after, unsigned visit, StringRef lostAt) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool grows = false;
  if (!known.range.contains(after.range)) {
    grows = true;
    known.range = visit == 0 ? domains::hull(known.range, after.range) : domains::Interval::top();
  }
  if (after.growth > known.growth) {
    grows = true;
    known.growth = visit < 2 ? after.growth : infinity;
    known.lostAt = after.lostAt.empty() ? lostAt : after.lostAt;
  }
  if (grows && visit >= 3) {
    known.range = domains::Interval::top();
    known.growth = infinity;
  }
  return grows;
}

/// What the blocks visited so far hand to `argument`.
static Evidence joinFeeds(BlockArgument argument, const DenseSet<Block *> &visited,
                          llvm::function_ref<Evidence(Value)> lookup) {
  Evidence joined = Evidence::nothing();
  Block *block = argument.getOwner();
  for (auto edge = block->pred_begin(), end = block->pred_end(); edge != end; ++edge) {
    if (!visited.contains(*edge))
      continue;
    auto branch = dyn_cast<BranchOpInterface>((*edge)->getTerminator());
    Value feed =
        branch ? branch.getSuccessorOperands(edge.getSuccessorIndex())[argument.getArgNumber()]
               : Value();
    joined = joinBounds(joined, feed ? lookup(feed) : Evidence());
  }
  joined.parameter = false;
  return joined;
}

void EvidenceAnalysis::visitRegion(Region &region) {
  if (region.empty())
    return;
  llvm::ReversePostOrderTraversal<Block *> blocks(&region.front());
  DenseSet<Block *> visited;
  bool changed = true;
  for (unsigned visit = 0; changed; ++visit) {
    changed = false;
    for (Block *block : blocks) {
      for (BlockArgument argument : block->getArguments()) {
        if (block->isEntryBlock())
          break;
        Evidence found =
            joinFeeds(argument, visited, [&](Value value) { return facts.lookup(value); });
        if (visit == 0)
          facts[argument] = found;
        else
          changed |= grow(facts[argument], found, visit - 1,
                          (*block->pred_begin())->getTerminator()->getName().getStringRef());
      }
      // A branch back: what it hands over is known behind this visit.
      changed |= visit == 0 && llvm::any_of(block->getPredecessors(),
                                            [&](Block *from) { return !visited.contains(from); });
      visited.insert(block);
      for (Operation &op : *block)
        visitOp(&op);
    }
  }
}

Evidence EvidenceAnalysis::lost(Operation *op) {
  Evidence evidence;
  evidence.lostAt = op->getName().getStringRef();
  return evidence;
}

static bool hasFloatResult(Operation *op) {
  return llvm::any_of(op->getResultTypes(), getFloatFormat);
}

void EvidenceAnalysis::visitOp(Operation *op) {
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  if (precision && precision.getTypeRule() == TypeRule::Container)
    return visitControl(op);
  bool hasBody = isa<linalg::LinalgOp>(op) && op->getNumRegions() == 1;
  if (!hasBody)
    visitBodies(op);
  if (isa<arith::CmpFOp, tosa::GreaterOp, tosa::GreaterEqualOp>(op)) {
    compare(op);
    return;
  }
  if (!hasFloatResult(op) && !hasBody)
    return;
  if (isa<func::CallOp>(op))
    return visitCall(op);
  if (hasBody && getOpClass(op) != OpClass::TensorCore) {
    visitStructured(op);
  } else {
    SmallVector<Evidence> operands;
    for (Value operand : op->getOperands())
      operands.push_back(facts.lookup(operand));
    Evidence evidence = evaluate(op, operands);
    for (Value result : op->getResults())
      facts[result] = evidence;
  }
  for (Value result : op->getResults())
    if (getFloatFormat(result.getType()) && !facts.lookup(result).isAssumed()) {
      readFoldedNorm(op, result);
      readPiecewise(op, result);
    }
  if (auto range = op->getAttrOfType<ArrayAttr>(kRangeAttrName))
    for (Value result : op->getResults())
      state(facts[result], range);
}

void EvidenceAnalysis::readFoldedNorm(Operation *op, Value value) {
  auto norm = idioms.getFoldedNorm(value);
  if (!norm)
    return;
  Evidence evidence;
  evidence.range = domains::Interval::symmetric(norm->bound);
  if (norm->factor)
    evidence = multiply(evidence, facts.lookup(norm->factor));
  for (Value term : norm->terms) // of whatever sign: of its magnitude is all that counts
    evidence = *evaluateBinary(op, "addf", evidence, evaluateUnary(op, "absf", facts.lookup(term)));
  Evidence &known = facts[value];
  known.range = domains::intersect(known.range, domains::Interval::symmetric(evidence.range.mag()));
  known.growth = std::min(known.growth, evidence.growth);
  if (known.isAssumed() || known.range.isBounded())
    known.lostAt = "";
}

void EvidenceAnalysis::readPiecewise(Operation *op, Value value) {
  auto isSelect = [](Operation &inner) { return isa<arith::SelectOp, tosa::SelectOp>(inner); };
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool selects = structured ? llvm::any_of(*structured.getBlock(), isSelect) : isSelect(*op);
  Evidence &known = facts[value];
  if (known.range.isBounded())
    return;
  auto anything = [](Value) { return domains::Interval::top(); };
  if (std::optional<domains::Interval> bound;
      selects && (bound = boundPiecewise(value, anything, kInfinity))) {
    known.range = domains::intersect(known.range, *bound);
    known.lostAt = "";
    return;
  }
  // Where no more is known of the argument than the class assumption, the function keeps it or not.
  double limit = numerics::info(numerics::Format::F16).maxFinite, assumed = limit / kAssumedMargin;
  auto assume = [&](Value source) {
    Evidence evidence = facts.lookup(source);
    return evidence.isAssumed()
               ? domains::intersect(evidence.range,
                                    domains::Interval::symmetric(evidence.growth * assumed))
               : evidence.range;
  };
  if (std::optional<domains::Interval> bound = boundPiecewise(value, assume, limit)) {
    known.growth = bound->mag() / assumed;
    known.lostAt = "";
  }
}

void EvidenceAnalysis::visitStructured(Operation *op) {
  auto structured = cast<linalg::LinalgOp>(op);
  Block *body = structured.getBlock();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = structured.getMatchingBlockArgument(&operand);
    if (argument)
      facts[argument] = facts.lookup(operand.get());
  }
  if (structured.getNumReductionLoops() > 0)
    return visitReduction(structured);
  for (Operation &inner : body->without_terminator())
    visitOp(&inner);
  for (auto [result, yielded] : llvm::zip(op->getResults(), body->getTerminator()->getOperands()))
    facts[result] = facts.lookup(yielded);
}

/// -inf or the lowest number, which maxima begin with, or the same for minima: with elements it is
/// none of the values, and without any it is infinite in every format.
static bool isBeyondAll(const Evidence &initial) {
  return initial.range.isPoint() && std::abs(initial.range.lo) >= std::numeric_limits<float>::max();
}

void EvidenceAnalysis::visitReduction(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  SmallVector<Evidence> carried(op->getNumResults(), lost(op));
  auto visit = [&] {
    for (auto [argument, evidence] : llvm::zip(op.getRegionOutputArgs(), carried))
      facts[argument] = evidence;
    for (Operation &inner : body->without_terminator())
      visitOp(&inner);
  };
  visit(); // with nothing known of what is combined so far
  bool isCombined = true;
  for (OpResult result : op->getResults())
    if (getFloatFormat(result.getType())) {
      std::optional<Evidence> combined = combine(op, result.getResultNumber());
      isCombined &= combined.has_value();
      facts[result] = combined.value_or(lost(op));
    }
  if (isCombined)
    return;
  // Selections, as of argmax, keep to what they select from: a fixed point, or nothing is known.
  auto selects = llvm::IsaPred<arith::CmpFOp, arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp,
                               arith::MaxNumFOp, arith::MinNumFOp>;
  for (auto [index, argument] : llvm::enumerate(op.getRegionOutputArgs())) {
    carried[index] = facts.lookup(op.getDpsInits()[index]);
    if (isBeyondAll(carried[index]) && llvm::all_of(argument.getUsers(), selects))
      carried[index] = Evidence::nothing();
  }
  Operation *yield = body->getTerminator();
  for (unsigned number = 0; number < 3; ++number) {
    visit();
    bool holds = true;
    for (auto [before, yielded] : llvm::zip(carried, yield->getOperands())) {
      if (!getFloatFormat(yielded.getType()))
        continue;
      Evidence after = joinBounds(before, facts.lookup(yielded));
      if (before.range.contains(after.range) && after.growth <= before.growth)
        continue;
      holds = false;
      before = number == 0 ? after : lost(op);
    }
    if (!holds)
      continue;
    for (auto [result, evidence] : llvm::zip(op->getResults(), carried))
      facts[result] = evidence;
    return;
  }
}

std::optional<Evidence> EvidenceAnalysis::combine(linalg::LinalgOp op, unsigned index) {
  // out + x, or an op that commutes: what is combined is the other operand.
  BlockArgument out = op.getRegionOutputArgs()[index];
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(index).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 ||
      !llvm::is_contained(combiner->getOperands(), out))
    return std::nullopt;
  Evidence x = facts.lookup(combiner->getOperand(combiner->getOperand(0) == out));
  Evidence initial = facts.lookup(op.getDpsInits()[index]);
  if (isa<arith::AddFOp>(combiner)) {
    Evidence sum = sumOver(x, countReduced(op), op->getName().getStringRef());
    sum.range = domains::add(sum.range, initial.range);
    sum.growth = std::max(sum.growth, initial.getGrowth());
    if (sum.lostAt.empty())
      sum.lostAt = initial.lostAt;
    return sum;
  }
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner);
  if (!isMax && !isa<arith::MinimumFOp, arith::MinNumFOp>(combiner))
    return std::nullopt;
  Evidence extremum = x;
  if (!isBeyondAll(initial)) {
    extremum = joinBounds(x, initial);
    extremum.range =
        isMax ? domains::max(x.range, initial.range) : domains::min(x.range, initial.range);
  }
  return extremum;
}

void EvidenceAnalysis::visitBodies(Operation *op, ArrayRef<CarriedValue> carried,
                                   ArrayRef<Evidence> known) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        facts[argument] = Evidence();
  for (auto [value, evidence] : llvm::zip_equal(carried, known))
    for (Value argument : value.values)
      if (isa<BlockArgument>(argument))
        facts[argument] = evidence;
  for (Region &region : op->getRegions())
    visitRegion(region);
}

void EvidenceAnalysis::visitControl(Operation *op) {
  SmallVector<CarriedValue> carried;
  cast<PrecisionOpInterface>(op).getCarriedValues(carried);
  auto join = [&](const CarriedValue &value, auto isFed) {
    Evidence evidence = Evidence::nothing();
    for (OpOperand *feed : value.feeds)
      if (isFed(feed))
        evidence = joinBounds(evidence, facts.lookup(feed->get()));
    return evidence;
  };
  auto always = [](OpOperand *) { return true; };
  // What holds around the loop: from the initial values up.
  SmallVector<Evidence> known;
  for (const CarriedValue &value : carried) {
    known.push_back(join(value, [&](OpOperand *feed) { return feed->getOwner() == op; }));
    known.back().parameter = false;
  }
  bool grows = true;
  for (unsigned visit = 0; grows; ++visit) {
    visitBodies(op, carried, known);
    grows = false;
    for (auto [value, before] : llvm::zip_equal(carried, known))
      if (llvm::any_of(value.values, llvm::IsaPred<BlockArgument>))
        grows |= grow(before, join(value, always), visit, op->getName().getStringRef());
  }
  for (Value result : op->getResults())
    if (getFloatFormat(result.getType()))
      facts[result] = lost(op);
  for (const CarriedValue &value : carried)
    for (Value result : value.values)
      if (!isa<BlockArgument>(result))
        facts[result] = join(value, always);
}

void EvidenceAnalysis::visitCall(Operation *op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      op, cast<func::CallOp>(op).getCalleeAttr());
  auto known = callees.find(callee);
  if (callee && !callee.isExternal() && known == callees.end()) {
    callees[callee]; // a recursive call finds no results: unknown
    for (BlockArgument argument : callee.getArguments()) {
      Evidence evidence;
      evidence.growth = 1;
      facts[argument] = evidence;
    }
    relations.add(callee);
    visitRegion(callee.getFunctionBody());
    SmallVector<Evidence> results(op->getNumResults(), Evidence::nothing());
    for (Block &block : callee.getFunctionBody())
      if (Operation *end = block.getTerminator(); end->hasTrait<OpTrait::ReturnLike>())
        for (auto [joined, returned] : llvm::zip_equal(results, end->getOperands()))
          joined = joinBounds(joined, facts.lookup(returned));
    callees[callee] = results;
    known = callees.find(callee);
  }
  // The callee's facts rest on its arguments having growth 1: so must the call's.
  bool argumentsHold = llvm::all_of(op->getOperands(), [&](Value operand) {
    Evidence evidence = facts.lookup(operand);
    return !getFloatFormat(operand.getType()) || evidence.isAssumed() ||
           evidence.range.mag() <= 1024;
  });
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Evidence evidence = lost(op);
    if (known != callees.end() && index < known->second.size() && argumentsHold)
      evidence = known->second[index];
    facts[result] = evidence;
  }
}
