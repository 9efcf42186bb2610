// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds approximate forms of scalar ops.

#include "MathForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <numbers>

using namespace mlir;
using namespace mlir::mp;

static Value call(ImplicitLocOpBuilder &b, StringRef intrinsic, Value x,
                  LLVM::FastmathFlags flags = LLVM::FastmathFlags::none) {
  auto attr = LLVM::FastmathFlagsAttr::get(b.getContext(), flags);
  return LLVM::CallIntrinsicOp::create(b, x.getType(), b.getStringAttr(intrinsic), x, attr)
      .getResult(0);
}

static Value constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
}

/// 2^x; results below the normal numbers are zero.
static Value power(ImplicitLocOpBuilder &b, Value x) {
  return call(b, "llvm.nvvm.ex2.approx.ftz.f", x);
}

/// Puts what follows behind the op that computes `value`, so that it is computed as often.
static void insertBehind(ImplicitLocOpBuilder &b, Value value) {
  if (Operation *op = value.getDefiningOp())
    b.setInsertionPointAfter(op);
}

static Value exponential(ImplicitLocOpBuilder &b, Value x, function_ref<bool(Value)> isFixed) {
  auto difference = x.getDefiningOp<arith::SubFOp>();
  if (!difference || !isFixed(difference.getRhs()))
    return power(b, arith::MulFOp::create(b, x, constant(b, std::numbers::log2e)));
  // The error of y log2 e is one factor for the whole row: at most 2^64 below 2^30. From there on,
  // elements that are not y are at least 64 from it, and their powers as good as zero or infinite
  // to any base; with base 2 the product is exact, and no row of the lowest number overflows.
  Value y = difference.getRhs(), factor, scaled;
  {
    OpBuilder::InsertionGuard guard(b);
    insertBehind(b, y);
    Value isLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, math::AbsFOp::create(b, y),
                                          constant(b, 0x1p30));
    factor = arith::SelectOp::create(b, isLarge, constant(b, 1), constant(b, std::numbers::log2e));
    scaled = arith::NegFOp::create(b, arith::MulFOp::create(b, y, factor));
  }
  return power(b, math::FmaOp::create(b, difference.getLhs(), factor, scaled));
}

static Value quotient(ImplicitLocOpBuilder &b, Value x, Value y,
                      function_ref<bool(Value)> isFixed) {
  APFloat known(0.0f);
  if (matchPattern(y, m_ConstantFloat(&known)))
    return arith::MulFOp::create(b, x, constant(b, 1.0 / known.convertToDouble()));
  if (!isFixed(y))
    return {};
  Value reciprocal;
  {
    OpBuilder::InsertionGuard guard(b);
    insertBehind(b, y);
    reciprocal = call(b, "llvm.nvvm.rcp.approx.ftz.f", y);
  }
  return arith::MulFOp::create(b, x, reciprocal);
}

Value MathForms::form(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands,
                      function_ref<bool(Value)> isFixed) const {
  if (!approximate || operands.empty() || !operands[0].getType().isF32())
    return {};
  if (isa<math::ExpOp>(op))
    return exponential(b, operands[0], isFixed);
  if (isa<math::Exp2Op>(op))
    return power(b, operands[0]);
  if (isa<math::TanhOp>(op))
    return call(b, "llvm.tanh", operands[0], LLVM::FastmathFlags::afn);
  if (isa<math::RsqrtOp>(op))
    return call(b, "llvm.nvvm.rsqrt.approx.ftz.f", operands[0]);
  if (isa<arith::DivFOp>(op))
    return quotient(b, operands[0], operands[1], isFixed);
  return {};
}

void MathForms::allow(Operation *op) const {
  if (!approximate || !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return;
  auto flags = cast<arith::ArithFastMathInterface>(op);
  auto already = flags.getFastMathFlagsAttr();
  arith::FastMathFlags both =
      (already ? already.getValue() : arith::FastMathFlags::none) | arith::FastMathFlags::contract;
  op->setAttr(flags.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), both));
}
