// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-insert-master-weights: store parameters of a train step narrow, with masters for
// the optimizer (changes rounding).

#include "../Common/AppendedState.h"
#include "../Common/RandomDraws.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Masters.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Train/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTMASTERWEIGHTS
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// True if a contraction reads the argument, as it is or moved.
static bool feedsContraction(Value argument) {
  llvm::SetVector<Value> pending;
  pending.insert(argument);
  for (unsigned i = 0; i < pending.size(); ++i)
    for (OpOperand &use : pending[i].getUses()) {
      OpClass opClass = getOpClass(use.getOwner());
      if (opClass == OpClass::TensorCore)
        return true;
      if (opClass == OpClass::ExactCommute)
        pending.insert(use.getOwner()->result_begin(), use.getOwner()->result_end());
    }
  return false;
}

/// Ops of the function's block that a gradient depends on: forward and backward pass.
static llvm::DenseSet<Operation *> opsBehind(func::FuncOp step, const TrainingRoles &roles) {
  Block &block = step.getBody().front();
  llvm::SetVector<Value> pending;
  for (const Gradient &gradient : roles.gradients)
    pending.insert(gradient.value);
  llvm::DenseSet<Operation *> ops;
  for (unsigned i = 0; i < pending.size(); ++i)
    if (Operation *op = pending[i].getDefiningOp()) {
      op = block.findAncestorOpInBlock(*op);
      ops.insert(op);
      pending.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), pending);
    }
  return ops;
}

namespace {

/// Narrows one parameter after another.
class WeightNarrowing {
public:
  WeightNarrowing(func::FuncOp step, FloatType format, MasterWeights kind, int64_t randomSeed,
                  llvm::DenseSet<Operation *> behind)
      : step(step), format(format), kind(kind), behind(std::move(behind)), appended(step) {
    if (kind == MasterWeights::Stochastic)
      draws.emplace(appended, step.getContext(), randomSeed);
  }

  void narrow(const TrainingState &parameter) {
    BlockArgument argument = step.getArgument(parameter.argument);
    Operation *terminator = step.getBody().front().getTerminator();
    Value updated = terminator->getOperand(parameter.result);
    // The optimizer's uses see the master, all others what the forward pass sees.
    SmallVector<OpOperand *> ofOptimizer, ofForward;
    for (OpOperand &use : argument.getUses()) {
      Operation *user = step.getBody().front().findAncestorOpInBlock(*use.getOwner());
      (behind.contains(user) ? ofForward : ofOptimizer).push_back(&use);
    }
    Value original = appended.takeOriginal(parameter.argument);
    Type f32 = argument.getType();
    argument.setType(withFormat(f32, format));
    OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
    Value wide = arith::ExtFOp::create(builder, argument.getLoc(), f32, argument);

    OpBuilder initial = appended.initBuilder();
    OpBuilder atEnd(terminator);
    Value master = wide, narrowed;
    if (kind == MasterWeights::Remainder) {
      auto split = SplitMasterOp::create(initial, original.getLoc(), original);
      appended.convert(split.getHigh());
      Value remainder = appended.add(split.getRemainder(), kRoleRemainder);
      master = JoinMasterOp::create(builder, argument.getLoc(), argument, remainder);
      auto next = SplitMasterOp::create(atEnd, updated.getLoc(), updated);
      narrowed = next.getHigh();
      nextValues.push_back(next.getRemainder());
    } else {
      appended.convert(roundTo(initial, original, format));
      narrowed = roundTo(atEnd, updated, format, draws ? draws->drawFor(atEnd, updated) : Value());
      if (kind == MasterWeights::F32) {
        master = appended.add(original, kRoleMaster);
        nextValues.push_back(updated);
      }
    }
    for (OpOperand *use : ofForward)
      use->set(wide);
    for (OpOperand *use : ofOptimizer)
      use->set(master);
    terminator->setOperand(parameter.result, narrowed);
  }

  void finish() {
    SmallVector<Value> next;
    if (draws) {
      OpBuilder atEnd(step.getBody().front().getTerminator());
      next = draws->next(atEnd);
    }
    llvm::append_range(next, nextValues);
    appended.finish(next);
    sortTopologically(&step.getBody().front());
  }

private:
  func::FuncOp step;
  FloatType format;
  MasterWeights kind;
  llvm::DenseSet<Operation *> behind;
  AppendedState appended;
  std::optional<RandomDraws> draws;
  SmallVector<Value> nextValues;
};

struct InsertMasterWeights : mlir::mp::impl::InsertMasterWeightsBase<InsertMasterWeights> {
  using InsertMasterWeightsBase::InsertMasterWeightsBase;

  FailureOr<FloatType> readFormat() {
    auto error = [&]() -> InFlightDiagnostic {
      return emitError(UnknownLoc::get(&getContext())) << "mp-insert-master-weights: ";
    };
    if (format != ContractionFormat::BF16 && format != ContractionFormat::F16)
      return error() << "option 'format' is '" << format.spell()
                     << "', expected a format that parameters can be stored in: bf16 or f16";
    if (format != ContractionFormat::BF16 && master == MasterWeights::Remainder)
      return error() << "option 'master' is 'remainder', which completes bf16 to f32, but option "
                        "'format' is '"
                     << format.spell() << "'; expected master=f32 with it";
    Builder builder(&getContext());
    return format == ContractionFormat::BF16 ? FloatType(builder.getBF16Type())
                                             : FloatType(builder.getF16Type());
  }

  LogicalResult insert() {
    auto wanted = readFormat();
    if (failed(wanted))
      return failure();
    FailureOr<TrainStep> found =
        annotateTrainStep(getOperation(), function, "mp-insert-master-weights");
    if (failed(found))
      return failure();
    auto &[step, roles] = *found;
    SmallVector<const TrainingState *> chosen;
    for (const TrainingState &s : roles.state) {
      Value argument = step.getArgument(s.argument);
      FloatType stored = getFloatFormat(argument.getType());
      if (s.role != kRoleParameter || !stored || !stored.isF32() || !feedsContraction(argument))
        continue;
      auto type = cast<RankedTensorType>(argument.getType());
      if (master == MasterWeights::Stochastic && !type.hasStaticShape())
        return step.emitError("argument #")
               << s.argument << " has the type " << type
               << ", expected a static shape to draw random bits for: use master=f32";
      chosen.push_back(&s);
    }
    if (chosen.empty())
      return step.emitError("has no f32 parameter that a contraction reads: nothing to store in ")
             << format.spell()
             << "; expected master=keep, or 'mp.role = \"parameter\"' on arguments";
    WeightNarrowing narrowing(step, *wanted, master, seed, opsBehind(step, roles));
    for (const TrainingState *parameter : chosen)
      narrowing.narrow(*parameter);
    narrowing.finish();
    return success();
  }

  void runOnOperation() override {
    if (failed(insert()))
      signalPassFailure();
  }
};
} // namespace
