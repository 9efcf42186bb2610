// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of dimensions, of which dynamic ones are named by the first value that has them.

#include "Elements.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::proofs;

std::optional<unsigned> mlir::mp::proofs::dimWithoutUnits(RankedTensorType type, unsigned dim,
                                                          RankedTensorType other) {
  auto isProper = [](int64_t size) { return size != 1; };
  if (llvm::count_if(type.getShape(), isProper) != llvm::count_if(other.getShape(), isProper) ||
      type.getDimSize(dim) == 1)
    return std::nullopt;
  int64_t before = llvm::count_if(type.getShape().take_front(dim), isProper);
  for (auto [at, size] : llvm::enumerate(other.getShape()))
    if (size != 1 && before-- == 0)
      return at;
  return std::nullopt;
}

/// The dimension of another value that always has the size of this one; false if none is known.
static bool followSize(Value &value, unsigned &dim) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (op->hasTrait<OpTrait::Elementwise>() || isa<tensor::CastOp>(op)) {
    auto tensors = llvm::make_filter_range(
        op->getOperands(), [](Value operand) { return isa<RankedTensorType>(operand.getType()); });
    if (tensors.empty())
      return false;
    value = *tensors.begin();
    return true;
  }
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto other = source ? dimWithoutUnits(cast<RankedTensorType>(value.getType()), dim, source)
                        : std::nullopt;
    if (!other)
      return false;
    value = op->getOperand(0);
    dim = *other;
    return true;
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    unsigned position = empty.getType().getDynamicDimIndex(dim);
    auto size = empty.getDynamicSizes()[position].getDefiningOp<tensor::DimOp>();
    auto index = size ? size.getConstantIndex() : std::nullopt;
    if (!index)
      return false;
    value = size.getSource();
    dim = *index;
    return true;
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.hasPureTensorSemantics())
    return false;
  // A loop that two operands share has the size of either.
  unsigned init =
      structured.getDpsInitOperand(cast<OpResult>(value).getResultNumber())->getOperandNumber();
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  AffineExpr loop = maps[init].getResult(dim);
  if (isa<AffineDimExpr>(loop))
    for (auto [operand, map] : llvm::zip_equal(op->getOpOperands(), maps))
      for (auto [at, expr] : llvm::enumerate(map.getResults()))
        if (expr == loop && operand.getOperandNumber() != init) {
          value = operand.get();
          dim = at;
          return true;
        }
  value = op->getOperand(init); // results are as large as what they replace
  return true;
}

Size Elements::sizeOf(Value value, unsigned dim) {
  for (unsigned step = 0; step < 256; ++step) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || dim >= type.getRank())
      break;
    if (!type.isDynamicDim(dim))
      return {type.getDimSize(dim)};
    if (!followSize(value, dim))
      break;
  }
  return {ShapedType::kDynamic, value, dim};
}
