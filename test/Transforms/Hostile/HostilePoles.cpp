// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Poles: a contraction's factors are bounded and it computes narrow, but what reads it has a pole
// or an overflow near its result, where rounding or underflow of the factors may take it.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;

/// A contraction with proved factors, whose result may lie close to any number up to `limit`.
static Value product(ClaimWriter &b, double limit = 4) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(-limit, limit));
  return b.matmul(x, b.weights({inner, 3}));
}

/// Factors that are finite in a narrow format, and zero there.
static Value small(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(0, 1e-6));
  return b.matmul(x, b.constant({inner, 1}, SmallVector<double>(inner, 0x1p-10)));
}

static constexpr StringLiteral kPole[] = {"nothing guards the pole"};
static bool isOpen(ClaimWriter &b) { return b.breaks(kPole[0]); }

/// y / (A B)
static Value quotient(ClaimWriter &b) {
  Value of = b.oneIn(2) ? small(b) : product(b);
  return b.div(1.0, isOpen(b) ? of : b.add(b.square(of), 1.0));
}

/// log (A B), rsqrt (A B)
static Value logarithm(ClaimWriter &b) {
  Value of = b.oneIn(2) ? small(b) : b.abs(product(b));
  of = isOpen(b) ? of : b.add(b.abs(of), 1.0);
  return b.oneIn(2) ? b.log(of) : b.rsqrt(of);
}

/// sqrt (1 - cos^2)
static Value rootOfDifference(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner});
  Value length = b.rsqrt(b.add(b.reduce(Fn::Add, b.square(x), {1}), 1e-12));
  Value unit = b.mul(x, b.spread(length, x, {1}));
  Value cosine = b.matmulTransposed(unit, unit);
  Value rest = b.sub(1.0, b.square(cosine));
  return b.sqrt(isOpen(b) ? rest : b.max(rest, 0.0));
}

/// e^(A B) where that nearly overflows, and roots as powers
static Value exponential(ClaimWriter &b) {
  Value of = product(b, 22.18); // 88.72 for four: e^88.72 is finite, e^88.75 is not
  if (!isOpen(b))
    of = b.min(b.abs(of), 5.0);
  return b.oneIn(2) ? b.exp(of) : b.apply(Fn::Pow, {of, 0.5});
}

/// 1 / (A B - C D), the same but for rounding
static Value cancelled(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(-4, 4)), y = b.argument({rows, inner}, Bounds(-4, 4));
  Value w = b.weights({inner, 3});
  Value difference = b.sub(b.matmul(x, w), b.matmul(y, w));
  return b.reciprocal(isOpen(b) ? difference : b.add(b.abs(difference), 1.0));
}

/// A norm without epsilon of rows that may become zero
static Value normOfSmall(ClaimWriter &b) {
  Value of = small(b);
  Value length = b.sqrt(b.reduce(Fn::Add, b.square(of), {1}));
  return b.div(of, b.spread(isOpen(b) ? length : b.add(length, 1.0), of, {1}));
}

/// x / (x 1): a sum as a product with ones
static Value shareByProduct(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(0, b.pick({1e-6, 1e-4, 1.0})));
  Value sum = b.matmul(x, b.constant({inner, 1}, SmallVector<double>(inner, 1)));
  if (!isOpen(b))
    sum = b.add(sum, 1.0);
  Value divisor =
      b.getSpelling() == Spelling::Tosa ? sum : b.spread(b.reshape(sum, {rows}), x, {1});
  return b.div(x, divisor);
}

void mlir::mp::test::addPoles(std::vector<HostileFamily> &families) {
  auto add = [&](StringLiteral name, Value (*write)(ClaimWriter &)) {
    families.push_back({name, write, {kPole}, /*isPole=*/true});
  };
  add("quotient by a product", quotient);
  add("logarithm of a product", logarithm);
  add("root of a difference", rootOfDifference);
  add("exponential of a product", exponential);
  add("reciprocal of a difference of products", cancelled);
  add("norm of a small product", normOfSmall);
  add("part of a sum by a product", shareByProduct);
}
