// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the approximations of functions and what they lose.

#include "FunctionForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;

double mlir::mp::errorOf(FunctionForm form) {
  switch (form) {
  case FunctionForm::Exp:
  case FunctionForm::SoftmaxExp: return 0x1p-17 + 0x1p-21;
  case FunctionForm::NarrowSoftmaxExp: return 0x1p-16;
  case FunctionForm::OnePlusTanh: return 0x1p-17 + 0x1p-20;
  case FunctionForm::Exp2:
  case FunctionForm::Rsqrt:
  case FunctionForm::Quotient: return 0x1p-22;
  case FunctionForm::Tanh: return 0x1p-11;
  case FunctionForm::ProductSum: return 0x1p-24;
  }
  llvm_unreachable("all forms");
}

StringRef mlir::mp::nameOf(FunctionForm form) {
  static constexpr StringLiteral names[] = {
      "exp",   "exp of a softmax", "exp of a softmax", "exp2",           "tanh",
      "rsqrt", "1 + tanh",         "quotient",         "product and sum"};
  return names[unsigned(form)];
}

static bool isElementF32(Value value) { return getElementTypeOrSelf(value.getType()).isF32(); }

std::optional<FunctionForm> mlir::mp::formOf(Operation *op) {
  if (op->getNumResults() != 1 || !isElementF32(op->getResult(0)))
    return std::nullopt;
  if (isa<math::ExpOp>(op))
    return FunctionForm::Exp;
  if (isa<math::Exp2Op>(op))
    return FunctionForm::Exp2;
  if (isa<math::TanhOp>(op))
    return FunctionForm::Tanh;
  if (isa<math::RsqrtOp>(op))
    return FunctionForm::Rsqrt;
  if (isa<arith::DivFOp>(op))
    return FunctionForm::Quotient;
  if (isa<arith::AddFOp>(op))
    for (unsigned i : {0, 1})
      if (auto tanh = op->getOperand(i).getDefiningOp<math::TanhOp>();
          tanh && tanh->hasOneUse() && matchPattern(op->getOperand(1 - i), m_OneFloat()))
        return FunctionForm::OnePlusTanh;
  return std::nullopt;
}

Value mlir::mp::productOf(Operation *sum) {
  for (Value operand : sum->getOperands())
    if (operand.getDefiningOp<arith::MulFOp>() && operand.hasOneUse())
      return operand;
  return {};
}

bool mlir::mp::isProductSum(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op->getParentOp());
  return generic && generic.getNumReductionLoops() == 0 && isa<arith::AddFOp>(op) &&
         op->getResult(0).getType().isF32() && productOf(op);
}
