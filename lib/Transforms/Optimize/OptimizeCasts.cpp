// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-optimize-casts: folding, then motion through ops that only move data, then
// merging. Motion is exact because such ops commute with rounding element by
// element; it pays only where the cast then works on fewer elements.

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/FoldUtils.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Dialect/MP/CastFolds.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Optimize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_OPTIMIZECASTS
#include "mp/Transforms/Optimize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Elements of a tensor; nullopt for dynamic shapes and scalars.
static std::optional<int64_t> countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return std::nullopt;
  return tensor.getNumElements();
}

/// The one operand whose elements `op` moves, if it does nothing else.
static OpOperand *getMovedOperand(Operation *op) {
  auto interface = dyn_cast<PrecisionOpInterface>(op);
  if (!interface || interface.getOpClass() != OpClass::ExactCommute ||
      interface.getTypeRule() != TypeRule::Uniform || op->getNumResults() != 1)
    return nullptr;
  OpOperand *moved = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandRole role = interface.getOperandRole(operand.getOperandNumber());
    if (role == OperandRole::Other)
      continue;
    if (role == OperandRole::Init &&
        isa_and_nonnull<tensor::EmptyOp>(operand.get().getDefiningOp()))
      continue;
    if (role != OperandRole::Data || moved)
      return nullptr;
    moved = &operand;
  }
  return moved;
}

static CastOp castLike(OpBuilder &builder, CastOp like, Value source) {
  return CastOp::create(builder, like.getLoc(),
                        withFormat(source.getType(), like.getResultFormat()), source, Value(),
                        like.getRoundingAttr(), like.getOverflowAttr(), like.getInsertedAttr());
}

/// Rebuilds `mover` on `source` in the format of `like`'s result.
static Value moveInFormat(OpBuilder &builder, Operation *mover, OpOperand *moved, Value source,
                          FloatType format) {
  SmallVector<Value> operands(mover->getOperands());
  operands[moved->getOperandNumber()] = source;
  for (OpOperand &operand : mover->getOpOperands())
    if (auto empty = operand.get().getDefiningOp<tensor::EmptyOp>();
        empty && getFloatFormat(empty.getType()))
      operands[operand.getOperandNumber()] = tensor::EmptyOp::create(
          builder, empty.getLoc(), withFormat(empty.getType(), format), empty.getDynamicSizes());
  return cast<PrecisionOpInterface>(mover)
      .rebuild(builder, operands, withFormat(mover->getResult(0).getType(), format))
      ->getResult(0);
}

/// cast(move(x))  ==>  move(cast(x))      when x has fewer elements and one use
static CastOp raiseAboveGrowth(CastOp cast) {
  Operation *mover = cast.getSource().getDefiningOp();
  OpOperand *moved =
      mover && cast.getInserted() && cast.isNarrowing() ? getMovedOperand(mover) : nullptr;
  if (!moved || !cast.getSource().hasOneUse())
    return {};
  auto before = countElements(moved->get().getType()), after = countElements(cast.getType());
  if (!before || !after || *before >= *after)
    return {};
  OpBuilder builder(mover);
  CastOp raised = castLike(builder, cast, moved->get());
  cast.getResult().replaceAllUsesWith(
      moveInFormat(builder, mover, moved, raised, cast.getResultFormat()));
  cast.erase();
  mover->erase();
  return raised;
}

/// move(cast(x))  ==>  cast(move(x))      when the result has fewer elements, and the cast one use
static CastOp sinkBelowShrinking(CastOp cast) {
  if (!cast.getInserted() || !cast.isNarrowing() || !cast->hasOneUse())
    return {};
  Operation *mover = *cast->user_begin();
  OpOperand *moved = getMovedOperand(mover);
  if (!moved || moved->get() != cast.getResult())
    return {};
  auto before = countElements(cast.getType()), after = countElements(mover->getResult(0).getType());
  if (!before || !after || *after >= *before)
    return {};
  OpBuilder builder(mover);
  Value wide = moveInFormat(builder, mover, moved, cast.getSource(), cast.getSourceFormat());
  CastOp sunk = castLike(builder, cast, wide);
  mover->getResult(0).replaceAllUsesWith(sunk);
  mover->erase();
  cast.erase();
  return sunk;
}

/// The inserted casts and roundings, in program order. The user's own stay, as every op of the
/// original does.
static SmallVector<Operation *> collectConversions(Operation *root) {
  SmallVector<Operation *> conversions;
  root->walk([&](Operation *op) {
    auto cast = dyn_cast<CastOp>(op);
    auto round = dyn_cast<RoundOp>(op);
    if ((cast && cast.getInserted()) || (round && round.getInserted()))
      conversions.push_back(op);
  });
  return conversions;
}

/// Moves every cast as far as it pays. Each step works on strictly fewer elements,
/// and a cast never returns, so this ends. True if one moved.
static bool moveCasts(ArrayRef<Operation *> conversions) {
  bool hasMoved = false;
  for (Operation *op : conversions)
    for (auto cast = dyn_cast<CastOp>(op); cast;) {
      CastOp next = raiseAboveGrowth(cast);
      cast = next ? next : sinkBelowShrinking(cast);
      hasMoved |= bool(cast);
    }
  return hasMoved;
}

/// conversion(constant)  ==>  the constant in its final format, by an op of its own kind: a graph
/// of TOSA stays one
static bool foldConstant(Operation *op) {
  Operation *source = op->getOperand(0).getDefiningOp();
  Attribute value;
  if (!source || source->getNumOperands() != 0 || op->getNumOperands() != 1 ||
      !matchPattern(source, m_Constant(&value)))
    return false;
  SmallVector<OpFoldResult> results;
  if (failed(op->fold({value}, results)) || results.size() != 1)
    return false;
  auto folded = dyn_cast<Attribute>(results.front());
  if (!folded)
    return false;
  Operation *constant = cloneConstant(source, folded, op->getResult(0).getType());
  if (auto cast = dyn_cast<CastOp>(op); cast && cast.getOverflow() == Overflow::Saturate)
    markSaturated(constant, value, cast.getResultFormat());
  OpBuilder(source).insert(constant);
  op->replaceAllUsesWith(constant);
  op->erase();
  if (source->use_empty())
    source->erase();
  return true;
}

/// cast(widen(x : N -> W) : W -> N)  ==>  x      where the user widens: exact, since W holds every
/// value of N and nothing clamps. The user's op stays, perhaps without readers.
static bool skipWidening(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  Operation *source = cast ? cast.getSource().getDefiningOp() : nullptr;
  Value narrow = source ? getExactlyWidened(source) : Value();
  if (!narrow || narrow.getType() != cast.getType() || cast.getBits() || clampsInfinities(cast))
    return false;
  cast.getResult().replaceAllUsesWith(narrow);
  cast.erase();
  return true;
}

/// Folds every conversion, in program order; constants that only they read go. True if one folded.
static bool foldCasts(ArrayRef<Operation *> conversions, MLIRContext *context) {
  OperationFolder folder(context);
  bool hasFolded = false;
  for (Operation *op : conversions)
    hasFolded |= foldConstant(op) || skipWidening(op) || succeeded(folder.tryToFold(op));
  return hasFolded;
}

/// Casts of ours that nobody reads any more, as the widening after a clamp. True if there was one.
static bool eraseUnread(ArrayRef<Operation *> conversions) {
  bool hasErased = false;
  for (Operation *op : conversions)
    if (isa<CastOp>(op) && op->use_empty()) {
      op->erase();
      hasErased = true;
    }
  return hasErased;
}

/// One cast per value and format: the first one, where it dominates the others, which go from the
/// list, too. True if there were others.
static bool mergeCasts(Operation *root, SmallVectorImpl<Operation *> &conversions) {
  DominanceInfo dominance(root);
  DenseMap<std::tuple<Value, Type, Attribute, Attribute>, CastOp> first;
  size_t found = conversions.size();
  llvm::erase_if(conversions, [&](Operation *op) {
    auto cast = dyn_cast<CastOp>(op);
    if (!cast || cast.getBits())
      return false;
    CastOp &known =
        first[{cast.getSource(), cast.getType(), cast.getRoundingAttr(), cast.getOverflowAttr()}];
    if (known && dominance.dominates(known.getOperation(), cast)) {
      cast.getResult().replaceAllUsesWith(known.getResult());
      cast.erase();
      return true;
    }
    known = cast;
    return false;
  });
  return conversions.size() != found;
}

namespace {
struct OptimizeCasts : mlir::mp::impl::OptimizeCastsBase<OptimizeCasts> {
  void runOnOperation() override {
    // Functions of nested modules, too, where the pass runs on a module.
    bool hasChanged = false;
    walkFunctions(getOperation(), [&](FunctionOpInterface function) {
      SmallVector<Operation *> conversions =
          collectConversions(function); // anew where some are gone
      hasChanged |= mergeCasts(function, conversions);
      bool folded = foldCasts(conversions, &getContext());
      if (folded)
        conversions = collectConversions(function);
      if (bool moved = moveCasts(conversions); folded || moved) {
        conversions = collectConversions(function);
        // A pad that is rebuilt casts what it pads with.
        if (moved && foldCasts(conversions, &getContext()))
          conversions = collectConversions(function);
        mergeCasts(function, conversions);
        hasChanged = true;
      }
      hasChanged |= eraseUnread(conversions);
      if (function->hasAttr(kPhaseAttrName))
        function->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "optimized"));
    });
    if (!hasChanged)
      markAllAnalysesPreserved();
  }
};
} // namespace
