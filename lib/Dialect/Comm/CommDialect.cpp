// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the comm dialect, its verifiers, and how its ops meet buffers.

#include "mp/Dialect/Comm/CommDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::mp::comm;

#include "mp/Dialect/Comm/CommDialect.cpp.inc"
#include "mp/Dialect/Comm/CommEnums.cpp.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/Comm/CommOps.cpp.inc"

void CommDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/Comm/CommOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult CommDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kRanksAttrName)
    return op->emitOpError() << "has '" << attribute.getName().getValue()
                             << "'; of an op comm.ranks is known, of arguments and results "
                                "comm.shard and comm.stage";
  auto ranks = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!ranks || ranks.getInt() < 1 || !isa<FunctionOpInterface>(op))
    return op->emitOpError("expects 'comm.ranks' to be a positive number, on a function, found ")
           << attribute.getValue();
  return success();
}

static LogicalResult verifyPlace(Operation *op, NamedAttribute attribute, Type type,
                                 const Twine &where) {
  if (attribute.getName() == kStageAttrName) {
    auto stage = dyn_cast<IntegerAttr>(attribute.getValue());
    if (stage && stage.getInt() >= 0)
      return success();
    return op->emitOpError("expects 'comm.stage' on ")
           << where << " to be a number that is not negative, found " << attribute.getValue();
  }
  if (attribute.getName() != kShardAttrName)
    return op->emitOpError() << "has '" << attribute.getName().getValue() << "' on " << where
                             << ", expected comm.shard or comm.stage";
  auto dim = dyn_cast<IntegerAttr>(attribute.getValue());
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!dim || !tensor || dim.getInt() < 0 || dim.getInt() >= tensor.getRank())
    return op->emitOpError("expects 'comm.shard' on ")
           << where << " to be a dimension of a tensor, found " << attribute.getValue() << " on "
           << type;
  return success();
}

LogicalResult CommDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || index >= function.getNumArguments())
    return op->emitOpError("has comm.shard, which belongs on the arguments of functions");
  return verifyPlace(op, attribute, function.getArgumentTypes()[index],
                     "argument #" + Twine(index));
}

LogicalResult CommDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || index >= function.getNumResults())
    return op->emitOpError("has comm.shard, which belongs on the results of functions");
  return verifyPlace(op, attribute, function.getResultTypes()[index], "result #" + Twine(index));
}

/// (C4) of reduce_scatter.
static bool sumsWide(Operation *op) {
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  return scatter && scatter.getCombine() == Combine::Sum && narrow && narrow.getWidth() < 32 &&
         getElementTypeOrSelf(op->getOperand(1).getType()).isF32();
}

/// (C1) of all collectives.
static LogicalResult verifyTypes(Operation *op) {
  auto source = cast<ShapedType>(op->getOperand(0).getType());
  auto dest = cast<ShapedType>(op->getOperand(1).getType());
  bool onTensors = isa<TensorType>(dest);
  if (isa<TensorType>(source) != onTensors || (op->getNumResults() == 1) != onTensors)
    return op->emitOpError("expects tensors and a result, or buffers and none, found ")
           << source << ", " << dest << " and " << op->getNumResults() << " results";
  if (source.getElementType() != dest.getElementType() && !sumsWide(op))
    return op->emitOpError("(C1) expects one element type, found ") << source << " and " << dest;
  if (onTensors && op->getResult(0).getType() != dest)
    return op->emitOpError("(C1) expects a result of ")
           << dest << ", found " << op->getResult(0).getType();
  return success();
}

static LogicalResult verifyElements(Operation *op, Combine combine) {
  Type element = getElementTypeOrSelf(op->getOperand(1).getType());
  bool isFloat = element.isF32() || element.isF64();
  auto integer = dyn_cast<IntegerType>(element);
  bool isInteger = integer && llvm::is_contained({1u, 8u, 32u, 64u}, integer.getWidth());
  bool ofIntegers = combine == Combine::Or || combine == Combine::And;
  bool ofFloats = combine == Combine::MaxNum || combine == Combine::MinNum;
  if ((isFloat && !ofIntegers) || (isInteger && !ofFloats))
    return success();
  return op->emitOpError("(C2) expects elements that ranks can combine by '")
         << stringifyCombine(combine) << "' (f32, f64, or integers of 1, 8, 32 or 64 bits), found "
         << element;
}

/// `whole` is the shape of `part`, but for `dim`, of which it has one part for each rank.
static LogicalResult verifyParts(Operation *op, ShapedType whole, ShapedType part, int64_t dim) {
  bool fits = whole.getRank() == part.getRank() && dim >= 0 && dim < whole.getRank();
  int64_t ranks = ShapedType::kDynamic;
  if (auto function = op->getParentOfType<FunctionOpInterface>())
    if (auto stated = function->getAttrOfType<IntegerAttr>(kRanksAttrName))
      ranks = stated.getInt();
  for (int64_t i = 0; fits && i < whole.getRank(); ++i) {
    int64_t all = whole.getDimSize(i), own = part.getDimSize(i);
    if (ShapedType::isDynamic(all) || ShapedType::isDynamic(own))
      continue;
    fits = i != dim                       ? all == own
           : ShapedType::isDynamic(ranks) ? own == 0 || all % own == 0
                                          : all == own * ranks;
  }
  if (fits)
    return success();
  InFlightDiagnostic diag = op->emitOpError("(C2) expects parts along dimension ")
                            << dim << " for each rank";
  if (!ShapedType::isDynamic(ranks))
    diag << " of " << ranks;
  return diag << ", found " << part << " of " << whole;
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyTypes(*this)))
    return failure();
  if (cast<ShapedType>(getSource().getType()).getShape() !=
      cast<ShapedType>(getDest().getType()).getShape())
    return emitOpError("(C1) expects one shape, found ")
           << getSource().getType() << " and " << getDest().getType();
  return verifyElements(*this, getCombine());
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyTypes(*this)))
    return failure();
  return verifyParts(*this, cast<ShapedType>(getDest().getType()),
                     cast<ShapedType>(getSource().getType()), getDim());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyTypes(*this)) ||
      failed(verifyParts(*this, cast<ShapedType>(getSource().getType()),
                         cast<ShapedType>(getDest().getType()), getDim())))
    return failure();
  return verifyElements(*this, getCombine());
}

/// (C1) and (C2) of what one rank sends to another.
static LogicalResult verifyMessage(Operation *op, StringRef what, int64_t other, int64_t tag) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto ranks = function ? function->getAttrOfType<IntegerAttr>(kRanksAttrName) : IntegerAttr();
  int64_t count = ranks ? ranks.getInt() : ShapedType::kDynamic;
  if (other < 0 || (ranks && other >= count))
    return op->emitOpError("(C1) expects '")
           << what << "' to be one of the function's ranks"
           << (ranks ? ", of which there are " + std::to_string(count) : "") << ", found " << other;
  if (tag < 0)
    return op->emitOpError("(C2) expects a tag that is not negative, found ") << tag;
  return success();
}

LogicalResult SendOp::verify() { return verifyMessage(*this, "to", getTo(), getTag()); }

LogicalResult ReceiveOp::verify() {
  if (failed(verifyMessage(*this, "from", getFrom(), getTag())))
    return failure();
  Type dest = getDest().getType();
  if (isa<TensorType>(dest) != bool(getResult()) || (getResult() && getResult().getType() != dest))
    return emitOpError("(C3) expects a result of the destination's type on tensors, none on "
                       "buffers, found ")
           << getOperation()->getResultTypes() << " and " << dest;
  return success();
}

//===----------------------------------------------------------------------===//
// Effects and buffers
//===----------------------------------------------------------------------===//

bool mlir::mp::comm::detail::isDestination(OpOperand &operand) {
  auto styled = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  return styled && styled.isDpsInit(&operand);
}

void mlir::mp::comm::detail::getExchangeEffects(
    Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), Order::get());
  effects.emplace_back(MemoryEffects::Write::get(), Order::get());
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()) && isDestination(operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
    else if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
}

bufferization::AliasingValueList mlir::mp::comm::detail::aliasesOfExchange(Operation *op,
                                                                           OpOperand &operand) {
  if (!isDestination(operand) || op->getNumResults() == 0)
    return {};
  return {{op->getResult(0), bufferization::BufferRelation::Equivalent, /*isDefinite=*/true}};
}

LogicalResult
mlir::mp::comm::detail::bufferizeExchange(Operation *op, RewriterBase &rewriter,
                                          const bufferization::BufferizationOptions &options,
                                          bufferization::BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> buffer = bufferization::getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  OperationState onBuffers(op->getLoc(), op->getName(), buffers, TypeRange(), op->getAttrs());
  rewriter.create(onBuffers);
  ValueRange written = ArrayRef(buffers).take_back(op->getNumResults()); // the destination
  bufferization::replaceOpWithBufferizedValues(rewriter, op, written);
  return success();
}
