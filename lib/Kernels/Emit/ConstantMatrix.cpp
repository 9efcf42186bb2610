// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads constants behind buffers.

#include "ConstantMatrix.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

/// The bytes of a constant that `buffer` shows all or parts of.
struct ConstantBytes {
  ArrayRef<char> raw;
  bool splat;
};

} // namespace

static std::optional<ConstantBytes> constantOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto get = buffer.getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return std::nullopt;
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  if (!global || !global.getConstant() || !global.getInitialValue())
    return std::nullopt;
  Attribute value = *global.getInitialValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return ConstantBytes{dense.getRawData(), dense.isSplat()};
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? std::optional(ConstantBytes{blob->getData(), false}) : std::nullopt;
}

/// Distances of all points of `loops`, the last the fastest, where `steps` are those of each loop.
static SmallVector<int64_t> distances(ArrayRef<unsigned> loops, ArrayRef<int64_t> ranges,
                                      ArrayRef<int64_t> steps) {
  SmallVector<int64_t> all = {0};
  for (unsigned loop : loops) {
    SmallVector<int64_t> next;
    for (int64_t before : all)
      for (int64_t i = 0; i < ranges[loop]; ++i)
        next.push_back(before + i * steps[loop]);
    all = std::move(next);
  }
  return all;
}

std::optional<ConstantMatrix> ConstantMatrix::read(Value buffer, const LinearAccess &access,
                                                   const Contraction &contraction,
                                                   ArrayRef<int64_t> ranges) {
  std::optional<ConstantBytes> bytes = constantOf(buffer);
  auto type = cast<MemRefType>(buffer.getType());
  const unsigned bits = type.getElementTypeBitWidth();
  SmallVector<int64_t> strides;
  ConstantMatrix made;
  if (!bytes || (bits != 8 && bits != 16) ||
      failed(type.getStridesAndOffset(strides, made.origin)) ||
      ShapedType::isDynamic(made.origin) || llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  SmallVector<int64_t> steps(ranges.size(), 0);
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    made.origin += access.constants[dim] * stride;
    for (size_t loop = 0; loop < steps.size(); ++loop)
      steps[loop] += access.coefficients[dim][loop] * stride;
  }
  for (auto [loops, to] :
       {std::pair(&contraction.batch, &made.batch), std::pair(&contraction.m, &made.m),
        std::pair(&contraction.k, &made.k)}) {
    if (llvm::any_of(*loops, [&](unsigned loop) { return ShapedType::isDynamic(ranges[loop]); }))
      return std::nullopt;
    *to = distances(*loops, ranges, steps);
  }
  made.raw = bytes->raw;
  made.splat = bytes->splat;
  made.width = bits / 8;
  made.isFloat = isa<FloatType>(type.getElementType());
  return made;
}
