// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces dense constants by addresses of their data, which the program keeps alive.

#include "Constants.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mp/Execution/Array.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static llvm::Error badConstant(LLVM::GlobalOp global, const Twine &why) {
  return createStringError("constant @" + global.getSymName() + " " + why);
}

/// The address of the elements, copied if need be.
static llvm::Expected<const void *> dataOf(LLVM::GlobalOp global, ElementsAttr attr,
                                           std::vector<std::unique_ptr<char[]>> &storage) {
  auto type = ElementType::of(attr.getElementType());
  if (!type)
    return badConstant(global, "has elements that are neither floats nor integers");
  const size_t size = type->bytes(), bytes = size_t(attr.getNumElements()) * size;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != bytes)
      return badConstant(global, "is the resource '" + resource.getRawHandle().getKey() +
                                     "', which is elided or of the wrong length");
    return blob->getData().data();
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return badConstant(global, "is neither dense nor a resource");
  ArrayRef<char> raw = dense.getRawData();
  bool perElement = !dense.isSplat() && type->bits() == 8 * size && raw.size() == bytes;
  if (perElement)
    return raw.data();
  storage.push_back(std::make_unique<char[]>(bytes ? bytes : 1));
  char *begin = storage.back().get(), *out = begin;
  auto write = [&](const APInt &value) {
    uint64_t bits = value.getZExtValue();
    std::memcpy(out, &bits, size);
    out += size;
  };
  if (bytes > 0 && dense.isSplat()) {
    write(type->isFloat ? dense.getSplatValue<APFloat>().bitcastToAPInt()
                        : dense.getSplatValue<APInt>());
    for (char *end = begin + bytes; out < end;) { // what is written doubles
      size_t written = out - begin, more = std::min<size_t>(written, end - out);
      out = std::copy_n(begin, more, out);
    }
    return begin;
  }
  if (type->isFloat)
    for (APFloat value : dense.getValues<APFloat>())
      write(value.bitcastToAPInt());
  else
    for (APInt value : dense.getValues<APInt>())
      write(value);
  return begin;
}

llvm::Expected<uint64_t> mlir::mp::placeConstants(ModuleOp module,
                                                  std::vector<std::unique_ptr<char[]>> &storage) {
  uint64_t bytes = 0;
  DenseMap<StringAttr, const void *> addresses;
  DenseMap<StringAttr, uint64_t> sizes;
  SmallVector<LLVM::GlobalOp> placed;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    auto attr = dyn_cast_or_null<ElementsAttr>(global.getValueOrNull());
    if (!attr || !global.getConstant())
      continue;
    auto data = dataOf(global, attr, storage);
    if (!data)
      return data.takeError();
    addresses[global.getSymNameAttr()] = *data;
    sizes[global.getSymNameAttr()] =
        uint64_t(attr.getNumElements()) * ElementType::of(attr.getElementType())->bytes();
    placed.push_back(global);
  }
  SmallVector<LLVM::AddressOfOp> uses;
  module.walk([&](LLVM::AddressOfOp op) {
    if (addresses.count(op.getGlobalNameAttr().getAttr()))
      uses.push_back(op);
  });
  DenseSet<StringAttr> counted;
  for (LLVM::AddressOfOp op : uses) {
    if (counted.insert(op.getGlobalNameAttr().getAttr()).second)
      bytes += sizes[op.getGlobalNameAttr().getAttr()];
    OpBuilder b(op);
    auto address = reinterpret_cast<intptr_t>(addresses[op.getGlobalNameAttr().getAttr()]);
    Value number = LLVM::ConstantOp::create(b, op.getLoc(), b.getI64Type(),
                                            b.getI64IntegerAttr(int64_t(address)));
    Value pointer = LLVM::IntToPtrOp::create(b, op.getLoc(), op.getType(), number);
    op.getResult().replaceAllUsesWith(pointer);
    op.erase();
  }
  for (LLVM::GlobalOp global : placed)
    global.erase();
  return bytes;
}
