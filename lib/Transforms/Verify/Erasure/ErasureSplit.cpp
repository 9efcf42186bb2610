// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the products of a split contraction against the original.

#include "ErasureSplit.h"
#include "../../Common/SplitCode.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;
using numerics::SplitScheme;

/// True if `converted` is part `index` of `original`, from 0. Several parts of a constant may have
/// the same elements: those behind the first are zero where that holds the constant exactly.
static bool isPart(Value original, Value converted, uint8_t index, SplitScheme scheme,
                   SameValue isSame) {
  if (auto next = converted.getDefiningOp<SplitResidualOp>())
    return next.getInserted() && next.getParts().size() == index &&
           next.getFormat() == getPartType(converted.getContext(), scheme) &&
           isSame(original, next.getSource()) &&
           llvm::all_of(llvm::enumerate(next.getParts()), [&](auto before) {
             return isPart(original, before.value(), before.index(), scheme, isSame);
           });
  if (index == 0 && isSame(original, converted))
    return true;
  Attribute whole, part;
  if (!matchPattern(original, m_Constant(&whole)) || !matchPattern(converted, m_Constant(&part)))
    return false;
  SmallVector<Attribute> parts = splitConstant(whole, scheme);
  if (index >= parts.size())
    return false;
  // Resources are named anew: their data tell.
  auto x = dyn_cast<ElementsAttr>(parts[index]), y = dyn_cast<ElementsAttr>(part);
  return x && y && x.getShapedType() == y.getShapedType() && getRawElements(x) &&
         getRawElements(y) && *getRawElements(x) == *getRawElements(y);
}

namespace {
/// One product beside the original contraction.
struct ProductComparison {
  Operation *original, *product;
  const SplitOperands &view;
  SplitScheme scheme;
  SameValue isSame;

  Value at(OpOperand *operand) const { return product->getOperand(operand->getOperandNumber()); }

  bool multiplies(std::pair<uint8_t, uint8_t> parts) const {
    return isPart(view.factors[0]->get(), at(view.factors[0]), parts.first, scheme, isSame) &&
           isPart(view.factors[1]->get(), at(view.factors[1]), parts.second, scheme, isSame);
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
      hasPairs &= comparison.multiplies(pair);
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
