// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-fold-views: read and write through reshapes instead of beside them, and read
// windows and concatenations element by element (exact).

#include "../Plan/OperandSource.h"
#include "DispatchBody.h"
#include "KeepAttributes.h"
#include "Pieces.h"
#include "Windows.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FOLDVIEWS
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Elementwise ops behind a product that are looked through to find it.
static constexpr unsigned kMostBehind = 16;

/// True for an elementwise op that goes through its result in order.
static bool isElementwise(linalg::GenericOp op) {
  return op && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getIndexingMapMatchingResult(op->getOpResult(0)).isIdentity();
}

static linalg::GenericOp asTransposition(Operation *op) {
  return dyn_cast_or_null<linalg::GenericOp>(op && isTransposition(op) ? op : nullptr);
}

/// True if products alone read what the transposition makes, themselves or through a reshape that
/// merges dimensions.
static bool productsAloneRead(linalg::GenericOp transposition) {
  return llvm::all_of(transposition->getUsers(), [](Operation *user) {
    return isa<tensor::CollapseShapeOp>(user) ? llvm::all_of(user->getUsers(), isProduct)
                                              : isProduct(user);
  });
}

/// True if the product goes through each dimension that the reshape merges by loops of the batch,
/// or one of its elements.
static bool mergesBatch(tensor::CollapseShapeOp collapse, OpOperand &operand) {
  auto product = cast<linalg::GenericOp>(operand.getOwner());
  std::string ignored;
  FailureOr<Contraction> contraction = matchContraction(product, ignored);
  if (failed(contraction))
    return false;
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  AffineMap map = product.getMatchingIndexingMap(&operand);
  return llvm::all_of(
      llvm::zip_equal(collapse.getReassociationIndices(), map.getResults()), [&](auto merged) {
        auto [group, place] = merged;
        auto loop = dyn_cast<AffineDimExpr>(place);
        return llvm::count_if(group, [&](int64_t dim) { return shape[size_t(dim)] != 1; }) <= 1 ||
               (loop && llvm::is_contained(contraction->batch, loop.getPosition()));
      });
}

/// The transposition behind a reshape that a product reads, if loops of its batch can be those of
/// the dimensions before the reshape.
static bool mergesTransposed(OpOperand &operand) {
  auto collapse = operand.get().getDefiningOp<tensor::CollapseShapeOp>();
  auto transposition = collapse ? asTransposition(collapse.getSrc().getDefiningOp()) : nullptr;
  return transposition && productsAloneRead(transposition) && mergesBatch(collapse, operand);
}

namespace {

/// product(transposition(x))  ==>  product(x), by another map
struct ReadTransposed : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  /// True if tiles of an operand whose last dimension is `innermost` are copied by vectors: not
  /// where elements of the batch lie beside each other, nor, of less than 16 bits, those of rows or
  /// columns, which no instruction transposes.
  static bool readsTogether(const Contraction &contraction, AffineExpr innermost,
                            linalg::GenericOp moved) {
    auto uses = [&](unsigned loop) { return innermost.isFunctionOfDim(loop); };
    const Type element = getElementTypeOrSelf(moved.getResultTypes()[0]);
    return llvm::none_of(contraction.batch, uses) &&
           (element.getIntOrFloatBitWidth() >= 16 || llvm::any_of(contraction.k, uses));
  }

  LogicalResult matchAndRewrite(linalg::GenericOp product,
                                PatternRewriter &rewriter) const override {
    std::string reason;
    FailureOr<Contraction> contraction = matchContraction(product, reason);
    if (!isProduct(product) || failed(contraction))
      return rewriter.notifyMatchFailure(product, "it is no product of matrices");
    for (OpOperand *operand : product.getDpsInputOperands()) {
      linalg::GenericOp moved = asTransposition(operand->get().getDefiningOp());
      if (!moved || !productsAloneRead(moved))
        continue;
      const AffineMap back = inversePermutation(moved.getIndexingMapsArray()[1]);
      const AffineMap map = moved.getIndexingMapsArray()[0].compose(back).compose(
          product.getMatchingIndexingMap(operand));
      if (!readsTogether(*contraction, map.getResults().back(), moved))
        continue;
      SmallVector<AffineMap> maps = product.getIndexingMapsArray();
      maps[operand->getOperandNumber()] = map;
      rewriter.modifyOpInPlace(product, [&] {
        operand->set(moved->getOperand(0));
        product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(product, "it reads nothing that is transposed");
  }
};

} // namespace

/// True if `op` computes an element of each element of a product, by loops like those, itself or
/// from what such ops make.
static bool followsProduct(Operation *op) {
  llvm::SmallSetVector<Operation *, kMostBehind> behind;
  behind.insert(op);
  for (unsigned next = 0; next != behind.size(); ++next) { // which grows
    auto generic = dyn_cast_or_null<linalg::GenericOp>(behind[next]);
    if (!isElementwise(generic))
      continue;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      Operation *made = skipUnitReshapes(operand->get()).getDefiningOp();
      if (!made || !generic.getMatchingIndexingMap(operand).isIdentity())
        continue;
      if (isProduct(made))
        return true;
      if (behind.size() < kMostBehind)
        behind.insert(made);
    }
  }
  return false;
}

/// True if an op that reads the value, itself or through reshapes, moves its elements.
static bool isMovedBehind(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    if (isView(use.getOwner()))
      return isMovedBehind(use.getOwner()->getResult(0));
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    return reader && reader.getNumReductionLoops() == 0 && reader.isDpsInput(&use) &&
           !(isElementwise(reader) && reader.getMatchingIndexingMap(&use).isIdentity());
  });
}

/// True if the elements that the op computes are read through `view` to be summed alone, which adds
/// dimensions of size one: the op belongs to the sum rather than to a product.
static bool isSummedBehind(Operation *view) {
  return isUnitReshape(view) && llvm::all_of(view->getUsers(), [](Operation *reader) {
           auto sum = dyn_cast<linalg::GenericOp>(reader);
           return sum && !isProduct(sum) && sum.getNumReductionLoops() != 0;
         });
}

/// Contractions keep their loops: equal ones are one kernel, and more loops are slower ones. So do
/// what runs on their sums, unless it can write where a reader moves the elements to.
static bool keepsLoops(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return !generic || isProduct(op) || looksLikeContraction(generic) ||
         (followsProduct(generic) && !isMovedBehind(generic->getResult(0)));
}

/// True if what elementwise ops make of tensors can be made in merged loops: none repeats elements
/// along one of those that `groups` merge, which only a copy could do then.
static bool mayMerge(linalg::GenericOp reader, ArrayRef<ReassociationIndices> groups) {
  llvm::SmallSetVector<Operation *, kMostBehind> behind;
  behind.insert(reader);
  for (unsigned next = 0; next != behind.size(); ++next) { // which grows
    auto generic = cast<linalg::GenericOp>(behind[next]);
    if (!linalg::areDimSequencesPreserved(generic.getIndexingMapsArray(), groups))
      return false;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      auto made = operand->get().getDefiningOp<linalg::GenericOp>();
      if (generic.getMatchingIndexingMap(operand).isIdentity() && isElementwise(made) &&
          behind.size() < kMostBehind)
        behind.insert(made);
    }
  }
  return true;
}

/// True if what computes elements of a product could do so in the product's loops, but reads them
/// through a reshape that splits these.
static bool splitsProduct(OpOperand &operand) {
  auto expand = operand.get().getDefiningOp<tensor::ExpandShapeOp>();
  auto reader = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!expand || !reader)
    return false;
  Operation *made = skipUnitReshapes(expand.getSrc()).getDefiningOp();
  return !isUnitReshape(expand) && isElementwise(reader) &&
         reader.getMatchingIndexingMap(&operand).isIdentity() && made &&
         (isProduct(made) || followsProduct(made)) && !isMovedBehind(reader->getResult(0)) &&
         mayMerge(reader, expand.getReassociationIndices());
}

namespace {

/// cast(transposition(x))  ==>  transposition(cast(x)), where x is made of a product's elements,
/// whose kernel may narrow them.
struct NarrowFirst : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp cast, PatternRewriter &rewriter) const override {
    linalg::GenericOp moved =
        isNarrowing(cast) ? asTransposition(cast.getInputs()[0].getDefiningOp()) : nullptr;
    if (!moved || !moved->hasOneUse() || !isElementwise(cast) ||
        !cast.getIndexingMapsArray()[0].isIdentity() ||
        !isMadeOfProduct(skipViews(moved.getInputs()[0])))
      return rewriter.notifyMatchFailure(cast, "it narrows no transposed elements of a product");
    const Location loc = cast.getLoc();
    Value source = moved.getInputs()[0];
    Type element = getElementTypeOrSelf(cast.getResultTypes()[0]);
    Value empty = tensor::EmptyOp::create(rewriter, loc,
                                          tensor::getMixedSizes(rewriter, loc, source), element);
    const unsigned rank = cast.getNumLoops();
    SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(rank));
    auto narrow = linalg::GenericOp::create(rewriter, loc, empty.getType(), source, empty, maps,
                                            cast.getIteratorTypesArray());
    rewriter.inlineRegionBefore(cast.getRegion(), narrow.getRegion(), narrow.getRegion().end());
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        cast, cast.getResultTypes(), narrow->getResults(), cast.getDpsInits(),
        moved.getIndexingMapsArray(), moved.getIteratorTypesArray(),
        [](OpBuilder &b, Location at, ValueRange elements) {
          linalg::YieldOp::create(b, at, elements.front());
        });
    return success();
  }

  static Value skipViews(Value value) {
    while (isView(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }
  static bool isMadeOfProduct(Value value) {
    Operation *op = value.getDefiningOp();
    return op && (isProduct(op) || followsProduct(op));
  }
};

struct FoldViews : mlir::mp::impl::FoldViewsBase<FoldViews> {
  using Base::Base;

  void runOnOperation() override {
    unrollWindows(getOperation());
    readPieces(getOperation());
    if (failed(narrowFirst()) || failed(foldTranspositions()) || failed(mergeLoops()) ||
        failed(foldReshapes()))
      signalPassFailure();
  }

  static void addReshapes(RewritePatternSet &patterns) {
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  }

  LogicalResult narrowFirst() {
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowFirst>(&getContext());
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  /// Lets products read what is transposed where it lies.
  LogicalResult foldTranspositions() {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadTransposed>(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      return isProduct(operand->getOwner()) && mergesTransposed(*operand);
    });
    addReshapes(patterns);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    KeepAttributes listener;
    GreedyRewriteConfig config;
    config.setListener(&listener);
    return applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }

  /// Lets what computes elements of products do so in their loops.
  LogicalResult mergeLoops() {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByCollapsingPatterns(
        patterns, [](OpOperand *operand) { return splitsProduct(*operand); });
    addReshapes(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  LogicalResult foldReshapes() {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      Operation *producer = operand->get().getDefiningOp(), *consumer = operand->getOwner();
      if (isa_and_nonnull<tensor::CollapseShapeOp>(producer))
        return !keepsLoops(consumer);
      auto made = dyn_cast_or_null<linalg::GenericOp>(producer);
      return isa<tensor::ExpandShapeOp>(consumer) && producer->hasOneUse() &&
             (!keepsLoops(producer) || (isElementwise(made) && isSummedBehind(consumer)));
    });
    addReshapes(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
