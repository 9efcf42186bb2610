// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-narrow-gradients: what ranks send of their gradients is rounded, and what rounding took away
// is sent with the next ones.

#include "../Common/AppendedState.h"
#include "../Common/ScalarSelect.h"
#include "../Common/TensorCode.h"
#include "Partitioner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Distribute/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_NARROWGRADIENTS
#include "mp/Transforms/Distribute/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// True if the result moves a parameter, or a sum of gradients that will.
static bool movesParameter(func::FuncOp function, unsigned result) {
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto state = function.getArgAttrOfType<IntegerAttr>(i, kStateAttrName);
    if (!state || state.getInt() != int64_t(result))
      continue;
    auto role = function.getArgAttrOfType<StringAttr>(i, kRoleAttrName);
    return !role ||
           llvm::is_contained({kRoleParameter, kRoleMaster, kRoleGradientSum}, role.getValue());
  }
  return false;
}

/// A sum over ranks of f32, of more than one element, that parameters move by and no contraction
/// reads: activations and statistics, which the forward and the backward pass go on with, are none.
static bool isGradient(Operation *op, func::FuncOp function) {
  auto reduce = dyn_cast<comm::AllReduceOp>(op);
  auto scatter = dyn_cast<comm::ReduceScatterOp>(op);
  if (!(reduce && reduce.getCombine() == comm::Combine::Sum) &&
      !(scatter && scatter.getCombine() == comm::Combine::Sum))
    return false;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type.getElementType().isF32() || !type.hasStaticShape() || type.getNumElements() < 2)
    return false;
  bool moves = false;
  SetVector<Value> reached;
  reached.insert(op->getResult(0));
  for (unsigned i = 0; i < reached.size(); ++i) {
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      if (isContraction(user))
        return false;
      if (user->hasTrait<OpTrait::IsTerminator>())
        moves |= movesParameter(function, use.getOperandNumber());
      else
        reached.insert_range(user->getResults());
    }
  }
  return moves;
}

//===----------------------------------------------------------------------===//
// Rounding with what is left over
//===----------------------------------------------------------------------===//

namespace {

/// A value as it is sent, and what it is short of. Scales are tensors of rank 0.
struct Sent {
  Value codes, scale, given; ///< codes times scale, in f32
};

/// Writes the exchange of one gradient after the other.
class GradientNarrowing {
public:
  GradientNarrowing(func::FuncOp function, FloatType format, int64_t ranks, Value lossScale)
      : b(function.getContext()), loc(function.getLoc()), f32(b.getF32Type()), format(format),
        ranks(ranks), lossScale(lossScale), appended(function) {}

  void exchange(Operation *op) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
    if (isa<comm::AllReduceOp>(op))
      exchangeWhole(op);
    else
      exchangeIntoParts(cast<comm::ReduceScatterOp>(op));
    op->erase();
  }

  /// Keeps what was left over before where a sum is infinite or NaN, as in a step that is skipped.
  void finish(func::FuncOp function) {
    b.setInsertionPoint(function.getBody().front().getTerminator());
    loc = function.getLoc();
    Value finite = compare(combine(comm::Combine::Maximum, largest));
    SmallVector<Value> next;
    for (const Residual &residual : residuals) {
      Value kept = buildScalarSelect(b, {finite, residual.next, flat(residual.argument)});
      next.push_back(shapedAs(kept, residual.argument.getType()));
    }
    unsigned first = function.getNumResults();
    appended.finish(next);
    for (auto [i, residual] : llvm::enumerate(residuals)) {
      function.setArgAttr(residual.argument.getArgNumber(), comm::kShardAttrName,
                          b.getI64IntegerAttr(0));
      function.setResultAttr(first + unsigned(i), comm::kShardAttrName, b.getI64IntegerAttr(0));
    }
  }

private:
  struct Residual {
    BlockArgument argument;
    Value next; ///< of one dimension
  };

  /// The sum is rounded once more where it is sent back, and its owner keeps what that took away.
  void exchangeWhole(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    int64_t count = type.getNumElements(), part = llvm::divideCeil(count, ranks);
    Value own = padded(flat(op->getOperand(0)), part * ranks);
    Sent sent = round(own, addResidual({ranks, part * ranks}));
    Value sum = scaled(scatter(sent.codes, 0, RankedTensorType::get({part}, f32)), sent.scale);
    Sent back = round(sum, addResidual({part * ranks}));
    note(back.given);
    Value all = tensor::EmptyOp::create(b, loc, {part * ranks}, format);
    all = comm::AllGatherOp::create(b, loc, all.getType(), 0, back.codes, all).getResult();
    Value wide = scaled(all, back.scale);
    if (part * ranks != count)
      wide = tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get({count}, f32), wide,
                                            ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
                                            ArrayRef<OpFoldResult>{b.getIndexAttr(count)},
                                            ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    op->getResult(0).replaceAllUsesWith(shapedAs(wide, type));
  }

  void exchangeIntoParts(comm::ReduceScatterOp op) {
    auto type = cast<RankedTensorType>(op.getSource().getType());
    Value own = flat(op.getSource());
    Sent sent = round(own, addResidual({ranks, type.getNumElements()}));
    Value codes = shapedAs(sent.codes, type.clone(format));
    Value sum = scatter(codes, op.getDim(), cast<RankedTensorType>(op.getDest().getType()));
    Value wide = scaled(sum, sent.scale);
    note(wide);
    op.getResult().replaceAllUsesWith(wide);
  }

  Value scatter(Value codes, uint64_t dim, RankedTensorType type) {
    Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
    return comm::ReduceScatterOp::create(b, loc, type, comm::Combine::Sum, dim, codes, empty)
        .getResult();
  }

  /// Appends what is left over as state, of which each rank holds one row or part. It is
  /// free of the loss scale.
  BlockArgument addResidual(ArrayRef<int64_t> whole) {
    OpBuilder init = appended.initBuilder();
    auto type = RankedTensorType::get(whole, f32);
    Value zeros =
        arith::ConstantOp::create(init, loc, DenseElementsAttr::get(type, init.getF32FloatAttr(0)));
    auto argument = cast<BlockArgument>(appended.add(zeros, comm::kRoleGradientResidual));
    SmallVector<int64_t> own(whole);
    own[0] /= ranks;
    argument.setType(RankedTensorType::get(own, f32));
    return argument;
  }

  /// Rounds the value and what was left over before, and keeps what is left over now.
  Sent round(Value own, BlockArgument residual) {
    SmallVector<Value> operands{own, flat(residual)};
    if (lossScale)
      operands.push_back(lossScale);
    Value wanted = buildElementwise(
        b, loc, operands, f32, [](OpBuilder &b, Location loc, ValueRange x) -> Value {
          Value before = x.size() > 2 ? Value(arith::MulFOp::create(b, loc, x[1], x[2])) : x[1];
          return arith::AddFOp::create(b, loc, x[0], before);
        });
    Sent sent;
    if (format.getWidth() <= 8)
      sent.scale = agreedScale(wanted);
    SmallVector<Value> scaledOperands{wanted};
    if (sent.scale)
      scaledOperands.push_back(sent.scale);
    sent.codes = buildElementwise(
        b, loc, scaledOperands, format, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
          Value value = x.size() > 1 ? Value(arith::DivFOp::create(b, loc, x[0], x[1])) : x[0];
          return narrow(b, loc, value, format, x.size() > 1 ? Overflow::Saturate : Overflow::IEEE);
        });
    sent.given = scaled(sent.codes, sent.scale);
    SmallVector<Value> restOperands{wanted, sent.given};
    if (lossScale)
      restOperands.push_back(lossScale);
    Value rest = buildElementwise(
        b, loc, restOperands, f32, [](OpBuilder &b, Location loc, ValueRange x) -> Value {
          Value rest = arith::SubFOp::create(b, loc, x[0], x[1]);
          return x.size() > 2 ? Value(arith::DivFOp::create(b, loc, rest, x[2])) : rest;
        });
    residuals.push_back({residual, rest});
    return sent;
  }

  /// The power of two that brings the largest magnitude of all ranks into the uppermost binade but
  /// one of the format; NaN where it is infinite or NaN. At least 2^-100, so that quotients stay
  /// normal.
  Value agreedScale(Value value) {
    Value largest = combine(comm::Combine::Maximum, magnitude(value));
    int top = llvm::ilogb(llvm::APFloat::getLargest(format.getFloatSemantics())) - 1;
    return buildElementwise(
        b, loc, largest, f32, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
          auto number = [&](int64_t n) { return scalar(b, loc, b.getI32IntegerAttr(int32_t(n))); };
          Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), x[0]);
          Value exponent = arith::AndIOp::create(b, loc, bits, number(0x7F800000));
          Value lowered = arith::SubIOp::create(b, loc, exponent, number(int64_t(top) << 23));
          Value least = number(int64_t(27) << 23);
          Value scale = arith::BitcastOp::create(
              b, loc, f32, Value(arith::MaxSIOp::create(b, loc, lowered, least)));
          Value isFinite =
              arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, exponent, number(0x7F800000));
          Value nan = scalar(b, loc, b.getF32FloatAttr(std::numeric_limits<float>::quiet_NaN()));
          return arith::SelectOp::create(b, loc, isFinite, scale, nan);
        });
  }

  /// Codes as f32.
  Value scaled(Value codes, Value scale) {
    SmallVector<Value> operands{codes};
    if (scale)
      operands.push_back(scale);
    else if (getElementTypeOrSelf(codes.getType()) == f32)
      return codes;
    return buildElementwise(
        b, loc, operands, f32, [](OpBuilder &b, Location loc, ValueRange x) -> Value {
          Value wide = widen(b, loc, x[0], b.getF32Type());
          return x.size() > 1 ? Value(arith::MulFOp::create(b, loc, wide, x[1])) : wide;
        });
  }

  /// The largest magnitude; NaN where there is one.
  Value magnitude(Value value) {
    SmallVector<int64_t> axes =
        llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
    return buildReduction(b, loc, value, axes, b.getF32FloatAttr(0),
                          [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            Value size = math::AbsFOp::create(b, loc, x[0]);
                            return arith::MaximumFOp::create(b, loc, size, x[1]);
                          });
  }

  void note(Value sum) {
    Value own = magnitude(sum);
    largest = largest ? Value(arith::MaximumFOp::create(b, loc, largest, own)) : own;
  }

  Value combine(comm::Combine how, Value value) {
    Value empty = tensor::EmptyOp::create(b, loc, value.getType(), ValueRange());
    return comm::AllReduceOp::create(b, loc, value.getType(), how, value, empty).getResult();
  }

  Value compare(Value size) {
    return buildElementwise(
        b, loc, size, b.getI1Type(), [](OpBuilder &b, Location loc, ValueRange x) -> Value {
          Value infinity =
              scalar(b, loc, b.getF32FloatAttr(std::numeric_limits<float>::infinity()));
          return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x[0], infinity);
        });
  }

  Value padded(Value value, int64_t count) {
    int64_t own = cast<RankedTensorType>(value.getType()).getNumElements();
    if (own == count)
      return value;
    return tensor::PadOp::create(b, loc, RankedTensorType::get({count}, f32), value,
                                 ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
                                 ArrayRef<OpFoldResult>{b.getIndexAttr(count - own)},
                                 scalar(b, loc, b.getF32FloatAttr(0)));
  }

  /// All dimensions as one.
  Value flat(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 1)
      return value;
    auto all = llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()));
    return tensor::CollapseShapeOp::create(b, loc, value, ArrayRef<ReassociationIndices>{all});
  }
  Value shapedAs(Value value, Type type) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    if (rank == 1)
      return value;
    auto all = llvm::to_vector<2>(llvm::seq<int64_t>(0, rank));
    return tensor::ExpandShapeOp::create(b, loc, type, value, ArrayRef<ReassociationIndices>{all});
  }

  OpBuilder b;
  Location loc;
  Type f32;
  FloatType format;
  int64_t ranks;
  Value lossScale, largest;
  AppendedState appended;
  SmallVector<Residual> residuals;
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct NarrowGradients : mlir::mp::impl::NarrowGradientsBase<NarrowGradients> {
  using NarrowGradientsBase::NarrowGradientsBase;

  FloatType getSentType() {
    MLIRContext *context = &getContext();
    switch (format) {
    case SentFormat::BF16: return BFloat16Type::get(context);
    case SentFormat::F8E4M3FN: return Float8E4M3FNType::get(context);
    case SentFormat::F8E5M2: return Float8E5M2Type::get(context);
    }
    llvm_unreachable("unknown format");
  }

  static Value findLossScale(func::FuncOp step) {
    for (BlockArgument argument : step.getArguments()) {
      auto role = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRoleAttrName);
      if (role && role.getValue() == kRoleLossScale)
        return argument;
    }
    return {};
  }

  LogicalResult narrowAll(func::FuncOp step) {
    auto ranks = step->getAttrOfType<IntegerAttr>(comm::kRanksAttrName);
    if (!ranks)
      return step.emitError("mp-narrow-gradients: is not for one of many ranks (comm.ranks), "
                            "expected the output of mp-partition");
    FloatType narrow = getSentType();
    Block &body = step.getBody().front();
    SmallVector<Operation *> gradients;
    for (Operation &op : body)
      if (isGradient(&op, step))
        gradients.push_back(&op);
    if (gradients.empty())
      return step.emitError("mp-narrow-gradients: has no sum over ranks that parameters move by, "
                            "expected a train step of mp-partition with batch=true and mp.state "
                            "on arguments (mp-annotate-roles finds it)");
    int64_t before = bytesSentPerCall(body, ranks.getInt());
    GradientNarrowing narrowing(step, narrow, ranks.getInt(), findLossScale(step));
    for (Operation *op : gradients)
      narrowing.exchange(op);
    narrowing.finish(step);
    remark::analysis(step.getLoc(), remarks::kPartitioned)
        << remark::add("@{0} sends {1} gradients in {2}, what that takes away with the next ones; "
                       "each rank sends {3} bytes a call instead of {4}",
                       step.getName().str(), gradients.size(), support::spell(format.getValue()),
                       bytesSentPerCall(body, ranks.getInt()), before);
    return success();
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = findTrainStep(getOperation(), function, "mp-narrow-gradients");
    if (failed(found) || failed(narrowAll(*found)))
      signalPassFailure();
  }
};

} // namespace
