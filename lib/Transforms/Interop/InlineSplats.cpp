// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-inline-splats: elementwise ops that read a constant of equal elements use the number instead.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Transforms/Interop/Passes.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INLINESPLATS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// The one element that all of `value` is, if it is such a constant and a scalar can be it:
/// `arith` has none with a sign in its type.
static TypedAttr getSplat(Value value) {
  DenseElementsAttr elements;
  auto type = dyn_cast<TensorType>(value.getType());
  if (!type || !type.getElementType().isIntOrIndexOrFloat() ||
      !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  auto element = elements.getSplatValue<TypedAttr>();
  return arith::ConstantOp::isBuildableWith(element, element.getType()) ? element : TypedAttr();
}

/// Inputs of `op` that are splats, short of those that its loops have their sizes from.
static llvm::BitVector findSplats(linalg::GenericOp op) {
  llvm::BitVector splats(op->getNumOperands());
  for (OpOperand *input : op.getDpsInputOperands())
    splats[input->getOperandNumber()] = bool(getSplat(input->get()));
  SmallVector<AffineMap> kept;
  for (auto [index, map] : llvm::enumerate(op.getIndexingMapsArray()))
    if (!splats[index])
      kept.push_back(map);
  if (!inversePermutation(concatAffineMaps(kept, op.getContext())))
    splats.reset();
  return splats;
}

static void inlineSplats(IRRewriter &rewriter, linalg::GenericOp op) {
  llvm::BitVector splats = findSplats(op);
  if (splats.none())
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [index, operand, map] : llvm::enumerate(op->getOperands(), op.getIndexingMapsArray())) {
    if (splats[index]) {
      TypedAttr element = getSplat(operand);
      Operation *scalar =
          arith::ConstantOp::materialize(rewriter, element, element.getType(), op.getLoc());
      rewriter.replaceAllUsesWith(op.getBody()->getArgument(index), scalar->getResult(0));
      continue;
    }
    maps.push_back(map);
    if (int64_t(index) < op.getNumDpsInputs())
      inputs.push_back(operand);
  }
  auto less = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs,
                                        op.getOutputs(), maps, op.getIteratorTypesArray());
  less->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), less.getRegion(), less.getRegion().begin());
  less.getBody()->eraseArguments(splats);
  rewriter.replaceOp(op, less);
}

namespace {
struct InlineSplats : mlir::mp::impl::InlineSplatsBase<InlineSplats> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](linalg::GenericOp op) {
      // Contractions stay what they are: how they are computed is decided by their form.
      if (op.getNumReductionLoops() == 0)
        inlineSplats(rewriter, op);
    });
  }
};
} // namespace
