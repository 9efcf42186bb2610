// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the products of a split contraction against the original.

#include "ErasureSplit.h"
#include "../../Common/SplitCode.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;
using numerics::SplitScheme;

/// Returns which part of `original` `converted` is, from 0; nullopt for none.
static std::optional<uint8_t> indexOfPart(Value original, Value converted, SplitScheme scheme,
                                          SameValue isSame) {
  if (auto next = converted.getDefiningOp<SplitResidualOp>()) {
    if (!next.getInserted() || next.getFormat() != getPartType(converted.getContext(), scheme) ||
        !isSame(original, next.getSource()))
      return std::nullopt;
    for (auto [index, before] : llvm::enumerate(next.getParts()))
      if (indexOfPart(original, before, scheme, isSame) != index)
        return std::nullopt;
    return next.getParts().size();
  }
  if (isSame(original, converted))
    return 0;
  Attribute whole, part;
  if (!matchPattern(original, m_Constant(&whole)) || !matchPattern(converted, m_Constant(&part)))
    return std::nullopt;
  auto isPart = [&](Attribute made) {
    // Resources are named anew: their data tell.
    auto x = dyn_cast<ElementsAttr>(made), y = dyn_cast<ElementsAttr>(part);
    return x && y && x.getShapedType() == y.getShapedType() && getRawElements(x) &&
           getRawElements(y) && *getRawElements(x) == *getRawElements(y);
  };
  SmallVector<Attribute> parts = splitConstant(whole, scheme);
  auto *found = llvm::find_if(parts, isPart);
  return found == parts.end() ? std::nullopt : std::optional<uint8_t>(found - parts.begin());
}

namespace {
/// One product beside the original contraction.
struct ProductComparison {
  Operation *original, *product;
  const SplitOperands &view;
  SplitScheme scheme;
  SameValue isSame;

  Value at(OpOperand *operand) const { return product->getOperand(operand->getOperandNumber()); }

  std::optional<std::pair<uint8_t, uint8_t>> findParts() const {
    auto a = indexOfPart(view.factors[0]->get(), at(view.factors[0]), scheme, isSame);
    auto b = indexOfPart(view.factors[1]->get(), at(view.factors[1]), scheme, isSame);
    return a && b ? std::optional(std::pair(*a, *b)) : std::nullopt;
  }

  /// `before`: the product whose sum this one goes on with; null if it starts anew.
  const char *compareRest(Operation *before, bool isLeading) const {
    if (view.init &&
        !(before ? at(view.init).getDefiningOp() == before : isZeroTensor(at(view.init))))
      return "starts from something else than zero";
    for (OpOperand *addend : view.addends)
      if (!(isLeading ? isSame(addend->get(), at(addend)) : isZeroTensor(at(addend))))
        return "adds something else";
    for (OpOperand *zero : view.zeros)
      if (!isZeroTensor(at(zero)))
        return "has a zero point";
    for (OpOperand &operand : original->getOpOperands())
      if (!getFloatFormat(operand.get().getType()) && !isSame(operand.get(), at(&operand)))
        return "has another operand";
    return nullptr;
  }
};
} // namespace

std::string mlir::mp::compareProducts(Operation *original, JoinSplitOp joined, SameValue isSame) {
  SmallVector<Operation *> products = getProducts(joined);
  if (products.size() < 2)
    return "joins no split products";
  for (Operation *product : products)
    if (product->getName() != original->getName() ||
        product->getNumOperands() != original->getNumOperands())
      return "joins other ops than the original";
  std::optional<SplitScheme> meant = getSplitScheme(original);
  std::string difference = "joins products that no split scheme has";
  for (SplitScheme scheme : getSplitSchemes()) {
    std::optional<SplitOperands> view = viewSplit(original, scheme);
    ArrayRef<std::pair<uint8_t, uint8_t>> pairs = numerics::partPairs(scheme);
    if (!view || pairs.size() != products.size() || (meant && meant != scheme))
      continue;
    const char *other = nullptr;
    bool hasPairs = true;
    for (auto [index, product, pair] : llvm::enumerate(products, pairs)) {
      ProductComparison comparison{original, product, *view, scheme, isSame};
      hasPairs &= comparison.findParts() == pair;
      bool isLeading = index + 1 == products.size();
      if (const char *rest = comparison.compareRest(
              index == 0 || isLeading ? nullptr : products[index - 1], isLeading))
        other = rest;
    }
    if (!hasPairs)
      continue;
    if (other)
      return std::string("joins a product that ") + other;
    bool addsSame = !view->init        ? !joined.getInit()
                    : joined.getInit() ? isSame(view->init->get(), joined.getInit())
                                       : isZeroTensor(view->init->get());
    return addsSame ? "" : "is not added to what the original is added to";
  }
  return difference;
}
