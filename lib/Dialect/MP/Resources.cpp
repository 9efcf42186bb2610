// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads constants, and makes dense resources, whose data lie beside the module.

#include "mp/Dialect/MP/Resources.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/ArrayCast.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mp;

DenseResourceElementsAttr mlir::mp::getOrAddResource(ShapedType type, StringRef name,
                                                     ArrayRef<char> bytes) {
  auto &known = DenseResourceElementsHandle::getManagerInterface(type.getContext());
  if (auto *entry = known.getBlobManager().lookup(name))
    if (const AsmResourceBlob *blob = entry->getBlob(); blob && blob->getData() == bytes)
      return DenseResourceElementsAttr::get(
          type, DenseResourceElementsHandle(entry, cast<BuiltinDialect>(known.getDialect())));
  size_t alignment = llvm::PowerOf2Ceil(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  return DenseResourceElementsAttr::get(
      type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignment));
}

std::optional<SmallVector<float, 0>> mlir::mp::readFloats(Attribute constant) {
  auto elements = dyn_cast_or_null<ElementsAttr>(constant);
  auto format = elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  auto from = format ? numerics::formatOf(format.getFloatSemantics()) : std::nullopt;
  if (!from || format.getWidth() > 32)
    return std::nullopt;
  std::optional<ArrayRef<char>> raw = getRawElements(elements);
  if (!raw)
    return std::nullopt;
  SmallVector<float, 0> values(raw->size() / numerics::storageBytes(*from));
  numerics::convertArray(raw->data(), *from, values.data(), numerics::Format::F32, values.size());
  if (elements.isSplat() && values.size() == 1)
    values.assign(elements.getNumElements(), float(values.front()));
  return values;
}

std::optional<SmallVector<float, 0>> mlir::mp::readFloats(Value constant) {
  Attribute value;
  return matchPattern(constant, m_Constant(&value)) ? readFloats(value) : std::nullopt;
}
