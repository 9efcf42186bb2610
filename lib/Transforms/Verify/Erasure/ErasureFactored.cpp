// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives the distance between a weight and the product of its factors again.

#include "ErasureFactored.h"

#include "../../Common/FactoredProducts.h"
#include "../../Common/SplitCode.h"
#include "ErasureDifference.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mp/Dialect/MP/Factored.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Resources.h"
#include "mp/Numerics/Format.h"
#include "mp/Numerics/Scaling/LowRank.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using numerics::LowRankFactors;

/// The product whose result a second product reads; null if there is none.
static Operation *firstOf(Operation *second) {
  auto view = second->hasAttr(kFactoredAttrName) ? viewContraction(second) : std::nullopt;
  Operation *first = view ? strip(view->a->get()).getDefiningOp() : nullptr;
  return first && viewContraction(first) ? first : nullptr;
}

bool mlir::mp::standsForWhole(Operation *original, Operation *converted) {
  return !original->hasAttr(kFactoredAttrName) && firstOf(converted) && viewProducts(original);
}

llvm::DenseSet<Operation *> mlir::mp::findFirstProducts(Operation *original, Operation *converted) {
  llvm::DenseSet<Operation *> found;
  const bool hasOwn =
      original
          ->walk([](Operation *op) {
            return op->hasAttr(kFactoredAttrName) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (!hasOwn)
    converted->walk([&](Operation *op) {
      if (Operation *first = firstOf(op))
        found.insert(first);
    });
  return found;
}

/// Bounds how far rounding of both factors moves their product, relative to the norm of the matrix.
static double roundingOf(const LowRankFactors &factors, double left, double right,
                         ArrayRef<float> matrix) {
  LowRankFactors magnitudes = factors;
  for (auto *part : {&magnitudes.left, &magnitudes.right})
    for (float &element : *part)
      element = std::fabs(element);
  // |U| |V| is what a zero matrix is off by.
  double largest = 0, all = 0;
  for (size_t i = 0; i != factors.rows; ++i)
    for (size_t j = 0; j != factors.columns; ++j) {
      double sum = 0;
      for (size_t r = 0; r != factors.rank; ++r)
        sum += double(magnitudes.left[i * factors.rank + r]) *
               double(magnitudes.right[r * factors.columns + j]);
      largest += sum * sum;
    }
  for (float element : matrix)
    all += double(element) * element;
  // Before it was rounded an element was |x| / (1 - u) at most.
  const double each = (left + right + left * right) / ((1 - left) * (1 - right));
  return all > 0 ? each * std::sqrt(largest / all) : 0;
}

/// The unit roundoff of a tensor's format; 0 of f32, in which factors were computed.
static double roundoffOf(Value factor) {
  FloatType format = getFloatFormat(factor.getType());
  auto own = format.isF32() ? std::nullopt : numerics::formatOf(format.getFloatSemantics());
  return own ? numerics::info(*own).unitRoundoff : 0;
}

/// Compares constants: nothing if their product is near enough.
static std::string compareConstants(const WeightedProduct &product, Value left, Value right,
                                    double bound) {
  auto type = cast<RankedTensorType>(product.weight->get().getType());
  auto whole = readFloats(strip(product.weight->get())), u = readFloats(left),
       v = readFloats(right);
  if (!whole || !u || !v || type.getNumElements() == 0)
    return "has factors of a weight that are no constants";
  const size_t k = size_t(type.getDimSize(product.summed)),
               n = size_t(type.getDimSize(product.kept)), rank = u->size() / k;
  if (u->size() != k * rank || v->size() != rank * n)
    return "has factors of other sizes";
  const SmallVector<float> matrix = asMatrix(product, *whole);
  const LowRankFactors factors{k, n, rank, {u->begin(), u->end()}, {v->begin(), v->end()}};
  const double distance = numerics::relativeDistance(matrix, factors);
  const double roundoff[] = {roundoffOf(left), roundoffOf(right)};
  const double rounding =
      roundoff[0] + roundoff[1] > 0 ? roundingOf(factors, roundoff[0], roundoff[1], matrix) : 0;
  if (distance <= bound + rounding)
    return "";
  return llvm::formatv(
      "has factors whose product is {0:e3} of the weight's norm off, and says {1}", distance,
      rounding > 0
          ? llvm::formatv("{0:e3}, and {1:e3} by rounding of factors", bound, rounding).str()
          : llvm::formatv("{0:e3}", bound).str());
}

std::string
mlir::mp::compareFactored(Operation *original, Operation *converted,
                          llvm::function_ref<bool(Value original, Value converted)> isSame) {
  ContractionView whole = *viewProducts(original), second = *viewContraction(converted);
  ContractionView first = *viewContraction(firstOf(converted));
  auto bound = converted->getAttrOfType<FloatAttr>(kFactoredAttrName);
  auto has = [](const ContractionView &view, ArrayRef<AffineMap> maps) {
    return llvm::equal(view.maps, maps);
  };
  std::optional<WeightedProduct> product;
  for (OpOperand *weight : {whole.a, whole.b})
    if (auto read = readWeightedProduct(original, *weight);
        read && has(first, read->first) && has(second, read->second))
      product = read;
  if (!product)
    return "and the product before it have other maps than two factors of a weight have";
  if (!isSame(product->rows->get(), first.a->get()))
    return "stands for a product of other values than the original's";
  if (!first.init || !isZeroTensor(first.init))
    return "reads a product that does not start from zero";
  if (!second.init || !(whole.init ? isSame(whole.init, second.init) : isZeroTensor(second.init)))
    return "is not added to what the original is added to";
  return compareConstants(*product, strip(first.b->get()), strip(second.b->get()),
                          bound.getValueAsDouble());
}
