// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The judgement "b dominates |a|^p": a value that a sum of squares, a norm, a maximum of magnitudes
// or an exponential sum was made of, seen through what keeps the order.

#include "LemmaParts.h"
#include "mp/Domains/Infinity.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;
using domains::kInfinity;
using domains::ReduceFn;
using domains::UnaryFn;
using NodeKind = ValueNode::Kind;

/// Bounds of a factor that is known to be positive; nothing if it is not.
static std::optional<Interval> positiveRange(const FloatFacts *facts) {
  if (!facts || facts->isBottom() || !(facts->range.lo > 0))
    return std::nullopt;
  return facts->range;
}

std::optional<Dominance> Lemmas::dominatesTerm(const View &term, const View &a,
                                               Lemmas::FactsOf facts, unsigned depth) const {
  if (depth > kMaxLemmaDepth)
    return std::nullopt;
  const ValueNode &node = values.get(term);
  if (term == a)
    return isNonNegative(facts(a.node)) ? std::optional(Dominance()) : std::nullopt;
  if (node.kind == NodeKind::Unary) {
    View inner = values.stripSign(values.compose(term, node.operands[0]));
    if (inner != a)
      return std::nullopt;
    if (node.unary == UnaryFn::Abs)
      return Dominance();
    if (node.unary == UnaryFn::Square) {
      Rounding rounding = roundingOf(node);
      return Dominance{1, 2, rounding.relative, rounding.smallest};
    }
    return std::nullopt;
  }
  bool isPower = node.kind == NodeKind::Binary && node.binary == BinaryFn::Pow;
  if (isPower && values.constantOf(node.operands[1].node) == 2.0) {
    if (values.stripSign(values.compose(term, node.operands[0])) != a)
      return std::nullopt;
    Rounding rounding = roundingOf(node);
    return Dominance{1, 2, rounding.function, 2 * rounding.smallest};
  }
  bool isProduct = node.kind == NodeKind::Binary && node.binary == BinaryFn::Mul;
  bool isQuotient = node.kind == NodeKind::Binary && node.binary == BinaryFn::Div;
  if (!isProduct && !isQuotient)
    return std::nullopt;
  for (unsigned operand : {0u, 1u}) {
    if (isQuotient && operand == 1)
      break;
    auto scale = positiveRange(facts(node.operands[1 - operand].node));
    if (!scale)
      continue;
    auto inner = dominatesTerm(values.compose(term, node.operands[operand]), a, facts, depth + 1);
    if (inner)
      return scaled(*inner, isProduct ? scale->lo : 1 / scale->hi, node, nullptr);
  }
  return std::nullopt;
}

/// `dominance` of a value that is multiplied by at least `by` in `node`. `before`: what is known of
/// the value.
std::optional<Dominance> Lemmas::scaled(Dominance dominance, double by, const ValueNode &node,
                                        const FloatFacts *before) const {
  Rounding rounding = roundingOf(node);
  if (!(by > 0) || std::isinf(by))
    return std::nullopt;
  if (dominance.isRooted) {
    double least = before ? before->range.lo * by : 0;
    double lost = least > 0 ? rounding.smallest / least : kInfinity;
    if (rounding.smallest > 0 && !(lost < 0x1p-20))
      return std::nullopt;
    dominance.factor *= by * by;
    dominance.absolute *= by * by;
    dominance.slack += 2 * (rounding.relative + (rounding.smallest > 0 ? lost : 0));
    return dominance;
  }
  dominance.factor *= by;
  dominance.slack += rounding.relative;
  dominance.absolute = dominance.absolute * by + rounding.smallest;
  return dominance;
}

std::optional<Dominance> Lemmas::dominatesGroup(const View &b, const View &a,
                                                Lemmas::FactsOf facts) const {
  const ValueNode &reduction = values.get(b);
  bool isSum = reduction.reduce == ReduceFn::Sum;
  if (!reduction.isWhole || (!isSum && reduction.reduce != ReduceFn::Max))
    return std::nullopt;
  View term = reduction.operands[0];
  // In the space of the terms, a is read where it stands.
  if (values.get(a).sizes != values.get(term).sizes || !liesInGroup(a, b, reduction))
    return std::nullopt;
  auto dominance = dominatesTerm(term, {a.node, {}}, facts, 0);
  if (dominance && isSum) {
    dominance->summed = reduction.reduced;
    dominance->count = reduction.count;
  }
  return dominance;
}

std::optional<Dominance> Lemmas::dominatesBefore(const View &b, const View &a,
                                                 Lemmas::FactsOf facts, unsigned depth) const {
  auto before = beforeReshape(b, a);
  if (!before)
    return dominatesTerm(b, a, facts, 0);
  auto found = dominates(before->first, before->second, facts, depth + 1);
  if (found)
    found->summed = 0; // the fibres are those before the reshape
  return found;
}

/// The weaker of two, where both speak alike.
static std::optional<Dominance> weaker(const Dominance &a, const Dominance &b) {
  if (a.power != b.power || a.isRooted != b.isRooted)
    return std::nullopt;
  Dominance result = a;
  result.factor = std::min(a.factor, b.factor);
  result.slack = std::max(a.slack, b.slack);
  result.absolute = std::max(a.absolute, b.absolute);
  result.summed = 0;
  return result;
}

std::optional<Dominance> Lemmas::dominates(const View &b, const View &given, Lemmas::FactsOf facts,
                                           unsigned depth) const {
  if (!given || !b || depth > kMaxLemmaDepth)
    return std::nullopt;
  View a = values.stripSign(given);
  const ValueNode &node = values.get(b);
  auto inner = [&](unsigned operand) {
    return dominates(values.compose(b, node.operands[operand]), a, facts, depth + 1);
  };
  auto factsOf = [&](unsigned operand) { return facts(node.operands[operand].node); };
  auto rootOf = [&](unsigned operand) -> std::optional<Dominance> {
    auto squared = inner(operand);
    if (!squared || squared->isRooted || squared->power != 2)
      return std::nullopt;
    squared->isRooted = true;
    squared->slack += 2 * roundingOf(node).function;
    return squared;
  };
  switch (node.kind) {
  case NodeKind::Reduce: return dominatesGroup(b, a, facts);
  case NodeKind::Unary:
    return node.unary == UnaryFn::Sqrt ? rootOf(0) : dominatesTerm(b, a, facts, 0);
  case NodeKind::Cast: {
    auto before = inner(0);
    const FloatFacts *known = factsOf(0);
    bool saturates = node.value != 0;
    if (!before || saturates || !known)
      return std::nullopt;
    auto rounded = scaled(*before, 1, node, known); // once more: any rounding mode
    return rounded ? scaled(*rounded, 1, node, known) : std::nullopt;
  }
  case NodeKind::Clamp: {
    const FloatFacts *known = factsOf(0);
    return known && !known->mayNaN && known->range.hi <= node.high ? inner(0) : std::nullopt;
  }
  case NodeKind::Select: {
    // A guard gives NaN in place of a statistic of nothing.
    for (unsigned guard : {1u, 2u})
      if (values.get(node.operands[guard]).kind == NodeKind::NaN)
        return inner(3 - guard);
    auto first = inner(1), second = first ? inner(2) : std::nullopt;
    return second ? weaker(*first, *second) : std::nullopt;
  }
  case NodeKind::Moved: return dominatesBefore(b, a, facts, depth);
  case NodeKind::Binary: break;
  default: return dominatesTerm(b, a, facts, 0);
  }
  if (node.binary == BinaryFn::Pow && values.constantOf(node.operands[1].node) == 0.5)
    return rootOf(0); // as exporters of ONNX write it
  for (unsigned operand : {0u, 1u}) {
    const FloatFacts *known = factsOf(operand), *rest = factsOf(1 - operand);
    switch (node.binary) {
    case BinaryFn::Add:
      if (isNonNegative(rest))
        if (auto found = inner(operand))
          return found;
      break;
    case BinaryFn::Sub:
      if (operand == 0 && rest && !rest->isBottom() && rest->range.hi <= 0)
        if (auto found = inner(0))
          return found;
      break;
    case BinaryFn::Maximum:
    case BinaryFn::MaxNum:
      if (node.binary == BinaryFn::Maximum || (known && !known->mayNaN))
        if (auto found = inner(operand))
          return found;
      break;
    case BinaryFn::Mul:
    case BinaryFn::Div:
      if (operand == 1 && node.binary == BinaryFn::Div)
        break;
      if (auto scale = positiveRange(rest); scale && isNonNegative(known))
        if (auto found = inner(operand))
          return scaled(*found, node.binary == BinaryFn::Mul ? scale->lo : 1 / scale->hi, node,
                        known);
      break;
    default: break;
    }
  }
  return dominatesTerm(b, a, facts, 0);
}
