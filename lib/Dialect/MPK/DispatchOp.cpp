// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpk.dispatch: what is a legal one, what it reads and writes, how it meets buffers.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MPK/MPKDialect.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::mpk;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// The type in the body of an operand of this type.
static Type typeInBody(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer ? RankedTensorType::get(buffer.getShape(), buffer.getElementType()) : type;
}

LogicalResult DispatchOp::verify() {
  bool onTensors = false, onBuffers = false;
  for (Type type : getOperandTypes()) {
    onTensors |= isa<TensorType>(type);
    onBuffers |= isa<BaseMemRefType>(type);
  }
  if (onTensors && onBuffers)
    return emitOpError("(C3) expected tensors or buffers as operands, found both");
  return success();
}

/// (C1): arguments of the body are operands, and outputs are what it yields.
static LogicalResult verifySignature(DispatchOp op) {
  Block &body = op.getBody().front();
  if (body.getNumArguments() != op->getNumOperands())
    return op.emitOpError("(C1) expected an argument of the body for each of ")
           << op->getNumOperands() << " operands, found " << body.getNumArguments();
  for (auto [index, operand, argument] :
       llvm::enumerate(op->getOperandTypes(), body.getArguments()))
    if (Type expected = typeInBody(operand); argument.getType() != expected)
      return op.emitOpError("(C1) expected argument ")
             << index << " of the body to be " << expected << ", found " << argument.getType();
  auto yield = dyn_cast<mpk::YieldOp>(body.getTerminator());
  if (!yield)
    return op.emitOpError("(C1) expected the body to end in mpk.yield, found ")
           << body.getTerminator()->getName();
  if (yield.getValues().size() != op.getOutputs().size())
    return yield.emitOpError("(C1) expected a value for each of ")
           << op.getOutputs().size() << " outputs, found " << yield.getValues().size();
  for (auto [index, value, output] : llvm::enumerate(yield.getValues(), op.getOutputArguments()))
    if (value.getType() != output.getType())
      return yield.emitOpError("(C1) expected value ")
             << index << " to be " << output.getType() << ", found " << value.getType();
  return success();
}

LogicalResult DispatchOp::verifyRegions() {
  if (failed(verifySignature(*this)))
    return failure();
  WalkResult result = getBody().walk<WalkOrder::PreOrder>([&](Operation *inner) -> WalkResult {
    if (inner == getBody().front().getTerminator() || isa<cf::AssertOp>(inner) ||
        isa_and_nonnull<affine::AffineDialect, arith::ArithDialect, linalg::LinalgDialect,
                        math::MathDialect, MPDialect, tensor::TensorDialect>(inner->getDialect()))
      return WalkResult::advance();
    return emitOpError("(C2) expected ops of the dialects affine, arith, linalg, math, mp and "
                       "tensor in the body, found ")
           << inner->getName();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

/// True if `use` overwrites every element and reads none, or asks for a size.
static bool isUnread(OpOperand &use) {
  if (isa<tensor::DimOp>(use.getOwner()))
    return true;
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && op.isDpsInit(&use) && !op.payloadUsesValueFromOperand(&use) &&
         op.getMatchingIndexingMap(&use).isPermutation();
}

bool DispatchOp::readsOutput(unsigned index) {
  return !llvm::all_of(getOutputArguments()[index].getUses(), isUnread);
}

void DispatchOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  auto *memory = SideEffects::DefaultResource::get();
  for (OpOperand &input : getInputsMutable())
    if (isa<MemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input, memory);
  for (auto [index, output] : llvm::enumerate(getOutputsMutable()))
    if (isa<MemRefType>(output.get().getType())) {
      if (readsOutput(index))
        effects.emplace_back(MemoryEffects::Read::get(), &output, memory);
      effects.emplace_back(MemoryEffects::Write::get(), &output, memory);
    }
}

//===----------------------------------------------------------------------===//
// Bufferization
//===----------------------------------------------------------------------===//

bool DispatchOp::hasTensorSemantics() {
  return llvm::any_of(getOperandTypes(), [](Type type) { return isa<TensorType>(type); });
}

bool DispatchOp::bufferizesToMemoryRead(OpOperand &operand, const bufferization::AnalysisState &) {
  return !isDpsInit(&operand) || readsOutput(operand.getOperandNumber() - getInputs().size());
}

bool DispatchOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList
DispatchOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), bufferization::BufferRelation::Equivalent}};
}

LogicalResult DispatchOp::bufferize(RewriterBase &rewriter,
                                    const bufferization::BufferizationOptions &options,
                                    bufferization::BufferizationState &state) {
  auto toBuffers = [&](ValueRange values, SmallVectorImpl<Value> &buffers) -> LogicalResult {
    for (Value value : values) {
      FailureOr<Value> buffer = value;
      if (isa<TensorType>(value.getType()))
        buffer = bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    return success();
  };
  SmallVector<Value> inputs, outputs;
  if (failed(toBuffers(getInputs(), inputs)) || failed(toBuffers(getOutputs(), outputs)))
    return failure();
  auto onBuffers =
      DispatchOp::create(rewriter, getLoc(), TypeRange(), inputs, outputs, getScheduleAttr());
  onBuffers->setDiscardableAttrs(getOperation()->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(getBody(), onBuffers.getBody(), onBuffers.getBody().end());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, outputs);
  return success();
}
