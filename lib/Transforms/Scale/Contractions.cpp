// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Contractions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp;

bool ContractionView::isSummed(bool second, unsigned dim) const {
  return !maps[2].isFunctionOfDim(maps[second].getDimPosition(dim));
}

std::optional<ContractionView> mlir::mp::viewContraction(Operation *op) {
  if (auto product = dyn_cast<tosa::MatMulOp>(op)) {
    Builder b(op->getContext());
    auto map = [&](unsigned x, unsigned y) {
      return AffineMap::get(4, 0, {b.getAffineDimExpr(0), b.getAffineDimExpr(x), b.getAffineDimExpr(y)}, b.getContext());
    };
    return ContractionView{&product.getAMutable(), &product.getBMutable(), Value(), {map(1, 3), map(3, 2), map(1, 2)}};
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !linalg::isaContractionOpInterface(structured) || structured.getNumDpsInputs() != 2 ||
      !structured.hasPureTensorSemantics())
    return std::nullopt;
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  return ContractionView{structured.getDpsInputOperand(0), structured.getDpsInputOperand(1),
                         structured.getDpsInitOperand(0)->get(), {maps[0], maps[1], maps[2]}};
}
