// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaling ops: verifiers.

#include "mp/Dialect/MP/Scaling.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::mp;

#define GET_OP_CLASSES
#include "mp/Dialect/MP/ScalingOps.cpp.inc"

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static LogicalResult verifyLiesOver(Operation *op, StringRef label, StringRef what, Value scale,
                                    Value data) {
  if (liesOver(tensorOf(scale), tensorOf(data)))
    return success();
  return op->emitOpError() << label << " expects " << what << " of rank 0, or of rank "
                           << tensorOf(data).getRank()
                           << " with 1, the same size or a divisor of it in each "
                           << "dimension of " << data.getType() << ", found " << scale.getType();
}

static LogicalResult verifySameShape(Operation *op, StringRef label, Value a, Value b) {
  if (tensorOf(a).getShape() == tensorOf(b).getShape())
    return success();
  return op->emitOpError() << label << " expects operand and result of one shape, found "
                           << a.getType() << " and " << b.getType();
}

static LogicalResult verifyCode(Operation *op, StringRef label, Type format) {
  if (codeFormatOf(format))
    return success();
  return op->emitOpError()
         << label << " expects a float of at most 16 bits, i8 or i4 to store values in, found "
         << format;
}

static LogicalResult verifyBits(Operation *op, StringRef label, Value bits, Value data,
                                std::optional<Rounding> rounding) {
  bool stochastic = rounding == Rounding::SR;
  if (stochastic != bool(bits))
    return op->emitOpError() << label << " expects random bits exactly with rounding 'sr', found "
                             << (bits ? "bits" : "none") << " with rounding '"
                             << stringifyRounding(rounding.value_or(Rounding::RNE)) << "'";
  if (bits && tensorOf(bits).getShape() != tensorOf(data).getShape())
    return op->emitOpError() << label << " expects random bits in the shape of " << data.getType()
                             << ", found " << bits.getType();
  return success();
}

LogicalResult AmaxOp::verify() {
  return verifyLiesOver(*this, "(C1)", "a result", getResult(), getSource());
}

/// Checks the type that the scale is stored in against the rule.
static LogicalResult verifyScaleFormat(Operation *op, ScalingAttr rule, RankedTensorType scale) {
  Type stored = scale.getElementType();
  if (rule.getForm() == ScaleForm::Encode && !stored.isF32())
    return op->emitOpError("(C3) expects a decode scale of f32 with form encode, found ") << stored;
  if (isa<Float8E8M0FNUType>(stored) && rule.getPow2() == PowerOfTwo::None)
    return op->emitOpError(
        "(C4) stores the scale as f8E8M0FNU and so expects pow2 to be down, up or even, "
        "found none");
  if (rule.getOnNonfinite() == OnNonFinite::Saturate && stored.isF32())
    return op->emitOpError(
               "(C5) expects a scale narrower than f32 with on_nonfinite = saturate, found ")
           << scale;
  return success();
}

static LogicalResult verifyParent(Operation *op, ScalingAttr rule, Value parent) {
  if (!parent || rule.getForm() == ScaleForm::Reciprocal)
    return success();
  return op->emitOpError("(C2) expects form reciprocal for a scale within another, found ")
         << stringifyScaleForm(rule.getForm());
}

LogicalResult ComputeScaleOp::verify() {
  if (getRule().keepsOld() != bool(getOld()))
    return emitOpError("(C1) expects an old scale exactly where the rule keeps it, found ")
           << (getOld() ? "one" : "none")
           << " with on_zero = " << stringifyOnZero(getRule().getOnZero())
           << ", on_nonfinite = " << stringifyOnNonFinite(getRule().getOnNonfinite());
  if (failed(verifyParent(*this, getRule(), getParent())) ||
      failed(verifyScaleFormat(*this, getRule(), tensorOf(getScale()))))
    return failure();
  for (Value other : {getScale(), getOld()})
    if (other && tensorOf(other).getShape() != tensorOf(getAmax()).getShape())
      return emitOpError("(C6) expects tensors of one shape, found ")
             << getAmax().getType() << " and " << other.getType();
  return verifyCode(*this, "(C7)", getFormat());
}

LogicalResult UpdateAmaxHistoryOp::verify() {
  RankedTensorType type = tensorOf(getHistory());
  if (type.getRank() != 1 || type.isDynamicDim(0) || type.getDimSize(0) < 1)
    return emitOpError("(C1) expects a history of rank 1 with a static size of at least 1, found ")
           << type;
  return success();
}

LogicalResult QuantizeOp::verify() {
  if (failed(verifySameShape(*this, "(C1)", getSource(), getResult())) ||
      failed(verifyLiesOver(*this, "(C2)", "a scale", getEnc(), getSource())) ||
      failed(verifyBits(*this, "(C3)", getBits(), getSource(), getRounding())))
    return failure();
  bool plain =
      getRounding().value_or(Rounding::RNE) == Rounding::RNE && getOverflow() == Overflow::Saturate;
  if (isa<IntegerType>(tensorOf(getResult()).getElementType()) && !plain)
    return emitOpError("(C4) expects rounding 'rne' and overflow 'saturate' for integers, found '")
           << stringifyRounding(getRounding().value_or(Rounding::RNE)) << "' and '"
           << stringifyOverflow(getOverflow()) << "'";
  return verifyCode(*this, "(C1)", tensorOf(getResult()).getElementType());
}

LogicalResult DequantizeOp::verify() {
  if (failed(verifySameShape(*this, "(C1)", getSource(), getResult())))
    return failure();
  if (getScales().empty())
    return emitOpError("(C2) expects at least one scale, found none");
  for (Value scale : getScales())
    if (failed(verifyLiesOver(*this, "(C2)", "a scale", scale, getSource())))
      return failure();
  return success();
}

LogicalResult BlockQuantizeOp::verify() {
  if (failed(verifySameShape(*this, "(C1)", getSource(), getResult())) ||
      failed(verifyLiesOver(*this, "(C2)", "scales", getScale(), getSource())))
    return failure();
  if (getRule().keepsOld())
    return emitOpError("(C3) expects a rule that keeps no old scale, found on_zero = ")
           << stringifyOnZero(getRule().getOnZero())
           << ", on_nonfinite = " << stringifyOnNonFinite(getRule().getOnNonfinite());
  if (failed(verifyBits(*this, "(C4)", getBits(), getSource(), getRounding())) ||
      failed(verifyParent(*this, getRule(), getParent())) ||
      failed(verifyScaleFormat(*this, getRule(), tensorOf(getScale()))))
    return failure();
  return verifyCode(*this, "(C5)", tensorOf(getResult()).getElementType());
}

LogicalResult HadamardOp::verify() {
  ArrayRef<int8_t> signs = getSigns();
  if (!llvm::has_single_bit(signs.size()) ||
      !llvm::all_of(signs, [](int8_t s) { return s == 1 || s == -1; }))
    return emitOpError("(C1) expects a power of two of signs, each 1 or -1, found ")
           << getSignsAttr();
  auto axis = int64_t(getAxis());
  RankedTensorType type = tensorOf(getSource());
  if (axis < 0 || axis >= type.getRank())
    return emitOpError("(C2) expects an axis of ") << type << ", found " << axis;
  int64_t size = type.getDimSize(axis);
  if (ShapedType::isDynamic(size) || size % int64_t(signs.size()))
    return emitOpError("(C2) expects a static multiple of ")
           << signs.size() << " elements along axis " << axis << ", found " << type;
  return success();
}

LogicalResult RandomBitsOp::verify() {
  if (!tensorOf(getResult()).hasStaticShape())
    return emitOpError("(C1) expects a static shape, found ") << getType();
  return success();
}

SmallVector<unsigned> ScaledMatmulOp::getSummedLoops() {
  AffineMap result = cast<AffineMapAttr>(getIndexingMaps()[2]).getValue();
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop != result.getNumDims(); ++loop)
    if (!result.isFunctionOfDim(loop))
      loops.push_back(loop);
  return loops;
}

/// Calls `visit` with the loop and the number of scales along it, for each scale and dimension.
static void forEachScaledLoop(ScaledMatmulOp op,
                              function_ref<void(unsigned loop, int64_t scales)> visit) {
  OperandRange scalesOf[] = {op.getScalesA(), op.getScalesB()};
  for (auto [index, scales] : llvm::enumerate(scalesOf)) {
    AffineMap map = cast<AffineMapAttr>(op.getIndexingMaps()[index]).getValue();
    for (Value scale : scales)
      for (auto [dim, size] : llvm::enumerate(tensorOf(scale).getShape()))
        visit(map.getDimPosition(dim), size);
  }
}

int64_t ScaledMatmulOp::getBlocksAlong(unsigned loop) {
  int64_t blocks = 1;
  if (!llvm::is_contained(getSummedLoops(), loop))
    return blocks;
  forEachScaledLoop(*this, [&](unsigned at, int64_t scales) {
    if (at == loop)
      blocks = std::max(blocks, scales);
  });
  return blocks;
}

LogicalResult ScaledMatmulOp::verify() {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  Value tensors[] = {getA(), getB(), getInit()};
  unsigned loops = maps.empty() ? 0 : maps[0].getNumDims();
  SmallVector<int64_t> sizes(loops, ShapedType::kDynamic);
  SmallVector<unsigned> uses(loops, 0);
  if (maps.size() != 3)
    return emitOpError("(C1) expects three maps, found ") << maps.size();
  for (auto [map, tensor] : llvm::zip_equal(maps, tensors)) {
    if (map.getNumDims() != loops || !map.isProjectedPermutation() ||
        int64_t(map.getNumResults()) != tensorOf(tensor).getRank())
      return emitOpError("(C1) expects a map of ")
             << loops << " loops that lists a different one for each dimension of "
             << tensor.getType() << ", found " << AffineMapAttr::get(map);
    for (auto [dim, size] : llvm::enumerate(tensorOf(tensor).getShape())) {
      unsigned loop = map.getDimPosition(dim);
      ++uses[loop];
      if (ShapedType::isDynamic(size))
        continue;
      if (!ShapedType::isDynamic(sizes[loop]) && sizes[loop] != size)
        return emitOpError("(C2) expects one size for loop d")
               << loop << ", found " << sizes[loop] << " and " << size;
      sizes[loop] = size;
    }
  }
  for (auto [loop, count] : llvm::enumerate(uses))
    if (count < 2)
      return emitOpError("(C1) expects every loop in at least two maps, found d")
             << loop << " in " << count;
  bool integer = isa<IntegerType>(tensorOf(getA()).getElementType());
  if (integer != isa<IntegerType>(tensorOf(getB()).getElementType()))
    return emitOpError("(C3) expects operands of floats or of integers, found ")
           << getA().getType() << " and " << getB().getType();
  for (auto [data, scales] :
       {std::pair<Value, OperandRange>{getA(), getScalesA()}, {getB(), getScalesB()}}) {
    if (scales.empty())
      return emitOpError("(C4) expects a scale for each operand, found none for ")
             << data.getType();
    for (Value scale : scales)
      if (failed(verifyLiesOver(*this, "(C4)", "a scale", scale, data)))
        return failure();
  }
  LogicalResult result = success();
  SmallVector<unsigned> summed = getSummedLoops();
  forEachScaledLoop(*this, [&](unsigned loop, int64_t scales) {
    if (!llvm::is_contained(summed, loop) || scales == 1 || failed(result))
      return;
    if (ShapedType::isDynamic(scales) || getBlocksAlong(loop) % scales)
      result = emitOpError("(C5) expects numbers of scales along loop d")
               << loop << " that divide each other, found " << getBlocksAlong(loop) << " and "
               << scales;
  });
  return result;
}
