// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the dimension that a tensor and a constant weight are summed over.

#include "ChannelReaders.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/Contraction.h"

using namespace mlir;
using namespace mlir::mp;

RankedTensorType ChannelReader::tensor() const {
  return cast<RankedTensorType>(place.factor.op->getOperand(place.factor.operand).getType());
}

std::optional<ChannelReader> mlir::mp::findChannelReader(const ObservedModule::Place &place) {
  Operation *op = place.factor.op;
  OpOperand *rows = &op->getOpOperand(place.factor.operand), *weight = nullptr;
  SmallVector<AffineMap> maps(op->getNumOperands());
  if (auto view = viewContraction(op)) {
    weight = view->a == rows ? view->b : view->a;
    maps[rows->getOperandNumber()] = view->maps[view->a != rows];
    maps[weight->getOperandNumber()] = view->maps[view->a == rows];
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op);
             structured && structured.getNumDpsInputs() == 2) {
    weight = structured.getDpsInputOperand(rows->getOperandNumber() == 0);
    maps = structured.getIndexingMapsArray();
  }
  DenseFPElementsAttr constant;
  auto type = dyn_cast<RankedTensorType>(rows->get().getType());
  if (!weight || !type || !type.hasStaticShape() ||
      !matchPattern(weight->get(), m_Constant(&constant)) || !constant.getElementType().isF32())
    return std::nullopt;
  auto ofRows = dimensionsOf(*rows), ofWeight = dimensionsOf(*weight);
  if (!ofRows || !ofWeight || llvm::count(*ofRows, Along::Sums) != 1)
    return std::nullopt;
  unsigned dim = unsigned(llvm::find(*ofRows, Along::Sums) - ofRows->begin());
  AffineExpr loop = maps[rows->getOperandNumber()].getResult(dim);
  auto at = maps[weight->getOperandNumber()].getResultPosition(loop);
  if (!isa<AffineDimExpr>(loop) || !at)
    return std::nullopt;
  return ChannelReader{place, weight, dim, *at};
}

void mlir::mp::forEachInChannel(ArrayRef<int64_t> shape, unsigned dim, ArrayRef<float> elements,
                                llvm::function_ref<void(int64_t, float)> use) {
  int64_t within = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    within *= size;
  for (auto [at, element] : llvm::enumerate(elements))
    use(int64_t(at) / within % shape[dim], element);
}
