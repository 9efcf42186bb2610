// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes, slices, padding and concatenation on parts.

#include "Partitioner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Gives all ranks a small slice across parts, for less than the whole: each brings the bits of
/// elements that are its own, and zero for the others, which an or of all puts together exactly.
static Value shareSlice(OpBuilder &b, tensor::ExtractSliceOp op, int64_t dim, Value own,
                        Value rank) {
  RankedTensorType type = op.getType();
  Type element = type.getElementType();
  Location loc = op.getLoc();
  auto bits = cast<RankedTensorType>(type.clone(b.getIntegerType(element.getIntOrFloatBitWidth())));
  int64_t rows = typeOf(own).getDimSize(unsigned(dim));
  Value size = arith::ConstantIndexOp::create(b, loc, rows);
  Value first = arith::MulIOp::create(b, loc, rank, size);
  Value empty = tensor::EmptyOp::create(b, loc, bits, ValueRange());
  AffineMap map = b.getMultiDimIdentityMap(unsigned(type.getRank()));
  SmallVector<utils::IteratorType> loops(size_t(type.getRank()), utils::IteratorType::parallel);
  auto mask = linalg::GenericOp::create(
      b, loc, bits, ValueRange(), empty, map, loops,
      [&](OpBuilder &inside, Location loc, ValueRange) {
        SmallVector<Value> place;
        Value isOwn;
        int64_t kept = 0;
        for (int64_t i = 0; i < op.getSourceType().getRank(); ++i) {
          Value at = arith::ConstantIndexOp::create(inside, loc, op.getStaticOffset(i));
          if (!op.getDroppedDims().test(unsigned(i))) {
            Value index = linalg::IndexOp::create(inside, loc, kept++);
            Value stride = arith::ConstantIndexOp::create(inside, loc, op.getStaticStride(i));
            Value steps = arith::MulIOp::create(inside, loc, index, stride);
            at = arith::AddIOp::create(inside, loc, at, steps);
          }
          if (i == dim) {
            Value within = arith::SubIOp::create(inside, loc, at, first);
            isOwn = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ult, within, size);
            Value zero = arith::ConstantIndexOp::create(inside, loc, 0);
            at = arith::SelectOp::create(inside, loc, isOwn, within, zero);
          }
          place.push_back(at);
        }
        Value held = tensor::ExtractOp::create(inside, loc, own, place);
        if (element != bits.getElementType())
          held = arith::BitcastOp::create(inside, loc, bits.getElementType(), held);
        Value zero =
            arith::ConstantOp::create(inside, loc, inside.getIntegerAttr(bits.getElementType(), 0));
        Value brought = arith::SelectOp::create(inside, loc, isOwn, held, zero);
        linalg::YieldOp::create(inside, loc, brought);
      });
  Value dest = tensor::EmptyOp::create(b, loc, bits, ValueRange());
  Value all = comm::AllReduceOp::create(b, loc, bits, comm::Combine::Or, mask.getResult(0), dest)
                  .getResult();
  return bits == type ? all : arith::BitcastOp::create(b, loc, type, all).getResult();
}

bool Partitioner::visitExtractSlice(tensor::ExtractSliceOp op) {
  std::optional<int64_t> dim = dimOf(op.getSource());
  if (dim && !takesAll(op, op.getSourceType(), *dim)) {
    Type element = op.getType().getElementType();
    bool isShared = op->getNumOperands() == 1 && element.isIntOrFloat() &&
                    llvm::is_contained({8u, 32u, 64u}, element.getIntOrFloatBitWidth()) &&
                    2 * bytesOf(op.getResult()) < bytesOf(op.getSource());
    if (isShared)
      setWhole(op.getResult(), shareSlice(b, op, *dim, part(op.getSource(), *dim), rank()));
    return isShared;
  }
  if (!dim || op.getDroppedDims().test(unsigned(*dim)))
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
