// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats of types, and conversion of constants through lib/Numerics.

#include "mp/Dialect/MP/Formats.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mp/Dialect/MP/CastFolds.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Resources.h"
#include "mp/Numerics/ArrayCast.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<numerics::Format> mlir::mp::getNumericsFormat(Type type) {
  FloatType format = getFloatFormat(type);
  return format ? numerics::formatOf(format.getFloatSemantics()) : std::nullopt;
}

FloatType mlir::mp::getFloatFormat(Type type) {
  // Asked of every value many times. Looking for interfaces is dear: a ranked tensor of f32 needs
  // one look.
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  if (auto f32 = dyn_cast<Float32Type>(element))
    return f32;
  if (element.isIntOrIndex())
    return {};
  return dyn_cast<FloatType>(tensor ? element : getElementTypeOrSelf(type));
}

bool mlir::mp::hasFloatFormat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  return isa<Float32Type, BFloat16Type, Float16Type>(element) || getFloatFormat(type);
}

Type mlir::mp::withFormat(Type type, FloatType format) {
  if (auto tensor = dyn_cast<RankedTensorType>(type);
      tensor && tensor.getElementType() == Type(format))
    return type;
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(format);
  return format;
}

bool mlir::mp::holdsEveryValueOf(FloatType wide, FloatType narrow) {
  if (wide == narrow)
    return true;
  auto wideFormat = numerics::formatOf(wide.getFloatSemantics());
  auto narrowFormat = numerics::formatOf(narrow.getFloatSemantics());
  if (wideFormat && narrowFormat)
    return numerics::holdsEveryValueOf(*wideFormat, *narrowFormat);
  // f80 and f128 hold every format of 64 bits and less; nothing here holds them.
  return !wideFormat && (narrowFormat || wide.getWidth() > narrow.getWidth());
}

numerics::Rounding mlir::mp::toNumerics(Rounding rounding) {
  switch (rounding) {
  case Rounding::RNE: return numerics::Rounding::RNE;
  case Rounding::RNA: return numerics::Rounding::RNA;
  case Rounding::RZ: return numerics::Rounding::RZ;
  case Rounding::RU: return numerics::Rounding::RU;
  case Rounding::RD: return numerics::Rounding::RD;
  case Rounding::SR: return numerics::Rounding::SR;
  }
  llvm_unreachable("unknown rounding");
}

numerics::Overflow mlir::mp::toNumerics(Overflow overflow) {
  return overflow == Overflow::IEEE ? numerics::Overflow::IEEE : numerics::Overflow::Saturate;
}

std::optional<ArrayRef<char>> mlir::mp::getRawElements(ElementsAttr attr) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return dense.getRawData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  Type element = attr.getElementType();
  if (!blob || !element.isIntOrFloat() ||
      blob->getData().size() != static_cast<uint64_t>(attr.getNumElements()) *
                                    llvm::divideCeil(element.getIntOrFloatBitWidth(), 8))
    return std::nullopt;
  return blob->getData();
}

static Attribute convertElements(ElementsAttr attr, numerics::Format source, FloatType to,
                                 numerics::Format target, Rounding rounding, Overflow overflow) {
  std::optional<ArrayRef<char>> raw = getRawElements(attr);
  if (!raw)
    return {};
  size_t count = raw->size() / numerics::storageBytes(source);
  SmallVector<char, 0> converted(count * numerics::storageBytes(target));
  numerics::convertArray(raw->data(), source, converted.data(), target, count, toNumerics(rounding),
                         toNumerics(overflow));
  ShapedType type = attr.getShapedType().clone(to);
  if (isa<DenseElementsAttr>(attr))
    return DenseElementsAttr::getFromRawBuffer(type, converted);
  std::string name;
  llvm::raw_string_ostream(name) << cast<DenseResourceElementsAttr>(attr).getRawHandle().getKey()
                                 << '_' << to;
  return getOrAddResource(type, name, converted);
}

Attribute mlir::mp::convertConstant(Attribute attr, FloatType to, Rounding rounding,
                                    Overflow overflow) {
  auto target = numerics::formatOf(to.getFloatSemantics());
  auto elements = dyn_cast<ElementsAttr>(attr);
  auto scalar = dyn_cast<FloatAttr>(attr);
  auto from = elements ? dyn_cast<FloatType>(elements.getElementType())
              : scalar ? cast<FloatType>(scalar.getType())
                       : FloatType();
  auto source = from ? numerics::formatOf(from.getFloatSemantics()) : std::nullopt;
  if (!source || !target || rounding == Rounding::SR)
    return {};
  if (elements)
    return convertElements(elements, *source, to, *target, rounding, overflow);
  uint64_t bits = numerics::convert(scalar.getValue().bitcastToAPInt().getZExtValue(), *source,
                                    *target, toNumerics(rounding), toNumerics(overflow));
  return FloatAttr::get(to, APFloat(to.getFloatSemantics(), APInt(to.getWidth(), bits)));
}
