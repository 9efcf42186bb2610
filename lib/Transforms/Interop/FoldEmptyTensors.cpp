// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-fold-empty-tensors: tensors without elements have shapes only, and padding by less than
// nothing leaves elements out.

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FOLDEMPTYTENSORS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

/// The sizes of the only result, or failure if the op cannot say them.
static FailureOr<SmallVector<OpFoldResult>> sizesOfResult(Operation *op, OpBuilder &b) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.hasStaticShape())
    return getAsIndexOpFoldResult(op->getContext(), type.getShape());
  ReifiedRankedShapedTypeDims sizes;
  if (failed(reifyResultShapes(b, op, sizes)))
    return failure();
  return sizes.front();
}

namespace {

/// Whatever would compute the elements has nothing to compute.
struct FoldProducer : RewritePattern {
  explicit FoldProducer(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isEmpty(op->getResult(0).getType()) ||
        op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op) ||
        !isMemoryEffectFree(op))
      return failure();
    FailureOr<SmallVector<OpFoldResult>> sizes = sizesOfResult(op, rewriter);
    if (failed(sizes))
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), *sizes, type.getElementType(),
                                          type.getEncoding());
    if (empty.getType() != type) // a size was known where the type says it is not
      empty = tensor::CastOp::create(rewriter, op->getLoc(), type, empty);
    rewriter.replaceOp(op, empty);
    return success();
  }
};

/// Parts without elements would become slices at an offset behind the end, which upstream refuses.
struct FoldConcatPart : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> parts = llvm::filter_to_vector(op.getInputs(), [&](Value part) {
      return cast<RankedTensorType>(part.getType()).getDimSize(op.getDim()) != 0;
    });
    if (parts.empty() || parts.size() == op.getInputs().size())
      return failure();
    rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, op.getType(), op.getDim(), parts);
    return success();
  }
};

/// Around nothing there is only padding.
struct FoldPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getSource().getType()) || isEmpty(op.getType()))
      return failure();
    FailureOr<SmallVector<OpFoldResult>> sizes = sizesOfResult(op, rewriter);
    if (failed(sizes))
      return failure();
    SmallVector<Value> dynamic;
    for (auto [dim, size] : llvm::enumerate(*sizes))
      if (op.getType().isDynamicDim(dim))
        dynamic.push_back(getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), size));
    auto generated = tensor::GenerateOp::create(rewriter, op.getLoc(), op.getType(), dynamic);
    rewriter.inlineRegionBefore(op.getRegion(), generated.getBody(), generated.getBody().begin());
    rewriter.replaceOp(op, generated);
    return success();
  }
};

/// The part of dimension `dim` that a pad by `low` and `high` keeps, and what is left to pad.
struct Kept {
  int64_t begin;
  OpFoldResult size, low, high;
};

/// Upstream writes the whole source at a negative offset of the result.
struct CropNegativePad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  static Kept keptOf(tensor::PadOp op, int64_t dim, OpBuilder &b) {
    OpFoldResult low = op.getMixedLowPad()[dim], high = op.getMixedHighPad()[dim];
    const int64_t first = std::max<int64_t>(0, -getConstantIntValue(low).value_or(0)),
                  cut = first + std::max<int64_t>(0, -getConstantIntValue(high).value_or(0));
    OpFoldResult none = b.getIndexAttr(0);
    if (int64_t size = op.getSourceType().getDimSize(dim); !ShapedType::isDynamic(size)) {
      if (cut >= size && cut > 0 && !op.getType().isDynamicDim(dim)) // all that is left is padding
        return {0, none, b.getIndexAttr(op.getType().getDimSize(dim)), none};
      return {first, b.getIndexAttr(size - cut), first ? none : low, cut > first ? none : high};
    }
    Value size = tensor::DimOp::create(b, op.getLoc(), op.getSource(), dim);
    if (cut)
      size = arith::SubIOp::create(b, op.getLoc(), size,
                                   arith::ConstantIndexOp::create(b, op.getLoc(), cut));
    return {first, size, first ? none : low, cut > first ? none : high};
  }

  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    auto isNegative = [](int64_t amount) { return amount < 0 && !ShapedType::isDynamic(amount); };
    if (llvm::none_of(op.getStaticLow(), isNegative) &&
        llvm::none_of(op.getStaticHigh(), isNegative))
      return failure();
    SmallVector<OpFoldResult> begins, sizes, low, high;
    for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
      Kept kept = keptOf(op, dim, rewriter);
      begins.push_back(rewriter.getIndexAttr(kept.begin));
      sizes.push_back(kept.size);
      low.push_back(kept.low);
      high.push_back(kept.high);
    }
    SmallVector<OpFoldResult> strides(begins.size(), rewriter.getIndexAttr(1));
    Value slice = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), op.getSource(), begins,
                                                 sizes, strides);
    auto padded = tensor::PadOp::create(rewriter, op.getLoc(), op.getType(), slice, low, high,
                                        op.getNofold());
    rewriter.inlineRegionBefore(op.getRegion(), padded.getRegion(), padded.getRegion().begin());
    rewriter.replaceOp(op, padded);
    return success();
  }
};

struct FoldInsert : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getSource().getType()))
      return failure();
    rewriter.replaceOp(op, op.getDest());
    return success();
  }
};

struct FoldEmptyTensors : mlir::mp::impl::FoldEmptyTensorsBase<FoldEmptyTensors> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldProducer, FoldConcatPart, FoldPad, CropNegativePad, FoldInsert>(&getContext());
    // One pass over the function: what a fold leaves does not match again.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
