// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of quantisation in training: formats and verifiers.

#include "mlir/IR/Builders.h"
#include "mp/Dialect/MP/FakeQuantize.h"

using namespace mlir;
using namespace mlir::mp;

#define GET_OP_CLASSES
#include "mp/Dialect/MP/FakeQuantizeOps.cpp.inc"

std::optional<CodeRange> mlir::mp::getCodeRange(Type format, bool affine) {
  if (auto integer = dyn_cast<IntegerType>(format)) {
    unsigned bits = integer.getWidth();
    if (bits < 2 || bits > 8 || integer.isSigned())
      return std::nullopt;
    if (integer.isUnsigned())
      return CodeRange{0, double((1 << bits) - 1), true};
    double top = (1 << (bits - 1)) - 1;
    return CodeRange{affine ? -top - 1 : -top, top, true};
  }
  auto stored = dyn_cast<FloatType>(format);
  if (!stored || stored.getWidth() > 8 || isa<Float8E8M0FNUType>(stored))
    return std::nullopt;
  std::optional<numerics::CodeFormat> code = codeFormatOf(format);
  if (!code)
    return std::nullopt;
  return CodeRange{-code->largest(), code->largest(), false};
}

Type mlir::mp::getCodeStorage(Type format) {
  std::optional<CodeRange> range = getCodeRange(format);
  if (!range || !range->isInteger || range->hi > 127)
    return {};
  return IntegerType::get(format.getContext(), range->hi <= 7 ? 4 : 8);
}

/// (C1) to (C3), which all ops of this kind have.
static LogicalResult verifyGrid(Operation *op, Value source, Value step, Value zero, Type format) {
  std::optional<CodeRange> range = getCodeRange(format);
  if (!range)
    return op->emitOpError("(C1) expects iN or uiN with N from 2 to 8, or a float of at most 8 "
                           "bits, found ")
           << format;
  auto data = cast<RankedTensorType>(source.getType());
  if (!liesOver(cast<RankedTensorType>(step.getType()), data))
    return op->emitOpError("(C2) expects steps of rank 0, or of rank ")
           << data.getRank() << " with 1, the same size or a divisor of it in each dimension of "
           << data << ", found " << step.getType();
  if (!zero)
    return success();
  if (!range->isInteger)
    return op->emitOpError("(C3) expects no zero point with ") << format << ", found one";
  if (zero.getType() != step.getType())
    return op->emitOpError("(C3) expects zero points of type ")
           << step.getType() << ", found " << zero.getType();
  return success();
}

LogicalResult FakeQuantizeOp::verify() {
  if (failed(verifyGrid(*this, getSource(), getStep(), getZero(), getFormat())))
    return failure();
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  Type element = result.getElementType();
  if (result.clone(source.getElementType()) != source)
    return emitOpError("(C4) expects a result in the shape of ") << source << ", found " << result;
  if (element.isF32())
    return success();
  if (getCodes() && element == getFormat() && isa<FloatType>(element))
    return success();
  Type storage = getCodeStorage(getFormat());
  if (!isa<IntegerType>(element) || !getCodes() || !storage ||
      storage.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
    return emitOpError("(C4) expects a result of f32, or what holds every one of the 'codes' of ")
           << getFormat() << ", found " << result;
  return success();
}

LogicalResult StraightThroughOp::verify() {
  return verifyGrid(*this, getSource(), getStep(), getZero(), getFormat());
}

LogicalResult StepGradientOp::verify() {
  if (failed(verifyGrid(*this, getSource(), getStep(), getZero(), getFormat())))
    return failure();
  if (!cast<RankedTensorType>(getSource().getType()).hasStaticShape())
    return emitOpError("(C4) expects a static shape, found ") << getSource().getType();
  return success();
}

LogicalResult PruneOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  auto axis = int64_t(getAxis()), group = int64_t(getOf()), kept = int64_t(getKeep());
  if (axis < 0 || axis >= type.getRank() || group < 1 || type.isDynamicDim(axis) ||
      type.getDimSize(axis) % group)
    return emitOpError("(C1) expects a static multiple of ")
           << group << " elements along axis " << axis << ", found " << type;
  if (kept < 1 || kept >= group)
    return emitOpError("(C2) expects to keep from 1 to ")
           << group - 1 << " of " << group << ", found " << kept;
  auto scores = getScores() ? cast<RankedTensorType>(getScores().getType()) : RankedTensorType();
  if (scores && scores.getShape() != ArrayRef<int64_t>(type.getDimSize(axis)))
    return emitOpError("(C3) expects scores of type tensor<")
           << type.getDimSize(axis) << "xf32>, found " << scores;
  return success();
}
