// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-factor-weights: a product by a constant weight becomes two by its factors, where
// these are modelled to take less time and lie within a budget (changes values).

#include "../Common/FactoredProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/Factored.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Dialect/MP/Resources.h"
#include "mp/Numerics/Scaling/LowRank.h"
#include "mp/Performance/CostModel.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Quantize/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FACTORWEIGHTS
#include "mp/Transforms/Quantize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using mpcore::performance::CostModel;
using mpcore::performance::MatmulProblem;
using numerics::LowRankFactors;

/// Columns of fragments: a rank between two multiples takes the time of the larger.
static constexpr size_t kRankStep = 8;
/// Eigenvectors of a matrix of this size take about a minute.
static constexpr int64_t kLargestSide = 2048;

/// Products of a row, or of as many as are assumed of a dynamic size.
static int64_t countRows(const WeightedProduct &product, RankedTensorType result) {
  int64_t rows = 1;
  for (auto [dim, size] : llvm::enumerate(result.getShape()))
    if (dim != product.keptInResult)
      rows *= ShapedType::isDynamic(size) ? 1024 : std::max<int64_t>(size, 1);
  return rows;
}

/// Sums products over the last loop.
static Value multiply(OpBuilder &builder, Location loc, Value x, Value y, Value init,
                      ArrayRef<AffineMap> maps) {
  SmallVector<utils::IteratorType> loops(maps[0].getNumDims(), utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(builder, loc, init.getType(), ValueRange{x, y}, init, maps,
                                   loops,
                                   [](OpBuilder &b, Location at, ValueRange v) {
                                     Value term = arith::MulFOp::create(b, at, v[0], v[1]);
                                     Value sum = arith::AddFOp::create(b, at, v[2], term);
                                     linalg::YieldOp::create(b, at, sum);
                                   })
      .getResult(0);
}

static Value makeZeros(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, builder.getF32Type());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

namespace {
struct FactorWeights : mlir::mp::impl::FactorWeightsBase<FactorWeights> {
  using FactorWeightsBase::FactorWeightsBase;

  void runOnOperation() override {
    if (!(budget > 0 && budget < 1)) {
      emitError(getOperation().getLoc(), "mp-factor-weights: option 'budget' is ")
          << budget << ", expected a share of a weight's norm above 0 and below 1";
      return signalPassFailure();
    }
    const OptionalFormat wanted = format;
    if (wanted && *wanted != ContractionFormat::BF16 && *wanted != ContractionFormat::F16 &&
        *wanted != ContractionFormat::TF32) {
      emitError(getOperation().getLoc(), "mp-factor-weights: option 'format' is '")
          << wanted.spell() << "', expected bf16, f16 or tf32";
      return signalPassFailure();
    }
    auto model = target::lookupTarget(target);
    auto costs = model ? CostModel::create(*model) : llvm::Expected<CostModel>(model.takeError());
    if (!costs) {
      emitError(getOperation().getLoc(), "mp-factor-weights: ") << toString(costs.takeError());
      return signalPassFailure();
    }
    SmallVector<std::pair<Operation *, OpOperand *>> found;
    getOperation()->walk([&](Operation *op) {
      auto view = op->hasAttr(kFactoredAttrName) ? std::nullopt : viewProducts(op);
      if (!view || op->getNumResults() != 1 ||
          !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        return;
      for (OpOperand *factor : {view->a, view->b})
        if (matchPattern(factor->get(), m_Constant()) &&
            getElementTypeOrSelf(factor->get().getType()).isF32()) {
          found.push_back({op, factor});
          return;
        }
    });
    for (auto [op, weight] : found)
      factor(op, *weight, *costs);
  }

private:
  struct Times {
    double one, two; ///< microseconds
  };
  struct Found {
    LowRankFactors factors;
    double bound; ///< on what they are off by, relative to the weight's norm
    Times times;
  };

  Times timesOf(const WeightedProduct &product, size_t rank, const CostModel &costs) const {
    auto weight = cast<RankedTensorType>(product.weight->get().getType());
    const OptionalFormat wanted = format;
    MatmulProblem whole;
    whole.m = countRows(product,
                        cast<RankedTensorType>(product.weight->getOwner()->getResult(0).getType()));
    whole.k = weight.getDimSize(product.summed);
    whole.n = weight.getDimSize(product.kept);
    whole.format = wanted ? wanted.spell().str() : "f32";
    whole.result = "f32";
    MatmulProblem first = whole, second = whole;
    first.n = second.k = int64_t(rank);
    second.aBits = 32; // what the first has written
    return {double(costs.timeOf(whole)) * 1e-6,
            double(costs.timeOf(first) + costs.timeOf(second)) * 1e-6};
  }

  /// Finds factors within the budget, or says why there are none.
  std::optional<Found> findFactors(const WeightedProduct &product, const CostModel &costs,
                                   std::string &why) const {
    auto type = cast<RankedTensorType>(product.weight->get().getType());
    const int64_t k = type.getDimSize(product.summed), n = type.getDimSize(product.kept);
    const int64_t side = std::min(k, n);
    if (side <= int64_t(kRankStep) || side > kLargestSide) {
      why = llvm::formatv("its smaller side is {0}, expected more than {1} and at most {2}", side,
                          kRankStep, kLargestSide);
      return std::nullopt;
    }
    Times times = timesOf(product, kRankStep, costs);
    if (times.two >= times.one) {
      why = llvm::formatv("two products of rank {0} are modelled to take {1:f2} us, one {2:f2} us",
                          kRankStep, times.two, times.one);
      return std::nullopt;
    }
    std::optional<SmallVector<float, 0>> elements = readFloats(product.weight->get());
    if (!elements) {
      why = "its data are missing";
      return std::nullopt;
    }
    const SmallVector<float> matrix = asMatrix(product, *elements);
    const numerics::SingularValues values(matrix, size_t(k), size_t(n));
    const size_t needed = values.rankFor(budget);
    const size_t rank = llvm::alignTo(std::max<size_t>(needed, 1), kRankStep);
    times = timesOf(product, std::min(rank, size_t(side)), costs);
    if (rank >= size_t(side) || times.two >= times.one) {
      why = llvm::formatv("{0:e2} of its norm is left out at rank {1} of {2} at the earliest, and "
                          "then two products are modelled to take {3:f2} us, one {4:f2} us",
                          budget.getValue(), needed, side, times.two, times.one);
      return std::nullopt;
    }
    LowRankFactors factors = values.factors(rank);
    const double distance = numerics::relativeDistance(matrix, factors);
    if (!(distance <= budget)) {
      why = llvm::formatv("its factors of rank {0} are {1:e3} of its norm off in f32", rank,
                          distance);
      return std::nullopt;
    }
    return Found{std::move(factors), distance, times};
  }

  void factor(Operation *op, OpOperand &weight, const CostModel &costs) {
    std::string why = "it is no matrix that one loop is summed over, for rows one after the other, "
                      "or a size is dynamic";
    std::optional<WeightedProduct> product = readWeightedProduct(op, weight);
    std::optional<Found> found;
    if (product && canReadSizes(*product))
      found = findFactors(*product, costs, why);
    if (!found) {
      remark::missed(op->getLoc(), remarks::kNotFactored.in(op))
          << remark::add("weight of type {0} stays whole", weight.get().getType())
          << remark::reason("{0}", why);
      return;
    }
    std::string text = llvm::formatv(
        "weight of type {0} is two factors of rank {1}, off by {2:e3} of its norm: modelled {3:f2} "
        "us on {4}, {5:f2} us whole",
        weight.get().getType(), found->factors.rank, found->bound, found->times.two,
        costs.part().name, found->times.one);
    remark::passed(op->getLoc(), remarks::kFactored.in(op)) << text;
    rewrite(*product, *found);
  }

  /// Sizes of what lies between the products are those of the init; without one they are known.
  static bool canReadSizes(const WeightedProduct &product) {
    auto type = dyn_cast<RankedTensorType>(product.weight->getOwner()->getResult(0).getType());
    return type && (product.view.init || type.hasStaticShape()) &&
           cast<RankedTensorType>(product.weight->get().getType()).hasStaticShape();
  }

  void rewrite(const WeightedProduct &product, const Found &found) {
    const LowRankFactors &factors = found.factors;
    Operation *op = product.weight->getOwner();
    Location loc = op->getLoc();
    OpBuilder builder(op);
    auto constant = [&](size_t rows, size_t columns, ArrayRef<float> elements) -> Value {
      auto type = RankedTensorType::get({int64_t(rows), int64_t(columns)}, builder.getF32Type());
      return arith::ConstantOp::create(builder, product.weight->get().getLoc(),
                                       DenseElementsAttr::get(type, elements));
    };
    Value left = constant(factors.rows, factors.rank, factors.left),
          right = constant(factors.rank, factors.columns, factors.right);
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<OpFoldResult> all, sizes;
    if (product.view.init)
      all = tensor::getMixedSizes(builder, loc, product.view.init);
    else
      for (int64_t size : result.getShape())
        all.push_back(builder.getIndexAttr(size));
    for (auto [dim, size] : llvm::enumerate(all))
      if (dim != product.keptInResult)
        sizes.push_back(size);
    sizes.push_back(builder.getIndexAttr(int64_t(factors.rank)));
    Value between = multiply(builder, loc, product.rows->get(), left,
                             makeZeros(builder, loc, sizes), product.first);
    Value init = product.view.init ? product.view.init : makeZeros(builder, loc, all);
    Value sums = multiply(builder, loc, between, right, init, product.second);
    sums.getDefiningOp()->setAttr(kFactoredAttrName, builder.getF64FloatAttr(found.bound));
    op->getResult(0).replaceAllUsesWith(sums);
    op->erase();
  }
};
} // namespace
