// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dominated-quotient lemma: |a| over what dominates it is bounded, and so is its norm along
// what was summed.

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

/// Unit roundoff of the sum that `denominator` is made of: of the widest error on the way.
double Lemmas::sumRounding(const View &denominator) const {
  double widest = 0;
  SmallVector<NodeId> pending = {denominator.node};
  for (size_t next = 0; next < pending.size() && next < 64; ++next) {
    const ValueNode &node = values[pending[next]];
    if (node.kind == NodeKind::Reduce) {
      widest = std::max(widest, roundingOf(node).relative);
      continue;
    }
    for (const View &operand : node.operands)
      pending.push_back(operand.node);
  }
  return widest;
}

/// Largest |a| / b, or |a| / sqrt(b) if `underRoot`, for b of at least `least`.
static std::optional<double> largestRatio(const Dominance &dominance, double least,
                                          bool underRoot) {
  bool isSquare = dominance.power == 2;
  if (isSquare ? dominance.isRooted == underRoot : underRoot)
    return std::nullopt;
  least = std::max(least, 0.0);
  if (dominance.isRooted)
    least = least * least * (1 - kOwnError);
  double lost = 0;
  if (dominance.absolute > 0) {
    if (!(least > 0))
      return std::nullopt;
    lost = dominance.absolute / least;
  }
  if (!(dominance.slack < 0.5) || !(dominance.factor > 0))
    return std::nullopt;
  double ratio = (1 + lost) / (dominance.factor * (1 - dominance.slack)) * (1 + kOwnError);
  return isSquare ? std::sqrt(ratio) * (1 + kOwnError) : ratio;
}

static double leastOf(const FloatFacts *facts) {
  return facts && !facts->isBottom() ? facts->range.lo : -kInfinity;
}

std::optional<Lemmas::Quotient> Lemmas::boundQuotient(const View &denominator, const View &a,
                                                      Lemmas::FactsOf facts, bool underRoot) const {
  auto dominance = dominates(denominator, a, facts);
  if (!dominance)
    return std::nullopt;
  double least = leastOf(facts(denominator.node));
  auto ratio = largestRatio(*dominance, least, underRoot);
  if (!ratio)
    return std::nullopt;
  Quotient found = {*ratio, kInfinity, *dominance, denominator};
  // The sum of all |a|^p in the fibre is in b, each addition a rounding off.
  if (dominance->summed && dominance->count > 0) {
    Dominance sum = *dominance;
    sum.absolute *= double(sum.count);
    sum.slack += exact ? 0 : 2 * double(sum.count) * sumRounding(denominator);
    found.norm = largestRatio(sum, least, underRoot).value_or(kInfinity);
  }
  return found;
}

/// An inverse that overflows is infinite before it is multiplied. One over zero may be: what zero
/// dominates is zero as well, and the product NaN.
bool Lemmas::mayOverflow(const View &inverse, Lemmas::FactsOf facts) const {
  const FloatFacts *itself = facts(inverse.node);
  if (itself && !itself->isBottom() && !itself->mayInf)
    return false;
  const ValueNode &node = values.get(inverse);
  bool isQuotient = node.kind == NodeKind::Binary && node.binary == BinaryFn::Div &&
                    values.constantOf(node.operands[0].node) == 1.0;
  bool isReciprocal = node.kind == NodeKind::Unary && node.unary == UnaryFn::Reciprocal;
  if (!isQuotient && !isReciprocal)
    return true;
  return findShiftedSum(node.operands[isQuotient].node, facts) == ShiftedSum::None;
}

std::optional<Lemmas::Quotient> Lemmas::boundInverse(const View &inverse, const View &a,
                                                     Lemmas::FactsOf facts, unsigned depth) const {
  if (depth > kMaxLemmaDepth)
    return std::nullopt;
  const ValueNode &node = values.get(inverse);
  Rounding rounding = roundingOf(node);
  // 1 / b or 1 / sqrt(b), times `numerator`.
  auto over = [&](unsigned operand, bool underRoot, double numerator,
                  double error) -> std::optional<Quotient> {
    auto found =
        boundQuotient(values.compose(inverse, node.operands[operand]), a, facts, underRoot);
    if (!found || std::isinf(numerator))
      return std::nullopt;
    found->multiply(numerator * (1 + error), rounding.underflow);
    return found;
  };
  if (mayOverflow(inverse, facts))
    return std::nullopt;
  switch (node.kind) {
  case NodeKind::Unary:
    if (node.unary == UnaryFn::Reciprocal)
      return over(0, /*underRoot=*/false, 1, rounding.function);
    if (node.unary == UnaryFn::Rsqrt)
      return over(0, /*underRoot=*/true, 1, rounding.function);
    return std::nullopt;
  case NodeKind::Moved: {
    auto before = beforeReshape(inverse, a);
    auto found =
        before ? boundInverse(before->first, before->second, facts, depth + 1) : std::nullopt;
    if (found)
      found->norm = kInfinity; // along fibres before the reshape
    return found;
  }
  case NodeKind::Cast: {
    auto found = boundInverse(values.compose(inverse, node.operands[0]), a, facts, depth + 1);
    if (found)
      found->multiply(1 + 2 * rounding.relative, rounding.underflow);
    return found;
  }
  case NodeKind::Select:
    for (unsigned guard : {1u, 2u})
      if (values.get(node.operands[guard]).kind == NodeKind::NaN)
        return boundInverse(values.compose(inverse, node.operands[3 - guard]), a, facts, depth + 1);
    return std::nullopt;
  case NodeKind::Binary: break;
  default: return std::nullopt;
  }
  if (node.binary == BinaryFn::Div) {
    const FloatFacts *numerator = facts(node.operands[0].node);
    return numerator && !numerator->isBottom()
               ? over(1, /*underRoot=*/false, numerator->mag(), rounding.relative)
               : std::nullopt;
  }
  if (node.binary == BinaryFn::Pow)
    return values.constantOf(node.operands[1].node) == -0.5
               ? over(0, /*underRoot=*/true, 1, rounding.function)
               : std::nullopt;
  if (node.binary != BinaryFn::Mul)
    return std::nullopt;
  for (unsigned operand : {0u, 1u}) {
    const FloatFacts *rest = facts(node.operands[1 - operand].node);
    if (!rest || !rest->range.isBounded())
      continue;
    if (auto found =
            boundInverse(values.compose(inverse, node.operands[operand]), a, facts, depth + 1)) {
      found->multiply(rest->mag() * (1 + rounding.relative), rounding.underflow);
      return found;
    }
  }
  return std::nullopt;
}

/// The dimensions of the space in which `view` is taken along which it runs through distinct
/// elements of one fibre over `summed`.
static uint64_t dimsAlongFibre(const View &view, uint64_t summed, unsigned rank, unsigned spaceRank,
                               MLIRContext *context) {
  uint64_t dims = 0;
  for (unsigned dim = 0; dim < std::min(spaceRank, 64u); ++dim) {
    bool isInjective = false, staysInFibre = true;
    for (unsigned coordinateDim = 0; coordinateDim < rank; ++coordinateDim) {
      AffineExpr at = coordinate(view, coordinateDim, context);
      if (summed >> coordinateDim & 1)
        isInjective |= at == getAffineDimExpr(dim, context);
      else
        staysInFibre &= !at.isFunctionOfDim(dim);
    }
    if (isInjective && staysInFibre)
      dims |= 1ull << dim;
  }
  return dims;
}

void Lemmas::concludeQuotient(NodeId id, Lemmas::FactsOf facts,
                              SmallVectorImpl<LemmaBound> &bounds) const {
  const ValueNode &node = values[id];
  Rounding rounding = roundingOf(node);
  bool isQuotient = node.binary == BinaryFn::Div;
  /// `numerator` times factors of magnitude `rest`, over or times the other operand.
  auto tryNumerator = [&](View numerator, double rest, unsigned other) {
    View a = values.stripSign(numerator);
    auto found = isQuotient ? boundQuotient(node.operands[other], a, facts, /*underRoot=*/false)
                            : boundInverse(node.operands[other], a, facts, 0);
    if (!found)
      return;
    found->multiply(rest * (1 + rounding.relative), rounding.underflow);
    LemmaBound bound;
    bound.lemma = Lemma::DominatedQuotient;
    bool isPositive = isQuotient && rest == 1 && isNonNegative(facts(numerator.node));
    bound.range = {isPositive ? 0 : -found->bound, found->bound};
    bound.numerator = numerator;
    bound.denominator = found->denominator;
    bound.dominance = found->dominance;
    bound.premises = {numerator.node, found->denominator.node};
    bound.norm = found->norm;
    if (found->norm < kInfinity)
      bound.normDims = dimsAlongFibre(a, found->dominance.summed, values.get(a).sizes.size(),
                                      node.sizes.size(), node.op->getContext());
    bounds.push_back(bound);
  };
  for (unsigned operand : {0u, 1u}) {
    if (isQuotient && operand == 1)
      break;
    View whole = node.operands[operand];
    tryNumerator(whole, 1, 1 - operand);
    // (a g) / b with g bounded: a product that overflows is infinite before it is divided.
    const ValueNode &product = values.get(whole);
    const FloatFacts *known = facts(whole.node);
    if (product.kind != NodeKind::Binary || product.binary != BinaryFn::Mul || !known ||
        known->mayInf)
      continue;
    for (unsigned factor : {0u, 1u})
      if (const FloatFacts *rest = facts(product.operands[1 - factor].node);
          rest && rest->range.isBounded())
        tryNumerator(values.compose(whole, product.operands[factor]),
                     rest->mag() * (1 + roundingOf(product).relative), 1 - operand);
  }
}
