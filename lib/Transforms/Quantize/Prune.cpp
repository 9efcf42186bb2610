// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-prune: weights of contractions with 2 of 4 values along what is summed over
// (changes values).

#include "../Common/AppendedState.h"
#include "../Common/TensorCode.h"
#include "Sites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Transforms/Quantize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PRUNE
#include "mp/Transforms/Quantize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct Prune : mlir::mp::impl::PruneBase<Prune> {
  using PruneBase::PruneBase;

  void runOnOperation() override {
    if (failed(prune()))
      signalPassFailure();
  }

private:
  LogicalResult prune() {
    FailureOr<func::FuncOp> found = findTrainStep(getOperation(), function, "mp-prune");
    if (failed(found))
      return failure();
    if (!found->getBody().hasOneBlock())
      return found->emitError("mp-prune: expected a function of one block (--inline)");
    std::optional<TrainStep> step;
    if (train) {
      FailureOr<TrainStep> annotated = annotateTrainStep(getOperation(), function, "mp-prune");
      if (failed(annotated))
        return failure();
      step = std::move(*annotated);
    }
    llvm::MapVector<Value, OpOperand *> weights =
        findWeights(*found, step ? &step->roles : nullptr);
    for (auto [weight, factor] : weights) {
      PruneOp pruned = insert(weight, *factor);
      if (pruned && step && mask == PruneMask::Fixed)
        keepMask(*step, pruned);
    }
    return success();
  }

  /// Weights that contractions read as they are, each with the first factor that it is.
  llvm::MapVector<Value, OpOperand *> findWeights(func::FuncOp function,
                                                  const TrainingRoles *roles) {
    llvm::MapVector<Value, OpOperand *> weights;
    for (Operation &op : function.getBody().front()) {
      std::optional<FactorPair> pair = readFactors(&op);
      if (!pair)
        continue;
      for (OpOperand *factor : pair->factors) {
        Value value = factor->get();
        auto argument = dyn_cast<BlockArgument>(value);
        const TrainingState *state =
            argument && roles ? roles->ofArgument(argument.getArgNumber()) : nullptr;
        bool isWeight = roles      ? state && state->role == kRoleParameter
                        : argument ? !whyParameter(function, argument.getArgNumber()).empty()
                                   : bool(findConstant(value)); // transposed, too
        if (isWeight)
          weights.insert({value, factor});
      }
    }
    return weights;
  }

  PruneOp insert(Value weight, OpOperand &factor) {
    std::optional<unsigned> axis = groupDimensionOf(factor);
    if (!axis) {
      remark::missed(weight.getLoc(), remarks::kNotScaled.in(factor.getOwner()))
          << remark::add("weight of type {0} keeps all values", weight.getType())
          << remark::reason("no dimension that is summed over has a multiple of 4 values");
      return {};
    }
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(weight);
    auto pruned = PruneOp::create(builder, weight.getLoc(), weight.getType(), weight, Value(),
                                  builder.getI64IntegerAttr(2), builder.getI64IntegerAttr(4),
                                  builder.getI64IntegerAttr(*axis), builder.getUnitAttr());
    replaceInContractions(weight, pruned);
    remark::passed(weight.getLoc(), remarks::kScaled.in(factor.getOwner())) << remark::add(
        "weight of type {0} keeps 2 of 4 values along dimension {1}", weight.getType(), *axis);
    return pruned;
  }

  /// Pruned elements have no gradient, and stay 0.
  void keepMask(TrainStep &step, PruneOp pruned) {
    auto argument = dyn_cast<BlockArgument>(pruned.getSource());
    const TrainingState *state = step.roles.ofArgument(argument.getArgNumber());
    OpBuilder builder(&getContext());
    auto masked = [&](Value x) {
      builder.setInsertionPointAfterValue(x);
      return buildElementwise(builder, x.getLoc(), {x, pruned}, builder.getF32Type(),
                              [](OpBuilder &b, Location loc, ValueRange e) -> Value {
                                Value zero = scalar(b, loc, b.getF32FloatAttr(0));
                                Value isKept = arith::CmpFOp::create(
                                    b, loc, arith::CmpFPredicate::UNE, e[1], zero);
                                return arith::SelectOp::create(b, loc, isKept, e[0], zero);
                              });
    };
    for (const Gradient &gradient : step.roles.gradients) {
      if (gradient.argument != argument.getArgNumber() ||
          gradient.value.getType() != argument.getType())
        continue; // one that comes in pieces moves moments of what is 0 anyway
      Value passed = masked(gradient.value);
      for (OpOperand *use : gradient.uses)
        use->set(passed);
    }
    OpOperand &updated =
        step.function.getBody().front().getTerminator()->getOpOperand(state->result);
    updated.set(masked(updated.get()));
  }
};
} // namespace
