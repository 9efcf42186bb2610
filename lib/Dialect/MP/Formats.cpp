// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats of types, and conversion of constants through lib/Numerics.

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Cast.h"

using namespace mlir;
using namespace mlir::mp;
namespace numerics = ::mp::numerics;

FloatType mlir::mp::getFloatFormat(Type type) { return dyn_cast<FloatType>(getElementTypeOrSelf(type)); }

Type mlir::mp::withFormat(Type type, FloatType format) {
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

static numerics::Rounding toNumerics(Rounding rounding) {
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

static numerics::Overflow toNumerics(Overflow overflow) {
  return overflow == Overflow::IEEE ? numerics::Overflow::IEEE : numerics::Overflow::Saturate;
}

Attribute mlir::mp::convertConstant(Attribute attr, FloatType to, Rounding rounding, Overflow overflow) {
  auto convertBits = [&](const APFloat &value) -> std::optional<APInt> {
    auto from = numerics::formatOf(value.getSemantics());
    auto target = numerics::formatOf(to.getFloatSemantics());
    if (!from || !target)
      return std::nullopt;
    return APInt(to.getWidth(),
                 numerics::convert(value.bitcastToAPInt().getZExtValue(), *from, *target,
                                   toNumerics(rounding), toNumerics(overflow)),
                 /*isSigned=*/false, /*implicitTrunc=*/true);
  };
  if (auto scalar = dyn_cast<FloatAttr>(attr)) {
    std::optional<APInt> bits = convertBits(scalar.getValue());
    return bits ? FloatAttr::get(to, APFloat(to.getFloatSemantics(), *bits)) : Attribute();
  }
  auto dense = dyn_cast<DenseFPElementsAttr>(attr);
  auto source = dense ? dyn_cast<FloatType>(dense.getElementType()) : FloatType();
  if (!source || !numerics::formatOf(source.getFloatSemantics()) ||
      !numerics::formatOf(to.getFloatSemantics()))
    return {};
  return dense.mapValues(to, [&](const APFloat &value) { return *convertBits(value); });
}
