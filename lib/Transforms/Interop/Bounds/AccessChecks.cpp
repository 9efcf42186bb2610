// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of accesses: every element that is read or written exists.

#include "BoundsChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/ViewBounds.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::checkBounds(Checks &checks, Operation *op, Value shaped, ValueRange indices) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto type = cast<ShapedType>(shaped.getType());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    APInt known;
    if (matchPattern(index, m_ConstantInt(&known)) && !type.isDynamicDim(dim) &&
        known.ult(type.getDimSize(dim)))
      continue;
    if (index.getDefiningOp<linalg::IndexOp>())
      continue; // a loop of the enclosing op; wrong only if the file is
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, buildSize(b, shaped, dim));
    checks.require(b, inside,
                   "index out of bounds in dimension " + Twine(dim) + " of a " +
                       op->getName().getStringRef());
  }
}

void mlir::mp::checkSlice(Checks &checks, OffsetSizeAndStrideOpInterface op, Value whole) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (int64_t dim = 0; dim < cast<ShapedType>(whole.getType()).getRank(); ++dim)
    if (Value fits = buildSliceFits(b, op, whole, dim))
      checks.require(b, fits,
                     "slice out of bounds in dimension " + Twine(dim) + " of a " +
                         op->getName().getStringRef());
}

void mlir::mp::checkTransfer(Checks &checks, VectorTransferOpInterface op) {
  Operation *place = isa<vector::MaskOp>(op->getParentOp()) ? op->getParentOp() : op.getOperation();
  ImplicitLocOpBuilder b(op.getLoc(), place);
  bool isMasked = op.getMask() || place != op.getOperation();
  SmallVector<Value> last(op.getIndices());
  VectorType type = op.getVectorType();
  for (auto [dim, index] : llvm::enumerate(op.getPermutationMap().getResults())) {
    auto along = dyn_cast<AffineDimExpr>(index);
    if (!along)
      continue;
    Value &end = last[along.getPosition()];
    if (!op.isDimInBounds(dim) || isMasked)
      end = Value();
    else
      end = arith::AddIOp::create(b, end,
                                  arith::ConstantIndexOp::create(b, type.getDimSize(dim) - 1));
  }
  for (auto [dim, first, end] : llvm::enumerate(op.getIndices(), last)) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first, zero);
    if (end)
      inside = arith::AndIOp::create(b, inside,
                                     arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end,
                                                           buildSize(b, op.getBase(), dim)));
    checks.require(b, inside,
                   "index out of bounds in dimension " + Twine(dim) + " of a " +
                       op->getName().getStringRef());
  }
}

void mlir::mp::checkRow(Checks &checks, Operation *op, Value base, ValueRange indices,
                        VectorType type) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value size = buildSize(b, base, dim);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    int64_t place = int64_t(dim) - (int64_t(indices.size()) - type.getRank());
    if (place >= 0) {
      Value end = arith::AddIOp::create(b, index,
                                        arith::ConstantIndexOp::create(b, type.getDimSize(place)));
      inside = arith::AndIOp::create(
          b, inside, arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, size));
    }
    checks.require(b, inside,
                   "index out of bounds in dimension " + Twine(dim) + " of a " +
                       op->getName().getStringRef());
  }
}

void mlir::mp::checkView(Checks &checks, memref::ViewOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  checkSizes(checks, op, op.getSizes());
  MemRefType type = op.getType();
  Type element = type.getElementType();
  if (!element.isIntOrFloat())
    return;
  Value end = arith::ConstantIndexOp::create(b, (element.getIntOrFloatBitWidth() + 7) / 8);
  auto dynamic = op.getSizes().begin();
  for (int64_t size : type.getShape())
    end = arith::MulIOp::create(
        b, end,
        ShapedType::isDynamic(size) ? *dynamic++ : Value(arith::ConstantIndexOp::create(b, size)));
  end = arith::AddIOp::create(b, end, op.getByteShift());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value behind = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, op.getByteShift(), zero);
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, buildSize(b, op.getSource(), 0));
  checks.require(b, arith::AndIOp::create(b, behind, fits),
                 "a memref.view reaches beyond its source");
}
