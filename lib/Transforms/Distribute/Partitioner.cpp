// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values held whole or in parts, and the rules of ops that are neither structured nor views.

#include "Partitioner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

//===----------------------------------------------------------------------===//
// Forms of a value
//===----------------------------------------------------------------------===//

bool Partitioner::divides(Value value, int64_t dim) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && dim < type.getRank() && !type.isDynamicDim(unsigned(dim)) &&
         type.getDimSize(unsigned(dim)) % ranks == 0;
}

RankedTensorType Partitioner::partType(Type type, int64_t dim) const {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[size_t(dim)] /= ranks;
  return tensor.clone(shape);
}

std::optional<int64_t> Partitioner::dimOf(Value original) const {
  auto found = placed.find(original);
  if (found == placed.end() || found->second.whole || !found->second.part)
    return std::nullopt;
  return found->second.dim;
}

Value Partitioner::rank() {
  if (!rankValue) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(b.getInsertionBlock());
    rankValue = comm::RankOp::create(b, b.getUnknownLoc(), b.getIndexType());
  }
  return rankValue;
}

Value Partitioner::whole(Value original) {
  Placed &form = placed[original];
  if (form.whole || !form.part)
    return form.whole;
  auto type = cast<RankedTensorType>(original.getType());
  Location loc = original.getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  form.whole = comm::AllGatherOp::create(b, loc, type, form.dim, form.part, empty).getResult();
  return form.whole;
}

/// Makes what was made from nothing again in the size of a part; null if it was not.
Value Partitioner::remake(Value original, int64_t dim) {
  Operation *op = original.getDefiningOp();
  RankedTensorType type = partType(original.getType(), dim);
  if (isa_and_nonnull<tensor::EmptyOp>(op) && type.hasStaticShape())
    return tensor::EmptyOp::create(b, op->getLoc(), type, ValueRange());
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(b, op->getLoc(), splat.resizeSplat(type));
  auto fill = dyn_cast_or_null<linalg::FillOp>(op);
  if (!fill || !type.hasStaticShape())
    return {};
  Value empty = tensor::EmptyOp::create(b, op->getLoc(), type, ValueRange());
  return linalg::FillOp::create(b, op->getLoc(), whole(fill.getInputs().front()), empty)
      .getResult(0);
}

Value Partitioner::part(Value original, int64_t dim) {
  if (Placed form = placed[original]; form.part && form.dim == dim)
    return form.part;
  Value cut = remake(original, dim);
  if (!cut) {
    Value all = whole(original);
    RankedTensorType type = partType(original.getType(), dim);
    Location loc = original.getLoc();
    SmallVector<OpFoldResult> offsets(size_t(type.getRank()), b.getIndexAttr(0)),
        strides(size_t(type.getRank()), b.getIndexAttr(1));
    Value size = arith::ConstantIndexOp::create(b, loc, type.getDimSize(unsigned(dim)));
    offsets[size_t(dim)] = arith::MulIOp::create(b, loc, rank(), size).getResult();
    cut = tensor::ExtractSliceOp::create(b, loc, type, all, offsets,
                                         tensor::getMixedSizes(b, loc, all), strides);
    auto slice = cut.getDefiningOp<tensor::ExtractSliceOp>();
    slice.setStaticSizes(type.getShape());
  }
  Placed &form = placed[original];
  form.part = cut;
  form.dim = dim;
  return cut;
}

int64_t Partitioner::bytesToGather(Value original) const {
  auto type = cast<RankedTensorType>(original.getType());
  return type.getNumElements() *
         int64_t(llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Operation *Partitioner::cloneWith(Operation *op, ValueRange operands, TypeRange results) {
  IRMapping mapping;
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    mapping.map(value, whole(value));
  mapping.map(op->getOperands(), operands);
  Operation *clone = b.clone(*op, mapping);
  clone->setOperands(operands); // the same value may be held in two forms
  for (auto [result, type] : llvm::zip_equal(clone->getResults(), results))
    result.setType(type);
  return clone;
}

void Partitioner::visitWhole(Operation *op) {
  ++onWholes;
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value v) { return whole(v); });
  Operation *clone = cloneWith(op, operands, op->getResultTypes());
  for (auto [original, result] : llvm::zip_equal(op->getResults(), clone->getResults()))
    setWhole(original, result);
}

/// All tensors of the op have one shape, and every element is computed from those at its place.
bool Partitioner::onPartsAlong(Operation *op, int64_t dim) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType()) ? part(operand, dim)
                                                                : whole(operand));
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), [&](Type t) -> Type { return partType(t, dim); });
  Operation *clone = cloneWith(op, operands, types);
  for (auto [original, result] : llvm::zip_equal(op->getResults(), clone->getResults()))
    setPart(original, result, dim);
  return true;
}

bool Partitioner::visitElementwise(Operation *op) {
  std::optional<int64_t> best;
  int64_t bytes = 0;
  for (Value operand : op->getOperands())
    if (std::optional<int64_t> dim = dimOf(operand);
        dim && (!best || bytesToGather(operand) > bytes)) {
      best = dim;
      bytes = bytesToGather(operand);
    }
  return best && onPartsAlong(op, *best);
}

bool Partitioner::visitSoftmax(linalg::SoftmaxOp op) {
  std::optional<int64_t> dim = dimOf(op.getInput());
  return dim && *dim != int64_t(op.getDimension()) && onPartsAlong(op, *dim);
}

void Partitioner::visit(Operation *op) {
  auto held = [&](Value value) { return dimOf(value).has_value(); };
  bool done = false;
  if (llvm::any_of(op->getOperands(), held)) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      done = visitStructured(structured);
    else if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() > 0)
      done = visitElementwise(op);
    else
      done = llvm::TypeSwitch<Operation *, bool>(op)
                 .Case([&](linalg::SoftmaxOp softmax) { return visitSoftmax(softmax); })
                 .Case([&](tensor::ExpandShapeOp view) { return visitExpand(view); })
                 .Case([&](tensor::CollapseShapeOp view) { return visitCollapse(view); })
                 .Case([&](tensor::ExtractSliceOp view) { return visitExtractSlice(view); })
                 .Case([&](tensor::InsertSliceOp view) { return visitInsertSlice(view); })
                 .Case([&](tensor::PadOp view) { return visitPad(view); })
                 .Case([&](tensor::ConcatOp view) { return visitConcat(view); })
                 .Default(false);
  }
  if (done)
    ++onParts;
  else
    visitWhole(op);
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

static int64_t bytesSent(Operation *op, int64_t ranks) {
  auto bytesPer = [](Value value) {
    return int64_t(
        llvm::divideCeil(getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(), 8));
  };
  auto elements = [](Value value) { return cast<ShapedType>(value.getType()).getNumElements(); };
  Value source = op->getOperand(0), dest = op->getOperand(1);
  if (isa<comm::AllGatherOp>(op))
    return (ranks - 1) * elements(source) * bytesPer(source);
  if (isa<comm::ReduceScatterOp>(op))
    return (ranks - 1) * elements(dest) * bytesPer(source);
  return 2 * (ranks - 1) * int64_t(llvm::divideCeil(elements(source), ranks)) * bytesPer(source);
}

int64_t mlir::mp::distribute::bytesSentPerCall(Block &block, int64_t ranks) {
  int64_t bytes = 0;
  for (Operation &op : block)
    if (isa<comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp>(op))
      bytes += bytesSent(&op, ranks);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Reduce-scatter
//===----------------------------------------------------------------------===//

/// The dimension along which the slice is this rank's part of its source.
static std::optional<int64_t> partDim(tensor::ExtractSliceOp slice, int64_t ranks) {
  std::optional<int64_t> dim;
  for (auto [i, offset] : llvm::enumerate(slice.getMixedOffsets())) {
    if (isConstantIntValue(offset, 0))
      continue;
    auto product = dyn_cast<Value>(offset).getDefiningOp<arith::MulIOp>();
    if (dim || !product || !product.getLhs().getDefiningOp<comm::RankOp>())
      return std::nullopt;
    dim = int64_t(i);
  }
  if (dim && slice.getType().getDimSize(unsigned(*dim)) * ranks !=
                 slice.getSourceType().getDimSize(unsigned(*dim)))
    return std::nullopt;
  return dim;
}

void mlir::mp::distribute::scatterWhereParts(Block &block, int64_t ranks) {
  for (auto reduce : llvm::make_early_inc_range(block.getOps<comm::AllReduceOp>())) {
    SmallVector<tensor::ExtractSliceOp> slices;
    std::optional<int64_t> dim;
    bool only = !reduce->use_empty();
    for (Operation *user : reduce->getUsers()) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      std::optional<int64_t> own = slice ? partDim(slice, ranks) : std::nullopt;
      only = only && own && (!dim || dim == own);
      dim = own;
      slices.push_back(slice);
    }
    if (!only)
      continue;
    OpBuilder builder(reduce);
    RankedTensorType type = slices.front().getType();
    Value empty = tensor::EmptyOp::create(builder, reduce.getLoc(), type, ValueRange());
    Value scattered =
        comm::ReduceScatterOp::create(builder, reduce.getLoc(), type, reduce.getCombine(),
                                      uint64_t(*dim), reduce.getSource(), empty)
            .getResult();
    for (tensor::ExtractSliceOp slice : slices) {
      slice.replaceAllUsesWith(scattered);
      slice.erase();
    }
    reduce.erase();
  }
}
