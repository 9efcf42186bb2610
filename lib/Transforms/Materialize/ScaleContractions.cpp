// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-scale-contractions: f32 contractions that carry `mp.scaled` work on factors times powers of two, in f16.

#include "../Scale/Quantizer.h"
#include "mp/Transforms/Materialize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SCALECONTRACTIONS
#include "mp/Transforms/Materialize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
namespace numerics = ::mp::numerics;

namespace {
struct ScaleContractions : mlir::mp::impl::ScaleContractionsBase<ScaleContractions> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> contractions;
    getOperation()->walk([&](Operation *op) {
      if (op->hasAttr(kScaledAttrName))
        contractions.push_back(op);
    });
    Quantizer quantizer;
    for (Operation *op : contractions)
      if (failed(scale(op, quantizer)))
        return signalPassFailure();
    quantizer.eraseSuperseded();
  }

private:
  static LogicalResult scale(Operation *op, Quantizer &quantizer) {
    auto view = viewContraction(op);
    auto isWide = [](Value factor) {
      auto type = dyn_cast<RankedTensorType>(factor.getType());
      return type && type.getElementType().isF32();
    };
    if (!view || !isWide(view->a->get()) || !isWide(view->b->get()) || !isWide(op->getResult(0)))
      return op->emitOpError("carries 'mp.scaled', expected a contraction of two ranked f32 tensors into one");
    OpBuilder builder(op);
    std::array<double, 2> magnitudes = *getMagnitudes(op);
    auto store = [&](OpOperand *factor, double magnitude) {
      const numerics::OperandScheme &scheme = *numerics::findRecipe(kScaledName)->activation;
      return magnitude > 0 ? quantizer.quantizeBy(builder, factor->get(), scheme, magnitude)
                           : quantizer.quantize(builder, factor->get(), scheme, {});
    };
    ScaledValue a = store(view->a, magnitudes[0]), b = store(view->b, magnitudes[1]);
    replaceByScaled(builder, op, *view, a, b);
    return success();
  }
};
} // namespace
