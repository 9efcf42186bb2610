// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches products of split factors with the scheme that they follow.

#include "SplitProducts.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Domains/Rounding.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using numerics::SplitScheme;

/// Returns the value of which `part` is part `index`, in parts of `format`; null if there is none.
static Value findSource(Value part, unsigned index, FloatType format) {
  Operation *op = part.getDefiningOp();
  if (index == 0) {
    auto cast = dyn_cast_or_null<CastOp>(op);
    auto round = dyn_cast_or_null<RoundOp>(op);
    if (cast && cast.getRounding().value_or(Rounding::RNE) == Rounding::RNE &&
        getFloatFormat(cast.getSource().getType()).isF32() &&
        getFloatFormat(part.getType()) == format)
      return cast.getSource();
    return round && round.getFormat() == format ? round.getSource() : Value();
  }
  auto next = dyn_cast_or_null<SplitResidualOp>(op);
  if (!next || next.getFormat() != format || next.getParts().size() != index)
    return {};
  for (auto [before, earlier] : llvm::enumerate(next.getParts()))
    if (findSource(earlier, before, format) != next.getSource())
      return {};
  return next.getSource();
}

/// The largest magnitude in a constant; infinite if it is not read.
static double largestFactor(Value value) {
  double largest = 0;
  Attribute constant = findConstant(value);
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(constant);
  if (!elements)
    return std::numeric_limits<double>::infinity();
  for (const APFloat &element : elements.getValues<APFloat>())
    largest = std::max(largest, std::fabs(element.convertToDouble()));
  return largest;
}

/// The parts of one factor: what they are of, noted in `sources`.
static bool addPart(Value part, unsigned index, FloatType format, Value (&first)[3],
                    Value &source) {
  if (first[index])
    return first[index] == part;
  first[index] = part;
  Value of = findSource(part, index, format);
  if (!of && findConstant(part))
    return true;
  if (!of || (source && source != of))
    return false;
  source = of;
  return true;
}

std::optional<SplitProducts> mlir::mp::viewSplitProducts(JoinSplitOp joined) {
  SmallVector<Operation *> products = getProducts(joined);
  if (products.size() < 2)
    return std::nullopt;
  SplitProducts view;
  view.leading = products.back();
  SmallVector<unsigned, 2> factors;
  for (OpOperand *factor : getFactors(view.leading))
    factors.push_back(factor->getOperandNumber());
  if (factors.size() != 2 || view.leading->getNumResults() != 1)
    return std::nullopt;
  llvm::copy(factors, view.factors);
  FloatType stored = getFloatFormat(view.leading->getOperand(factors[0]).getType());
  for (SplitScheme scheme : getSplitSchemes()) {
    FloatType format = getPartType(joined.getContext(), scheme);
    auto pairs = numerics::partPairs(scheme);
    if (pairs.size() != products.size() ||
        (stored != format && !(stored.isF32() && format.isTF32())))
      continue;
    view.scheme = scheme;
    Value parts[2][3] = {};
    for (auto [product, pair] : llvm::zip_equal(products, pairs)) {
      if (product->getName() != view.leading->getName() ||
          !addPart(product->getOperand(factors[0]), pair.first, format, parts[0],
                   view.sources[0]) ||
          !addPart(product->getOperand(factors[1]), pair.second, format, parts[1], view.sources[1]))
        return std::nullopt;
    }
    double u = numerics::info(numerics::partFormat(scheme)).unitRoundoff;
    for (unsigned side : {0u, 1u}) {
      if (view.sources[side]) {
        // All parts are of the source, none a constant beside.
        for (unsigned index = 0; index < 3; ++index)
          if (parts[side][index] &&
              findSource(parts[side][index], index, format) != view.sources[side])
            return std::nullopt;
        continue;
      }
      view.sources[side] = parts[side][0];
      double first = largestFactor(parts[side][0]);
      for (unsigned index = 1; index < 3; ++index)
        if (parts[side][index] &&
            !(largestFactor(parts[side][index]) <= std::pow(u, index) * (1 + u) * first))
          return std::nullopt;
    }
    return view;
  }
  return std::nullopt;
}

bool SplitProducts::isFactor(OpOperand &operand) const {
  return llvm::is_contained(factors, operand.getOperandNumber());
}

Value SplitProducts::sourceOf(OpOperand &operand) const {
  for (unsigned side : {0u, 1u})
    if (operand.getOperandNumber() == factors[side])
      return sources[side];
  return operand.get();
}

domains::Measured SplitProducts::withRest(domains::Measured first) const {
  double share = 1 + 2 * numerics::info(numerics::partFormat(scheme)).unitRoundoff;
  first.value.range = domains::Interval::symmetric(domains::mulUp(first.value.mag(), share));
  first.value.norm2 = domains::mulUp(first.value.norm2, share);
  first.value.nonZero = false;
  first.computed = first.value.range;
  return first;
}
