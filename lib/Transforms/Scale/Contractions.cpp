// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views named, generic and TOSA contractions as loops over two factors.

#include "Contractions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<ContractionView> mlir::mp::viewContraction(Operation *op) {
  if (auto product = dyn_cast<tosa::MatMulOp>(op)) {
    Builder b(op->getContext());
    auto map = [&](unsigned x, unsigned y) {
      return AffineMap::get(4, 0,
                            {b.getAffineDimExpr(0), b.getAffineDimExpr(x), b.getAffineDimExpr(y)},
                            b.getContext());
    };
    return ContractionView{
        &product.getAMutable(), &product.getBMutable(), Value(), {map(1, 3), map(3, 2), map(1, 2)}};
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !linalg::isaContractionOpInterface(structured) ||
      structured.getNumDpsInputs() != 2 || !structured.hasPureTensorSemantics())
    return std::nullopt;
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  bool floats =
      llvm::all_of(op->getOperands(), [](Value v) { return bool(getFloatFormat(v.getType())); });
  if (!floats || !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  return ContractionView{structured.getDpsInputOperand(0),
                         structured.getDpsInputOperand(1),
                         structured.getDpsInitOperand(0)->get(),
                         {maps[0], maps[1], maps[2]}};
}

std::optional<SmallVector<Along>> mlir::mp::dimensionsOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  AffineMap map, kept;
  if (auto view = viewContraction(op)) {
    map = view->maps[&operand == view->b];
    kept = view->maps[2];
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op);
             structured && structured.getNumDpsInits() == 1) {
    map = structured.getMatchingIndexingMap(&operand);
    kept = structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
  } else {
    return std::nullopt;
  }
  SmallVector<Along> dimensions;
  for (AffineExpr place : map.getResults()) {
    bool keeps = false, sums = false;
    for (unsigned loop = 0; loop != map.getNumDims(); ++loop)
      if (place.isFunctionOfDim(loop))
        (kept.isFunctionOfDim(loop) ? keeps : sums) = true;
    dimensions.push_back(keeps && sums ? Along::Slides : sums ? Along::Sums : Along::Keeps);
  }
  return dimensions;
}
