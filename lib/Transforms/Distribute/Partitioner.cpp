// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values held whole or in parts, and the rules of ops that are neither structured nor views.

#include "Partitioner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Dialect/MP/MPDialect.h"
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
  Placed form = placed[original];
  if (form.whole || (!form.part && !form.own))
    return form.whole;
  auto type = cast<RankedTensorType>(original.getType());
  Location loc = original.getLoc();
  if (form.part) {
    if (isMadeAgain(original))
      return madeAgain(original);
    Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
    return placed[original].whole =
               comm::AllGatherOp::create(b, loc, type, form.dim, form.part, empty).getResult();
  }
  auto wide = cast<RankedTensorType>(form.own.getType());
  Value empty = tensor::EmptyOp::create(b, loc, wide, ValueRange());
  Value all = comm::AllReduceOp::create(b, loc, wide, form.combine, form.own, empty).getResult();
  return placed[original].whole = rounded(all, type);
}

/// True if the op repeats elements of its only input, so that its result is cheaper made again than
/// exchanged.
static bool repeatsInput(Operation *op) {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!structured || structured.getNumDpsInputs() != 1 || structured.getNumDpsInits() != 1 ||
      structured.getNumReductionLoops() > 0)
    return false;
  auto from = dyn_cast<RankedTensorType>(structured.getDpsInputOperand(0)->get().getType());
  auto to = dyn_cast<RankedTensorType>(structured.getDpsInits().front().getType());
  return from && to && from.hasStaticShape() && to.hasStaticShape() &&
         from.getNumElements() < to.getNumElements() &&
         structured.getRegionOutputArgs().front().use_empty();
}

bool Partitioner::hasWhole(Value original) const {
  auto found = placed.find(original);
  return found != placed.end() && found->second.whole;
}

/// Returns the value of which this one is another form, so that the whole of it need not be
/// exchanged where that of the other is there; null if it is none.
static Value formOf(Value original) {
  Operation *op = original.getDefiningOp();
  bool converts = op && isa<CastOp, arith::ExtFOp, arith::TruncFOp, linalg::TransposeOp,
                            tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
  return converts || repeatsInput(op) ? op->getOperand(0) : Value();
}

bool Partitioner::isMadeAgain(Value original) const {
  if (hasWhole(original) || repeatsInput(original.getDefiningOp()))
    return true;
  Value source = formOf(original);
  return source && isMadeAgain(source);
}

/// Makes the whole from that of the value of which this is another form.
Value Partitioner::madeAgain(Value original) {
  Operation *op = original.getDefiningOp();
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value v) { return whole(v); });
  Value made = cloneWith(op, operands, op->getResultTypes())->getResult(0);
  placed[original].whole = made;
  return made;
}

/// Rounds what ranks combined in a wider format.
Value Partitioner::rounded(Value combined, RankedTensorType type) {
  return combined.getType() == type
             ? combined
             : arith::TruncFOp::create(b, combined.getLoc(), type, combined).getResult();
}

/// Lets each rank combine its part alone.
Value Partitioner::scatter(Value original, int64_t dim) {
  const Placed &form = placed[original];
  RankedTensorType wide = partType(form.own.getType(), dim);
  Location loc = original.getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, wide, ValueRange());
  Value own =
      comm::ReduceScatterOp::create(b, loc, wide, form.combine, uint64_t(dim), form.own, empty)
          .getResult();
  return rounded(own, partType(original.getType(), dim));
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
  if (repeatsInput(op))
    return repeat(cast<linalg::LinalgOp>(op), dim);
  auto fill = dyn_cast_or_null<linalg::FillOp>(op);
  if (!fill || !type.hasStaticShape())
    return {};
  Value empty = tensor::EmptyOp::create(b, op->getLoc(), type, ValueRange());
  return linalg::FillOp::create(b, op->getLoc(), whole(fill.getInputs().front()), empty)
      .getResult(0);
}

/// Repeats the elements of the input into a part of the result.
Value Partitioner::repeat(linalg::LinalgOp op, int64_t dim) {
  OpOperand *input = op.getDpsInputOperand(0), *init = op.getDpsInitOperand(0);
  auto loop = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(init).getResult(unsigned(dim)));
  if (!loop || op.hasIndexSemantics())
    return {};
  AffineMap map = op.getMatchingIndexingMap(input);
  std::optional<unsigned> place = map.getResultPosition(loop);
  if (!place && map.isFunctionOfDim(loop.getPosition()))
    return {};
  Value source = place ? part(input->get(), int64_t(*place)) : whole(input->get());
  RankedTensorType type = partType(init->get().getType(), dim);
  return cloneWith(op, {source, part(init->get(), dim)}, type)->getResult(0);
}

Value Partitioner::part(Value original, int64_t dim) {
  if (Placed form = placed[original]; form.part && form.dim == dim)
    return form.part;
  bool isPending = placed[original].isPending();
  Value cut = isPending ? scatter(original, dim) : remake(original, dim);
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

int64_t Partitioner::bytesOf(Value original) {
  auto type = cast<RankedTensorType>(original.getType());
  return type.getNumElements() *
         int64_t(llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
}

int64_t Partitioner::bytesToGather(Value original) const {
  if (hasWhole(original))
    return 0;
  Value source = isMadeAgain(original) ? formOf(original) : Value();
  return source ? bytesToGather(source) : dimOf(original) ? bytesOf(original) : 0;
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
    if (std::optional<int64_t> dim = dimOf(operand); dim && (!best || bytesOf(operand) > bytes)) {
      best = dim;
      bytes = bytesOf(operand);
    }
  return best && onPartsAlong(op, *best);
}

bool Partitioner::visitSoftmax(linalg::SoftmaxOp op) {
  std::optional<int64_t> dim = dimOf(op.getInput());
  return dim && *dim != int64_t(op.getDimension()) && onPartsAlong(op, *dim);
}

void Partitioner::visit(Operation *op) {
  if (visitPending(op)) {
    ++onParts;
    return;
  }
  resolveWanted(op);
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
