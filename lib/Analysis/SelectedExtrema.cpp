// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches a select on a comparison of its own operands as a maximum or minimum.

#include "mp/Analysis/SelectedExtrema.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using P = arith::CmpFPredicate;

static bool areValuesEqual(Value a, Value b) {
  Attribute x, y;
  return a == b || (matchPattern(a, m_Constant(&x)) && matchPattern(b, m_Constant(&y)) && x == y);
}

std::optional<BinaryFn> mlir::mp::getSelectedExtremum(Operation *op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare)
    return std::nullopt;
  bool greater = llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, compare.getPredicate());
  bool less = llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, compare.getPredicate());
  Value chosen = select.getTrueValue(), other = select.getFalseValue();
  bool inOrder =
      areValuesEqual(chosen, compare.getLhs()) && areValuesEqual(other, compare.getRhs());
  bool swapped =
      areValuesEqual(chosen, compare.getRhs()) && areValuesEqual(other, compare.getLhs());
  if (!(greater || less) || !(inOrder || swapped))
    return std::nullopt;
  return greater == inOrder ? BinaryFn::MaxNum : BinaryFn::MinNum;
}
