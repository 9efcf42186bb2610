// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of sizes: those that types state, those that ops combine, and none that is negative.

#include "BoundsChecks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mp/Analysis/ViewBounds.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::checkCast(Checks &checks, Operation *op) {
  auto from = dyn_cast<ShapedType>(op->getOperand(0).getType()),
       to = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!from || !to || !from.hasRank() || !to.hasRank())
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (int64_t dim = 0; dim < to.getRank(); ++dim)
    if (Value fits = buildSizeFits(b, op->getOperand(0), to, dim))
      checks.require(b, fits,
                     "dimension " + Twine(dim) + " of a " + op->getName().getStringRef() +
                         " is not of size " + Twine(to.getDimSize(dim)));
}

void mlir::mp::checkSizes(Checks &checks, Operation *op, ValueRange sizes) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (Value size : sizes) {
    if (size.getDefiningOp<ShapedDimOpInterface>() || getConstantIntValue(size).value_or(-1) >= 0)
      continue;
    Value zero = arith::ConstantIndexOp::create(b, 0);
    checks.require(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, size, zero),
                   "negative size of a " + op->getName().getStringRef());
  }
}

void mlir::mp::checkExpansion(Checks &checks, Operation *op, Value whole,
                              ArrayRef<ReassociationIndices> groups, ArrayRef<OpFoldResult> sizes) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (auto [dim, group] : llvm::enumerate(groups))
    if (Value fits = buildSplitFits(b, whole, dim, sizes.slice(group.front(), group.size())))
      checks.require(b, fits,
                     "sizes of a " + op->getName().getStringRef() +
                         " do not multiply to that of dimension " + Twine(dim));
}

void mlir::mp::checkReshape(Checks &checks, tensor::ReshapeOp op) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto result = dyn_cast<RankedTensorType>(op.getType());
  if (!source || !result)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value before = arith::ConstantIndexOp::create(b, 1), after = before;
  for (int64_t dim = 0; dim < source.getRank(); ++dim)
    before = arith::MulIOp::create(b, before, buildSize(b, op.getSource(), dim));
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    Value size =
        tensor::ExtractOp::create(b, op.getShape(), Value(arith::ConstantIndexOp::create(b, dim)));
    if (!size.getType().isIndex())
      size = arith::IndexCastOp::create(b, b.getIndexType(), size);
    checkSizes(checks, op, size);
    if (!result.isDynamicDim(dim))
      checks.require(
          b,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size,
                                arith::ConstantIndexOp::create(b, result.getDimSize(dim))),
          "dimension " + Twine(dim) + " of a tensor.reshape is not of size " +
              Twine(result.getDimSize(dim)));
    after = arith::MulIOp::create(b, after, size);
  }
  checks.require(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, before, after),
                 "a tensor.reshape changes the number of elements");
}

void mlir::mp::checkInserted(Checks &checks, tensor::InsertSliceOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (int64_t dim = 0, from = 0; dim < int64_t(sizes.size()); ++dim) {
    if (dropped[dim])
      continue;
    if (Value fits = buildSplitFits(b, op.getSource(), from++, sizes[dim]))
      checks.require(
          b, fits,
          "the source of a tensor.insert_slice is not of the slice's size in dimension " +
              Twine(dim));
  }
}

void mlir::mp::checkPadding(Checks &checks, tensor::PadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  checkSizes(checks, op, op.getLow());
  checkSizes(checks, op, op.getHigh());
  auto type = op.getResultType();
  SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isKnown = !op.getSourceType().isDynamicDim(dim) && isa<Attribute>(low[dim]) &&
                   isa<Attribute>(high[dim]);
    if (type.isDynamicDim(dim) || isKnown)
      continue;
    Value size = buildSize(b, op.getSource(), dim);
    for (OpFoldResult side : {low[dim], high[dim]})
      size = arith::AddIOp::create(b, size, getValueOrCreateConstantIndexOp(b, b.getLoc(), side));
    Value stated = arith::ConstantIndexOp::create(b, type.getDimSize(dim));
    checks.require(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, stated),
                   "dimension " + Twine(dim) + " of a tensor.pad is not of size " +
                       Twine(type.getDimSize(dim)));
  }
}

void mlir::mp::checkConcat(Checks &checks, tensor::ConcatOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = op.getResultType();
  Value whole = arith::ConstantIndexOp::create(b, 0);
  for (Value part : op.getInputs()) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      auto partType = cast<RankedTensorType>(part.getType());
      if (dim == int64_t(op.getDim()))
        whole = arith::AddIOp::create(b, whole, buildSize(b, part, dim));
      else if (part != op.getInputs().front() &&
               (partType.isDynamicDim(dim) || type.isDynamicDim(dim)))
        checks.require(b,
                       arith::CmpIOp::create(b, arith::CmpIPredicate::eq, buildSize(b, part, dim),
                                             buildSize(b, op.getInputs().front(), dim)),
                       "parts of a tensor.concat differ in dimension " + Twine(dim));
    }
  }
  if (!type.isDynamicDim(op.getDim()))
    checks.require(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, whole, buildSize(b, op, op.getDim())),
        "parts of a tensor.concat do not add up to " + Twine(type.getDimSize(op.getDim())));
}

/// True if `size` is that of this dimension by definition.
static bool isSizeOf(OpFoldResult size, Value shaped, int64_t dim) {
  auto value = dyn_cast<Value>(size);
  auto read = value ? value.getDefiningOp<ShapedDimOpInterface>() : ShapedDimOpInterface();
  return read && read.getShapedValue() == shaped && getConstantIntValue(read.getDimension()) == dim;
}

void mlir::mp::checkShapes(Checks &checks, linalg::LinalgOp op) {
  if (!op.hasDynamicShape())
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Range> loops = op.createLoopRanges(b, op.getLoc());
  Value one = arith::ConstantIndexOp::create(b, 1), zero = arith::ConstantIndexOp::create(b, 0);
  SmallVector<Value> last; // index of each loop
  Value anyEmpty = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  for (Range &loop : loops) {
    Value size = getValueOrCreateConstantIndexOp(b, op.getLoc(), loop.size);
    last.push_back(arith::SubIOp::create(b, size, one));
    anyEmpty = arith::OrIOp::create(b, anyEmpty,
                                    arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, zero));
  }
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, index] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      bool isDynamic = type.isDynamicDim(dim);
      for (unsigned i = 0; i < loops.size(); ++i)
        isDynamic |= index.isFunctionOfDim(i) && !isa<Attribute>(loops[i].size);
      if (!isDynamic || (loop && isSizeOf(loops[loop.getPosition()].size, operand.get(), dim)))
        continue;
      Value end =
          affine::AffineApplyOp::create(b, AffineMap::get(map.getNumDims(), 0, index), last);
      Value size = buildSize(b, operand.get(), dim);
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end, size);
      checks.require(b, loop ? fits : arith::OrIOp::create(b, fits, anyEmpty),
                     "operand " + Twine(operand.getOperandNumber()) + " of a " +
                         op->getName().getStringRef() + " is too small in dimension " + Twine(dim));
    }
  }
}
