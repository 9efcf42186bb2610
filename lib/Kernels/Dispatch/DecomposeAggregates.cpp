// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-decompose-aggregates: write softmax, packing and other aggregate tensor ops as
// loops (exact).

#include "GatherLoops.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATES
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// A reshape by sizes that lie in a tensor becomes one by scalars: as a buffer they would lie on
/// the device, and it is the host that lays out views.
static void lowerReshape(tensor::ReshapeOp op, IRRewriter &rewriter) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto result = dyn_cast<RankedTensorType>(op.getType());
  if (!source || !result || source.getRank() == 0 || result.getRank() == 0)
    return;
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(result.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(rewriter.getIndexAttr(size));
      continue;
    }
    Value place = arith::ConstantIndexOp::create(rewriter, loc, dim);
    Value read = tensor::ExtractOp::create(rewriter, loc, op.getShape(), place);
    sizes.push_back(rewriter.createOrFold<arith::IndexCastOp>(loc, rewriter.getIndexType(), read));
  }
  auto all = [](int64_t rank) {
    return SmallVector<ReassociationIndices>{llvm::to_vector(llvm::seq<int64_t>(0, rank))};
  };
  Value line = op.getSource();
  if (source.getRank() > 1)
    line = tensor::CollapseShapeOp::create(rewriter, loc, line, all(source.getRank()));
  // Sizes that one side knows are the other's.
  const int64_t known = result.hasStaticShape() ? result.getNumElements() : ShapedType::kDynamic;
  auto lineType = RankedTensorType::get({known}, result.getElementType());
  if (line.getType() != lineType)
    line = tensor::CastOp::create(rewriter, loc, lineType, line);
  if (result.getRank() > 1)
    line = tensor::ExpandShapeOp::create(rewriter, loc, result, line, all(result.getRank()), sizes);
  else if (line.getType() != result)
    line = tensor::CastOp::create(rewriter, loc, result, line);
  rewriter.replaceOp(op, line);
}

/// True if `op` is no aggregate, or is one no more.
static bool decompose(Operation *op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return succeeded(linalg::lowerPack(rewriter, pack));
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return succeeded(linalg::lowerUnPack(rewriter, unpack));
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    return succeeded(linalg::decomposeWinogradFilterTransformOp(rewriter, filter));
  if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    return succeeded(linalg::decomposeWinogradInputTransformOp(rewriter, input));
  if (auto output = dyn_cast<linalg::WinogradOutputTransformOp>(op))
    return succeeded(linalg::decomposeWinogradOutputTransformOp(rewriter, output));
  if (auto gather = dyn_cast<tensor::GatherOp>(op))
    return lowerGather(gather, rewriter), true;
  if (auto scatter = dyn_cast<tensor::ScatterOp>(op))
    return lowerScatter(scatter, rewriter), true;
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
    return lowerReshape(reshape, rewriter), true;
  auto aggregate = dyn_cast<linalg::AggregatedOpInterface>(op);
  if (!aggregate)
    return true;
  FailureOr<SmallVector<Value>> values = aggregate.decomposeOperation(rewriter);
  if (failed(values))
    return false;
  rewriter.replaceOp(op, *values);
  return true;
}

namespace {

struct DecomposeAggregates : mlir::mp::impl::DecomposeAggregatesBase<DecomposeAggregates> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      if (!decompose(op, rewriter)) {
        op->emitOpError("has no decomposition for these operands");
        return signalPassFailure();
      }

    // Whatever is still not a loop nest would be left behind silently later on.
    WalkResult result = getOperation()->walk([](Operation *op) {
      bool isLinalg = isa_and_nonnull<linalg::LinalgDialect>(op->getDialect());
      if (!isLinalg || isa<linalg::LinalgOp, linalg::YieldOp, linalg::IndexOp>(op))
        return WalkResult::advance();
      op->emitOpError("has no form as a loop nest: write it with linalg.generic");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
