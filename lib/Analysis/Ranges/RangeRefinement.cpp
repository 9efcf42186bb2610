// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds what a sweep knows of a value beyond its transfer function: lemmas, promises, trusted norms,
// and functions that comparisons put together of parts.

#include "AssumptionTransfer.h"
#include "PiecewiseBounds.h"
#include "RangeSweep.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Infinity.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;
using domains::kInfinity;

void RangeSweep::set(Value value, RangeState state) {
  if (values.coversNode(value))
    if (NodeId node = values.lookup(value).node)
      representatives[node] = value;
  result.states[value] = std::move(state);
}

void RangeSweep::promise(RangeState &state, ArrayAttr range, RowLength rows) {
  Interval bounds = {cast<FloatAttr>(range[0]).getValueAsDouble(),
                     cast<FloatAttr>(range[1]).getValueAsDouble()};
  const bool isMeasured = range.size() > 2;
  FloatFacts promised = FloatFacts::finite(bounds, isMeasured ? domains::Provenance::Sampled
                                                              : domains::Provenance::Assumed);
  promised.reduce(rows);
  state.facts = domains::meet(state.facts, promised);
  stateRange(state.assumption, bounds);
  state.assumption.range = domains::intersect(state.assumption.range, state.facts.range);
}

void RangeSweep::refine(Value value, RangeState &state, const Rows &rows) {
  refineByLemmas(value, state, rows);
  Operation *op = value.getDefiningOp();
  if (auto range = op->getAttrOfType<ArrayAttr>(kRangeAttrName))
    promise(state, range, rows.length);
  if (!state.assumption.isAssumed())
    refineByTrust(value, state);
  if (!state.assumption.isAssumed() && !state.assumption.range.isBounded())
    refineInPieces(value, state, rows);
}

void RangeSweep::refineByLemmas(Value value, RangeState &state, const Rows &rows) {
  View view = values.lookup(value);
  if (!view)
    return;
  SmallVector<LemmaBound, 2> bounds;
  kernel.conclude(view.node, [&](NodeId id) { return factsOf(id); }, bounds);
  for (const LemmaBound &bound : bounds) {
    FloatFacts better = state.facts;
    better.range = domains::intersect(better.range, bound.range);
    if (rows.dim) {
      unsigned dim = *rows.dim;
      if (view.map) {
        AffineExpr along = getAffineDimExpr(dim, value.getContext());
        auto results = view.map.getResults();
        dim = llvm::find(results, along) - results.begin();
      }
      if (dim < 64 && (bound.normDims >> dim & 1))
        better.norm2 = std::min(better.norm2, bound.norm);
    }
    if (better.range == state.facts.range && better.norm2 == state.facts.norm2)
      continue;
    for (NodeId premise : bound.premises)
      if (const FloatFacts *known = factsOf(premise))
        better.provenance = domains::weakest(better.provenance, known->provenance);
    better.normalize();
    better.reduce(rows.length);
    state.facts = better;
    result.lemmas[value] = bound;
  }
  state.assumption.range = domains::intersect(state.assumption.range, state.facts.range);
}

/// A norm ends in a product, a quotient or a sum, not far behind a root.
static bool mayBeNorm(const ValueNumbering &values, NodeId root) {
  constexpr size_t most = 32;
  if (values[root].kind != ValueNode::Kind::Binary)
    return false;
  SmallVector<NodeId, 32> reached = {root};
  for (size_t next = 0; next < reached.size(); ++next) {
    const ValueNode &node = values[reached[next]];
    bool isRoot = node.kind == ValueNode::Kind::Unary &&
                  (node.unary == domains::UnaryFn::Sqrt || node.unary == domains::UnaryFn::Rsqrt);
    bool isPower = node.kind == ValueNode::Kind::Binary && node.binary == BinaryFn::Pow;
    if (isRoot || isPower)
      return true;
    bool isInverse = node.kind == ValueNode::Kind::Unary &&
                     node.unary == domains::UnaryFn::Reciprocal; // of a root, as TOSA writes it
    bool isArithmetic = node.kind == ValueNode::Kind::Binary || isInverse ||
                        node.kind == ValueNode::Kind::Cast || node.kind == ValueNode::Kind::Select;
    for (const View &operand : node.operands)
      if (isArithmetic && reached.size() < most)
        reached.push_back(operand.node);
  }
  return false;
}

void RangeSweep::refineByTrust(Value value, RangeState &state) {
  if (!mayBeNorm(values, values.lookup(value).node))
    return;
  auto norm = norms().find(value);
  if (!norm)
    return;
  Assumption bound;
  bound.range = Interval::symmetric(norm->bound);
  if (norm->factor)
    bound = multiplyAssumption(bound, lookup(norm->factor).assumption);
  for (Value term : norm->terms) { // of whatever sign: of its magnitude is all that counts
    Assumption added = lookup(term).assumption;
    added.range = domains::abs(added.range);
    bound = addAssumption(bound, added);
  }
  Assumption &known = state.assumption;
  known.range = domains::intersect(known.range, Interval::symmetric(bound.range.mag()));
  known.growth = std::min(known.growth, bound.growth);
  if (known.isAssumed() || known.range.isBounded())
    known.lostAt = "";
}

void RangeSweep::refineInPieces(Value value, RangeState &state, const Rows &rows) {
  Operation *op = value.getDefiningOp();
  auto isSelect = [](Operation &inner) {
    return getFloatMeaning(&inner).kind == FloatMeaning::Kind::Select;
  };
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool selects = structured ? llvm::any_of(*structured.getBlock(), isSelect) : isSelect(*op);
  auto anything = [](Value) { return Interval::top(); };
  Assumption &known = state.assumption;
  if (std::optional<Interval> bound;
      selects && (bound = boundPiecewise(transfer, value, anything, kInfinity))) {
    state.facts.range = domains::intersect(state.facts.range, *bound);
    state.facts.normalize();
    state.facts.reduce(rows.length);
    known.range = domains::intersect(known.range, state.facts.range);
    known.lostAt = "";
    return;
  }
  // An argument with nothing but the class assumption keeps it or loses it as the function decides.
  double reach = assumedReach(), limit = reach * kAssumedMargin;
  auto assume = [&](Value source) {
    Assumption assumed = lookup(source).assumption;
    return assumed.isAssumed()
               ? domains::intersect(assumed.range, Interval::symmetric(assumed.growth * reach))
               : assumed.range;
  };
  if (std::optional<Interval> bound = boundPiecewise(transfer, value, assume, limit)) {
    known.growth = bound->mag() / reach;
    known.lostAt = "";
  }
}
