// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order between elements: maxima over groups, shifted exponentials, chosen values.

#include "Relations.h"

using namespace mlir;
using namespace mlir::mp::proofs;
using Kind = Unfolded::Kind;

static constexpr unsigned kMostDepth = 8;

Facts Relations::factsOf(const Element &element) {
  Facts known = facts(element.value);
  // Facts of all elements of a tensor hold of those that were moved from it.
  if (known.mayBeInfinite && !known.isBounded())
    if (Facts moved = facts(elements.resolve(element).value); !moved.mayBeInfinite)
      known = moved;
  used.restOn(known);
  return known;
}

static bool isMaximum(Function fn) { return fn == Function::Max || fn == Function::MaxNumber; }
static bool isMinimum(Function fn) { return fn == Function::Min || fn == Function::MinNumber; }

//===-- order ---------------------------------------------------------------------------------===//

/// b >= a wherever both are numbers; b may be NaN only if a is, or if b - a is NaN anyway.
bool Relations::isAtLeast(const Element &givenB, const Element &givenA, unsigned depth) {
  if (depth > kMostDepth)
    return false;
  Element b = elements.resolve(givenB), a = elements.resolve(givenA);
  Substitution values;
  if (elements.match(b, a, values))
    return true;
  Unfolded upper = elements.unfold(b), lower = elements.unfold(a);
  // A maximum over a group is no smaller than any element of the group, whatever it starts from.
  auto liesInGroup = [&](const Unfolded &group, const Element &element) {
    Substitution steps;
    return elements.match(group.operands[0], element, steps, group.bound);
  };
  if (upper.kind == Kind::Reduce && isMaximum(upper.fn) && liesInGroup(upper, a))
    return true;
  if (lower.kind == Kind::Reduce && isMinimum(lower.fn) && liesInGroup(lower, b))
    return true;
  if (upper.kind == Kind::Apply && isMaximum(upper.fn)) {
    for (const Element &operand : upper.operands) {
      Substitution same;
      bool isA = elements.match(operand, a, same);
      // One that drops NaN may drop the larger operand.
      bool keeps = upper.fn == Function::Max || isA || !factsOf(operand).mayBeNaN;
      if (keeps && (isA || isAtLeast(operand, a, depth + 1)))
        return true;
    }
  }
  if (upper.kind == Kind::Apply && upper.fn == Function::Add)
    for (unsigned side : {0u, 1u})
      if (factsOf(upper.operands[1 - side]).isNonNegative() &&
          isAtLeast(upper.operands[side], a, depth + 1))
        return true;
  return false;
}

//===-- shifted exponentials ------------------------------------------------------------------===//

/// True if `sum` adds exp(x - c) over a group, c being the largest x of a part of the group, so
/// that one term is exp(0), or NaN.
bool Relations::isShiftedSum(const Element &sum, bool orZero) {
  Unfolded reduce = elements.unfold(elements.resolve(sum));
  if (reduce.kind != Kind::Reduce || reduce.fn != Function::Add)
    return false;
  if (reduce.operands.size() > 1 && !factsOf(reduce.operands[1]).isNonNegative())
    return false;
  Unfolded term = elements.unfold(elements.resolve(reduce.operands[0]));
  if (term.kind != Kind::Apply || term.fn != Function::Exp)
    return false;
  Unfolded shifted = elements.unfold(elements.resolve(term.operands[0]));
  if (shifted.kind != Kind::Apply || shifted.fn != Function::Sub)
    return false;
  Element x = shifted.operands[0], c = elements.resolve(shifted.operands[1]);
  Unfolded max = elements.unfold(c);
  // The maximum starts from what no x is below, or from minus infinity: if that is the maximum,
  // every x is, and the difference NaN.
  auto startsBelow = [&](const Element &start) {
    Unfolded constant = elements.unfold(elements.resolve(start));
    if (constant.kind != Kind::Constant)
      return false;
    std::optional<Format> format = formatOf(constant.type);
    bool isLowest = orZero && format && constant.constant <= -format->largest;
    return isLowest || constant.constant == -kInf || factsOf(x).low >= constant.constant;
  };
  if (max.kind == Kind::Apply && isMaximum(max.fn)) {
    for (unsigned side : {0u, 1u}) {
      Unfolded inner = elements.unfold(elements.resolve(max.operands[side]));
      if (inner.kind == Kind::Reduce && startsBelow(max.operands[1 - side])) {
        max = inner;
        break;
      }
    }
  }
  if (max.kind != Kind::Reduce || !isMaximum(max.fn))
    return false;
  if (max.operands.size() > 1) {
    if (!startsBelow(max.operands[1]))
      return false;
  } else if (std::optional<Format> format = formatOf(max.type);
             !format || !(orZero || factsOf(x).low >= -format->largest)) {
    return false; // TOSA's begin with the lowest finite number
  }
  // Each element that c may be is the x of some step of the sum, with the same c there.
  Substitution step;
  if (!elements.match(x, max.operands[0], step, reduce.bound))
    return false;
  Element there = elements.substitute(c, step);
  Substitution same;
  // Steps of the sum that c is taken at are any: where c does not depend on them nothing moves.
  return elements.match(there, c, same);
}

//===-- conclusions ---------------------------------------------------------------------------===//

SmallVector<Conclusive, 2> Relations::conclude(Value value) {
  SmallVector<Conclusive, 2> found;
  used = Facts::point(0);
  Element generic = elements.generic(value);
  Element element = elements.resolve(generic);
  Unfolded unfolded = elements.unfold(element);
  auto add = [&](StringRef lemma, double low, double high) {
    Conclusive conclusion;
    conclusion.lemma = lemma;
    conclusion.low = low;
    conclusion.high = high;
    conclusion.basis = used;
    found.push_back(conclusion);
  };
  if (unfolded.kind == Kind::Reduce && isShiftedSum(element, /*orZero=*/false))
    add("shifted-exponentials", 1 - kFunctionSlack, kInf);
  if (unfolded.kind != Kind::Apply)
    return found;
  if (unfolded.fn == Function::Sub) {
    const Element &a = unfolded.operands[0], &b = unfolded.operands[1];
    Substitution values;
    if (elements.match(a, b, values))
      add("self-difference", 0, 0);
    else if (isAtLeast(b, a))
      add("group-maximum", -kInf, 0);
    else if (isAtLeast(a, b))
      add("group-maximum", 0, kInf);
  }
  if (unfolded.fn == Function::Mul || unfolded.fn == Function::Div) {
    // Rows run along the last index of the value, not of what it was moved from.
    concludeQuotient(generic, unfolded, found);
  }
  return found;
}

std::optional<std::pair<Facts, Facts>> Relations::choose(Operation *select) {
  using P = arith::CmpFPredicate;
  used = Facts::point(0);
  Element element = elements.generic(select->getResult(0));
  Unfolded choice = elements.unfold(element);
  if (choice.kind != Kind::Apply || choice.fn != Function::Select)
    return std::nullopt;
  Unfolded compare = elements.unfold(elements.resolve(choice.operands[0]));
  if (compare.kind != Kind::Apply || compare.fn != Function::Compare ||
      !isa_and_nonnull<arith::CmpFOp>(elements.resolve(choice.operands[0]).value.getDefiningOp()))
    return std::nullopt;
  P predicate = compare.predicate;
  bool greater = llvm::is_contained({P::OGT, P::UGT, P::OGE, P::UGE}, predicate);
  bool less = llvm::is_contained({P::OLT, P::ULT, P::OLE, P::ULE}, predicate);
  bool ordered =
      llvm::is_contained({P::OGT, P::OGE, P::OLT, P::OLE, P::OEQ, P::ORD, P::ONE}, predicate);
  bool unordered =
      llvm::is_contained({P::UGT, P::UGE, P::ULT, P::ULE, P::UNE, P::UNO, P::UEQ}, predicate);
  // Returns what operand `side` can be where the predicate holds, or fails.
  auto partOf = [&](unsigned side, const Element &x, bool isMagnitude, bool holds) {
    // On this side of the predicate no operand is NaN, or the known facts exclude it.
    bool excludesNaN = holds ? ordered : unordered;
    bool isAbove = (greater == (side == 0)) == holds;
    Facts part = factsOf(x), other = factsOf(compare.operands[1 - side]);
    part.mayBeNaN &= !excludesNaN;
    if (!(greater || less) || (!excludesNaN && other.mayBeNaN))
      return part;
    if (!isAbove)
      part.high = std::min(part.high, other.high);
    if (!isAbove && isMagnitude)
      part.low = std::max(part.low, -other.high);
    if (isAbove && !isMagnitude)
      part.low = std::max(part.low, other.low);
    part.mayBeInfinite &= !part.isBounded();
    return part;
  };
  auto narrowed = [&](const Element &chosen, bool holds) {
    Facts known = factsOf(chosen);
    for (unsigned side : {0u, 1u}) {
      Element x = elements.resolve(compare.operands[side]);
      Unfolded sized = elements.unfold(x);
      bool isMagnitude = sized.kind == Kind::Apply && sized.fn == Function::Absolute;
      if (isMagnitude)
        x = elements.resolve(sized.operands[0]);
      std::optional<Facts> found =
          over(chosen, x, [&] { return partOf(side, x, isMagnitude, holds); });
      if (!found)
        continue;
      known.low = std::max(known.low, found->low);
      known.high = std::min(known.high, found->high);
      known.mayBeNaN &= found->mayBeNaN;
      known.mayBeInfinite &= found->mayBeInfinite;
    }
    known.mayBeInfinite &= !known.isBounded();
    known.norm = kInf;
    return known;
  };
  Facts yes = narrowed(choice.operands[1], true), no = narrowed(choice.operands[2], false);
  return std::pair(yes.restOn(used), no.restOn(used));
}
