// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-find-empty-rows: tell rows that are minus infinity throughout by their maximum,
// which is that (exact).

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Interfaces/LoopNest.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FINDEMPTYROWS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// The tensor that a reduction of its last dimension reads element by element, behind views that
/// add dimensions of size one before that; null if `op` is no such reduction.
static Value findRows(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1 ||
      !op.getIndexingMapsArray().front().isIdentity() ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
    return {};
  Value rows = op.getDpsInputs()[0];
  while (auto expand = rows.getDefiningOp<tensor::ExpandShapeOp>()) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    auto addsUnits = [&](ArrayRef<int64_t> group) {
      return llvm::count_if(group, [&](int64_t dim) { return shape[size_t(dim)] != 1; }) <= 1;
    };
    if (expand.getReassociationIndices().back().size() != 1 ||
        !llvm::all_of(expand.getReassociationIndices(), addsUnits))
      return {};
    rows = expand.getSrc();
  }
  return rows;
}

static bool isMinusInfinity(Value value) {
  APFloat constant(0.0f);
  return matchPattern(value, m_ConstantFloat(&constant)) && constant.isInfinity() &&
         constant.isNegative();
}

/// True if the reduction starts from what `suits` takes, in every row.
static bool startsFrom(linalg::GenericOp op, function_ref<bool(Value)> suits) {
  Operation *init = op.getDpsInits()[0].getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(init))
    return suits(fill.getInputs()[0]);
  auto generic = dyn_cast_or_null<linalg::GenericOp>(init);
  return generic && generic.getNumDpsInputs() == 0 && generic.getNumReductionLoops() == 0 &&
         suits(generic.getBody()->getTerminator()->getOperand(0));
}

/// True for the maximum of each row, which is NaN where the row has one.
static bool isMaximum(linalg::GenericOp op) {
  std::optional<Combination> found = readCombination(op, 0);
  return found && isa<arith::MaximumFOp>(found->combiner) &&
         found->combined == op.getBody()->getArgument(0) && startsFrom(op, isMinusInfinity);
}

/// True for whether all elements of each row are minus infinity.
static bool asksForEmpty(linalg::GenericOp op) {
  std::optional<Combination> found = readCombination(op, 0);
  if (!found || !isa<arith::AndIOp>(found->combiner) ||
      !startsFrom(op, [](Value start) { return matchPattern(start, m_One()); }))
    return false;
  auto test = found->combined.getDefiningOp<arith::CmpFOp>();
  if (!test || test.getPredicate() != arith::CmpFPredicate::OEQ || !isMinusInfinity(test.getRhs()))
    return false;
  Value element = test.getLhs();
  if (auto wide = element.getDefiningOp<arith::ExtFOp>())
    element = wide.getIn();
  return element == op.getBody()->getArgument(0);
}

namespace {

struct FindEmptyRows : mlir::mp::impl::FindEmptyRowsBase<FindEmptyRows> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> maxima, questions;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (!findRows(op))
        return;
      if (isMaximum(op))
        maxima.push_back(op);
      else if (asksForEmpty(op))
        questions.push_back(op);
    });
    DominanceInfo dominance(getOperation());
    for (linalg::GenericOp question : questions)
      for (linalg::GenericOp maximum : maxima)
        if (findRows(maximum) == findRows(question) && dominance.dominates(maximum, question) &&
            cast<ShapedType>(maximum.getResultTypes()[0]).getShape() ==
                cast<ShapedType>(question.getResultTypes()[0]).getShape() &&
            maximum.getIndexingMapsArray().back().getNumResults() ==
                question.getIndexingMapsArray().back().getNumResults()) {
          answer(question, maximum.getResult(0));
          break;
        }
  }

  static void answer(linalg::GenericOp question, Value maximum) {
    OpBuilder b(question);
    Location loc = question.getLoc();
    const int64_t rank = cast<ShapedType>(maximum.getType()).getRank();
    Value empty =
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, maximum), b.getI1Type());
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(unsigned(rank)));
    SmallVector<utils::IteratorType> loops(size_t(rank), utils::IteratorType::parallel);
    auto made = linalg::GenericOp::create(
        b, loc, empty.getType(), maximum, empty, maps, loops,
        [](OpBuilder &inner, Location at, ValueRange x) {
          auto type = cast<FloatType>(x[0].getType());
          Value lowest = arith::ConstantOp::create(
              inner, at, inner.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), true)));
          linalg::YieldOp::create(inner, at,
                                  ValueRange(arith::CmpFOp::create(
                                      inner, at, arith::CmpFPredicate::OEQ, x[0], lowest)));
        });
    question.getResult(0).replaceAllUsesWith(made.getResult(0));
    question.erase();
  }
};

} // namespace
