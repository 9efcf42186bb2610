// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-fuse-elementwise: fuse elementwise producers into their consumers, contractions
// excepted (exact).

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Marks what stands for a constant while this pass runs.
static constexpr StringLiteral kHiddenAttrName = "mpk.hidden";

/// True if computing `op`'s body again costs more than loading its result.
static bool isCostly(linalg::GenericOp op) {
  unsigned count = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    if (isa_and_nonnull<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp>(inner) ||
        ++count > 4)
      return true;
  return false;
}

/// True if `consumer` reads each element of the producer once.
static bool readsOnce(linalg::GenericOp consumer, OpOperand *operand) {
  return consumer.getMatchingIndexingMap(operand).isPermutation();
}

/// True if `op` computes with what its results replace. Fused where an element is read more than
/// once, it would be added to as often.
static bool readsDestination(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) { return op.payloadUsesValueFromOperand(&init); });
}

static bool shouldFuse(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!consumer || !producer || consumer->hasAttr(kMmaAttrName) ||
      producer->hasAttr(kMmaAttrName) || !producer->hasOneUse() ||
      !isMemoryEffectFree(producer)) // what asserts would stay, to assert beside the fused op
    return false;
  return readsOnce(consumer, operand) || (!isCostly(producer) && !readsDestination(producer));
}

/// True for what widens elements to f64 and does nothing else: one instruction for each element,
/// where reading the result moves twice the bytes of the operand.
static bool isWideningToF64(linalg::GenericOp op) {
  Block &body = *op.getBody();
  return op->getNumResults() == 1 && op.getNumDpsInputs() == 1 && op.getNumReductionLoops() == 0 &&
         op.hasPureTensorSemantics() && llvm::hasNItems(body, 2) &&
         isa<arith::ExtFOp>(body.front()) && body.front().getResult(0).getType().isF64();
}

namespace {

struct FuseElementwise : mlir::mp::impl::FuseElementwiseBase<FuseElementwise> {
  using Base::Base;

  void runOnOperation() override {
    generalizeElementwise();
    hideConstants();
    widenInReaders();
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) {
      bool reduces = cast<linalg::LinalgOp>(operand->getOwner()).getNumReductionLoops() != 0;
      return (reductions || !reduces) && shouldFuse(operand);
    });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
    getOperation().walk([](UnrealizedConversionCastOp op) {
      if (!op->hasAttr(kHiddenAttrName))
        return;
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    });
  }

  /// Hides constants that contractions of matrix units read: upstream folds them into any op and
  /// forgets its attributes, and the op would read a destination that nobody filled.
  void hideConstants() {
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op->hasAttr(kMmaAttrName))
        return;
      OpBuilder builder(op);
      for (OpOperand *input : op.getDpsInputOperands())
        if (matchPattern(input->get(), m_Constant())) {
          Value constant = input->get(); // twice, so that it does not fold
          auto cast = UnrealizedConversionCastOp::create(builder, op.getLoc(), constant.getType(),
                                                         ValueRange{constant, constant});
          cast->setAttr(kHiddenAttrName, builder.getUnitAttr());
          input->set(cast.getResult(0));
        }
    });
  }

  /// Gives each reader that widenings to f64 can be fused into one of its own.
  void widenInReaders() {
    SmallVector<linalg::GenericOp> widenings;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isWideningToF64(op))
        widenings.push_back(op);
    });
    for (linalg::GenericOp op : widenings)
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
        if (op->hasOneUse() || !reader || reader->hasAttr(kMmaAttrName) || reader.isDpsInit(&use) ||
            (!reductions && reader.getNumReductionLoops() != 0))
          continue;
        OpBuilder builder(reader);
        use.set(builder.clone(*op)->getResult(0));
      }
  }

  /// Upstream fuses generics only. What sums keeps its name, by which contractions are found.
  void generalizeElementwise() {
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op) && op.getNumReductionLoops() == 0)
        named.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op); // or it stays what it is
    }
  }
};

} // namespace
