// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-prepare-vectors: what LLVM (22) hangs or ends on.

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PREPAREVECTORS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

static bool isAllTrue(Value mask) {
  DenseElementsAttr elements;
  if (matchPattern(mask, m_Constant(&elements)))
    return elements.isSplat() && elements.getSplatValue<bool>();
  auto sizes = cast<VectorType>(mask.getType()).getShape();
  if (auto constant = mask.getDefiningOp<vector::ConstantMaskOp>())
    return constant.getMaskDimSizes() == sizes;
  auto created = mask.getDefiningOp<vector::CreateMaskOp>();
  return created && llvm::all_of(llvm::zip_equal(created.getOperands(), sizes), [](auto pair) {
           auto [count, size] = pair;
           return getConstantIntValue(count).value_or(-1) >= size;
         });
}

/// The masked op in its place. Folding an op without results, upstream reports success for ever.
static void unwrap(vector::MaskOp op, IRRewriter &rewriter) {
  Operation *masked = op.getMaskableOp();
  if (!masked || !isAllTrue(op.getMask()))
    return;
  rewriter.moveOpBefore(masked, op);
  rewriter.replaceOp(op, masked->getResults());
}

static bool isScalable(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.isScalable();
}

namespace {

struct PrepareVectors : mlir::mp::impl::PrepareVectorsBase<PrepareVectors> {
  void runOnOperation() override {
    SmallVector<vector::MaskOp> masks;
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (auto mask = dyn_cast<vector::MaskOp>(op))
        masks.push_back(mask);
      SmallVector<Type> types(op->getOperandTypes());
      llvm::append_range(types, op->getResultTypes());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::append_range(types, block.getArgumentTypes());
      auto *scalable = llvm::find_if(types, isScalable);
      if (scalable == types.end())
        return WalkResult::advance();
      op->emitError("uses a vector of scalable size, ")
          << *scalable
          << ", which neither this host nor NVIDIA GPUs have; expected vectors of fixed size, as "
             "vector<4xf32>";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (vector::MaskOp mask : masks)
      unwrap(mask, rewriter);
  }
};

} // namespace
