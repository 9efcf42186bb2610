// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether two elements are one: they unfold to the same ops on the same elements, for some
// values of the symbols that a reduction runs over, each of which lies in its range.

#include "Elements.h"

using namespace mlir;
using namespace mlir::mp::proofs;

static constexpr unsigned kMostMatchDepth = 24;
static constexpr unsigned kMostMatchSteps = 20000;

std::optional<double> Elements::countSteps(ArrayRef<unsigned> symbols) const {
  double count = 1;
  for (unsigned symbol : symbols) {
    if (ShapedType::isDynamic(sizes[symbol].number))
      return std::nullopt;
    count *= double(sizes[symbol].number);
  }
  return count;
}

std::optional<std::pair<int64_t, int64_t>> Elements::boundsOf(AffineExpr expr) {
  constexpr int64_t most = int64_t(1) << 40;
  auto within = [&](int64_t low, int64_t high) {
    return low < -most || high > most ? std::nullopt : std::optional(std::pair(low, high));
  };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return within(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t size = sizes[dim.getPosition()].number;
    return ShapedType::isDynamic(size) ? std::nullopt : within(0, std::max<int64_t>(size - 1, 0));
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto a = binary ? boundsOf(binary.getLHS()) : std::nullopt;
  auto b = binary ? boundsOf(binary.getRHS()) : std::nullopt;
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add: return within(a->first + b->first, a->second + b->second);
  case AffineExprKind::Mul: {
    if (b->first != b->second || std::abs(b->first) > (1 << 20))
      return std::nullopt;
    int64_t x = a->first * b->first, y = a->second * b->first;
    return within(std::min(x, y), std::max(x, y));
  }
  case AffineExprKind::Mod: return within(0, b->second - 1);
  case AffineExprKind::FloorDiv:
    return b->first == b->second && b->first > 0
               ? within(llvm::divideFloorSigned(a->first, b->first),
                        llvm::divideFloorSigned(a->second, b->first))
               : std::nullopt;
  default: return std::nullopt;
  }
}

bool Elements::isInRange(AffineExpr expr, const Size &size) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && sizes[dim.getPosition()] == size)
    return true;
  auto bounds = boundsOf(expr);
  return bounds && !ShapedType::isDynamic(size.number) && bounds->first >= 0 &&
         bounds->second < size.number;
}

static AffineExpr replace(AffineExpr expr, const Substitution &values) {
  DenseMap<AffineExpr, AffineExpr> map;
  for (auto [position, value] : values)
    map[getAffineDimExpr(position, expr.getContext())] = value;
  return expr.replace(map);
}

Element Elements::substitute(Element element, const Substitution &values) {
  if (!values.empty())
    for (AffineExpr &index : element.at)
      index = simplify(replace(index, values));
  return element;
}

bool Elements::dependsOn(const Element &element, unsigned symbol) {
  return llvm::any_of(element.at, [&](AffineExpr index) { return index.isFunctionOfDim(symbol); });
}

bool Elements::matchIndex(AffineExpr pattern, AffineExpr target, Substitution &values,
                          ArrayRef<unsigned> open) {
  pattern = simplify(values.empty() ? pattern : replace(pattern, values));
  target = simplify(target);
  if (pattern == target)
    return true;
  // Solve for an open symbol of coefficient one: pattern = symbol + rest.
  for (unsigned position : open) {
    if (values.contains(position) || !pattern.isFunctionOfDim(position))
      continue;
    AffineExpr itself = symbol(position);
    AffineExpr rest = simplify(pattern - itself);
    AffineExpr value = simplify(target - rest);
    if (rest.isFunctionOfDim(position) || !isInRange(value, sizes[position]))
      continue;
    values[position] = value;
    return true;
  }
  return false;
}

/// Adds the terms of a sum, each times `by`: floor(a / s) is (a - a mod s) / s, and a mod s that of
/// the terms that are no multiples of s.
void Elements::addTerms(AffineExpr expr, int64_t by, Terms &terms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto number = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  auto kind = expr.getKind();
  if (binary && kind == AffineExprKind::Add) {
    addTerms(binary.getLHS(), by, terms);
    return addTerms(binary.getRHS(), by, terms);
  }
  if (number && kind == AffineExprKind::Mul)
    return addTerms(binary.getLHS(), by * number.getValue(), terms);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    terms[getAffineConstantExpr(1, context)] += by * constant.getValue();
    return;
  }
  bool isPositive = number && number.getValue() > 0;
  bool isQuotient = isPositive && kind == AffineExprKind::FloorDiv && by % number.getValue() == 0;
  bool isRemainder = isPositive && kind == AffineExprKind::Mod;
  if (!isQuotient && !isRemainder) {
    terms[expr] += by;
    return;
  }
  int64_t times = isQuotient ? by / number.getValue() : by;
  AffineExpr rest = remainder(binary.getLHS(), number.getValue());
  if (isQuotient)
    addTerms(binary.getLHS(), times, terms);
  if (rest.getKind() == AffineExprKind::Mod)
    terms[rest] += isQuotient ? -times : times;
  else
    addTerms(rest, isQuotient ? -times : times, terms);
}

/// Compares places in row-major order, of elements of one tensor of known sizes. Behind a reshape
/// an index is a quotient and a remainder, which together are the place.
bool Elements::matchPlace(const Element &pattern, const Element &target, Substitution &values,
                          ArrayRef<unsigned> open) {
  auto type = dyn_cast<RankedTensorType>(pattern.value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() != int64_t(pattern.at.size()))
    return false;
  Terms apart; // of the target, less those of the pattern
  int64_t stride = 1;
  for (int64_t dim = type.getRank(); dim-- > 0; stride *= type.getDimSize(dim)) {
    addTerms(simplify(target.at[dim]), stride, apart);
    addTerms(simplify(replace(pattern.at[dim], values)), -stride, apart);
  }
  apart.remove_if([](const auto &term) { return term.second == 0; });
  if (apart.empty())
    return true;
  for (unsigned position : open) {
    auto itself = apart.find(symbol(position));
    if (values.contains(position) || itself == apart.end() || itself->second != -1)
      continue;
    AffineExpr value = getAffineConstantExpr(0, context);
    for (auto [term, times] : apart)
      if (term != symbol(position))
        value = value + term * times;
    if (value.isFunctionOfDim(position) || !isInRange(value, sizes[position]))
      continue;
    values[position] = value;
    return true;
  }
  return false;
}

bool Elements::matchOnce(const Element &givenPattern, const Element &givenTarget,
                         Substitution &values, ArrayRef<unsigned> open, unsigned depth) {
  if (depth > kMostMatchDepth || ++steps > kMostMatchSteps)
    return false;
  Element pattern = resolve(substitute(givenPattern, values)), target = resolve(givenTarget);
  Substitution before = values;
  if (pattern.value == target.value) {
    bool fits = llvm::all_of(llvm::zip_equal(pattern.at, target.at), [&](auto pair) {
      return matchIndex(std::get<0>(pair), std::get<1>(pair), values, open);
    });
    if (fits)
      return true;
    values = before;
    if (matchPlace(pattern, target, values, open))
      return true;
  }
  Unfolded p = unfold(pattern), t = unfold(target);
  bool alike = p.kind == t.kind && p.kind != Unfolded::Kind::Leaf && p.fn == t.fn &&
               getElementTypeOrSelf(p.type) == getElementTypeOrSelf(t.type) &&
               p.operands.size() == t.operands.size() && p.predicate == t.predicate &&
               p.bound.size() == t.bound.size();
  // NaN has no sign or payload that a bound could see.
  bool sameConstant =
      p.constant == t.constant || (std::isnan(p.constant) && std::isnan(t.constant));
  if (!alike || !sameConstant || p.high != t.high)
    return false;
  // The symbols of the pattern's reduction take those of the target's, in their order.
  for (auto [mine, other] : llvm::zip_equal(p.bound, t.bound)) {
    if (!(sizes[mine] == sizes[other]))
      return false;
    values[mine] = symbol(other);
  }
  bool commutes =
      p.kind == Unfolded::Kind::Apply && (p.fn == Function::Add || p.fn == Function::Mul);
  Substitution inside = values;
  auto matchAll = [&](bool swaps) {
    for (unsigned i = 0; i < p.operands.size(); ++i) {
      unsigned j = swaps ? 1 - i : i;
      if (!matchOnce(p.operands[i], t.operands[j], values, open, depth + 1))
        return false;
    }
    return true;
  };
  if (matchAll(false))
    return true;
  values = inside;
  if (commutes && matchAll(true))
    return true;
  values = before;
  return false;
}

bool Elements::match(const Element &pattern, const Element &target, Substitution &values,
                     ArrayRef<unsigned> open) {
  steps = 0;
  Substitution before = values;
  if (matchOnce(pattern, target, values, open, 0))
    return true;
  values = before;
  return false;
}
