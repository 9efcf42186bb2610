// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes, slices, padding and concatenation on parts.

#include "Partitioner.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

std::optional<int64_t> distribute::outermost(ArrayRef<int64_t> group, RankedTensorType split) {
  for (int64_t dim : group)
    if (split.getDimSize(unsigned(dim)) != 1)
      return dim;
  return std::nullopt;
}

bool Partitioner::visitExpand(tensor::ExpandShapeOp op) {
  int64_t dim = *dimOf(op.getSrc());
  RankedTensorType type = op.getResultType();
  std::optional<int64_t> outer = outermost(op.getReassociationIndices()[size_t(dim)], type);
  if (!outer || !type.hasStaticShape() || !divides(op.getResult(), *outer))
    return false;
  Value view = tensor::ExpandShapeOp::create(b, op.getLoc(), partType(type, *outer),
                                             part(op.getSrc(), dim), op.getReassociationIndices());
  setPart(op.getResult(), view, *outer);
  return true;
}

bool Partitioner::visitCollapse(tensor::CollapseShapeOp op) {
  int64_t dim = *dimOf(op.getSrc());
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (outermost(group, op.getSrcType()) != dim)
      continue;
    Value view =
        tensor::CollapseShapeOp::create(b, op.getLoc(), partType(op.getType(), int64_t(i)),
                                        part(op.getSrc(), dim), op.getReassociationIndices());
    setPart(op.getResult(), view, int64_t(i));
    return true;
  }
  return false;
}

bool distribute::takesAll(OffsetSizeAndStrideOpInterface op, RankedTensorType whole, int64_t dim) {
  return isConstantIntValue(op.getMixedOffsets()[size_t(dim)], 0) &&
         isConstantIntValue(op.getMixedStrides()[size_t(dim)], 1) &&
         isConstantIntValue(op.getMixedSizes()[size_t(dim)], whole.getDimSize(unsigned(dim)));
}

/// Attributes of sizes, with that of one dimension for a part.
static SmallVector<int64_t> partSizes(ArrayRef<int64_t> sizes, int64_t dim, int64_t ranks) {
  SmallVector<int64_t> result(sizes);
  result[size_t(dim)] /= ranks;
  return result;
}

/// Dimension of the smaller of two tensors that stands for one of the larger.
static int64_t placeAfterDrops(const llvm::SmallBitVector &dropped, int64_t dim) {
  int64_t place = 0;
  for (int64_t i = 0; i < dim; ++i)
    place += !dropped.test(unsigned(i));
  return place;
}

bool Partitioner::visitExtractSlice(tensor::ExtractSliceOp op) {
  std::optional<int64_t> dim = dimOf(op.getSource());
  if (!dim || op.getDroppedDims().test(unsigned(*dim)) || !takesAll(op, op.getSourceType(), *dim))
    return false;
  int64_t place = placeAfterDrops(op.getDroppedDims(), *dim);
  SmallVector<Value> operands{part(op.getSource(), *dim)};
  for (Value bound : op->getOperands().drop_front())
    operands.push_back(whole(bound));
  auto clone = cast<tensor::ExtractSliceOp>(cloneWith(op, operands, partType(op.getType(), place)));
  clone.setStaticSizes(partSizes(clone.getStaticSizes(), *dim, ranks));
  setPart(op.getResult(), clone.getResult(), place);
  return true;
}

bool Partitioner::visitInsertSlice(tensor::InsertSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t rank = op.getDestType().getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dropped.test(unsigned(dim)))
      continue;
    int64_t place = placeAfterDrops(dropped, dim);
    if (dimOf(op.getDest()) != dim && dimOf(op.getSource()) != place)
      continue;
    if (!takesAll(op, op.getDestType(), dim) || !divides(op.getDest(), dim))
      return false;
    SmallVector<Value> operands{part(op.getSource(), place), part(op.getDest(), dim)};
    for (Value bound : op->getOperands().drop_front(2))
      operands.push_back(whole(bound));
    auto clone = cast<tensor::InsertSliceOp>(cloneWith(op, operands, partType(op.getType(), dim)));
    clone.setStaticSizes(partSizes(clone.getStaticSizes(), dim, ranks));
    setPart(op.getResult(), clone.getResult(), dim);
    return true;
  }
  return false;
}

bool Partitioner::visitPad(tensor::PadOp op) {
  std::optional<int64_t> dim = dimOf(op.getSource());
  if (!dim || !isConstantIntValue(op.getMixedLowPad()[size_t(*dim)], 0) ||
      !isConstantIntValue(op.getMixedHighPad()[size_t(*dim)], 0))
    return false;
  bool readsIndex = llvm::any_of(op.getRegion().getArguments(),
                                 [](BlockArgument index) { return !index.use_empty(); });
  if (readsIndex)
    return false;
  SmallVector<Value> operands{part(op.getSource(), *dim)};
  for (Value bound : op->getOperands().drop_front())
    operands.push_back(whole(bound));
  Operation *clone = cloneWith(op, operands, partType(op.getType(), *dim));
  setPart(op.getResult(), clone->getResult(0), *dim);
  return true;
}

bool Partitioner::visitConcat(tensor::ConcatOp op) {
  for (Value input : op.getInputs()) {
    std::optional<int64_t> dim = dimOf(input);
    if (!dim || *dim == int64_t(op.getDim()))
      continue;
    SmallVector<Value> parts =
        llvm::map_to_vector(op.getInputs(), [&](Value v) { return part(v, *dim); });
    Operation *clone = cloneWith(op, parts, partType(typeOf(op.getResult()), *dim));
    setPart(op.getResult(), clone->getResult(0), *dim);
    return true;
  }
  return false;
}
