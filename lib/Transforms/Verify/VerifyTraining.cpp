// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-verify-training: check that loss scaling is placed right and guards the whole
// state: phase T (exact).

#include "../Common/ScalarSelect.h"
#include "GradientAccumulation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Masters.h"
#include "mp/Dialect/MP/Probes.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Transforms/Verify/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYTRAINING
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
/// The rules T1 to T8 for one function.
class TrainingVerifier {
public:
  explicit TrainingVerifier(func::FuncOp function) : function(function) {}

  LogicalResult verify() {
    if (failed(collect()) || failed(verifyPartners()))
      return failure();
    if (scales.empty())
      return success();
    if (!function.getBody().hasOneBlock())
      return function.emitError("has a loss scale and several blocks, expected one");
    if (unscales.empty())
      return scales.front().emitError(
          "(T4) scales the loss, but nothing unscales: expected mp.unscale by "
          "the same scale");
    // Each rule by itself: one mistake, one name.
    if (failed(verifyScaleIdentity()) || failed(verifyUpdate()))
      return failure();
    followScale();
    if (failed(verifyCasts()) || failed(verifyDegrees()))
      return failure();
    return verifyGuard();
  }

private:
  template <typename Op> LogicalResult take(Operation *op, Op &slot) {
    auto found = dyn_cast<Op>(op);
    if (!found)
      return success();
    if (slot) {
      InFlightDiagnostic diag = found.emitError("is the second of its kind, expected one per step");
      diag.attachNote(slot.getLoc()) << "the first";
      return diag;
    }
    slot = found;
    return success();
  }

  LogicalResult collect() {
    WalkResult walk = function.walk([&](Operation *op) {
      if (auto scale = dyn_cast<ScaleLossOp>(op))
        scales.push_back(scale);
      if (auto unscale = dyn_cast<UnscaleOp>(op))
        unscales.push_back(unscale);
      if (auto guard = dyn_cast<GuardedUpdateOp>(op))
        guards.push_back(guard);
      bool fine = succeeded(take(op, update));
      return fine ? WalkResult::advance() : WalkResult::interrupt();
    });
    return failure(walk.wasInterrupted());
  }

  /// The value that scales the loss, or each of several losses.
  Value lossScale() { return scales.front().getScale(); }

  LogicalResult reads(Operation *op, Value read, StringRef what) {
    if (read == lossScale())
      return success();
    bool isUpdated = update && read == update.getNewScale();
    InFlightDiagnostic diag = op->emitError("(T1) ")
                              << what << (isUpdated ? " the updated scale" : " another value")
                              << ", expected the value that scaled the loss";
    diag.attachNote(scales.front().getLoc()) << "the loss is scaled here";
    if (isUpdated)
      diag.attachNote(update.getLoc()) << "and the scale updated here: unscale before that";
    return diag;
  }
  LogicalResult verifyScaleIdentity() {
    for (ScaleLossOp other : scales)
      if (failed(reads(other, other.getScale(), "scales a loss by")))
        return failure();
    for (UnscaleOp unscale : unscales)
      if (failed(reads(unscale, unscale.getScale(), "unscales by")))
        return failure();
    return update ? reads(update, update.getScale(), "updates") : success();
  }

  using Checks = llvm::SetVector<Operation *>;

  /// The checks any of which sets the flag; nothing for a flag of another kind. Optimizers that
  /// update in turn have one each.
  std::optional<Checks> checksOf(Value flag) {
    if (auto unscale = flag.getDefiningOp<UnscaleOp>())
      return Checks(&unscale, &unscale + 1);
    auto either = flag.getDefiningOp<arith::OrIOp>();
    auto left = either ? checksOf(either.getLhs()) : std::nullopt,
         right = either ? checksOf(either.getRhs()) : std::nullopt;
    if (!left || !right)
      return std::nullopt;
    left->insert(right->begin(), right->end());
    return left;
  }

  /// The checks of `needed` that the flag leaves out.
  SmallVector<Operation *> missingChecks(Value flag, const Checks &needed) {
    Checks given = checksOf(flag).value_or(Checks());
    return llvm::filter_to_vector(needed, [&](Operation *check) { return !given.contains(check); });
  }

  Checks allChecks() { return Checks(unscales.begin(), unscales.end()); }

  /// The checks of gradients that the value is computed from, but for those that a guard stands
  /// before; all if there are none, for what the forward pass computes.
  Checks checksBehind(Value value) {
    llvm::SetVector<Value> pending;
    pending.insert(value);
    Checks checks;
    for (unsigned i = 0; i < pending.size(); ++i) {
      Operation *op = pending[i].getDefiningOp();
      if (!op || isa<GuardedUpdateOp>(op))
        continue;
      if (isa<UnscaleOp>(op)) {
        if (pending[i] == op->getResults().back()) // the flag
          continue;
        checks.insert(op);
      }
      pending.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), pending);
    }
    return checks.empty() ? allChecks() : checks;
  }

  LogicalResult verifyUpdate() {
    if (!update)
      return success();
    SmallVector<Operation *> missing = missingChecks(update.getFoundInf(), allChecks());
    if (missing.empty())
      return success();
    InFlightDiagnostic diag =
        update.emitError("(T2) moves the scale by another flag than this step's check");
    for (Operation *check : missing)
      diag.attachNote(check->getLoc()) << "the check";
    return diag;
  }

  void followScale() {
    graph.emplace(function);
    // The sums of earlier micro-batches carry the scale as well.
    SmallVector<Value> sources{lossScale()};
    llvm::append_range(sources, findGradientSums(function));
    degrees = graph->propagate(sources);
  }

  LogicalResult verifyDegrees() {
    for (UnscaleOp unscale : unscales)
      for (auto [index, gradient] : llvm::enumerate(unscale.getGradients()))
        if (Degree degree = degrees.of(gradient);
            !degree.is(1) && !degree.isAny() && !degree.isTop())
          return unscale.emitError("(T4) unscales a value of degree ")
                 << degree.str() << " in the loss scale as gradient #" << index << ", expected 1";
    for (Operation &op : function.getBody().front()) {
      if (!degrees.loses(&op) || isa<UnscaleOp>(op) || isNextScale(&op))
        continue;
      InFlightDiagnostic diag = op.emitError("(T3) does not scale with the loss, but stands before "
                                             "the unscaling: clip, take norms with an epsilon and "
                                             "update moments after mp.unscale");
      for (Value operand : op.getOperands())
        if (degrees.of(operand).isScaled())
          diag.attachNote(operand.getLoc())
              << "still carries the loss scale (degree " << degrees.of(operand).str() << ")";
      diag.attachNote(unscales.front().getLoc()) << "the unscaling";
      return diag;
    }
    for (auto [index, returned] :
         llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
      if (Degree degree = degrees.of(returned); degree.isScaled() && !carriesScale(index))
        return function.emitError("(T4) result #")
               << index << " still carries the loss scale (degree " << degree.str()
               << "), expected it unscaled";
    return success();
  }

  /// True if the result is the next value of an argument that scales the loss, or sums what is
  /// scaled.
  bool carriesScale(unsigned result) {
    SmallVector<BlockArgument> arguments = findGradientSums(function);
    if (auto scale = dyn_cast<BlockArgument>(lossScale()))
      arguments.push_back(scale);
    return llvm::any_of(arguments, [&](BlockArgument argument) {
      auto state = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStateAttrName);
      return state && state.getInt() == result;
    });
  }

  /// True if `op` chooses between the scale and the next one, and only the step after this one sees
  /// it.
  bool isNextScale(Operation *op) {
    return op->getNumResults() == 1 && llvm::all_of(op->getUses(), [&](OpOperand &use) {
             return use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
                    carriesScale(use.getOperandNumber());
           });
  }

  /// True if the op makes a number of an infinity.
  static bool saturates(Operation *op) {
    if (auto cast = dyn_cast<CastOp>(op))
      return cast.getOverflow() == Overflow::Saturate;
    if (auto quantize = dyn_cast<QuantizeOp>(op))
      return quantize.getOverflow() == Overflow::Saturate;
    // A scale that is not finite either shows in every product.
    auto blocks = dyn_cast<BlockQuantizeOp>(op);
    return blocks && blocks.getRule().getOnNonfinite() != OnNonFinite::Propagate;
  }

  LogicalResult verifyCasts() {
    WalkResult walk = function.walk([&](Operation *op) {
      if (!saturates(op) || !degrees.of(op->getOperand(0)).isScaled())
        return WalkResult::advance();
      InFlightDiagnostic diag =
          op->emitError("(T5) saturates before the check, which then finds no infinity: ");
      if (isa<CastOp>(op))
        diag << "use 'ieee' on the way of the gradients";
      else
        diag << "scale the loss, or the gradients by their own magnitude, not both";
      diag.attachNote(unscales.front().getLoc()) << "the check";
      return WalkResult::interrupt();
    });
    return failure(walk.wasInterrupted());
  }

  /// Numbers are guarded as tensors of rank 0.
  static Value asTensor(Value value) {
    auto extract = value.getDefiningOp<tensor::ExtractOp>();
    return extract && extract.getIndices().empty() ? extract.getTensor() : value;
  }
  static Value asNumber(Value value) {
    auto made = value.getDefiningOp<tensor::FromElementsOp>();
    return made && made.getElements().size() == 1 ? made.getElements().front() : value;
  }

  LogicalResult verifyGuard() {
    SmallVector<Value> seeds(scales.begin(), scales.end()), sources(seeds);
    llvm::append_range(sources, findGradientSums(function));
    HomogeneityGraph::Degrees fromSeed = graph->propagate(sources);
    FailureOr<SmallVector<TrainingState>> state = findTrainingState(function, fromSeed, seeds);
    if (failed(state))
      return failure();
    for (GuardedUpdateOp guard : guards)
      for (Value updated : guard.getUpdated())
        if (SmallVector<Operation *> missing =
                missingChecks(guard.getFoundInf(), checksBehind(updated));
            !missing.empty()) {
          InFlightDiagnostic diag =
              guard.emitError("(T6) guards by another flag than this step's check");
          for (Operation *check : missing)
            diag.attachNote(check->getLoc()) << "the check";
          return diag;
        }
    Operation *terminator = function.getBody().front().getTerminator();
    for (const TrainingState &s : *state) {
      Value old = function.getArgument(s.argument), updated = terminator->getOperand(s.result);
      if (movesByItself(s) || updated == old)
        continue;
      Value guarded = asTensor(updated);
      auto kept = guarded.getDefiningOp<GuardedUpdateOp>();
      if (kept && asNumber(kept.getOld()[cast<OpResult>(guarded).getResultNumber()]) == old)
        continue;
      InFlightDiagnostic diag = function.emitError("(T6) argument #")
                                << s.argument << " (" << s.role << ", next value result #"
                                << s.result << ") is not guarded: a step that overflowed "
                                << (kept ? "keeps another argument's value" : "would change it")
                                << ", expected it among the operands of mp.guarded_update";
      if (!guards.empty())
        diag.attachNote(guards.front().getLoc()) << "the guard of the others";
      return diag;
    }
    return verifyAccumulation(function, *state, unscales.front());
  }

  /// Returns the result of a step that updates, and did not overflow.
  static Value beforeGuard(Value returned) {
    if (auto guard = returned.getDefiningOp<GuardedUpdateOp>())
      returned = guard.getUpdated()[cast<OpResult>(returned).getResultNumber()];
    auto choice = matchScalarSelect(returned);
    return choice && isa<BlockArgument>(choice->no) ? choice->yes : returned;
  }

  /// Names what the next value of a master, a remainder or a moment's scale must belong to, and
  /// whether it does, given the values that this step returns; nothing for other roles.
  struct Partner {
    bool belongs;
    StringRef expected;
  };
  static std::optional<Partner> partnerOf(StringRef role, Value updated,
                                          const llvm::DenseSet<Value> &next) {
    if (role == kRoleMaster)
      return Partner{llvm::any_of(updated.getUsers(),
                                  [&](Operation *user) {
                                    return isa<CastOp>(user) && next.contains(user->getResult(0));
                                  }),
                     "becomes a value that no result is the narrow part of, expected its parameter "
                     "to be returned as mp.cast of it"};
    if (role == kRoleRemainder) {
      auto split = updated.getDefiningOp<SplitMasterOp>();
      return Partner{split && next.contains(split.getHigh()),
                     "becomes a value that no result is the narrow part of, expected its parameter "
                     "to be returned as the high "
                     "half of the same mp.split_master"};
    }
    if (role == kRoleMomentScale) {
      auto scales = updated.getDefiningOp<ComputeScaleOp>();
      return Partner{scales && llvm::any_of(scales.getEnc().getUsers(),
                                            [&](Operation *user) {
                                              return isa<QuantizeOp>(user) &&
                                                     next.contains(user->getResult(0));
                                            }),
                     "becomes a scale that no result was stored with, expected its moment to be "
                     "returned as mp.quantize by the "
                     "other result of the same mp.compute_scale"};
    }
    return std::nullopt;
  }

  LogicalResult verifyPartners() {
    Operation *terminator = function.getBody().back().getTerminator();
    llvm::DenseSet<Value> next;
    for (Value returned : terminator->getOperands())
      next.insert(beforeGuard(returned));
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
      auto role = function.getArgAttrOfType<StringAttr>(i, kRoleAttrName);
      auto state = function.getArgAttrOfType<IntegerAttr>(i, kStateAttrName);
      if (!role || !state || state.getInt() < 0 || state.getInt() >= terminator->getNumOperands())
        continue;
      auto partner =
          partnerOf(role.getValue(), beforeGuard(terminator->getOperand(state.getInt())), next);
      if (partner && !partner->belongs)
        return function.emitError("(T7) argument #")
               << i << " (" << role.getValue() << ", next value result #" << state.getInt() << ") "
               << partner->expected;
    }
    return success();
  }

  /// The state of the loss scale moves by what was found: what `mp.update_loss_scale` returns, the
  /// number of steps skipped, what overflowed, and sums, which keep an infinity until the update
  /// that it prevents.
  bool movesByItself(const TrainingState &s) {
    Value updated = function.getBody().front().getTerminator()->getOperand(s.result);
    if (auto choice = matchScalarSelect(updated);
        choice && choice->no == function.getArgument(s.argument))
      updated = choice->yes;
    return updated.getDefiningOp<UpdateLossScaleOp>() ||
           llvm::is_contained({StringRef(kRoleSkippedSteps), StringRef(kRoleOverflowed),
                               StringRef(kRoleGradientSum), StringRef(kRoleMicroSteps),
                               StringRef(kRoleProbe), StringRef(kRoleProbeCalls)},
                              s.role);
  }

  func::FuncOp function;
  SmallVector<ScaleLossOp, 1> scales;
  SmallVector<UnscaleOp, 1> unscales;
  SmallVector<GuardedUpdateOp, 1> guards;
  UpdateLossScaleOp update;
  std::optional<HomogeneityGraph> graph;
  HomogeneityGraph::Degrees degrees;
};

struct VerifyTraining : mlir::mp::impl::VerifyTrainingBase<VerifyTraining> {
  void runOnOperation() override {
    bool valid = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        valid &= succeeded(TrainingVerifier(function).verify());
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
