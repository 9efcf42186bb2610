// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-insert-fake-quantize: contractions of the forward pass on codes of narrow formats
// (changes rounding).

#include "FakeQuantizer.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mp/Transforms/Quantize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTFAKEQUANTIZE
#include "mp/Transforms/Quantize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct InsertFakeQuantize : mlir::mp::impl::InsertFakeQuantizeBase<InsertFakeQuantize> {
  using InsertFakeQuantizeBase::InsertFakeQuantizeBase;

  LogicalResult readOptions(FakeQuantizeSettings &settings) {
    auto fail = [&](const Twine &what) {
      return emitError(UnknownLoc::get(&getContext())) << "mp-insert-fake-quantize: " << what;
    };
    settings.weights = parseType(weights, &getContext());
    settings.activations = parseType(activations, &getContext());
    if (!(momentum >= 0 && momentum <= 1))
      return fail("option 'momentum' is " + std::to_string(momentum) +
                  ", expected a share from 0 to 1");
    if (!(stepRate >= 0) || !std::isfinite(stepRate))
      return fail("option 'step-rate' is " + std::to_string(stepRate) + ", expected 0 or more");
    settings.learned = steps == StepRule::Learned;
    settings.perChannel = perChannel;
    settings.zeroPoints = zeroPoints;
    settings.stepRate = stepRate;
    settings.momentum = momentum;
    return success();
  }

  LogicalResult insert() {
    FakeQuantizeSettings settings;
    if (failed(readOptions(settings)))
      return failure();
    FailureOr<func::FuncOp> found =
        findTrainStep(getOperation(), function, "mp-insert-fake-quantize");
    if (failed(found))
      return failure();
    if (!found->getBody().hasOneBlock())
      return found->emitError("mp-insert-fake-quantize: expected a function of one block, found ")
             << found->getBody().getBlocks().size() << " (--inline, or --mp-lift-block-loops)";
    bool done = false;
    found->walk([&](FakeQuantizeOp) { done = true; });
    if (done)
      return found->emitError("mp-insert-fake-quantize: is quantised already: expected a function "
                              "without 'mp.fake_quantize'");
    std::optional<TrainStep> step;
    std::optional<HomogeneityGraph> graph;
    std::optional<HomogeneityGraph::Degrees> degrees;
    if (train) {
      FailureOr<TrainStep> annotated =
          annotateTrainStep(getOperation(), function, "mp-insert-fake-quantize");
      if (failed(annotated) || failed(expectOnePhase(annotated->function, annotated->roles,
                                                     "quantise the forward pass of")))
        return failure();
      step = std::move(*annotated);
      degrees = graph.emplace(*found).propagate(step->roles.seeds);
    }
    FakeQuantizer quantizer(*found, settings, step ? &step->roles : nullptr,
                            degrees ? &*degrees : nullptr);
    if (quantizer.run() == 0)
      return found->emitError("mp-insert-fake-quantize: has no contraction of two f32 tensors in "
                              "its forward pass to quantise");
    return success();
  }

  void runOnOperation() override {
    if (failed(insert()))
      signalPassFailure();
  }
};
} // namespace
