// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the number of elements that a reduction, contraction or pooling sums from its loops.

#include "mp/Analysis/ReductionLength.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
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
  if (!isContraction(op))
    return std::nullopt;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return countReduced(structured);
  return getFloatMeaning(op).products.max;
}
