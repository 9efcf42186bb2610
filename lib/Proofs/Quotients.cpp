// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// |a| over what dominates it: a sum of squares it is a term of, a norm, a largest magnitude.

#include "Relations.h"

using namespace mlir;
using namespace mlir::mp::proofs;
using Kind = Unfolded::Kind;

static constexpr unsigned kMostQuotientDepth = 10;
/// Covers the roundings of the bounds' own computation.
static constexpr double kOwnSlack = 0x1p-40;

static Format formatOrNothing(Type type) {
  return formatOf(type).value_or(Format{1, kInf, kInf, nullptr});
}
static double functionSlack(const Format &format) {
  return std::max(kFunctionSlack, 2 * format.unit);
}
/// Bounds how much a product of a finite number with one that was flushed may miss.
static double flushed(const Format &format) {
  return format.largest * 2 * format.normal * format.unit;
}

Element Relations::withoutSign(Element element) {
  for (unsigned depth = 0; depth < kMostQuotientDepth; ++depth) {
    element = elements.resolve(element);
    Unfolded outer = elements.unfold(element);
    bool isSign = outer.kind == Kind::Apply &&
                  (outer.fn == Function::Negate || outer.fn == Function::Absolute);
    if (!isSign)
      break;
    element = outer.operands[0];
  }
  return element;
}

//===-- domination ----------------------------------------------------------------------------===//

/// b times at least `by`, rounded in `format`.
static std::optional<Domination> scaled(std::optional<Domination> b, double by,
                                        const Format &format, double least) {
  if (!b || !(by > 0) || !(by < kInf))
    return std::nullopt;
  if (b->isRooted) {
    double before = least * by, lost = before > 0 ? format.normal / before : kInf;
    if (!(lost < 0x1p-20))
      return std::nullopt;
    b->factor *= by * by;
    b->absolute *= by * by;
    b->slack += 2 * (format.unit + lost);
    return b;
  }
  b->factor *= by;
  b->slack += format.unit;
  b->absolute = b->absolute * by + format.normal;
  return b;
}

std::optional<Domination> Relations::dominatesReduce(const Element &whole, const Unfolded &b,
                                                     const Element &a, Substitution &values,
                                                     ArrayRef<unsigned> open, unsigned depth) {
  bool sums = b.fn == Function::Add;
  // One that drops NaN is no smaller than any element that is a number; of NaN nothing is said.
  if (!sums && b.fn != Function::Max && b.fn != Function::MaxNumber)
    return std::nullopt;
  const Element &term = b.operands[0];
  if (sums && (!factsOf(term).isNonNegative() ||
               (b.operands.size() > 1 && !factsOf(b.operands[1]).isNonNegative())))
    return std::nullopt;
  SmallVector<unsigned, 4> all(open);
  llvm::append_range(all, b.bound);
  std::optional<Domination> found = dominates(term, a, values, all, depth + 1);
  if (!found || !sums || found->isRooted)
    return found;
  if (auto count = elements.countSteps(b.bound)) {
    Substitution steps;
    for (unsigned symbol : b.bound)
      if (auto at = values.find(symbol); at != values.end())
        steps[symbol] = at->second;
    found->sum = Domination::Sum{b.bound, steps, *count, formatOrNothing(b.type).unit, whole};
  }
  return found;
}

std::optional<Domination> Relations::dominatesProduct(const Unfolded &b, const Element &a,
                                                      Substitution &values, ArrayRef<unsigned> open,
                                                      unsigned depth) {
  Format format = formatOrNothing(b.type);
  bool divides = b.fn == Function::Div;
  for (unsigned side : {0u, 1u}) {
    if (divides && side == 1)
      break;
    Facts scale = factsOf(b.operands[1 - side]), known = factsOf(b.operands[side]);
    if (!(scale.low > 0) || !known.isNonNegative())
      continue;
    double by = divides ? 1 / scale.high * (1 - kOwnSlack) : scale.low;
    if (auto found = dominates(b.operands[side], a, values, open, depth + 1)) {
      found = scaled(found, by, format, known.low);
      if (found && found->sum && found->isRooted)
        found->sum->unit = std::max(found->sum->unit, format.unit);
      return found;
    }
  }
  // A square: both operands are a, whatever their signs.
  if (divides)
    return std::nullopt;
  Substitution before = values;
  if (elements.match(withoutSign(b.operands[0]), a, values, open) &&
      elements.match(withoutSign(elements.substitute(b.operands[1], values)), a, values, open))
    return Domination{1, 2, format.unit, format.normal, false, {}};
  values = before;
  return std::nullopt;
}

/// Returns what the root of `squared` dominates.
static std::optional<Domination> rootOf(std::optional<Domination> squared, const Format &format) {
  if (!squared || squared->isRooted || squared->power != 2)
    return std::nullopt;
  squared->isRooted = true;
  squared->slack += 2 * functionSlack(format);
  return squared;
}

std::optional<Domination> Relations::dominates(const Element &givenB, const Element &a,
                                               Substitution &values, ArrayRef<unsigned> open,
                                               unsigned depth) {
  if (depth > kMostQuotientDepth)
    return std::nullopt;
  Element resolved = elements.resolve(givenB);
  Substitution before = values;
  if (factsOf(resolved).isNonNegative() && elements.match(resolved, a, values, open))
    return Domination();
  values = before;
  Unfolded b = elements.unfold(resolved);
  auto inner = [&](unsigned operand) {
    return dominates(b.operands[operand], a, values, open, depth + 1);
  };
  if (b.kind == Kind::Reduce)
    return dominatesReduce(resolved, b, a, values, open, depth);
  if (b.kind != Kind::Apply)
    return std::nullopt;
  Format format = formatOrNothing(b.type);
  switch (b.fn) {
  case Function::Absolute: {
    if (elements.match(withoutSign(b.operands[0]), a, values, open))
      return Domination();
    values = before;
    return std::nullopt;
  }
  case Function::Power: {
    Unfolded exponent = elements.unfold(elements.resolve(b.operands[1]));
    if (exponent.kind == Kind::Constant && exponent.constant == 0.5)
      return rootOf(inner(0), format);
    if (exponent.kind != Kind::Constant || exponent.constant != 2 ||
        !elements.match(withoutSign(b.operands[0]), a, values, open))
      return std::nullopt;
    return Domination{1, 2, functionSlack(format), 2 * format.normal, false, {}};
  }
  case Function::Sqrt: return rootOf(inner(0), format);
  case Function::Narrow: {
    auto found = scaled(inner(0), 1, format, factsOf(b.operands[0]).low);
    return scaled(found, 1, format, factsOf(b.operands[0]).low);
  }
  case Function::Clamp: {
    Facts known = factsOf(b.operands[0]);
    return !known.mayBeNaN && known.high <= b.high ? inner(0) : std::nullopt;
  }
  case Function::Select:
    for (unsigned guard : {1u, 2u}) {
      Unfolded constant = elements.unfold(elements.resolve(b.operands[guard]));
      if (constant.kind == Kind::Constant && std::isnan(constant.constant))
        return inner(3 - guard);
    }
    return std::nullopt;
  case Function::Add:
    for (unsigned side : {0u, 1u})
      if (factsOf(b.operands[1 - side]).isNonNegative())
        if (auto found = inner(side))
          return found;
    return std::nullopt;
  case Function::Sub: return factsOf(b.operands[1]).high <= 0 ? inner(0) : std::nullopt;
  case Function::Max:
  case Function::MaxNumber:
    for (unsigned side : {0u, 1u})
      if (b.fn == Function::Max || !factsOf(b.operands[side]).mayBeNaN)
        if (auto found = inner(side))
          return found;
    return std::nullopt;
  case Function::Mul:
  case Function::Div: return dominatesProduct(b, a, values, open, depth);
  default: return std::nullopt;
  }
}

//===-- quotients -----------------------------------------------------------------------------===//

/// The largest |a| / b, or |a| / sqrt(b), for b of at least `least`.
static std::optional<double> largestRatio(const Domination &d, double least, bool underRoot) {
  bool fits = d.power == 2 ? d.isRooted != underRoot : !underRoot && !d.isRooted;
  if (!fits || !(d.slack < 0.5) || !(d.factor > 0))
    return std::nullopt;
  least = std::max(least, 0.0);
  if (d.isRooted)
    least *= least * (1 - kOwnSlack);
  if (d.absolute > 0 && !(least > 0))
    return std::nullopt;
  double lost = d.absolute > 0 ? d.absolute / least : 0;
  double ratio = (1 + lost) / (d.factor * (1 - d.slack)) * (1 + kOwnSlack);
  return d.power == 2 ? std::sqrt(ratio) * (1 + kOwnSlack) : ratio;
}

std::optional<Relations::Ratio> Relations::overDenominator(const Element &b, const Element &a,
                                                           bool underRoot,
                                                           std::optional<unsigned> rowSymbol) {
  Substitution values;
  auto found = dominates(b, a, values, {}, 0);
  if (!found)
    return std::nullopt;
  double least = factsOf(b).low;
  auto bound = largestRatio(*found, least, underRoot);
  if (!bound)
    return std::nullopt;
  Ratio ratio{*bound, kInf};
  // Along a row, a runs through distinct terms of one sum: some symbol of the sum is the row's, and
  // the sum stays the same.
  if (found->sum && rowSymbol && !elements.dependsOn(found->sum->whole, *rowSymbol)) {
    bool runs = llvm::any_of(
        found->sum->found, [&](auto &step) { return step.second == elements.symbol(*rowSymbol); });
    Domination all = *found;
    all.absolute *= all.sum->count;
    all.slack += 2 * all.sum->count * all.sum->unit;
    if (runs)
      ratio.norm = largestRatio(all, least, underRoot).value_or(kInf);
  }
  return ratio;
}

std::optional<Relations::Ratio> Relations::timesInverse(const Element &given, const Element &a,
                                                        std::optional<unsigned> rowSymbol,
                                                        unsigned depth) {
  Element inverse = elements.resolve(given);
  Unfolded outer = elements.unfold(inverse);
  if (depth > kMostQuotientDepth || outer.kind != Kind::Apply)
    return std::nullopt;
  // One that overflows is infinite before it is multiplied. One over zero may be: what zero
  // dominates is zero as well, and the product NaN.
  bool isOneOver = outer.fn == Function::Reciprocal;
  if (outer.fn == Function::Div) {
    Unfolded one = elements.unfold(elements.resolve(outer.operands[0]));
    isOneOver = one.kind == Kind::Constant && one.constant == 1;
  }
  if (factsOf(inverse).mayBeInfinite &&
      !(isOneOver && isShiftedSum(outer.operands.back(), /*orZero=*/true)))
    return std::nullopt;
  Format format = formatOrNothing(outer.type);
  auto times = [&](std::optional<Ratio> ratio, double by) -> std::optional<Ratio> {
    if (!ratio || !(by < kInf))
      return std::nullopt;
    // The part of an inverse that is flushed counts times the largest number.
    double length = rowSymbol ? double(elements.sizeOf(*rowSymbol).number) : 1;
    return Ratio{ratio->bound * by + flushed(format),
                 ratio->norm * by + std::sqrt(std::max(length, 1.0)) * flushed(format)};
  };
  auto over = [&](unsigned operand, bool underRoot, double numerator, double slack) {
    return times(overDenominator(outer.operands[operand], a, underRoot, rowSymbol),
                 numerator * (1 + slack));
  };
  switch (outer.fn) {
  case Function::Reciprocal: return over(0, false, 1, functionSlack(format));
  case Function::Rsqrt: return over(0, true, 1, functionSlack(format));
  case Function::Div: return over(1, false, factsOf(outer.operands[0]).magnitude(), format.unit);
  case Function::Power: {
    Unfolded exponent = elements.unfold(elements.resolve(outer.operands[1]));
    return exponent.kind == Kind::Constant && exponent.constant == -0.5
               ? over(0, true, 1, functionSlack(format))
               : std::nullopt;
  }
  case Function::Narrow:
    return times(timesInverse(outer.operands[0], a, rowSymbol, depth + 1), 1 + 2 * format.unit);
  case Function::Select:
    for (unsigned guard : {1u, 2u}) {
      Unfolded constant = elements.unfold(elements.resolve(outer.operands[guard]));
      if (constant.kind == Kind::Constant && std::isnan(constant.constant))
        return timesInverse(outer.operands[3 - guard], a, rowSymbol, depth + 1);
    }
    return std::nullopt;
  case Function::Mul:
    for (unsigned side : {0u, 1u}) {
      Facts rest = factsOf(outer.operands[1 - side]);
      if (!rest.isBounded())
        continue;
      if (auto ratio = timesInverse(outer.operands[side], a, rowSymbol, depth + 1))
        return times(ratio, rest.magnitude() * (1 + format.unit));
    }
    return std::nullopt;
  default: return std::nullopt;
  }
}

void Relations::concludeQuotient(const Element &generic, const Unfolded &outer,
                                 SmallVectorImpl<Conclusive> &found) {
  Format format = formatOrNothing(outer.type);
  bool divides = outer.fn == Function::Div;
  std::optional<unsigned> rowSymbol;
  AffineExpr row;
  if (auto structured = enclosingStructured(generic.value)) {
    if (auto loop = rowLoopOf(structured))
      row = generic.at[*loop];
  } else if (!generic.at.empty()) {
    row = generic.at.back();
  }
  if (auto symbol = dyn_cast_or_null<AffineDimExpr>(row))
    rowSymbol = symbol.getPosition();
  auto tryNumerator = [&](const Element &numerator, double rest, unsigned other) {
    Element a = withoutSign(numerator);
    auto ratio = divides ? overDenominator(outer.operands[other], a, false, rowSymbol)
                         : timesInverse(outer.operands[other], a, rowSymbol, 0);
    if (!ratio)
      return;
    double length = rowSymbol ? double(elements.sizeOf(*rowSymbol).number) : 1;
    Conclusive conclusion;
    conclusion.lemma = "dominated-quotient";
    conclusion.high = ratio->bound * rest * (1 + format.unit) + flushed(format);
    bool isPositive = divides && rest == 1 && factsOf(numerator).isNonNegative();
    conclusion.low = isPositive ? 0 : -conclusion.high;
    conclusion.norm =
        ratio->norm * rest * (1 + format.unit) + std::sqrt(std::max(length, 1.0)) * flushed(format);
    conclusion.basis = used;
    found.push_back(conclusion);
  };
  for (unsigned side : {0u, 1u}) {
    if (divides && side == 1)
      break;
    const Element &whole = outer.operands[side];
    tryNumerator(whole, 1, 1 - side);
    // (a g) over b with g bounded: a product that overflows is infinite before it is divided.
    Unfolded product = elements.unfold(elements.resolve(whole));
    if (product.kind != Kind::Apply || product.fn != Function::Mul || factsOf(whole).mayBeInfinite)
      continue;
    for (unsigned factor : {0u, 1u})
      if (Facts rest = factsOf(product.operands[1 - factor]); rest.isBounded())
        tryNumerator(product.operands[factor],
                     rest.magnitude() * (1 + formatOrNothing(product.type).unit), 1 - side);
  }
}
