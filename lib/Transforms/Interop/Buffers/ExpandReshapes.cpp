// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-expand-reshapes: expand_shape with several sizes of run time in a group, which upstream's
// expand-strided-metadata (LLVM 22) crashes on.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EXPANDRESHAPES
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

static bool hasSeveralDynamicSizes(memref::ExpandShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group,
                          [&](int64_t dim) { return op.getResultType().isDynamicDim(dim); }) > 1;
  });
}

/// The buffer read as `op` shapes it: in each group a stride is that of the source times the sizes
/// further in.
static Value reinterpret(ImplicitLocOpBuilder &b, memref::ExpandShapeOp op) {
  SmallVector<int64_t> stated;
  int64_t offset;
  if (failed(op.getResultType().getStridesAndOffset(stated, offset)))
    return {};
  auto source = memref::ExtractStridedMetadataOp::create(b, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(), strides(sizes.size());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[dim];
    for (int64_t part : llvm::reverse(group)) {
      bool isStated = !ShapedType::isDynamic(stated[part]);
      strides[part] = isStated ? OpFoldResult(b.getIndexAttr(stated[part])) : OpFoldResult(stride);
      stride = arith::MulIOp::create(b, stride,
                                     getValueOrCreateConstantIndexOp(b, b.getLoc(), sizes[part]));
    }
  }
  OpFoldResult begin = ShapedType::isDynamic(offset) ? OpFoldResult(source.getOffset())
                                                     : OpFoldResult(b.getIndexAttr(offset));
  return memref::ReinterpretCastOp::create(b, op.getResultType(), source.getBaseBuffer(), begin,
                                           sizes, strides);
}

namespace {

struct ExpandReshapes : mlir::mp::impl::ExpandReshapesBase<ExpandReshapes> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (hasSeveralDynamicSizes(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::ExpandShapeOp op : ops) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      Value view = reinterpret(b, op);
      if (!view) {
        op.emitError("has several sizes known at run time only in a group, and expects a strided "
                     "layout, found ")
            << op.getResultType();
        return signalPassFailure();
      }
      rewriter.replaceOp(op, view);
    }
  }
};

} // namespace
