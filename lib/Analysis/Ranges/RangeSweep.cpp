// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sweep, for each op in program order:
//
//   1. transfer     operands' states through what the op means, its result rounded;
//   2. lemmas       what value numbers say of operands that are functions of each other;
//   3. promises     `mp.range` on the op;
//   4. trust        idioms that no lemma proves, for the assumption alone;
//   5. pieces       functions put together of parts that comparisons choose.
//
// Loops and blocks are visited until what they carry comes to rest.

#include "RangeSweep.h"
#include "AssumptionTransfer.h"
#include "PiecewiseBounds.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Values/Squares.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Infinity.h"
#include "mp/Numerics/Format.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;
using domains::kInfinity;

RangeSweep::RangeSweep(ModuleRanges &module, FunctionOpInterface function,
                       const ValueNumbering &values,
                       llvm::function_ref<const TrustedNorms &()> norms, RangeTransfer &transfer,
                       FunctionRanges &result)
    : module(module), function(function), values(values), norms(norms), transfer(transfer),
      result(result), kernel(values, module.getOptions().of == RangesOf::Exact),
      representatives(values.size()) {}

RangeState RangeSweep::lookup(Value value) const {
  auto known = result.states.find(value);
  return known == result.states.end() ? RangeState::unknown() : known->second;
}

const FloatFacts *RangeSweep::factsOf(NodeId node) const {
  Value representative = representatives[node];
  auto known = representative ? result.states.find(representative) : result.states.end();
  return known == result.states.end() ? nullptr : &known->second.facts;
}

//===-- carried values ------------------------------------------------------------------------===//

/// The next bound that a range which keeps growing is tried at.
static double nextLimit(double magnitude) {
  // Beyond the largest bfloat16 f32 absorbs what is added in moderation.
  for (double limit : {1.0, numerics::info(numerics::Format::F16).maxFinite,
                       numerics::info(numerics::Format::BF16).maxFinite})
    if (magnitude <= limit)
      return limit;
  return kInfinity;
}

bool mlir::mp::widen(RangeState &known, const RangeState &after, unsigned visit, StringRef lostAt) {
  bool grows = false;
  if (!domains::isAtMost(after.facts, known.facts) ||
      (!after.isBottom() && after.facts.provenance > known.facts.provenance)) {
    grows = true;
    FloatFacts joined = domains::join(known.facts, after.facts);
    if (visit > 0 && !known.isBottom()) {
      if (joined.range.hi > known.facts.range.hi)
        joined.range.hi = joined.range.hi > 0 ? nextLimit(joined.range.hi) : 0;
      if (joined.range.lo < known.facts.range.lo)
        joined.range.lo = joined.range.lo < 0 ? -nextLimit(-joined.range.lo) : 0;
      if (joined.norm2 > known.facts.norm2)
        joined.norm2 = kInfinity;
      if (!joined.range.isBounded())
        joined.mayInf = joined.mayNaN = true;
    }
    joined.normalize();
    domains::Provenance provenance = joined.provenance;
    known.facts = visit < 5 ? joined : FloatFacts::top();
    known.facts.provenance = provenance;
  }
  Assumption &assumed = known.assumption;
  if (!assumed.range.contains(after.assumption.range)) {
    grows = true;
    assumed.range =
        visit == 0 ? domains::hull(assumed.range, after.assumption.range) : Interval::top();
  }
  if (after.assumption.growth > assumed.growth) {
    grows = true;
    assumed.growth = visit < 2 ? after.assumption.growth : kInfinity;
    assumed.lostAt = after.assumption.lostAt.empty() ? lostAt : after.assumption.lostAt;
  }
  if (grows && visit >= 5) {
    assumed.range = Interval::top();
    assumed.growth = kInfinity;
  }
  return grows;
}

/// Returns what the blocks visited so far hand to `argument`.
static RangeState joinFeeds(BlockArgument argument, const DenseSet<Block *> &visited,
                            llvm::function_ref<RangeState(Value)> lookup) {
  RangeState joined;
  forEachBranch(argument, [&](Block *from, Value given) {
    if (visited.contains(from))
      joined = join(joined, given ? lookup(given) : RangeState::unknown());
  });
  joined.assumption.parameter = false;
  return joined;
}

//===-- the walk ------------------------------------------------------------------------------===//

void RangeSweep::run(ArrayRef<RangeState> arguments) {
  result.states.reserve(values.getValueCount());
  for (auto [argument, state] : llvm::zip_equal(function.getArguments(), arguments)) {
    if (!getFloatFormat(argument.getType()))
      continue;
    RangeState known = state;
    if (auto range = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kRangeAttrName))
      promise(known, range, rowsOf(argument).length);
    set(argument, known);
  }
  collectGuarded(function.getFunctionBody());
  visitRegion(function.getFunctionBody());
  for (Block &block : function.getFunctionBody())
    if (Operation *end = block.getTerminator(); end->hasTrait<OpTrait::ReturnLike>()) {
      result.results.resize(end->getNumOperands());
      for (auto [joined, returned] : llvm::zip_equal(result.results, end->getOperands()))
        joined = join(joined, lookup(returned));
    }
}

/// Collects what lies between a scaled seed and the check of what it became.
void RangeSweep::collectGuarded(Region &body) {
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
  body.walk([&](UnscaleOp op) { llvm::append_range(pending, op.getGradients()); });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!reached.contains(value) || !result.guarded.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(pending, op->getOperands());
  }
}

void RangeSweep::visitRegion(Region &region) {
  if (region.empty())
    return;
  if (region.hasOneBlock()) {
    for (Operation &op : region.front())
      visitOp(&op);
    return;
  }
  llvm::ReversePostOrderTraversal<Block *> blocks(&region.front());
  DenseSet<Block *> visited;
  bool changed = true;
  for (unsigned visit = 0; changed; ++visit) {
    changed = false;
    for (Block *block : blocks) {
      for (BlockArgument argument : block->getArguments()) {
        if (block->isEntryBlock() || !getFloatFormat(argument.getType()))
          continue;
        RangeState found = joinFeeds(argument, visited, [&](Value value) { return lookup(value); });
        RangeState known = visit == 0 ? found : lookup(argument);
        if (visit > 0)
          changed |= widen(known, found, visit - 1,
                           (*block->pred_begin())->getTerminator()->getName().getStringRef());
        set(argument, known);
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

void RangeSweep::visitOp(Operation *op) {
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  if (precision && precision.getTypeRule() == TypeRule::Container)
    return visitControl(op);
  if (auto call = dyn_cast<CallOpInterface>(op))
    return visitCall(call);
  bool hasFloats = llvm::any_of(op->getResultTypes(), getFloatFormat);
  if (!hasFloats && op->getNumRegions() == 0)
    return;
  FloatMeaning meaning = getFloatMeaning(op);
  if (meaning.kind == FloatMeaning::Kind::Structured)
    return visitStructured(cast<linalg::LinalgOp>(op));
  if (op->getNumRegions() > 0 && !isa<linalg::LinalgOp>(op))
    visitBodies(op);
  if (hasFloats)
    evaluate(op, meaning, rowsOf(op->getResult(0)));
}

void RangeSweep::visitBodies(Operation *op, ArrayRef<CarriedValue> carried,
                             ArrayRef<RangeState> known) {
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (getFloatFormat(argument.getType()))
        set(argument, RangeState::unknown());
  for (auto [value, state] : llvm::zip_equal(carried, known))
    for (Value argument : value.values)
      if (isa<BlockArgument>(argument) && getFloatFormat(argument.getType()))
        set(argument, state);
  for (Region &region : op->getRegions())
    visitRegion(region);
}

void RangeSweep::visitControl(Operation *op) {
  SmallVector<CarriedValue> carried;
  cast<PrecisionOpInterface>(op).getCarriedValues(carried);
  auto joined = [&](const CarriedValue &value, auto isFed) {
    RangeState state;
    for (OpOperand *feed : value.feeds)
      if (isFed(feed))
        state = join(state, lookup(feed->get()));
    return state;
  };
  auto always = [](OpOperand *) { return true; };
  // The loop keeps what holds around it: from the initial values up.
  SmallVector<RangeState> known;
  for (const CarriedValue &value : carried) {
    known.push_back(joined(value, [&](OpOperand *feed) { return feed->getOwner() == op; }));
    known.back().assumption.parameter = false;
  }
  bool grows = true;
  for (unsigned visit = 0; grows; ++visit) {
    visitBodies(op, carried, known);
    grows = false;
    for (auto [value, before] : llvm::zip_equal(carried, known))
      if (llvm::any_of(value.values, llvm::IsaPred<BlockArgument>))
        grows |= widen(before, joined(value, always), visit, op->getName().getStringRef());
  }
  for (Value value : op->getResults())
    if (getFloatFormat(value.getType()))
      set(value, RangeState::unknown(op->getName().getStringRef()));
  for (const CarriedValue &value : carried)
    for (Value outside : value.values)
      if (!isa<BlockArgument>(outside))
        set(outside, joined(value, always));
}

void RangeSweep::visitCall(CallOpInterface call) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
  const FunctionRanges *inside = nullptr;
  bool isPlain = call.getArgOperands().size() == call->getNumOperands();
  if (callee && !callee.isExternal() && isPlain &&
      callee.getNumArguments() == call->getNumOperands()) {
    SmallVector<RangeState> arguments;
    for (Value operand : call->getOperands())
      arguments.push_back(getFloatFormat(operand.getType()) ? lookup(operand) : RangeState());
    inside = module.analyze(callee, arguments);
  }
  for (OpResult value : call->getResults()) {
    if (!getFloatFormat(value.getType()))
      continue;
    bool isKnown = inside && value.getResultNumber() < inside->getResults().size();
    RangeState state = isKnown ? inside->getResults()[value.getResultNumber()]
                               : RangeState::unknown(call->getName().getStringRef());
    state.assumption.parameter = false;
    refine(value, state, rowsOf(value));
    set(value, state);
  }
}

/// True while nothing has been handed to what one of these is made of, in the first visit of a
/// loop.
bool RangeSweep::isUnreached(ValueRange operands) const {
  return llvm::any_of(operands, [&](Value operand) {
    auto known =
        getFloatFormat(operand.getType()) ? result.states.find(operand) : result.states.end();
    return known != result.states.end() && known->second.isBottom();
  });
}

void RangeSweep::setUnreached(ValueRange results) {
  for (Value value : results)
    if (getFloatFormat(value.getType()))
      set(value, RangeState());
}

void RangeSweep::evaluate(Operation *op, const FloatMeaning &meaning, const Rows &rows) {
  if (isUnreached(op->getOperands()))
    return setUnreached(op->getResults());
  bool isInBody = isa_and_nonnull<linalg::LinalgOp>(op->getParentOp());
  SmallVector<RangeState, 3> owned;
  owned.reserve(op->getNumOperands());
  SmallVector<const RangeState *, 3> operands;
  SmallVector<const FloatFacts *, 3> facts;
  for (Value operand : op->getOperands()) {
    bool isFloat = bool(getFloatFormat(operand.getType()));
    if (isFloat) {
      owned.push_back(lookup(operand));
      // Constants, and what a body reads from outside, are the same for all elements of its rows.
      if (isInBody &&
          (operand.getParentBlock() != op->getBlock() || matchPattern(operand, m_Constant())))
        owned.back().facts = domains::reshapeRows(owned.back().facts, rows.length);
    }
    operands.push_back(isFloat ? &owned.back() : nullptr);
    facts.push_back(isFloat ? &owned.back().facts : nullptr);
  }
  View view = op->getNumResults() == 1 ? values.lookup(op->getResult(0)) : View();
  const ValueNode &node = values[view.node];
  bool isSquare =
      meaning.kind == FloatMeaning::Kind::Binary && meaning.binary == BinaryFn::Mul &&
      values.areEqual(values.lookup(op->getOperand(0)), values.lookup(op->getOperand(1)));
  for (Value value : op->getResults()) {
    if (!getFloatFormat(value.getType()))
      continue;
    RangeState state;
    if (isSquare) {
      FloatFacts square = RangeTransfer::unary(domains::UnaryFn::Square, *facts[0], rows.length);
      state.facts = transfer.roundedTo(square, value.getType(), rows.length);
    } else if (meaning.kind == FloatMeaning::Kind::Select) {
      ChoiceBound bound;
      if (node.kind == ValueNode::Kind::Select)
        bound = kernel.choose(view.node, [&](NodeId id) { return factsOf(id); });
      FloatFacts whole = transfer.evaluate(op, meaning, facts, rows.length);
      state.facts = whole;
      if (!bound.isTrivial()) {
        const FloatFacts &yes = *facts[meaning.operands[0]], &no = *facts[meaning.operands[1]];
        state.facts = domains::meet(whole, transfer.select(domains::reshapeRows(yes, rows.length),
                                                           domains::reshapeRows(no, rows.length),
                                                           bound, rows.length));
        if (state.facts.range != whole.range)
          result.lemmas[value] = {.lemma = Lemma::ComparedChoice, .range = state.facts.range};
      }
    } else {
      state.facts = transfer.evaluate(op, meaning, facts, rows.length);
      bool isProduct =
          meaning.kind == FloatMeaning::Kind::Binary && meaning.binary == BinaryFn::Mul;
      if (auto scale = isProduct ? findScaleOfSquares(values, view) : std::nullopt)
        state.facts.range = domains::intersect(
            state.facts.range, *scale > 0 ? Interval{0, kInfinity} : Interval{-kInfinity, 0});
    }
    state.assumption = transferAssumption(op, meaning, operands, isSquare);
    state.assumption.range = domains::intersect(state.assumption.range, state.facts.range);
    refine(value, state, rows);
    if (state.assumption.growth == kInfinity && !state.assumption.range.isBounded() &&
        state.assumption.lostAt.empty())
      state.assumption.lostAt = op->getName().getStringRef();
    set(value, state);
  }
}
