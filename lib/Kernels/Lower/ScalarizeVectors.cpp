// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-scalarize-vectors: compute elementwise ops on vectors element by element (exact).

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SCALARIZEVECTORS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// op(x, y : vector)  ==>  from_elements(op(x[0], y[0]), op(x[1], y[1]), ...)
static void scalarize(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto shape = cast<VectorType>(op->getResult(0).getType());
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  SmallVector<int64_t> strides = computeStrides(shape.getShape());
  for (int64_t i = 0; i < shape.getNumElements(); ++i) {
    SmallVector<int64_t> at = delinearize(i, strides);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<VectorType>(operand.getType())
                             ? vector::ExtractOp::create(b, loc, operand, at).getResult()
                             : operand);
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(getElementTypeOrSelf(type));
    Operation *scalar =
        isa<vector::FMAOp>(op)
            ? math::FmaOp::create(b, loc, operands[0], operands[1], operands[2]).getOperation()
            : b.create(loc, op->getName().getIdentifier(), operands, types, op->getAttrs());
    for (auto [all, result] : llvm::zip_equal(results, scalar->getResults()))
      all.push_back(result);
  }
  for (auto [all, result] : llvm::zip_equal(results, op->getResults()))
    result.replaceAllUsesWith(
        vector::FromElementsOp::create(b, loc, cast<VectorType>(result.getType()), all)
            .getResult());
  op->erase();
}

namespace {

struct ScalarizeVectors : mlir::mp::impl::ScalarizeVectorsBase<ScalarizeVectors> {
  using Base::Base;

  void runOnOperation() override {
    // These patterns lower what convert-vector-to-llvm leaves.
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerReduction);
    vector::populateVectorTransposeLoweringPatterns(patterns,
                                                    vector::VectorTransposeLowering::EltWise);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() == 0 || !OpTrait::hasElementwiseMappableTraits(op))
        return;
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (type && !type.isScalable() && type.getNumElements() > 0)
        ops.push_back(op);
    });
    llvm::for_each(ops, scalarize);
  }
};

} // namespace
