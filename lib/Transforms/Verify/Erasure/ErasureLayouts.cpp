// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives orders of dimensions from index maps, not from who wrote them.

#include "ErasureLayouts.h"
#include "ErasureDifference.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mp/Dialect/MP/Layout.h"

using namespace mlir;
using namespace mlir::mp;
using Order = ErasureLayouts::Order;

static bool hasLayouts(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return inner->hasAttr(kLayoutAttrName) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// As it lies is empty.
static Order normalized(Order order) { return isIdentityPermutation(order) ? Order() : order; }

Type mlir::mp::inOrder(Type type, ArrayRef<int64_t> order) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || order.empty() || int64_t(order.size()) != tensor.getRank())
    return type;
  return tensor.clone(applyPermutation(tensor.getShape(), order));
}

void ErasureLayouts::begin(Operation *original, Operation *converted) {
  isActive = hasLayouts(converted) && !hasLayouts(original);
}

bool ErasureLayouts::isTransposition(Operation *converted) const {
  return isActive && isa<linalg::TransposeOp, tensor::DimOp>(converted) &&
         converted->hasAttr(kLayoutAttrName);
}

bool ErasureLayouts::isMoved(Operation *converted) const {
  return isActive && isa<linalg::GenericOp, tensor::PadOp>(converted) &&
         converted->hasAttr(kLayoutAttrName);
}

std::pair<Value, Order> ErasureLayouts::follow(Value converted) const {
  Value value = strip(converted);
  if (!isActive)
    return {value, {}};
  Order order;
  auto behind = [&](ArrayRef<int64_t> inner) {
    if (order.empty())
      order.assign(inner.begin(), inner.end());
    else if (!inner.empty())
      for (int64_t &dim : order)
        dim = inner[dim];
  };
  while (Operation *def = value.getDefiningOp()) {
    auto turned = dyn_cast<linalg::TransposeOp>(def);
    if (!turned || !isTransposition(def))
      break;
    behind(turned.getPermutation());
    value = strip(turned.getInput());
  }
  if (auto known = results.find(value); known != results.end())
    behind(known->second);
  return {value, normalized(order)};
}

std::string ErasureLayouts::pair(Operation *original, Operation *converted) {
  if (original->getNumResults() != 1 || converted->getNumResults() != 1 ||
      original->getNumOperands() != converted->getNumOperands())
    return "is in another order of dimensions, and has not one result and as many operands as the "
           "original";
  return isa<tensor::PadOp>(converted) ? pairPadding(original, converted)
                                       : pairLoops(original, converted);
}

std::string ErasureLayouts::pairLoops(Operation *original, Operation *converted) {
  auto before = dyn_cast<linalg::LinalgOp>(original);
  auto after = cast<linalg::GenericOp>(converted);
  auto order = converted->getAttrOfType<DenseI64ArrayAttr>(kLayoutAttrName);
  if (!before || !order || before.getNumLoops() != after.getNumLoops() ||
      int64_t(order.size()) != int64_t(after.getNumLoops()) ||
      !isPermutationVector(order.asArrayRef()))
    return "is in an order of loops that is none of the original's";
  if (before.hasIndexSemantics() || after.hasIndexSemantics())
    return "is in another order of loops, which its body sees";
  SmallVector<AffineExpr> places(order.size());
  for (auto [place, loop] : llvm::enumerate(order.asArrayRef())) {
    places[loop] = getAffineDimExpr(unsigned(place), converted->getContext());
    if (before.getIteratorTypesArray()[loop] != after.getIteratorTypesArray()[place])
      return "has loops of other kinds than the original's";
  }
  SmallVector<Order> orders;
  for (auto [left, right] :
       llvm::zip_equal(before.getIndexingMapsArray(), after.getIndexingMapsArray())) {
    AffineMap moved = left.replaceDimsAndSymbols(places, {}, unsigned(places.size()), 0);
    Order dims;
    for (AffineExpr place : right.getResults())
      dims.push_back(llvm::find(moved.getResults(), place) - moved.getResults().begin());
    if (!isPermutationVector(dims) || dims.size() != moved.getNumResults())
      return "indexes an operand otherwise than the original in any order of its dimensions";
    orders.push_back(normalized(dims));
  }
  results[converted->getResult(0)] = orders.back();
  operands[converted] = std::move(orders);
  return "";
}

std::string ErasureLayouts::pairPadding(Operation *original, Operation *converted) {
  auto before = dyn_cast<tensor::PadOp>(original), after = dyn_cast<tensor::PadOp>(converted);
  if (!before || !after || before->getNumOperands() != 1)
    return "is a padding in another order, and the original none by known sizes";
  Order order = follow(after.getSource()).second;
  if (order.empty() || applyPermutation(before.getStaticLow(), order) != after.getStaticLow() ||
      applyPermutation(before.getStaticHigh(), order) != after.getStaticHigh())
    return "adds other numbers of elements than the original";
  results[converted->getResult(0)] = order;
  operands[converted] = {order};
  return "";
}

bool ErasureLayouts::pairElements(Operation *original, Operation *converted) {
  if (!isActive || !OpTrait::hasElementwiseMappableTraits(converted) ||
      original->getNumOperands() != converted->getNumOperands() || converted->getNumResults() != 1)
    return false;
  Order order;
  for (Value operand : converted->getOperands())
    if (Order own = follow(operand).second; order.empty())
      order = own;
  if (order.empty())
    return false;
  results[converted->getResult(0)] = order;
  for (Value operand : converted->getOperands())
    operands[converted].push_back(isa<TensorType>(operand.getType()) ? order : Order());
  return true;
}

Order ErasureLayouts::orderOf(OpOperand &converted) const {
  auto known = operands.find(converted.getOwner());
  return known == operands.end() ? Order() : known->second[converted.getOperandNumber()];
}
