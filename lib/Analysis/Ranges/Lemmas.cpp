// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The judgements and conclusions of Lemmas.h, each a recursion over value numbers that stops at a
// fixed depth: what is not found is not concluded.

#include "LemmaParts.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Infinity.h"
#include "mp/Numerics/Format.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;
using domains::kInfinity;
using domains::ReduceFn;
using domains::UnaryFn;
using NodeKind = ValueNode::Kind;

StringRef mlir::mp::toString(Lemma lemma) {
  switch (lemma) {
  case Lemma::SelfDifference: return "self-difference";
  case Lemma::GroupMaximum: return "group-maximum";
  case Lemma::DominatedQuotient: return "dominated-quotient";
  case Lemma::ShiftedExponentials: return "shifted-exponentials";
  case Lemma::ComparedChoice: return "compared-choice";
  }
  llvm_unreachable("unknown lemma");
}

Lemmas::Rounding Lemmas::roundingOf(const ValueNode &node) const {
  if (exact)
    return {};
  FloatType type = node.kind == NodeKind::Cast ? node.format
                   : node.op && node.op->getNumResults() > 0
                       ? getFloatFormat(node.op->getResult(0).getType())
                       : FloatType();
  auto format = type ? numerics::formatOf(type.getFloatSemantics()) : std::nullopt;
  if (!format)
    return {1, kInfinity, kInfinity, 1}; // nothing is known of how it computes
  const numerics::FormatInfo &info = numerics::info(*format);
  return {info.unitRoundoff, info.minNormal, 2 * info.underflowUnit * info.maxFinite,
          std::max(2 * info.unitRoundoff, kFunctionError)};
}

//===-- index maps --------------------------------------------------------------------------===//

bool Lemmas::liesInGroup(const View &element, const View &statistic,
                         const ValueNode &reduction) const {
  MLIRContext *context = reduction.op->getContext();
  unsigned rank = values.get(element).sizes.size(), kept = 0;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (!(reduction.reduced >> dim & 1) &&
        coordinate(statistic, kept++, context) != coordinate(element, dim, context))
      return false;
  return true;
}

std::optional<std::pair<View, View>> Lemmas::beforeReshape(const View &reshaped,
                                                           const View &other) const {
  const ValueNode &reshape = values.get(reshaped);
  if (reshape.kind != NodeKind::Moved || !reshape.isWhole || values.get(other).sizes.empty())
    return std::nullopt;
  // The other one, from the index at which the reshape is seen.
  View there = other;
  if (other.map == reshaped.map) {
    there.map = {};
  } else if (AffineMap map = reshaped.map) {
    AffineMap back = map.isPermutation() ? inversePermutation(map) : AffineMap();
    if (!back)
      return std::nullopt;
    there.map = canonicalMap(other.map ? other.map.compose(back) : back);
  }
  View before = values.beforeReshape(reshape, there);
  return before ? std::optional(std::pair(reshape.operands[0], before)) : std::nullopt;
}

//===-- order -------------------------------------------------------------------------------===//

bool Lemmas::isAtLeast(const View &b, const View &a, Lemmas::FactsOf facts, unsigned depth) const {
  if (!a || !b || depth > kMaxLemmaDepth)
    return false;
  const ValueNode &node = values.get(b);
  const ValueNode &other = values.get(a);
  auto isExtremumOf = [&](const ValueNode &reduction, const View &statistic, const View &element,
                          ReduceFn fn) {
    return reduction.kind == NodeKind::Reduce && reduction.isWhole && reduction.reduce == fn &&
           reduction.operands[0].node == element.node && liesInGroup(element, statistic, reduction);
  };
  if (isExtremumOf(node, b, a, ReduceFn::Max) || isExtremumOf(other, a, b, ReduceFn::Min))
    return true;
  if (auto before = beforeReshape(b, a))
    return isAtLeast(before->first, before->second, facts, depth + 1);
  if (auto before = beforeReshape(a, b)) // of a minimum
    return isAtLeast(before->second, before->first, facts, depth + 1);
  if (node.kind != NodeKind::Binary)
    return false;
  for (unsigned operand : {0u, 1u}) {
    View inner = values.compose(b, node.operands[operand]);
    NodeId rest = node.operands[1 - operand].node;
    const FloatFacts *known = facts(node.operands[operand].node);
    bool keepsNaN = node.binary == BinaryFn::Maximum ||
                    (node.binary == BinaryFn::MaxNum && known && !known->mayNaN);
    bool adds = node.binary == BinaryFn::Add && isNonNegative(facts(rest));
    if ((keepsNaN || adds) && (inner == a || isAtLeast(inner, a, facts, depth + 1)))
      return true;
  }
  return false;
}

//===-- the other lemmas --------------------------------------------------------------------===//

Lemmas::ShiftedSum Lemmas::findShiftedSum(NodeId id, Lemmas::FactsOf facts) const {
  const ValueNode &sum = values[id];
  if (sum.kind != NodeKind::Reduce || !sum.isWhole || sum.reduce != ReduceFn::Sum || sum.count < 1)
    return ShiftedSum::None;
  const ValueNode &term = values.get(sum.operands[0]);
  if (term.kind != NodeKind::Unary || term.unary != UnaryFn::Exp)
    return ShiftedSum::None;
  const ValueNode &shifted = values.get(term.operands[0]);
  if (shifted.kind != NodeKind::Binary || shifted.binary != BinaryFn::Sub || term.operands[0].map)
    return ShiftedSum::None;
  const View &x = shifted.operands[0];
  View c = shifted.operands[1];
  const ValueNode *max = &values.get(c);
  ShiftedSum found = ShiftedSum::AtLeastOne;
  // A maximum that starts from a number which no x, or no finite x, is below.
  if (max->kind == NodeKind::Binary && max->binary == BinaryFn::Maximum) {
    const FloatFacts *known = facts(x.node);
    const bool startsLeft = values.constantOf(max->operands[0].node).has_value();
    auto start = values.constantOf(max->operands[startsLeft ? 0 : 1].node);
    FloatType type = getFloatFormat(shifted.op->getResult(0).getType());
    auto format = type ? numerics::formatOf(type.getFloatSemantics()) : std::nullopt;
    if (!start || !format)
      return ShiftedSum::None;
    if (!known || !(known->range.lo >= *start)) {
      if (!(*start <= -numerics::info(*format).maxFinite))
        return ShiftedSum::None;
      found = ShiftedSum::AtLeastOneOrZero;
    }
    c = values.compose(c, max->operands[startsLeft ? 1 : 0]);
    max = &values.get(c);
  }
  // Whole groups of the maximum lie in each group of the sum.
  bool holds = !x.map && max->kind == NodeKind::Reduce && max->isWhole &&
               max->reduce == ReduceFn::Max && max->operands[0].node == x.node &&
               (max->reduced & ~sum.reduced) == 0 && liesInGroup(x, c, *max);
  return holds ? found : ShiftedSum::None;
}

ChoiceBound Lemmas::choose(NodeId id, Lemmas::FactsOf facts) const {
  using P = arith::CmpFPredicate;
  const ValueNode &node = values[id];
  ChoiceBound bound;
  if (node.kind != NodeKind::Select || values.get(node.operands[0]).kind != NodeKind::Compare)
    return bound;
  const ValueNode &comparison = values.get(node.operands[0]);
  View a = values.compose(node.operands[0], comparison.operands[0]);
  View b = values.compose(node.operands[0], comparison.operands[1]);
  P predicate = comparison.predicate;
  bool holdsForNaN =
      llvm::is_contained({P::UGT, P::UGE, P::ULT, P::ULE, P::UEQ, P::UNE, P::UNO}, predicate);
  bool isGreater = llvm::is_contained({P::OGT, P::UGT, P::OGE, P::UGE}, predicate);
  bool isLess = llvm::is_contained({P::OLT, P::ULT, P::OLE, P::ULE}, predicate);
  // x is greater (or smaller) than `other` or equal to it, unless one is NaN.
  auto beside = [&](const View &other, bool greater, bool decidesNaN) {
    const FloatFacts *known = facts(other.node);
    if (!known || known->isBottom() || (decidesNaN && known->mayNaN))
      return Interval::top();
    return greater ? Interval{known->range.lo, kInfinity} : Interval{-kInfinity, known->range.hi};
  };
  auto constrain = [&](const View &chosen, bool holds, Interval &range, bool &isNumber) {
    bool isA = chosen == a, isB = chosen == b;
    if (!isA && !isB)
      return;
    // NaN does not satisfy some predicates: where one of those holds, neither operand is NaN, and
    // so on.
    isNumber =
        holds != holdsForNaN &&
        (isGreater || isLess || predicate == P::OEQ || predicate == P::UNE || predicate == P::ORD ||
         predicate == P::UNO || predicate == P::ONE || predicate == P::UEQ);
    if (isGreater || isLess)
      range = beside(isA ? b : a, (isGreater == holds) == isA, holds == holdsForNaN);
  };
  constrain(node.operands[1], true, bound.ifTrue, bound.trueIsNumber);
  constrain(node.operands[2], false, bound.ifFalse, bound.falseIsNumber);
  return bound;
}

void Lemmas::conclude(NodeId id, Lemmas::FactsOf facts, SmallVectorImpl<LemmaBound> &bounds) const {
  const ValueNode &node = values[id];
  auto add = [&](Lemma lemma, Interval range) {
    LemmaBound bound;
    bound.lemma = lemma;
    bound.range = range;
    for (const View &operand : node.operands)
      bound.premises.push_back(operand.node);
    bounds.push_back(std::move(bound));
  };
  if (node.kind == NodeKind::Reduce) {
    if (findShiftedSum(id, facts) == ShiftedSum::AtLeastOne)
      add(Lemma::ShiftedExponentials, {exact ? 1 : 1 - kFunctionError, kInfinity});
    return;
  }
  if (node.kind != NodeKind::Binary)
    return;
  switch (node.binary) {
  case BinaryFn::Sub: {
    const View &a = node.operands[0], &b = node.operands[1];
    if (values.areEqual(a, b))
      return add(Lemma::SelfDifference, Interval::point(0));
    if (isAtLeast(b, a, facts))
      add(Lemma::GroupMaximum, {-kInfinity, 0});
    if (isAtLeast(a, b, facts))
      add(Lemma::GroupMaximum, {0, kInfinity});
    return;
  }
  case BinaryFn::Mul:
  case BinaryFn::Div: return concludeQuotient(id, facts, bounds);
  default: return;
  }
}
