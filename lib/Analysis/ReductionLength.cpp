// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the number of elements that a reduction, contraction or pooling sums from its loops.

#include "mp/Analysis/ReductionLength.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<int64_t> mlir::mp::countReduced(linalg::LinalgOp op) {
  int64_t count = 1;
  for (auto [size, kind] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    count = llvm::SaturatingMultiply<uint64_t>(count, size);
  }
  return count;
}

std::optional<int64_t> mlir::mp::getReductionLength(Operation *op) {
  if (getOpClass(op) != OpClass::TensorCore)
    return std::nullopt;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return countReduced(structured);
  // TOSA: the second factor holds every product of one output channel. Weights of convolutions are
  // indexed by output channels, the last dimension of the result; products also by batch.
  auto factor = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!factor || !factor.hasStaticShape() || !result || result.getRank() == 0)
    return std::nullopt;
  int64_t channels = result.getShape().back();
  if (isa<tosa::MatMulOp>(op))
    return factor.getShape()[1];
  if (ShapedType::isDynamic(channels) || channels == 0)
    return std::nullopt;
  return factor.getNumElements() / channels;
}
