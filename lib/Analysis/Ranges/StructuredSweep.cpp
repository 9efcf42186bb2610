// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sweep through bodies of structured ops: elementwise ones carry facts of their operands'
// elements, reductions join or add up as many as their loops run over.

#include "AssumptionTransfer.h"
#include "PaddedWindows.h"
#include "RangeSweep.h"
#include "mp/Analysis/ReductionLength.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;

RangeSweep::Rows RangeSweep::rowsOf(Value value) {
  Rows rows{rowLengthOf(value.getType()), std::nullopt};
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.getRank() > 0 && type.getShape().back() != 1)
    rows.dim = llvm::count_if(type.getShape(), [](int64_t size) { return size != 1; }) - 1;
  return rows;
}

/// The loop that runs along the rows of what `map` indexes.
static std::optional<unsigned> lastLoopOf(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

std::optional<unsigned> mlir::mp::rowLoopOf(const LoopNest &nest) {
  if (nest.reads.size() > nest.writes.size() && nest.hasReductions())
    return lastLoopOf(nest.reads.front());
  return nest.writes.empty() ? std::nullopt : lastLoopOf(nest.writes.front());
}

domains::ReducedElements mlir::mp::reducedElements(const LoopNest &nest) {
  using domains::Extent;
  domains::ReducedElements elements;
  elements.count = elements.rows = Extent::exactly(1);
  auto times = [](Extent a, Extent b) {
    Extent product;
    product.min = llvm::SaturatingMultiply<uint64_t>(a.min, b.min);
    if (a.max && b.max)
      product.max = llvm::SaturatingMultiply<uint64_t>(*a.max, *b.max);
    return product;
  };
  std::optional<unsigned> rowLoop = rowLoopOf(nest);
  for (auto [loop, isReduced, size] : llvm::enumerate(nest.isReduction, nest.sizes)) {
    if (!isReduced)
      continue;
    Extent extent = ShapedType::isDynamic(size) ? Extent::unknown() : Extent::exactly(size);
    elements.count = times(elements.count, extent);
    if (rowLoop && loop == *rowLoop) {
      elements.wholeRows = true;
      if (extent.isExact())
        elements.rowLength = extent.min;
    } else {
      elements.rows = times(elements.rows, extent);
    }
  }
  return elements;
}

void RangeSweep::visitStructured(linalg::LinalgOp op) {
  if (isUnreached(op->getOperands()))
    return setUnreached(op->getResults());
  std::optional<LoopNest> nest = readLoopNest(op);
  if (!nest) { // on buffers
    for (Value value : op->getResults())
      if (getFloatFormat(value.getType()))
        set(value, RangeState::unknown(op->getName().getStringRef()));
    return;
  }
  std::optional<unsigned> rowLoop = rowLoopOf(*nest);
  Rows rows;
  if (rowLoop && !ShapedType::isDynamic(nest->sizes[*rowLoop]))
    rows.length = nest->sizes[*rowLoop];
  if (rowLoop && nest->sizes[*rowLoop] != 1)
    rows.dim = llvm::count_if(ArrayRef(nest->sizes).take_front(*rowLoop),
                              [](int64_t size) { return size != 1; });
  bool reduces = nest->hasReductions();
  for (auto [operand, map] : llvm::zip_equal(op->getOpOperands(), nest->reads)) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!argument || !getFloatFormat(argument.getType()))
      continue;
    RangeState state = lookup(operand.get());
    if (reduces && op.isDpsInit(&operand))
      state = RangeState::unknown(op->getName().getStringRef());
    else if (!rowLoop || lastLoopOf(map) != rowLoop)
      state.facts = domains::reshapeRows(state.facts, rows.length);
    set(argument, state);
  }
  visitBody(op, rows);
  if (reduces)
    visitReduction(op, *nest, rows);
  else
    finishParallel(op, *nest);
}

void RangeSweep::visitBody(linalg::LinalgOp op, const Rows &rows) {
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (inner.getNumRegions() > 0)
      visitBodies(&inner);
    if (llvm::any_of(inner.getResultTypes(), getFloatFormat))
      evaluate(&inner, getFloatMeaning(&inner), rows);
  }
}

void RangeSweep::finishParallel(linalg::LinalgOp op, const LoopNest &nest) {
  std::optional<unsigned> rowLoop = rowLoopOf(nest);
  for (OpResult value : op->getResults()) {
    if (!getFloatFormat(value.getType()))
      continue;
    unsigned index = value.getResultNumber();
    Value yielded = op.getBlock()->getTerminator()->getOperand(index);
    RangeState state = lookup(yielded);
    bool isInside = yielded.getParentBlock() == op.getBlock();
    Rows rows = rowsOf(value);
    if (!isInside || !rowLoop || lastLoopOf(nest.writes[index]) != rowLoop)
      state.facts = domains::reshapeRows(state.facts, rows.length);
    else
      state.facts.reduce(rows.length);
    refine(value, state, rows);
    set(value, state);
  }
}

/// -inf or the lowest number, which maxima begin with, or the same for minima: with elements it is
/// none of the values. Without any an infinity is one in every format, the lowest number is not.
static bool isBeyondAll(const RangeState &initial) {
  const Interval &range = initial.facts.range;
  return range.isPoint() && std::abs(range.lo) >= std::numeric_limits<float>::max();
}

void RangeSweep::visitReduction(linalg::LinalgOp op, const LoopNest &nest, const Rows &rows) {
  StringRef name = op->getName().getStringRef();
  bool isCombined = true;
  for (OpResult value : op->getResults())
    if (getFloatFormat(value.getType())) {
      auto combined = combine(op, value.getResultNumber(), nest, rows);
      isCombined &= combined.has_value();
      RangeState state = combined.value_or(RangeState::unknown(name));
      refine(value, state, rowsOf(value));
      set(value, state);
    }
  if (isCombined)
    return;
  // Selections, as of argmax, keep to what they select from: a fixed point, or nothing is known.
  SmallVector<RangeState> carried(op->getNumResults());
  for (auto [index, argument] : llvm::enumerate(op.getRegionOutputArgs())) {
    carried[index] = lookup(op.getDpsInits()[index]);
    auto selects = llvm::IsaPred<arith::CmpFOp, arith::SelectOp, arith::MaximumFOp,
                                 arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>;
    if (isBeyondAll(carried[index]) && llvm::all_of(argument.getUsers(), selects))
      carried[index].assumption = Assumption::nothing();
  }
  Operation *yield = op.getBlock()->getTerminator();
  bool grows = true;
  for (unsigned visit = 0; grows && visit < 6; ++visit) {
    for (auto [argument, state] : llvm::zip_equal(op.getRegionOutputArgs(), carried))
      if (getFloatFormat(argument.getType())) {
        RangeState partial = state;
        partial.facts = domains::reshapeRows(partial.facts, rows.length);
        set(argument, partial);
      }
    visitBody(op, rows);
    grows = false;
    for (auto [before, yielded] : llvm::zip_equal(carried, yield->getOperands()))
      if (getFloatFormat(yielded.getType())) {
        RangeState after = lookup(yielded);
        after.facts = domains::reshapeRows(after.facts, std::nullopt);
        grows |= widen(before, after, visit, name);
      }
  }
  for (auto [value, state] : llvm::zip_equal(op->getResults(), carried)) {
    if (!getFloatFormat(value.getType()))
      continue;
    RangeState found = grows ? RangeState::unknown(name) : state;
    found.facts = domains::reshapeRows(found.facts, rowsOf(value).length);
    set(value, found);
  }
}

/// x of x * x; null for what is none. Casts of squares are squares of no value of the body.
static Value rootOfSquare(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return Value();
  FloatMeaning meaning = getFloatMeaning(op);
  bool isSquare = meaning.kind == FloatMeaning::Kind::Unary
                      ? meaning.unary == domains::UnaryFn::Square
                      : meaning.kind == FloatMeaning::Kind::Binary &&
                            meaning.binary == BinaryFn::Mul &&
                            op->getOperand(0) == op->getOperand(1);
  return isSquare ? op->getOperand(0) : Value();
}

std::optional<RangeState> RangeSweep::combine(linalg::LinalgOp op, unsigned index,
                                              const LoopNest &nest, const Rows &rows) {
  auto combination = readCombination(op, index);
  if (!combination)
    return std::nullopt;
  FloatMeaning meaning = getFloatMeaning(combination->combiner);
  if (meaning.kind != FloatMeaning::Kind::Binary)
    return std::nullopt;
  Value result = op->getResult(index), init = op.getDpsInits()[index];
  Type type = result.getType();
  StringRef name = op->getName().getStringRef();
  RangeState x = lookup(combination->combined), initial = lookup(init);
  // Padding that is never the maximum is as good as not there.
  if (auto argument = dyn_cast<BlockArgument>(combination->combined);
      argument && argument.getOwner() == op.getBlock())
    if (Value inside = skipPadding(op, index, *op.getMatchingOpOperand(argument))) {
      x = lookup(inside);
      x.facts = domains::reshapeRows(x.facts, rows.length);
    }
  // A captured value is the same along the row.
  if (combination->combined.getParentBlock() != op.getBlock())
    x.facts = domains::reshapeRows(x.facts, rows.length);
  // Rows of the terms that are neither reduced nor rows of the result say nothing of the latter.
  std::optional<unsigned> rowLoop = rowLoopOf(nest);
  bool keepsRows =
      rowLoop && (nest.isReduction[*rowLoop] || rowLoop == lastLoopOf(nest.writes[index]));
  auto asTerms = [&](const FloatFacts &facts) {
    return keepsRows ? facts : domains::reshapeRows(facts, rowsOf(result).length);
  };
  x.facts = asTerms(x.facts);
  domains::ReducedElements elements = reducedElements(nest);
  RangeState state;
  bool isStartAlone =
      isBeyondAll(initial) && (initial.facts.range.isBounded() ? hasElements(nest) : true);
  bool isMax = meaning.binary == BinaryFn::Maximum || meaning.binary == BinaryFn::MaxNum;
  bool isMin = meaning.binary == BinaryFn::Minimum || meaning.binary == BinaryFn::MinNum;
  if (meaning.binary == BinaryFn::Add) {
    state.facts = transfer.sum(x.facts, elements, initial.facts, type);
    // A square's sum is bounded by the row norm of what is squared.
    if (Value root = rootOfSquare(combination->combined);
        root && root.getParentBlock() == op.getBlock())
      state.facts =
          domains::meet(state.facts, transfer.sumOfSquares(asTerms(lookup(root).facts), elements,
                                                           initial.facts, x.facts, type));
    state.assumption = sumAssumption(x, countReduced(op), initial, name);
  } else if (isMax || isMin) {
    state.facts = transfer.extremum(meaning.binary, x.facts, elements, initial.facts, type);
    state.assumption = x.assumption;
    if (!isStartAlone) {
      state.assumption = join(x.assumption, initial.assumption);
      const Interval &a = x.assumption.range, &b = initial.assumption.range;
      state.assumption.range = isMax ? domains::max(a, b) : domains::min(a, b);
    }
  } else {
    return std::nullopt;
  }
  // The initial value of a maximum is in no group that has elements: trusted, not proved.
  if (!isStartAlone)
    state.assumption.range = domains::intersect(state.assumption.range, state.facts.range);
  return state;
}
