// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-insert-loss-scale: scale the seed of a train step, check and guard the update
// (changes range).

#include "../Common/AppendedState.h"
#include "../Common/TensorCode.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Transforms/Train/LossScale.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTLOSSSCALE
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// An error if one gradient is computed from what the optimizer makes of another of its phase: one
/// check cannot come before both.
static LogicalResult checkOnePhase(Block &block, ArrayRef<Gradient> gradients) {
  llvm::DenseMap<Operation *, const Gradient *> after;
  for (const Gradient &gradient : gradients)
    for (OpOperand *use : gradient.uses)
      after.try_emplace(block.findAncestorOpInBlock(*use->getOwner()), &gradient);
  for (Operation &op : block) {
    auto it = after.find(&op);
    if (it == after.end())
      continue;
    const Gradient *cause = it->second;
    for (Value result : op.getResults()) {
      for (const Gradient &gradient : gradients)
        if (gradient.value == result && gradient.phase == cause->phase) {
          InFlightDiagnostic diag = op.emitError("computes a gradient from an updated value: the "
                                                 "optimizer has several phases, expected one");
          diag.attachNote(cause->value.getLoc()) << "updated by this gradient";
          return diag;
        }
      for (Operation *user : result.getUsers())
        after.try_emplace(block.findAncestorOpInBlock(*user), cause);
    }
  }
  return success();
}

/// Scales the seeds for the backward pass; the optimizer's uses keep the value as it is.
static void scaleSeeds(OpBuilder &builder, const TrainingRoles &roles, Value scale) {
  SmallVector<OpOperand *> optimizer;
  for (const Gradient &gradient : roles.gradients)
    if (roles.isSeed(gradient.value))
      llvm::append_range(optimizer, gradient.uses);
  for (Value seed : roles.seeds) {
    builder.setInsertionPointAfterValue(seed);
    auto scaled = ScaleLossOp::create(builder, seed.getLoc(), seed, scale);
    seed.replaceUsesWithIf(scaled, [&](OpOperand &use) {
      return use.getOwner() != scaled && !llvm::is_contained(optimizer, &use);
    });
  }
}

/// One check and unscaling of all gradients of a phase; returns the flag, or null if there are
/// none.
static Value unscaleGradients(OpBuilder &builder, const TrainingRoles &roles, unsigned phase,
                              Value scale) {
  SmallVector<const Gradient *> gradients;
  SmallVector<Value> values;
  SmallVector<Location> locations;
  for (const Gradient &gradient : roles.gradients) {
    if (roles.isSeed(gradient.value) || gradient.phase != phase)
      continue;
    gradients.push_back(&gradient);
    values.push_back(gradient.value);
    locations.push_back(gradient.value.getLoc());
  }
  if (values.empty())
    return Value();
  builder.setInsertionPointAfterValue(values.back());
  auto unscale = UnscaleOp::create(builder, builder.getFusedLoc(locations), values, scale);
  for (auto [gradient, result] : llvm::zip_equal(gradients, unscale.getUnscaled()))
    for (OpOperand *use : gradient->uses)
      use->set(result);
  return unscale.getFoundInf();
}

/// True, as a tensor of rank 0, if an element is infinite or NaN.
static Value hasNonFinite(OpBuilder &builder, Value gradient) {
  auto axes =
      llvm::to_vector(llvm::seq<int64_t>(cast<RankedTensorType>(gradient.getType()).getRank()));
  return buildReduction(builder, gradient.getLoc(), gradient, axes, builder.getBoolAttr(false),
                        [](OpBuilder &b, Location at, ValueRange x) -> Value {
                          auto infinity = b.getFloatAttr(
                              x[0].getType(),
                              APFloat::getInf(cast<FloatType>(x[0].getType()).getFloatSemantics()));
                          Value magnitude = math::AbsFOp::create(b, at, x[0]);
                          Value bad = arith::CmpFOp::create(b, at, arith::CmpFPredicate::UGE,
                                                            magnitude, scalar(b, at, infinity));
                          return arith::OrIOp::create(b, at, x[1], bad);
                        });
}

/// The argument whose gradient is the first, in the order of the backward pass, that is not finite;
/// `before` if all are, and -2 where the gradient moves no one parameter in its place.
static Value nameOverflow(OpBuilder &builder, func::FuncOp step, const TrainingRoles &roles,
                          Value before) {
  builder.setInsertionPoint(step.getBody().front().getTerminator());
  Value named = before;
  for (const Gradient &gradient : llvm::reverse(roles.gradients)) {
    if (roles.isSeed(gradient.value))
      continue;
    Value argument =
        scalarTensor(builder, gradient.value.getLoc(),
                     builder.getI32IntegerAttr(gradient.argument ? int(*gradient.argument) : -2));
    Value overflowed = hasNonFinite(builder, gradient.value);
    named = arith::SelectOp::create(builder, gradient.value.getLoc(), overflowed, argument, named);
  }
  return named;
}

/// A number as a tensor of rank 0; tensors as they are.
static Value asTensor(OpBuilder &builder, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return value;
  return tensor::FromElementsOp::create(builder, value.getLoc(),
                                        RankedTensorType::get({}, value.getType()), value);
}

/// True if one of the flags is.
static Value anyOf(OpBuilder &builder, ArrayRef<Value> flags) {
  Value any = flags.front();
  for (Value flag : flags.drop_front()) {
    builder.setInsertionPointAfterValue(flag);
    any = arith::OrIOp::create(builder, flag.getLoc(), any, flag);
  }
  return any;
}

/// Every updated argument keeps its value in a step that overflowed.
static GuardedUpdateOp guardState(OpBuilder &builder, func::FuncOp step,
                                  ArrayRef<TrainingState> state, Value foundInf) {
  Operation *terminator = step.getBody().front().getTerminator();
  SmallVector<Value> old, updated;
  builder.setInsertionPoint(terminator);
  for (const TrainingState &s : state) {
    old.push_back(asTensor(builder, step.getArgument(s.argument)));
    updated.push_back(asTensor(builder, terminator->getOperand(s.result)));
  }
  auto guard = GuardedUpdateOp::create(builder, step.getLoc(), TypeRange(ValueRange(old)), foundInf,
                                       old, updated);
  for (auto [s, result] : llvm::zip_equal(state, guard.getResults())) {
    bool isNumber = terminator->getOperand(s.result).getType() != result.getType();
    terminator->setOperand(
        s.result,
        isNumber
            ? tensor::ExtractOp::create(builder, step.getLoc(), result, ValueRange()).getResult()
            : Value(result));
  }
  return guard;
}

/// Guards the state, each by the checks of the phases that move it; what none moves, by all. What a
/// later phase trains on keeps its value for that phase already.
static void guardByPhase(OpBuilder &builder, func::FuncOp step, const TrainingRoles &roles,
                         ArrayRef<Value> checks) {
  Operation *terminator = step.getBody().front().getTerminator();
  llvm::MapVector<Value, SmallVector<TrainingState>> byCheck;
  llvm::MapVector<ArrayRef<unsigned>, Value> flags;
  auto flagOf = [&](ArrayRef<unsigned> phases) {
    Value &flag = flags[phases];
    if (!flag && phases.empty())
      flag = anyOf(builder, checks);
    else if (!flag)
      flag = anyOf(builder,
                   llvm::map_to_vector(phases, [&](unsigned phase) { return checks[phase]; }));
    return flag;
  };
  for (const TrainingState &s : roles.state) {
    Value updated = terminator->getOperand(s.result), flag = flagOf(s.phases);
    if (!llvm::is_contained(roles.handedOver, updated)) {
      byCheck[flag].push_back(s);
      continue;
    }
    GuardedUpdateOp guard = guardState(builder, step, s, flag);
    updated.replaceUsesWithIf(guard.getResult(0),
                              [&](OpOperand &use) { return use.getOwner() != guard; });
  }
  for (auto &[flag, state] : byCheck)
    guardState(builder, step, state, flag);
}

namespace {
struct InsertLossScale : mlir::mp::impl::InsertLossScaleBase<InsertLossScale> {
  using InsertLossScaleBase::InsertLossScaleBase;

  /// The preset with the options' changes, and the rule made of it.
  FailureOr<std::pair<LossScalePreset, LossScaleAttr>> readRule() {
    auto error = [&]() -> InFlightDiagnostic {
      return emitError(UnknownLoc::get(&getContext())) << "mp-insert-loss-scale: ";
    };
    const LossScalePreset *named = findLossScalePreset(preset);
    if (!named)
      return error() << "option 'preset' is '" << preset << "', expected a rule's name";
    LossScalePreset rule = *named;
    rule.initial = initial ? initial : rule.initial;
    rule.growth = growth ? growth : rule.growth;
    rule.backoff = backoff ? backoff : rule.backoff;
    rule.interval = interval ? interval : rule.interval;
    rule.hysteresis = hysteresis ? hysteresis : rule.hysteresis;
    if (!(rule.initial > 0) || rule.initial > 3.4028234663852886e38)
      return error() << "option 'initial' is " << rule.initial
                     << ", expected a positive number that f32 holds";
    LossScaleAttr attr = rule.getRule(&getContext(), error);
    if (!attr)
      return failure();
    return std::make_pair(rule, attr);
  }

  LogicalResult insert() {
    auto rule = readRule();
    if (failed(rule))
      return failure();
    FailureOr<func::FuncOp> step = findTrainStep(getOperation(), function, "mp-insert-loss-scale");
    if (failed(step))
      return failure();
    bool isScaled =
        step->walk([](ScaleLossOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (isScaled || step->getOperation()->hasAttr(kPhaseAttrName)) {
      step->emitRemark() << (isScaled ? "has a loss scale already" : "is assigned already")
                         << "; it stays as it is";
      return success();
    }
    for (unsigned i = 0, e = step->getNumArguments(); i != e; ++i)
      if (auto role = step->getArgAttrOfType<StringAttr>(i, kRoleAttrName);
          role && role.getValue() == kRoleGradientSum)
        return step->emitError("argument #")
               << i
               << " sums up gradients that were not scaled: expected mp-insert-loss-scale "
                  "before mp-accumulate-gradients, which then sums what is unscaled once";
    FailureOr<TrainingRoles> roles = findTrainingRoles(*step);
    if (failed(roles) || failed(checkOnePhase(step->getBody().front(), roles->gradients)))
      return failure();
    if (llvm::none_of(roles->gradients, [&](auto &g) { return !roles->isSeed(g.value); }))
      return step->emitError("has a seed, but no gradient that the optimizer takes over");
    for (Value seed : roles->seeds)
      if (FloatType format = getFloatFormat(seed.getType()); !format || !format.isF32())
        return emitError(seed.getLoc())
               << "the backward pass begins with a " << seed.getType()
               << ", expected f32: scale the loss before precision is assigned";

    annotateRoles(*step, *roles);
    OpBuilder builder(&getContext());
    AppendedState appended(*step);
    Value scale = appended.add(builder.getF32FloatAttr(rule->first.initial), kRoleLossScale);
    Value clean = appended.add(builder.getI32IntegerAttr(0), kRoleCleanSteps);
    Value tolerated;
    if (rule->first.hysteresis > 1)
      tolerated = appended.add(builder.getI32IntegerAttr(rule->first.hysteresis), kRoleHysteresis);
    Value skipped = appended.add(builder.getI32IntegerAttr(0), kRoleSkippedSteps);
    Value overflowed;
    if (nameOverflows)
      overflowed = appended.add(builder.getI32IntegerAttr(-1), kRoleOverflowed);

    scaleSeeds(builder, *roles, scale);
    SmallVector<Value> checks;
    for (unsigned phase = 0, e = roles->phases.size(); phase != e; ++phase)
      if (checks.push_back(unscaleGradients(builder, *roles, phase, scale)); !checks.back())
        return roles->phases[phase].front().getDefiningOp()->emitError(
            "is a seed, but no gradient comes of it that an optimizer takes over: write "
            "'mp.role = \"seed\"' on the op that begins each backward pass, in order");
    guardByPhase(builder, *step, *roles, checks);
    Value foundInf = anyOf(builder, checks);

    Location loc = step->getLoc();
    builder.setInsertionPoint(step->getBody().front().getTerminator());
    auto update =
        UpdateLossScaleOp::create(builder, loc, scale, clean, tolerated, foundInf, rule->second);
    Value one = arith::ExtUIOp::create(builder, loc, skipped.getType(), foundInf);
    SmallVector<Value> next(update.getResults());
    next.push_back(arith::AddIOp::create(builder, loc, skipped, one));
    if (overflowed)
      next.push_back(nameOverflow(builder, *step, *roles, overflowed));
    appended.finish(next);
    if (!sortTopologically(&step->getBody().front()))
      return step->emitError("has optimizers that update in turn, each from what the other has "
                             "updated, expected an order among them");
    return success();
  }

  void runOnOperation() override {
    if (failed(insert()))
      signalPassFailure();
  }
};
} // namespace
