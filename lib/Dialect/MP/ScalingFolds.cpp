// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of scaling ops on constants, through lib/Numerics/Scaling: weights quantised ahead of
// time hold what the same ops would have computed at run time.

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mp/Dialect/MP/CastFolds.h"
#include "mp/Dialect/MP/Resources.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/Scaling/Blocks.h"

using namespace mlir;
using namespace mlir::mp;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Values of the element type of `type`, which hold exactly.
static Attribute writeFloats(ArrayRef<float> values, RankedTensorType type) {
  auto to = numerics::formatOf(cast<FloatType>(type.getElementType()).getFloatSemantics());
  SmallVector<char, 0> raw(values.size() * numerics::storageBytes(*to));
  numerics::convertArray(values.data(), numerics::Format::F32, raw.data(), *to, values.size());
  return DenseElementsAttr::getFromRawBuffer(type, raw);
}

static std::optional<std::vector<uint8_t>> readCodes(Attribute attr) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  Type element = dense.getElementType();
  if (!codeFormatOf(element) || element.getIntOrFloatBitWidth() > 8)
    return std::nullopt;
  std::vector<uint8_t> codes;
  codes.reserve(dense.getNumElements());
  if (isa<FloatType>(element))
    for (const APFloat &value : dense.getValues<APFloat>())
      codes.push_back(uint8_t(value.bitcastToAPInt().getZExtValue()));
  else
    for (const APInt &value : dense.getValues<APInt>())
      codes.push_back(uint8_t(value.getZExtValue()));
  return codes;
}

/// Codes as a constant of the kind that `like` is; a resource gets a name of its own.
static Attribute writeCodes(ArrayRef<uint8_t> codes, RankedTensorType type, Attribute like) {
  ArrayRef<char> raw(reinterpret_cast<const char *>(codes.data()), codes.size());
  bool byByte = type.getElementTypeBitWidth() == 8 || isa<FloatType>(type.getElementType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(like); resource && byByte) {
    std::string name;
    llvm::raw_string_ostream(name)
        << resource.getRawHandle().getKey() << '_' << type.getElementType();
    return getOrAddResource(type, name, raw);
  }
  if (byByte)
    return DenseElementsAttr::getFromRawBuffer(type, raw);
  SmallVector<APInt, 0> values;
  values.reserve(codes.size());
  for (uint8_t code : codes)
    values.push_back(APInt(type.getElementTypeBitWidth(), code));
  return DenseElementsAttr::get(type, values);
}

OpFoldResult AmaxOp::fold(FoldAdaptor adaptor) {
  auto values = readFloats(adaptor.getSource());
  if (!values)
    return {};
  auto layout = numerics::BlockLayout::get(shapeOf(getSource()), shapeOf(getResult()));
  std::vector<float> result(layout->scales());
  numerics::amaxArray(values->data(), *layout, result.data(),
                      getPropagateNan() ? numerics::NaNRule::Propagate : numerics::NaNRule::Ignore);
  return writeFloats(result, cast<RankedTensorType>(getType()));
}

LogicalResult ComputeScaleOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult> &results) {
  auto amax = readFloats(adaptor.getAmax());
  auto old = readFloats(adaptor.getOld()), parent = readFloats(adaptor.getParent());
  if (!amax || (getOld() && !old) || (getParent() && !parent))
    return failure();
  auto scaleType = cast<RankedTensorType>(getScale().getType());
  auto format = numerics::formatOf(cast<FloatType>(scaleType.getElementType()).getFloatSemantics());
  numerics::ScaleRule rule = toNumerics(getRule());
  std::vector<float> encode, decode;
  for (size_t i = 0; i < amax->size(); ++i) {
    numerics::Scale scale =
        numerics::computeScale(rule, *codeFormatOf(getFormat()), *format, (*amax)[i],
                               old ? (*old)[i] : 1, parent ? parent->front() : 1);
    encode.push_back(scale.encode);
    decode.push_back(scale.decode);
  }
  results.push_back(writeFloats(encode, cast<RankedTensorType>(getEnc().getType())));
  results.push_back(writeFloats(decode, scaleType));
  return success();
}

OpFoldResult QuantizeOp::fold(FoldAdaptor adaptor) {
  auto values = readFloats(adaptor.getSource()), encode = readFloats(adaptor.getEnc());
  auto type = cast<RankedTensorType>(getType());
  if (!values || !encode || getBits() || type.getElementTypeBitWidth() > 8)
    return {};
  auto layout = numerics::BlockLayout::get(shapeOf(getSource()), shapeOf(getEnc()));
  std::vector<uint8_t> codes(values->size());
  numerics::quantizeArray(
      values->data(), *layout, encode->data(), *codeFormatOf(type.getElementType()), codes.data(),
      toNumerics(getRounding().value_or(Rounding::RNE)), toNumerics(getOverflow()));
  return writeCodes(codes, type, adaptor.getSource());
}

LogicalResult BlockQuantizeOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult> &results) {
  auto values = readFloats(adaptor.getSource());
  auto parent = readFloats(adaptor.getParent());
  auto type = cast<RankedTensorType>(getResult().getType()),
       scaleType = cast<RankedTensorType>(getScale().getType());
  if (!values || (getParent() && !parent) || getBits() || type.getElementTypeBitWidth() > 8)
    return failure();
  auto layout = numerics::BlockLayout::get(type.getShape(), scaleType.getShape());
  auto format = numerics::formatOf(cast<FloatType>(scaleType.getElementType()).getFloatSemantics());
  std::vector<uint8_t> codes(values->size());
  std::vector<float> scales(layout->scales());
  numerics::blockQuantize(values->data(), *layout, toNumerics(getRule()),
                          *codeFormatOf(type.getElementType()), *format, codes.data(),
                          scales.data(), parent ? parent->front() : 1, numerics::NaNRule::Ignore,
                          toNumerics(getRounding().value_or(Rounding::RNE)));
  results.push_back(writeCodes(codes, type, adaptor.getSource()));
  results.push_back(writeFloats(scales, scaleType));
  return success();
}

OpFoldResult DequantizeOp::fold(FoldAdaptor adaptor) {
  // Bigger than what it is made of: worth it only where one value says all.
  auto stored = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSource());
  auto type = cast<RankedTensorType>(getType());
  if (!stored || !stored.isSplat() || !type.getElementType().isF32() || !type.hasStaticShape())
    return {};
  auto codes = readCodes(stored);
  if (!codes)
    return {};
  float value = codes->empty() ? 0 : codeFormatOf(stored.getElementType())->decode(codes->front());
  for (Attribute attr : adaptor.getScales()) {
    auto scale = dyn_cast_or_null<DenseFPElementsAttr>(attr);
    if (!scale || !scale.isSplat())
      return {};
    value *= scale.getSplatValue<APFloat>().convertToFloat();
  }
  return DenseElementsAttr::get(type, ArrayRef<float>(value));
}
