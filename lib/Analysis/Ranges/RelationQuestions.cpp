// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of the numbers that Relations.cpp gives.

#include "mp/Analysis/Relations.h"

using namespace mlir;
using namespace mlir::mp;

bool Relations::isGroupMax(Value max, Value x) const {
  const Expression *e = &get(max);
  if (e->kind == Kind::AtLeast)
    e = &expressions[e->a];
  return e->kind == Kind::Max && numberOf(x) && e->a == numberOf(x);
}

std::optional<std::pair<unsigned, unsigned>> Relations::comparedBy(Value truth) const {
  const Expression &e = get(truth);
  return e.kind == Kind::InOrder ? std::optional(std::pair(e.a, e.b)) : std::nullopt;
}

std::optional<Relations::Largest> Relations::largestOf(unsigned bound, unsigned x) const {
  const Expression &e = expressions[bound];
  switch (e.kind) {
  case Kind::Plus:
  case Kind::AtLeast: return largestOf(e.a, x);
  case Kind::Scaled: {
    auto inner = largestOf(e.a, x);
    return inner ? std::optional(Largest{inner->factor * e.factor, /*isRounded=*/true})
                 : std::nullopt;
  }
  case Kind::Max:
    if (expressions[e.a].kind == Kind::Abs && expressions[e.a].a == x)
      return Largest{1};
    return std::nullopt;
  default: return std::nullopt;
  }
}

std::optional<Relations::Largest> Relations::largestOf(Value bound, Value x) const {
  return numberOf(x) ? largestOf(numberOf(bound), numberOf(x)) : std::nullopt;
}

std::optional<Relations::Largest> Relations::inverseLargestOf(Value inverse, Value x) const {
  const Expression *e = &get(inverse);
  double numerator = 1;
  if (e->kind == Kind::Scaled) {
    numerator = e->factor;
    e = &expressions[e->a];
  }
  if (e->kind == Kind::Div && scalarOf(e->a))
    numerator *= std::abs(*scalarOf(e->a));
  else if (e->kind != Kind::Reciprocal)
    return std::nullopt;
  auto largest =
      numberOf(x) ? largestOf(e->kind == Kind::Div ? e->b : e->a, numberOf(x)) : std::nullopt;
  return largest ? std::optional(Largest{numerator / largest->factor, /*isRounded=*/true})
                 : std::nullopt;
}

bool Relations::isSumOf(unsigned sum, unsigned x) const {
  const Expression &e = expressions[sum];
  if (e.kind == Kind::Plus || e.kind == Kind::OrNaN)
    return isSumOf(e.a, x);
  return e.kind == Kind::Sum && e.a == x;
}

bool Relations::isSumOf(Value sum, Value x) const {
  return numberOf(x) && isSumOf(numberOf(sum), numberOf(x));
}

bool Relations::isReciprocalOfSumOf(Value inverse, Value x) const {
  const Expression &e = get(inverse);
  return numberOf(x) && e.kind == Kind::Reciprocal && isSumOf(e.a, numberOf(x));
}

bool Relations::isSumOfShiftedExp(Value sum) const {
  const Expression *e = &get(sum);
  // The value may be asked for where it was written, not yet where it is read.
  if (e->kind == Kind::Via)
    e = &expressions[e->a];
  if (e->kind != Kind::Sum)
    return false;
  const Expression &exp = expressions[e->a];
  if (exp.kind != Kind::Exp || expressions[exp.a].kind != Kind::Sub)
    return false;
  const Expression &shifted = expressions[exp.a], &max = expressions[shifted.b];
  // The maximum over the same dimensions, or over fewer: each group of the sum has its own.
  return max.kind == Kind::Max && max.a == shifted.a && (max.b & ~e->b) == 0;
}

bool Relations::isMeanOf(unsigned mean, unsigned x) const {
  const Expression &e = expressions[mean];
  if (e.kind == Kind::Rounded || e.kind == Kind::OrNaN)
    return isMeanOf(e.a, x);
  return e.kind == Kind::Scaled && isSumOf(e.a, x);
}

std::optional<Relations::OwnSquares> Relations::asSquares(unsigned value, bool summed,
                                                          int64_t count) const {
  const Expression &e = expressions[value];
  switch (e.kind) {
  case Kind::Rounded:
  case Kind::OrNaN: return asSquares(e.a, summed, count);
  case Kind::Plus: {
    auto inner = asSquares(e.a, summed, count);
    if (inner)
      inner->squares.positive |= !summed && e.factor > 1e-30;
    return inner;
  }
  case Kind::Sum: {
    auto inner = summed ? std::nullopt : asSquares(e.a, true, static_cast<int64_t>(e.factor));
    if (inner)
      inner->squares.loops = e.b;
    return inner;
  }
  case Kind::Scaled: {
    auto inner = asSquares(e.a, summed, count);
    if (inner)
      inner->squares.factor *= e.factor;
    return inner;
  }
  case Kind::Square: return summed ? std::optional(OwnSquares{e.a, {1, count}}) : std::nullopt;
  case Kind::Sub: {
    // mean(x^2) - mean(x)^2 is the mean square of x - mean(x).
    auto squares = asSquares(e.a, summed, count);
    const Expression &b = expressions[e.b];
    const Expression *mean = &expressions[b.a];
    if (mean->kind == Kind::Rounded)
      mean = &expressions[mean->a];
    if (!squares || b.kind != Kind::Square || !isMeanOf(b.a, squares->of) ||
        mean->factor != static_cast<float>(squares->squares.factor))
      return std::nullopt;
    squares->squares.cancels = true;
    auto difference = known.find({Kind::Sub, squares->of, b.a, 0.0, nullptr});
    if (difference == known.end())
      return std::nullopt;
    return OwnSquares{difference->second, squares->squares};
  }
  default: return std::nullopt;
  }
}

std::optional<Relations::Squares> Relations::squaresBehind(Value root, Kind kind, Value x) const {
  const Expression &e = get(root);
  auto squares = e.kind == kind && numberOf(x) ? asSquares(e.a) : std::nullopt;
  return squares && squares->of == numberOf(x) ? std::optional(squares->squares) : std::nullopt;
}

std::optional<Relations::Squares> Relations::rootOfSquares(Value root, Value x) const {
  return squaresBehind(root, Kind::Sqrt, x);
}

std::optional<Relations::Squares> Relations::inverseRootOfSquares(Value inverse, Value x) const {
  return squaresBehind(inverse, Kind::Rsqrt, x);
}
