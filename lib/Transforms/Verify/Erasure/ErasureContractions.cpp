// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares contractions with what stands for them now: a product of scaled values, or several of
// split ones.

#include "ErasureDifference.h"
#include "ErasureMatcher.h"
#include "ErasureScaling.h"
#include "ErasureSplit.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/Contraction.h"

using namespace mlir;
using namespace mlir::mp;

/// A contraction that works on scaled values now; its operands are compared later.
LogicalResult ErasureMatcher::pairScaled(Operation *original, ScaledMatmulOp converted) {
  if (original->getResult(0).getType() != converted.getType())
    return differ(original, converted, "returns ")
           << converted.getType() << ", the original " << original->getResult(0).getType();
  pairs.push_back({original, converted});
  originals[converted.getResult()] = original->getResult(0);
  return success();
}

/// A contraction that several split products stand for; their operands are compared later.
LogicalResult ErasureMatcher::pairSplit(Operation *original, JoinSplitOp converted) {
  if (original->getNumResults() != 1 || original->getResult(0).getType() != converted.getType())
    return differ(original, converted, "returns ")
           << converted.getType() << ", the original does not";
  for (Operation *product : getProducts(converted)) {
    if (product->getName() != original->getName())
      return differ(original, product, "is joined where the original has '")
             << original->getName() << "'";
    if (failed(compareAttributes(original, product)) || failed(compareTypes(original, product)))
      return failure();
    for (auto [left, right] : llvm::zip_equal(original->getRegions(), product->getRegions()))
      if (failed(pairRegions(left, right)))
        return failure();
  }
  pairs.push_back({original, converted});
  originals[converted.getResult()] = original->getResult(0);
  return success();
}

/// A contraction that two products by factors of its weight stand for; the same later.
LogicalResult ErasureMatcher::pairFactored(Operation *original, Operation *converted) {
  if (failed(compareResultTypes(original, converted)))
    return failure();
  pairs.push_back({original, converted});
  originals[converted->getResult(0)] = original->getResult(0);
  return success();
}

LogicalResult ErasureMatcher::compareSplit(Operation *original, JoinSplitOp converted) {
  std::string difference = compareProducts(original, converted, [&](Value left, Value right) {
    return isSame(left, right, /*isFactor=*/true);
  });
  return difference.empty() ? success() : LogicalResult(differ(original, converted, difference));
}

bool ErasureMatcher::isSameScaled(Value original, Value codes, ValueRange scales) {
  return isSameStored(original, sourceOfScaled(codes, scales), codes, scales);
}

bool ErasureMatcher::isSameStored(Value original, Value source, Value codes, ValueRange scales) {
  if (source)
    return isSame(original, source);
  Attribute constant;
  return matchPattern(strip(original), m_Constant(&constant)) &&
         holdsScaled(constant, codes, scales);
}

LogicalResult ErasureMatcher::compareScaled(Operation *original, ScaledMatmulOp converted) {
  ContractionView view = *viewContraction(original);
  auto zero = [](Value value) {
    auto fill = value.getDefiningOp<linalg::FillOp>();
    return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  };
  const char *different = nullptr;
  auto [a, b] = sourcesOfProduct(converted);
  if (!isSameStored(view.a->get(), a, converted.getA(), converted.getScalesA()))
    different = "first factor";
  else if (!isSameStored(view.b->get(), b, converted.getB(), converted.getScalesB()))
    different = "second factor";
  else if (view.init ? !isSame(view.init, converted.getInit()) : !zero(converted.getInit()))
    different = "init";
  if (different)
    return differ(original, converted,
                  Twine("has another ") + different + " than the original, scales and casts aside");
  return success();
}
