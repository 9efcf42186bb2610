// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-scale-contractions: f32 contractions that carry `mp.scaled` work on factors that are stored
// scaled.

#include "../Scale/FunctionScaler.h"
#include "mp/Transforms/Materialize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SCALECONTRACTIONS
#include "mp/Transforms/Materialize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// A contraction of two ranked f32 tensors into one.
static bool isWide(Operation *op) {
  auto view = viewContraction(op);
  auto isWideTensor = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isF32();
  };
  return view && isWideTensor(view->a->get()) && isWideTensor(view->b->get()) &&
         isWideTensor(op->getResult(0));
}

static LogicalResult scale(FunctionOpInterface function, const numerics::Recipe &recipe,
                           ArrayRef<Operation *> contractions) {
  if (failed(checkOverflows(function, contractions, recipe)))
    return failure();
  FunctionScaler scaler(function, contractions, recipe);
  for (Operation *op : contractions) {
    if (std::string why = scaler.whyNoProduct(op); !why.empty())
      return op->emitOpError("carries 'mp.scaled', but cannot be scaled as recipe '")
             << recipe.name << "' says: " << why;
    if (std::optional<std::array<double, 2>> magnitudes = getMagnitudes(op)) {
      ContractionView view = *viewContraction(op);
      for (auto [factor, magnitude] : llvm::zip_equal(std::array{view.a, view.b}, *magnitudes))
        if (magnitude > 0)
          scaler.useMagnitude(*factor, magnitude);
    }
    if (failed(scaler.scale(op)))
      return failure();
  }
  scaler.finish();
  return success();
}

namespace {
struct ScaleContractions : mlir::mp::impl::ScaleContractionsBase<ScaleContractions> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<std::pair<Operation *, const numerics::Recipe *>, SmallVector<Operation *>>
        groups;
    WalkResult found = getOperation()->walk([&](Operation *op) {
      const numerics::Recipe *recipe = getScaling(op);
      if (!recipe)
        return WalkResult::advance();
      if (!isWide(op)) {
        op->emitOpError(
            "carries 'mp.scaled', expected a contraction of two ranked f32 tensors into one");
        return WalkResult::interrupt();
      }
      groups[{op->getParentOfType<FunctionOpInterface>(), recipe}].push_back(op);
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    if (groups.empty())
      return markAllAnalysesPreserved(); // nothing to verify again
    for (auto &[key, contractions] : groups)
      if (failed(scale(cast<FunctionOpInterface>(key.first), *key.second, contractions)))
        return signalPassFailure();
  }
};
} // namespace
