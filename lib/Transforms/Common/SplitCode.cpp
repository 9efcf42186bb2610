// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks whether a contraction can be split, and expands the ops of split precision.

#include "SplitCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isZeroTensor(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

std::optional<SplitOperands> mlir::mp::viewSplit(Operation *op, numerics::SplitScheme scheme,
                                                 std::string *whyNot) {
  auto refuse = [&](StringRef why) {
    if (whyNot)
      *whyNot = why.str();
    return std::nullopt;
  };
  if (!isContraction(op))
    return refuse("it is no contraction");
  auto interface = cast<PrecisionOpInterface>(op);
  auto isWide = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isF32();
  };
  if (op->getNumResults() != 1 || !isWide(op->getResult(0).getType()))
    return refuse("it does not return one ranked tensor of f32");
  // If everything has one format, parts must be f32, too.
  bool isTF32 = numerics::partFormat(scheme) == numerics::Format::TF32;
  TypeRule rule = interface.getTypeRule();
  if (rule != TypeRule::Contraction && !(rule == TypeRule::Uniform && isTF32))
    return refuse(rule == TypeRule::Uniform
                      ? "it would return its parts' format: only tf32 parts are f32"
                      : "its formats are fixed");
  SplitOperands view;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    switch (interface.getOperandRole(operand.getOperandNumber())) {
    case OperandRole::Factor:
      if (!isWide(value.getType()))
        return refuse("a factor is no ranked tensor of f32");
      view.factors.push_back(&operand);
      break;
    case OperandRole::Init:
      if (view.init || value.getType() != op->getResult(0).getType())
        return refuse("it adds to something else than its result");
      view.init = &operand;
      break;
    case OperandRole::Addend:
      if (!isWide(value.getType()) || !cast<RankedTensorType>(value.getType()).hasStaticShape())
        return refuse("its bias is no f32 tensor of known shape");
      view.addends.push_back(&operand);
      break;
    case OperandRole::Data:
      if (!isZeroTensor(value))
        return refuse("it reads floats besides its factors");
      view.zeros.push_back(&operand);
      break;
    case OperandRole::Other: break;
    }
  }
  if (view.factors.size() != 2)
    return refuse("it has not two factors");
  return view;
}

/// `value` in f32: itself, or widened.
static Value widenPart(OpBuilder &builder, Location loc, Value part, Type wide) {
  if (part.getType() == wide)
    return part;
  return CastOp::create(builder, loc, wide, part, Value(), RoundingAttr(), OverflowAttr(),
                        UnitAttr());
}

Value mlir::mp::expandSplit(OpBuilder &builder, SplitResidualOp op) {
  Location loc = op.getLoc();
  Value rest = op.getSource();
  for (Value part : op.getParts())
    rest = arith::SubFOp::create(builder, loc, rest,
                                 widenPart(builder, loc, part, op.getSource().getType()));
  if (cast<FloatType>(op.getFormat()).isTF32())
    return RoundOp::create(builder, loc, op.getType(), op.getFormatAttr(), rest,
                           op.getInsertedAttr());
  return CastOp::create(builder, loc, op.getType(), rest, Value(), RoundingAttr(),
                        OverflowAttr::get(builder.getContext(), Overflow::IEEE),
                        op.getInsertedAttr());
}

Value mlir::mp::expandSplit(OpBuilder &builder, JoinSplitOp op) {
  Location loc = op.getLoc();
  // Choosing between sums rather than addends needs no zero, which would have dynamic sizes.
  Value isNaN =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, op.getSmall(), op.getSmall());
  Value sum = arith::AddFOp::create(builder, loc, op.getLarge(), op.getSmall());
  sum = arith::SelectOp::create(builder, loc, isNaN, op.getLarge(), sum);
  if (op.getInit())
    sum = arith::AddFOp::create(builder, loc, sum, op.getInit());
  return sum;
}

void mlir::mp::expandAllSplits(Operation *root) {
  root->walk([](Operation *op) {
    OpBuilder builder(op);
    Value value;
    if (auto part = dyn_cast<SplitResidualOp>(op))
      value = expandSplit(builder, part);
    else if (auto joined = dyn_cast<JoinSplitOp>(op))
      value = expandSplit(builder, joined);
    else
      return;
    op->replaceAllUsesWith(ValueRange(value));
    op->erase();
  });
}
