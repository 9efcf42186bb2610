// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and makes dense resources, whose data lie beside the module.

#include "mp/Dialect/MP/Resources.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
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
