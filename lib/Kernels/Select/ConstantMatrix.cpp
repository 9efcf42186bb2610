// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads constants behind tensors and buffers.

#include "ConstantMatrix.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

ElementsAttr mlir::mp::getConstantBehind(Value operand) {
  if (isa<TensorType>(operand.getType())) {
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(operand.getDefiningOp()))
      operand = operand.getDefiningOp()->getOperand(0);
    ElementsAttr value;
    return matchPattern(operand, m_Constant(&value)) ? value : ElementsAttr();
  }
  while (auto view = operand.getDefiningOp<ViewLikeOpInterface>())
    operand = view.getViewSource();
  auto get = operand.getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return {};
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  const bool isConstant = global && global.getConstant() && global.getInitialValue();
  return isConstant ? dyn_cast<ElementsAttr>(*global.getInitialValue()) : ElementsAttr();
}

/// Strides, and where elements begin; false where they are known when it runs only.
static bool readStrides(ShapedType type, SmallVector<int64_t> &strides, int64_t &origin) {
  if (auto buffer = dyn_cast<MemRefType>(type))
    return succeeded(buffer.getStridesAndOffset(strides, origin)) &&
           !ShapedType::isDynamic(origin) && llvm::none_of(strides, ShapedType::isDynamic);
  origin = 0;
  if (!type.hasStaticShape())
    return false;
  strides.assign(type.getRank(), 1);
  for (size_t dim = strides.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * type.getDimSize(dim);
  return true;
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

std::optional<ConstantMatrix> ConstantMatrix::read(Value operand, const LinearAccess &access,
                                                   const Contraction &contraction,
                                                   ArrayRef<int64_t> ranges) {
  auto type = cast<ShapedType>(operand.getType());
  const unsigned bits = type.getElementTypeBitWidth();
  ElementsAttr constant = bits == 8 || bits == 16 ? getConstantBehind(operand) : ElementsAttr();
  std::optional<ArrayRef<char>> raw = constant ? getRawElements(constant) : std::nullopt;
  SmallVector<int64_t> strides;
  ConstantMatrix made;
  if (!raw || !readStrides(type, strides, made.origin))
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
  made.raw = *raw;
  made.splat = constant.isSplat();
  made.width = bits / 8;
  made.isFloat = isa<FloatType>(type.getElementType());
  return made;
}
