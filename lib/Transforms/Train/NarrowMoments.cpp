// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-narrow-moments: store the moments of a train step in bf16 or fp8 (changes
// rounding).

#include "../Common/RandomDraws.h"
#include "Divisors.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Scaling/NamedRules.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_NARROWMOMENTS
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
/// The meaning of the option `moments`.
struct Storage {
  Storage(MomentStorage word)
      : scaled(word == MomentStorage::FP8 || word == MomentStorage::FP8Stochastic),
        stochastic(word == MomentStorage::BF16Stochastic || word == MomentStorage::FP8Stochastic) {}
  bool scaled, stochastic;
};

/// The storage of one moment.
struct MomentFormat {
  FloatType format;
  const numerics::NamedRule *rule; ///< of its scale; null for none
};

/// A moment as it is stored, and its scale, or null.
struct StoredMoment {
  Value value, scale;
};

StoredMoment store(OpBuilder &builder, Value wide, const MomentFormat &moment, Value bits) {
  if (!moment.rule)
    return {roundTo(builder, wide, moment.format, bits), Value()};
  Location loc = wide.getLoc();
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto amax = AmaxOp::create(builder, loc, scalar, wide, UnitAttr(), UnitAttr());
  auto scales = ComputeScaleOp::create(
      builder, loc, scalar, scalar, amax, Value(), Value(), TypeAttr::get(moment.format),
      scalingAttrOf(builder.getContext(), moment.rule->rule), UnitAttr());
  RoundingAttr rounding;
  if (bits)
    rounding = RoundingAttr::get(builder.getContext(), Rounding::SR);
  auto codes = QuantizeOp::create(
      builder, loc, cast<RankedTensorType>(wide.getType()).clone(moment.format), wide,
      scales.getEnc(), bits, rounding, Overflow::Saturate, /*inserted=*/false);
  return {codes, scales.getScale()};
}

Value load(OpBuilder &builder, const StoredMoment &stored, Type wide) {
  Location loc = stored.value.getLoc();
  if (!stored.scale)
    return CastOp::create(builder, loc, wide, stored.value, Value(), RoundingAttr(), OverflowAttr(),
                          UnitAttr());
  return DequantizeOp::create(builder, loc, wide, stored.value, stored.scale, UnitAttr());
}

struct NarrowMoments : mlir::mp::impl::NarrowMomentsBase<NarrowMoments> {
  using NarrowMomentsBase::NarrowMomentsBase;

  /// True if the value is put together from parts.
  static bool isPack(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || getOpClass(op) != OpClass::ExactCommute)
      return false;
    auto elements = [](Value v) {
      auto type = dyn_cast<RankedTensorType>(v.getType());
      return type && type.hasStaticShape() ? type.getNumElements() : 0;
    };
    return llvm::any_of(op->getOperands(), [&](Value part) {
      return getFloatFormat(part.getType()) && (elements(part) < elements(value) || isPack(part));
    });
  }

  /// Moments of f32 that are more than a number.
  static FailureOr<SmallVector<TrainingState>>
  findMoments(func::FuncOp step, const TrainingRoles &roles, const Storage &storage) {
    SmallVector<TrainingState> found;
    for (const TrainingState &s : roles.state) {
      auto type = dyn_cast<RankedTensorType>(step.getArgument(s.argument).getType());
      // A single number saves nothing.
      if (s.role != kRoleOptimizer || !type || !type.getElementType().isF32() ||
          type.getRank() == 0)
        continue;
      if (storage.stochastic && !type.hasStaticShape())
        return step.emitError("argument #")
               << s.argument << " has the type " << type
               << ", expected a static shape to draw random bits for: use moments="
               << (storage.scaled ? "fp8" : "bf16");
      if (storage.scaled && isPack(step.getBody().front().getTerminator()->getOperand(s.result)))
        return step.emitError("argument #")
               << s.argument
               << " is several moments in one tensor, which one scale does not fit: expected "
                  "an argument for each, or moments=bf16";
      found.push_back(s);
    }
    if (found.empty())
      return step.emitError(
          "has no moments: no optimizer state of f32, of rank 1 or more; expected moments=keep");
    return found;
  }

  LogicalResult narrow() {
    Storage storage(moments);
    FailureOr<TrainStep> found = annotateTrainStep(getOperation(), function, "mp-narrow-moments");
    if (failed(found))
      return failure();
    func::FuncOp step = found->function;
    FailureOr<SmallVector<TrainingState>> moments = findMoments(step, found->roles, storage);
    if (failed(moments))
      return failure();
    // In eight bits a small second moment would be zero, and divided by: those take sixteen, with a
    // scale too.
    Builder types(&getContext());
    MomentFormat inBF16{types.getBF16Type(), nullptr};
    MomentFormat inE4M3{types.getType<Float8E4M3FNType>(), numerics::findScaleRule("te-moment")};
    MomentFormat inF16{types.getF16Type(), numerics::findScaleRule("te-moment-f16")};
    llvm::SmallDenseSet<unsigned> divisors;
    if (storage.scaled)
      divisors = findDivisors(step, *moments);

    Block &block = step.getBody().front();
    OpBuilder atStart = OpBuilder::atBlockBegin(&block), atEnd(block.getTerminator());
    AppendedState appended(step);
    std::optional<RandomDraws> draws;
    if (storage.stochastic)
      draws.emplace(appended, &getContext(), /*seed=*/2);
    SmallVector<Value> nextScales;
    for (const TrainingState &s : *moments) {
      const MomentFormat &format = !storage.scaled                 ? inBF16
                                   : divisors.contains(s.argument) ? inF16
                                                                   : inE4M3;
      BlockArgument argument = step.getArgument(s.argument);
      Type wideType = argument.getType();
      Value updated = block.getTerminator()->getOperand(s.result);
      OpBuilder initial = appended.initBuilder();
      StoredMoment first = store(initial, appended.takeOriginal(s.argument), format, Value());
      appended.convert(first.value);
      argument.setType(cast<RankedTensorType>(withFormat(wideType, format.format)));
      Value scale = first.scale ? appended.add(first.scale, kRoleMomentScale) : Value();
      Value wide = load(atStart, {argument, scale}, wideType);
      argument.replaceAllUsesExcept(wide, wide.getDefiningOp());
      if (updated == argument)
        updated = wide;
      StoredMoment next =
          store(atEnd, updated, format,
                draws && format.format != inF16.format ? draws->drawFor(atEnd, updated) : Value());
      block.getTerminator()->setOperand(s.result, next.value);
      if (next.scale)
        nextScales.push_back(next.scale);
    }
    SmallVector<Value> next;
    if (draws)
      next = draws->next(atEnd);
    llvm::append_range(next, nextScales);
    appended.finish(next);
    sortTopologically(&block);
    return success();
  }

  void runOnOperation() override {
    if (failed(narrow()))
      signalPassFailure();
  }
};
} // namespace
