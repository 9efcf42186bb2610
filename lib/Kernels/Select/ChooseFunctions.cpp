// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-choose-functions: let functions be approximate whose error roundings behind them
// hide.

#include "FunctionErrors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Select/Passes.h"

#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CHOOSEFUNCTIONS
#include "mp/Kernels/Select/Passes.h.inc"

#include <numbers>
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static Value f32Constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
}

static void mark(Operation *op, StringRef how) {
  op->setAttr(kApproximateAttrName, StringAttr::get(op->getContext(), how));
}

/// 1 + tanh(u)  ==>  2 / (1 + exp(-2u)), whose divisor is at least 1
static void rewriteOnePlusTanh(ImplicitLocOpBuilder &b, Operation *add) {
  auto tanh = add->getOperand(0).getDefiningOp<math::TanhOp>();
  if (!tanh)
    tanh = add->getOperand(1).getDefiningOp<math::TanhOp>();
  Value argument = arith::MulFOp::create(b, tanh.getOperand(), f32Constant(b, -2));
  auto exp = math::ExpOp::create(b, argument);
  mark(exp, "instruction");
  Value divisor = arith::AddFOp::create(b, exp, f32Constant(b, 1));
  auto quotient = arith::DivFOp::create(b, f32Constant(b, 2), divisor);
  mark(quotient, "reciprocal");
  add->getResult(0).replaceAllUsesWith(quotient);
  add->erase();
  tanh.erase();
}

/// exp(x - y)  ==>  2^24 exp(x - y) as exp2((x - y) log2 e + 24): results that f32 holds are normal
/// numbers then. The factor cancels with that of the sum. Where x and y are values of 16 bits, exp2
/// is of x f + c, f and c the same for a row: of |y| from 2^17 on, all other x are at least 512
/// from it, their powers to any base are zero, and with base 2 the argument for y is exact.
static void rewriteSoftmaxExp(ImplicitLocOpBuilder &b, const FunctionChoice &choice) {
  arith::SubFOp difference = choice.softmax->difference;
  Value x = difference, factor = f32Constant(b, std::numbers::log2e), shift = f32Constant(b, 24);
  if (choice.form == FunctionForm::NarrowSoftmaxExp) {
    Value y = difference.getRhs(), negated = arith::NegFOp::create(b, y);
    Value isLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, math::AbsFOp::create(b, y),
                                          f32Constant(b, 0x1p17));
    x = difference.getLhs();
    shift = arith::SelectOp::create(b, isLarge, negated,
                                    math::FmaOp::create(b, negated, factor, shift));
    factor = arith::SelectOp::create(b, isLarge, f32Constant(b, 1), factor);
  }
  auto power = math::Exp2Op::create(b, math::FmaOp::create(b, x, factor, shift));
  mark(power, "flushed");
  choice.op->getResult(0).replaceAllUsesWith(power);
  choice.op->erase();
  if (difference.use_empty())
    difference.erase();
}

/// e / s  ==>  e (1 / s), s a sum of such exponentials, whose reciprocal is a normal number.
static void rewriteSoftmaxQuotient(ImplicitLocOpBuilder &b, arith::DivFOp op) {
  if (matchPattern(op.getLhs(), m_OneFloat()))
    return mark(op, "reciprocal");
  auto reciprocal = arith::DivFOp::create(b, f32Constant(b, 1), op.getRhs());
  mark(reciprocal, "reciprocal");
  op.getResult().replaceAllUsesWith(arith::MulFOp::create(b, op.getLhs(), reciprocal));
  op.erase();
}

/// x y + z  ==>  fma(x, y, z)
static void rewriteProductSum(ImplicitLocOpBuilder &b, Operation *sum) {
  Value product = productOf(sum);
  if (!product) // another sum took it
    return;
  Value other = sum->getOperand(sum->getOperand(0) == product ? 1 : 0);
  Operation *factors = product.getDefiningOp();
  Value fused = math::FmaOp::create(b, factors->getOperand(0), factors->getOperand(1), other);
  sum->getResult(0).replaceAllUsesWith(fused);
  sum->erase();
  factors->erase();
}

/// True if a value of a body changes along a loop of its op.
static bool changesAlong(linalg::LinalgOp op, Value value, unsigned loop) {
  if (value.getParentBlock() != op.getBlock())
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return op.getMatchingIndexingMap(&op->getOpOperand(argument.getArgNumber()))
        .isFunctionOfDim(loop);
  Operation *inner = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    return index.getDim() == loop;
  return llvm::any_of(inner->getOperands(), [&](Value x) { return changesAlong(op, x, loop); });
}

/// True if the divisor is the same for neighbours in memory of the result.
static bool isConstantAlongRow(arith::DivFOp quotient) {
  auto op = dyn_cast<linalg::LinalgOp>(quotient->getParentOp());
  if (!op)
    return false;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumReductionLoops() != 0 || out.getNumResults() == 0)
    return false;
  auto inner = dyn_cast<AffineDimExpr>(out.getResults().back());
  return inner && !changesAlong(op, quotient.getRhs(), inner.getPosition()) &&
         changesAlong(op, quotient.getLhs(), inner.getPosition());
}

/// x / y  ==>  (x s) (1 / (y s)), s a power of two that keeps the reciprocal and, unless the result
/// is beyond the range anyway, the product normal. 1 / (y s) is computed once a row.
static Value timesReciprocal(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value size = math::AbsFOp::create(b, y), one = f32Constant(b, 1);
  auto compare = [&](arith::CmpFPredicate predicate, double limit) -> Value {
    return arith::CmpFOp::create(b, predicate, size, f32Constant(b, limit));
  };
  Value small = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OLT, 0x1p-64),
                                        f32Constant(b, 0x1p64), one);
  Value scale = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OGT, 0x1p64),
                                        f32Constant(b, 0x1p-64), small);
  Value reciprocal = arith::DivFOp::create(b, one, arith::MulFOp::create(b, y, scale));
  return arith::MulFOp::create(b, arith::MulFOp::create(b, x, scale), reciprocal);
}

static void rewriteQuotient(ImplicitLocOpBuilder &b, arith::DivFOp op) {
  APFloat divisor(0.0f);
  Value replaced;
  if (matchPattern(op.getRhs(), m_ConstantFloat(&divisor))) {
    const double reciprocal = 1 / divisor.convertToDouble();
    const bool isNormal = std::abs(reciprocal) >= 0x1p-126 && std::abs(reciprocal) <= 0x1p126;
    if (isNormal && op.getType().isF32())
      replaced = arith::MulFOp::create(b, op.getLhs(), f32Constant(b, reciprocal));
  } else if (op.getType().isF32() && isConstantAlongRow(op)) {
    replaced = timesReciprocal(b, op.getLhs(), op.getRhs());
  }
  if (!replaced)
    return mark(op, "instruction");
  op.getResult().replaceAllUsesWith(replaced);
  op.erase();
}

static void approximate(const FunctionChoice &choice,
                        const DenseSet<Operation *> &softmaxQuotients) {
  ImplicitLocOpBuilder b(choice.op->getLoc(), choice.op);
  if (choice.form == FunctionForm::OnePlusTanh)
    rewriteOnePlusTanh(b, choice.op);
  else if (choice.form == FunctionForm::ProductSum)
    rewriteProductSum(b, choice.op);
  else if (choice.softmax)
    rewriteSoftmaxExp(b, choice);
  else if (softmaxQuotients.contains(choice.op))
    rewriteSoftmaxQuotient(b, cast<arith::DivFOp>(choice.op));
  else if (auto quotient = dyn_cast<arith::DivFOp>(choice.op))
    rewriteQuotient(b, quotient);
  else
    mark(choice.op, "instruction");
}

/// Says what was chosen, with the error of the function beside what the rounding behind it, or the
/// budget, leaves.
static void note(const FunctionChoice &choice) {
  std::string leaves = "the budget of results";
  if (choice.room.format) {
    llvm::raw_string_ostream os(leaves = "half of what rounding to ");
    os << choice.room.format << " behind it may lose";
  }
  const bool isFused = choice.form == FunctionForm::ProductSum;
  if (isFused && !choice.isApproximate())
    return; // as the graph says
  const StringRef name = nameOf(choice.form);
  auto say = [&](const char *format, auto... values) {
    return llvm::formatv(format, name, values...).str();
  };
  if (choice.isApproximate())
    remark::passed(choice.op->getLoc(), remarks::kApproximated)
        << say(isFused ? "{0} are rounded once: relative error {1:e1}, {2} leaves {3:e1}"
                       : "{0} is approximate: relative error {1:e1}, {2} leaves {3:e1}",
               choice.error, leaves, choice.room.relative);
  else
    remark::missed(choice.op->getLoc(), remarks::kKeptExact)
        << (choice.room.relative > 0
                ? say("{0} is exact: an instruction's relative error of {1:e1} is more than the "
                      "{3:e1} that {2} leaves",
                      choice.error, leaves, choice.room.relative)
                : say("{0} is exact: no rounding behind it hides an instruction's relative error "
                      "of {1:e1}",
                      choice.error));
}

/// Says that a function whose errors were certified keeps its functions as the certificate counts
/// them.
static void noteCertified(func::FuncOp func) {
  remark::missed(func.getLoc(), remarks::kKeptExact)
      << "functions of @" + func.getName().str() +
             " are exact: a certificate (certify=) counts them as within a unit in the last place";
}

namespace {

struct ChooseFunctions : mlir::mp::impl::ChooseFunctionsBase<ChooseFunctions> {
  using Base::Base;

  void runOnOperation() override {
    if (!(budget >= 0)) {
      emitError(UnknownLoc::get(&getContext()))
          << "mp-choose-functions: option 'budget' is " << double(budget)
          << ", expected a relative error of 0 or more";
      return signalPassFailure();
    }
    if (getOperation()->hasAttr(kCertifiedAttrName))
      return noteCertified(getOperation());
    SmallVector<FunctionChoice> choices = chooseFunctions(getOperation(), budget, excess);
    for (const FunctionChoice &choice : llvm::reverse(choices)) {
      const bool isPart = llvm::any_of(choices, [&](const FunctionChoice &other) {
        return other.form == FunctionForm::OnePlusTanh && other.isApproximate() &&
               llvm::is_contained(choice.op->getUsers(), other.op);
      });
      if (!isPart)
        note(choice);
    }
    DenseSet<Operation *> softmaxQuotients;
    for (const FunctionChoice &choice : choices)
      if (choice.softmax)
        softmaxQuotients.insert_range(choice.softmax->quotients);
    for (const FunctionChoice &choice : choices) // readers first: a tanh goes with its sum
      if (choice.isApproximate())
        approximate(choice, softmaxQuotients);
  }
};

} // namespace
