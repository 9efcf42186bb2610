// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions in two pieces, as PReLU, and values that a narrow format makes zero: constant weights,
// and products of what is small.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;
using P = arith::CmpFPredicate;

static constexpr StringLiteral kThresholds[] = {"slope unbounded",
                                                "slope too large",
                                                "threshold of another tensor",
                                                "arms exchanged",
                                                "arm with a pole at the threshold",
                                                "logarithm beyond the threshold",
                                                "jump to an unbounded"};

/// select(x > t, f(x), g(x)): PReLU, ELU, shrinkage and such, whose arms are bounded where they are
/// chosen
static Value inTwoPieces(ClaimWriter &b) {
  auto shape = b.matrix();
  bool isPole = b.breaks("arm with a pole at the threshold"),
       isLog = b.breaks("logarithm beyond the threshold");
  Value x = b.argument(shape, isPole || isLog ? Bounds(-2, 2) : Bounds(-1000, 1000));
  Value of = b.breaks("threshold of another tensor") ? b.another(x) : x;
  P predicate = b.pick({P::OGT, P::OGE, P::UGT, P::UGE});
  auto choose = [&](double threshold, Value above, Value below) {
    Value isAbove = b.compare(predicate, of, threshold);
    return b.breaks("arms exchanged") ? b.select(isAbove, below, above)
                                      : b.select(isAbove, above, below);
  };
  if (b.breaks("slope unbounded")) {
    Value slope = b.spread(b.argument(shape[1]), x, {0});
    return choose(0, x, b.mul(x, b.broadcastTo(slope, shape)));
  }
  if (b.breaks("slope too large"))
    return choose(0, x, b.mul(x, b.pick({70.0, -66.0, 1e6})));
  if (isPole)
    return choose(b.pick({0.0, 1e-6}), b.reciprocal(x), b.mul(x, 0.0));
  if (isLog)
    return choose(b.pick({-1.0, 0.0}), b.rsqrt(x), x);
  if (b.breaks("jump to an unbounded"))
    return choose(0.5, x, b.another(x));
  switch (b.breaks("arms exchanged") ? 0 : b.below(6)) {
  case 0: return choose(0, x, b.apply(Fn::Exp, {b.mul(b.min(x, 9.0), 1.0)}));
  case 1: return choose(0, x, b.mul(x, b.pick({0.25, 0.01, -1.0, 65.0})));
  case 2: return choose(0.5, b.sub(x, 0.5), b.min(b.add(x, 0.5), 0.0)); // soft shrinkage, one side
  case 3: return choose(1e-3, b.min(b.reciprocal(b.max(x, 1e-3)), 1e3), x);
  case 4: return choose(20, x, b.apply(Fn::Log1p, {b.exp(b.min(x, 20.0))})); // softplus
  default: { // PReLU with a slope for each column
    Value slope = b.spread(b.argument(shape[1], Bounds(-2, 2)), x, {0});
    return choose(0, x, b.mul(x, b.broadcastTo(slope, shape)));
  }
  }
}

static constexpr StringLiteral kOpen[] = {"nothing guards the pole"};
static bool isOpen(ClaimWriter &b) { return b.breaks(kOpen[0]); }

/// 1 / y, log y or a root of it, of a y that may have become zero; or of y + 1
static Value reader(ClaimWriter &b, Value of) {
  if (!isOpen(b))
    of = b.add(b.abs(of), 1.0);
  switch (b.below(4)) {
  case 0: return b.reciprocal(of);
  case 1: return b.log(of);
  case 2: return b.rsqrt(of);
  default: return b.div(b.another(of), of);
  }
}

static Value tiny(ClaimWriter &b, ArrayRef<int64_t> shape, std::initializer_list<double> from) {
  SmallVector<double> numbers(ShapedType::getNumElements(shape), b.pick(from));
  return b.constant(shape, numbers);
}

/// x W with weights that f16 makes zero, wholly or in part
static Value vanishingWeights(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(0.5, 2));
  return reader(b, b.matmul(x, tiny(b, {inner, 1}, {1e-9, 2e-8, 2.9e-8, 6e-8, 1e-30})));
}

/// (x W) V with weights that f16 holds, and results that it does not
static Value vanishingProducts(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(b.pick({1e-3, 1e-2}), 0.1));
  Value hidden = b.matmul(x, tiny(b, {inner, 2}, {1e-3, 6e-5}));
  hidden = b.matmul(hidden, tiny(b, {2, 2}, {1e-3, 1e-4}));
  return reader(b, b.oneIn(2) ? hidden : b.matmul(hidden, tiny(b, {2, 1}, {1e-3, 0.1})));
}

/// Shares y / sum y, and norms, of rows that a narrow format may have made zero
static Value shareOfSmall(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(1e-4, 1e-3));
  Value y = b.matmul(x, tiny(b, {inner, 3}, {1e-4, 1e-5, 1e-8}));
  if (b.oneIn(2))
    y = b.square(y);
  Value sum = b.reduce(Fn::Add, y, {1});
  if (!isOpen(b))
    sum = b.add(sum, 1e-3);
  return b.div(y, b.spread(sum, y, {1}));
}

void mlir::mp::test::addThresholds(std::vector<HostileFamily> &families) {
  families.push_back({"function in two pieces", inTwoPieces, {kThresholds}});
  families.push_back({"weights that vanish", vanishingWeights, {kOpen}, /*isPole=*/true});
  families.push_back({"products that vanish", vanishingProducts, {kOpen}, /*isPole=*/true});
  families.push_back({"share of what is small", shareOfSmall, {kOpen}, /*isPole=*/true});
}
