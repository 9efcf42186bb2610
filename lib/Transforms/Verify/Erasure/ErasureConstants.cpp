// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares constants of two modules up to a rounding to nearest even.

#include "ErasureMatcher.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isSameUpToFormat(Type original, Type converted) {
  if (original == converted)
    return true;
  FloatType from = getFloatFormat(original), to = getFloatFormat(converted);
  return from && to && withFormat(converted, from) == original;
}

/// Elements held in a resource, as an attribute that holds them itself; null if they are missing.
static Attribute readResource(Attribute attribute) {
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(attribute);
  if (!resource)
    return attribute;
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(resource.getType(), blob->getData(), isSplat))
    return {};
  return DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
}

/// If two files are read into one context, the second has its resources under other names.
static bool holdSameBytes(Attribute original, Attribute converted) {
  auto left = dyn_cast_or_null<DenseResourceElementsAttr>(original),
       right = dyn_cast_or_null<DenseResourceElementsAttr>(converted);
  if (!left || !right || left.getType() != right.getType())
    return false;
  AsmResourceBlob *before = left.getRawHandle().getBlob(), *after = right.getRawHandle().getBlob();
  return before && after && before->getData() == after->getData();
}

/// The format of a constant; null if it is no float, or floats, with a type.
static FloatType getConstantFormat(Attribute attribute) {
  auto typed = dyn_cast_or_null<TypedAttr>(attribute);
  return typed ? getFloatFormat(typed.getType()) : FloatType();
}

bool mlir::mp::isSameConstant(Attribute original, Attribute converted, bool mayBeTF32,
                              bool saturated) {
  if (original == converted || holdSameBytes(original, converted))
    return true;
  FloatType from = getConstantFormat(original), to = getConstantFormat(converted);
  if (!from || !to ||
      !isSameUpToFormat(cast<TypedAttr>(original).getType(), cast<TypedAttr>(converted).getType()))
    return false;
  original = readResource(original);
  converted = readResource(converted);
  if (!original || !converted)
    return false;
  if (original == converted)
    return true;
  auto round = [&](Attribute value, FloatType format) {
    return value ? convertConstant(value, format, Rounding::RNE,
                                   saturated ? Overflow::Saturate : Overflow::IEEE)
                 : value;
  };
  if (from != to)
    return round(original, to) == converted;
  auto tf32 = FloatTF32Type::get(original.getContext());
  return mayBeTF32 && from.isF32() && round(round(original, tf32), from) == converted;
}
