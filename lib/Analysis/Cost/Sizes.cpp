// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts elements, bytes and multiply-adds, with `mp.dim` or an assumed size for dynamic
// dimensions.

#include "mp/Analysis/Cost/Sizes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

uint64_t Sizes::count(ArrayRef<int64_t> shape) {
  uint64_t elements = 1;
  for (int64_t size : shape) {
    sizeAssumed |= ShapedType::isDynamic(size);
    elements = llvm::SaturatingMultiply<uint64_t>(elements,
                                                  ShapedType::isDynamic(size) ? assumedDim : size);
  }
  return elements;
}

uint64_t Sizes::countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? count(tensor.getShape()) : 1;
}

uint64_t Sizes::countElements(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
                           : FunctionOpInterface();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (function && type && argument.getOwner()->isEntryBlock())
    if (auto dims =
            function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kDimAttrName);
        dims && dims.size() == type.getRank())
      return count(dims.asArrayRef());
  return countElements(value.getType());
}

uint64_t Sizes::countBytes(Value value, unsigned bits) {
  return llvm::SaturatingMultiply<uint64_t>(countElements(value), (bits + 7) / 8);
}

uint64_t Sizes::countMultiplyAdds(Operation *op) {
  auto matmul = dyn_cast<linalg::MatmulOp>(op);
  if (matmul && matmul.getIndexingMaps() != plainMaps && !matmul.hasUserDefinedMaps())
    plainMaps = matmul.getIndexingMaps();
  if (matmul && matmul.getIndexingMaps() == plainMaps) {
    // The sizes of its loops, without the maps.
    auto a = cast<ShapedType>(op->getOperand(0).getType()),
         b = cast<ShapedType>(op->getOperand(1).getType());
    return count({a.getDimSize(0), b.getDimSize(1), a.getDimSize(1)});
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return count(structured.getStaticLoopRanges());
  if (op->getNumResults() == 0)
    return 0;
  const uint64_t results = countElements(op->getResult(0));
  if (!isContraction(op))
    return results;
  const int64_t products = getReductionLength(op).value_or(ShapedType::kDynamic);
  return llvm::SaturatingMultiply<uint64_t>(results, count(products));
}

mpcore::performance::MatmulProblem Sizes::countProduct(Operation *op) {
  mpcore::performance::MatmulProblem product;
  product.format = product.result = "f32";
  if (op->getNumOperands() < 2 || op->getNumResults() == 0)
    return product;
  // A has batch m k elements, B has batch n k, the result has batch m n.
  const double a = double(countElements(op->getOperand(0))),
               b = double(countElements(op->getOperand(1))),
               results = double(countElements(op->getResult(0))),
               all = double(countMultiplyAdds(op));
  if (a * b * results * all == 0) {
    product.m = 0;
    return product;
  }
  auto whole = [](double size) { return int64_t(std::clamp(std::round(size), 1.0, 1e12)); };
  const double batch = a * b * results / (all * all);
  product.m = whole(all / b);
  product.k = whole(all / results);
  product.n = whole(results / double(product.m));
  if (batch >= 2) { // below, an operand is shared, or its elements are by windows
    product.batch = whole(batch);
    product.n = whole(all / a);
  }
  return product;
}

int64_t Sizes::countRuns(Operation *op) {
  if (Operation *parent = op->getParentOp(); parent != lastParent || !parent) {
    RunsPerCall runs = getRunsPerCall(op);
    tripsAssumed |= runs.assumed;
    lastParent = parent;
    lastRuns = int64_t(std::clamp(runs.count, 1.0, 1e6));
  }
  return lastRuns;
}
