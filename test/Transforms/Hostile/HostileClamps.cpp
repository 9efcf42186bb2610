// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clamps and other selections: what is chosen by a comparison is bounded by what it was compared
// with, if the comparison is of the very value, the right way round, and NaN is thought of.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;
using P = arith::CmpFPredicate;

static constexpr StringLiteral kSelection[] = {"arms exchanged",
                                               "compared with a larger bound",
                                               "compared with another tensor",
                                               "compared with an argument",
                                               "predicate asks for NaN",
                                               "predicate asks for equality",
                                               "predicate always holds",
                                               "one side only",
                                               "bound just too large",
                                               "compared before an update"};

/// select(x > c, c, x) <= c, in each of its spellings
static Value upperBound(ClaimWriter &b, Value x, double bound) {
  Value of = x;
  if (b.breaks("compared with another tensor"))
    of = b.another(x);
  if (b.breaks("compared before an update"))
    x = b.add(x, b.another(x));
  Operand with = bound;
  if (b.breaks("compared with a larger bound"))
    with = 1e6 * std::abs(bound);
  if (b.breaks("compared with an argument"))
    with = b.another(x);
  bool greater = b.oneIn(2);
  P predicate =
      greater ? b.pick({P::OGT, P::OGE, P::UGT, P::UGE}) : b.pick({P::OLT, P::OLE, P::ULT, P::ULE});
  if (b.breaks("predicate asks for NaN"))
    predicate = b.pick({P::ORD, P::UNO});
  if (b.breaks("predicate asks for equality"))
    predicate = b.pick({P::OEQ, P::ONE, P::UEQ, P::UNE});
  if (b.breaks("predicate always holds"))
    predicate = greater ? P::AlwaysFalse : P::AlwaysTrue;
  bool exchanged = b.breaks("arms exchanged");
  Value holds = b.compare(predicate, of, with);
  return greater != exchanged ? b.select(holds, bound, x) : b.select(holds, x, bound);
}

/// select(-x > c, -c, x) after that
static Value clampBySelection(ClaimWriter &b) {
  double bound = b.breaks("bound just too large") ? b.pick({65520.0, 65536.0})
                                                  : b.pick({1.0, 6.0, 1000.0, 65504.0});
  Value x = b.anything();
  Value upper = upperBound(b, x, bound);
  if (b.breaks("one side only"))
    return upper;
  return b.neg(upperBound(b, b.neg(upper), bound));
}

static constexpr StringLiteral kExtrema[] = {
    "one side only",          "extremum exchanged", "bound just too large", "bound an argument",
    "rounded to bf16 behind", "scaled up behind",   "updated behind"};

/// min(max(x, -c), c), whatever becomes of NaN
static Value clampByExtrema(ClaimWriter &b) {
  double bound = b.pick({1.0, 6.0, 1000.0, 65504.0});
  if (b.breaks("bound just too large"))
    bound = b.pick({65520.0, 65536.0, 3.40282347e38});
  Value x = b.anything();
  Operand high = bound;
  if (b.breaks("bound an argument"))
    high = b.another(x);
  Fn min = b.pick({Fn::Min, Fn::MinNum}), max = b.pick({Fn::Max, Fn::MaxNum});
  Value result = x;
  bool isPlain = b.getRecipe().broken.empty() || b.breaks("bound just too large");
  if (isPlain && b.oneIn(2))
    return b.clamp(x, -bound, bound, min);
  if (b.breaks("extremum exchanged")) {
    result = b.apply(max, {b.apply(max, {x, -bound}), high});
  } else if (b.oneIn(2)) {
    result = b.apply(min, {x, high});
    result = b.breaks("one side only") ? result : b.apply(max, {result, -bound});
  } else {
    result = b.breaks("one side only") ? x : b.apply(max, {x, -bound});
    result = b.apply(min, {result, high});
  }
  if (b.breaks("rounded to bf16 behind")) {
    result = b.apply(min, {x, 65500.0});
    result = b.apply(max, {result, -65500.0});
    return b.cast(b.cast(result, b.getBuilder().getBF16Type()), b.formatOf(x));
  }
  if (b.breaks("scaled up behind"))
    return b.mul(result, 1e5 / bound);
  return b.breaks("updated behind") ? b.add(result, b.another(x)) : result;
}

static constexpr StringLiteral kSmall[] = {"no absolute value",
                                           "arms exchanged",
                                           "compared with another tensor",
                                           "compared with infinity",
                                           "predicate asks for equality",
                                           "bound just too large"};

/// select(|x| < c, x, 0) is within c
static Value keptWhereSmall(ClaimWriter &b) {
  Value x = b.anything();
  double bound = b.breaks("bound just too large")     ? 65536
                 : b.breaks("compared with infinity") ? std::numeric_limits<double>::infinity()
                                                      : b.pick({1.0, 1000.0, 65504.0});
  Value of = b.breaks("compared with another tensor") ? b.another(x) : x;
  Value size = b.breaks("no absolute value") ? of : b.abs(of);
  P predicate = b.pick({P::OLT, P::OLE, P::ULT, P::ULE});
  if (b.breaks("predicate asks for equality"))
    predicate = P::ONE;
  Value small = b.compare(predicate, size, bound);
  double other = b.pick({0.0, 1.0, -65504.0});
  return b.breaks("arms exchanged") ? b.select(small, other, x) : b.select(small, x, other);
}

static constexpr StringLiteral kNumbers[] = {"x unbounded", "tested with equality"};

/// NaN replaced by a number: x == x ? x : 0 is a number, as large as x
static Value numbersOnly(ClaimWriter &b) {
  auto shape = b.matrix();
  Value x =
      b.argument(shape, b.breaks("x unbounded") ? std::optional<Bounds>() : Bounds(-1e4, 1e4));
  Value ratio = b.div(x, b.argument(shape, Bounds(0.5, 4))); // no NaN, but that must be known
  if (b.breaks("tested with equality"))
    return b.select(b.compare(P::UEQ, ratio, ratio), ratio, b.argument(shape));
  return b.select(b.compare(b.pick({P::OEQ, P::ORD}), ratio, ratio), ratio, 0.0);
}

static constexpr StringLiteral kPieces[] = {"boundary moved", "side of the comparison lost",
                                            "outer piece unbounded"};

/// A function put together of parts, each good for some arguments: erfc as libraries compute it
static Value pieces(ClaimWriter &b) {
  Value x = b.anything();
  Value size = b.breaks("side of the comparison lost") ? x : b.abs(x);
  Value square = b.square(x);
  Value inner = b.mul(x, b.add(b.mul(b.add(b.mul(square, 0.02), -0.37), square), 1.128));
  Value outer = b.breaks("outer piece unbounded")
                    ? b.mul(x, 0.3)
                    : b.apply(Fn::CopySign, {b.splat(1, x, b.formatOf(x)), x});
  double boundary = b.breaks("boundary moved") ? 1e4 : 1.5;
  Value isInner = b.compare(b.pick({P::OLT, P::OLE}), size, boundary);
  return b.select(isInner, inner, outer);
}

static constexpr StringLiteral kHard[] = {"slope an argument", "no lower bound", "product with x"};

/// min(max(x / 6 + 1/2, 0), 1), and relu6
static Value hardSigmoid(ClaimWriter &b) {
  Value x = b.anything();
  Value line = b.add(b.mul(x, 1.0 / 6), 0.5);
  if (b.breaks("no lower bound"))
    return b.min(line, 1.0);
  Value result = b.min(b.max(line, 0.0), b.pick({1.0, 6.0}));
  if (b.breaks("slope an argument"))
    return b.mul(result, b.another(x));
  return b.breaks("product with x") ? b.mul(x, result) : result;
}

void mlir::mp::test::addClamps(std::vector<HostileFamily> &families) {
  families.push_back({"clamp by selection", clampBySelection, {kSelection}});
  families.push_back({"clamp by extrema", clampByExtrema, {kExtrema}});
  families.push_back({"kept where small", keptWhereSmall, {kSmall}});
  families.push_back({"NaN replaced", numbersOnly, {kNumbers}});
  families.push_back({"function in pieces", pieces, {kPieces}});
  families.push_back({"hard sigmoid", hardSigmoid, {kHard}});
}
