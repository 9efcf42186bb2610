// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives the maps of both products from those of one.

#include "FactoredProducts.h"

#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<ContractionView> mlir::mp::viewProducts(Operation *op) {
  if (auto view = viewContraction(op))
    return view;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getNumDpsInputs() != 2 || structured.getNumDpsInits() != 1 ||
      !structured.hasPureTensorSemantics())
    return std::nullopt;
  Block *body = structured.getBlock();
  auto products = readProductSum(body, body->getArgument(2));
  const Value a = body->getArgument(0), b = body->getArgument(1);
  if (!products ||
      !(products->factors == std::array{a, b} || products->factors == std::array{b, a}))
    return std::nullopt;
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  return ContractionView{structured.getDpsInputOperand(0),
                         structured.getDpsInputOperand(1),
                         structured.getDpsInitOperand(0)->get(),
                         {maps[0], maps[1], maps[2]}};
}

/// The dimensions of the weight that are no lists of one, with their loops; nothing where an index
/// is no loop.
static SmallVector<std::pair<unsigned, unsigned>> loopsOf(AffineMap ofWeight,
                                                          RankedTensorType type) {
  SmallVector<std::pair<unsigned, unsigned>> loops;
  for (auto [dim, place] : llvm::enumerate(ofWeight.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(place);
    if (!loop)
      return {};
    if (type.getDimSize(unsigned(dim)) != 1)
      loops.push_back({unsigned(dim), loop.getPosition()});
  }
  return loops;
}

static bool arePlainLoops(AffineMap map) {
  return llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
}

std::optional<WeightedProduct> mlir::mp::readWeightedProduct(Operation *op, OpOperand &weight) {
  auto view = viewProducts(op);
  auto type = dyn_cast<RankedTensorType>(weight.get().getType());
  if (!view || (view->a != &weight && view->b != &weight) || !type)
    return std::nullopt;
  const bool isB = view->b == &weight;
  AffineMap ofRows = view->maps[!isB], ofWeight = view->maps[isB], ofResult = view->maps[2];
  WeightedProduct product{*view, isB ? view->a : view->b, &weight, 0, 0, 0, {}, {}};
  SmallVector<std::pair<unsigned, unsigned>> loops = loopsOf(ofWeight, type);
  if (loops.size() != 2 || loops[0].second == loops[1].second)
    return std::nullopt;
  const bool isTurned = ofResult.isFunctionOfDim(loops[0].second);
  product.summed = loops[isTurned].first;
  product.kept = loops[!isTurned].first;
  const unsigned sum = loops[isTurned].second, keep = loops[!isTurned].second;
  auto place = ofResult.getResultPosition(getAffineDimExpr(keep, op->getContext()));
  if (!place || ofResult.isFunctionOfDim(sum) || !ofRows.isFunctionOfDim(sum) ||
      ofRows.isFunctionOfDim(keep))
    return std::nullopt;
  product.keptInResult = *place;
  // Loops of the products: those of the result but `keep`, in its order; then of the first the
  // rank and `sum`, of the second `keep` and the rank.
  SmallVector<AffineExpr> moved(ofRows.getNumDims());
  const unsigned others = ofResult.getNumResults() - 1, count = others + 2;
  MLIRContext *context = op->getContext();
  unsigned next = 0;
  for (AffineExpr result : ofResult.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(result);
    if (!loop)
      return std::nullopt;
    if (loop.getPosition() != keep)
      moved[loop.getPosition()] = getAffineDimExpr(next++, context);
  }
  moved[sum] = moved[keep] = getAffineDimExpr(others + 1, context);
  // A window of one element does not move what it reads.
  for (auto [dim, place] : llvm::enumerate(ofWeight.getResults()))
    if (unsigned loop = cast<AffineDimExpr>(place).getPosition(); !moved[loop])
      moved[loop] = getAffineConstantExpr(0, context);
  if (next != others || llvm::is_contained(moved, AffineExpr()))
    return std::nullopt; // another loop is summed over
  auto dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  auto map = [&](ArrayRef<AffineExpr> places) { return AffineMap::get(count, 0, places, context); };
  SmallVector<AffineExpr> between;
  for (unsigned loop = 0; loop != others; ++loop)
    between.push_back(dim(loop));
  between.push_back(dim(others));
  product.first = {ofRows.replaceDimsAndSymbols(moved, {}, count, 0),
                   map({dim(others + 1), dim(others)}), map(between)};
  between.back() = dim(others + 1);
  moved[keep] = dim(others);
  product.second = {map(between), map({dim(others + 1), dim(others)}),
                    ofResult.replaceDimsAndSymbols(moved, {}, count, 0)};
  if (!arePlainLoops(product.first[0]))
    return std::nullopt;
  return product;
}

SmallVector<float> mlir::mp::asMatrix(const WeightedProduct &product, ArrayRef<float> elements) {
  auto type = cast<RankedTensorType>(product.weight->get().getType());
  const size_t k = size_t(type.getDimSize(product.summed)),
               n = size_t(type.getDimSize(product.kept));
  SmallVector<float> matrix(elements);
  if (product.summed > product.kept)
    for (size_t i = 0; i != k; ++i)
      for (size_t j = 0; j != n; ++j)
        matrix[i * n + j] = elements[j * k + i];
  return matrix;
}
