// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads reductions by what they combine and which tensor they read, behind views that add
// dimensions of size one.

#include "mp/Analysis/Idioms/EmptyRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;

/// The tensor behind views that add dimensions of size one before its last; null behind others.
static Value behindUnits(Value rows) {
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

/// The tensor that a reduction of its last dimension reads element by element; null if `op` is no
/// such reduction.
static Value findRows(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1 ||
      !op.getIndexingMapsArray().front().isIdentity() ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
    return {};
  return behindUnits(op.getDpsInputs()[0]);
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

/// True for the maximum of each row, which is NaN where the row has one. Beside it may be where.
static bool isMaximum(linalg::GenericOp op) {
  std::optional<Combination> found = readCombination(op, 0);
  return found && isa<arith::MaximumFOp>(found->combiner) &&
         found->combined == op.getBody()->getArgument(0) && startsFrom(op, isMinusInfinity);
}

/// The tensor whose elements an op without reductions maps one by one, behind such views; null if
/// it reads others or has other results.
static Value findMapped(linalg::GenericOp op) {
  const bool maps =
      op && op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
      op.getNumReductionLoops() == 0 &&
      llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
  return maps ? behindUnits(op.getDpsInputs()[0]) : Value();
}

/// The rows of which a reduction asks whether all elements are minus infinity; null if it does not.
static Value findAsked(linalg::GenericOp op) {
  Value rows = op->getNumResults() == 1 ? findRows(op) : Value();
  std::optional<Combination> found = rows ? readCombination(op, 0) : std::nullopt;
  if (!found || !isa<arith::AndIOp>(found->combiner) ||
      !startsFrom(op, [](Value start) { return matchPattern(start, m_One()); }))
    return {};
  Value test = found->combined;
  if (test == op.getBody()->getArgument(0)) { // another op compares
    op = rows.getDefiningOp<linalg::GenericOp>();
    rows = findMapped(op);
    if (!rows)
      return {};
    test = op.getBody()->getTerminator()->getOperand(0);
  }
  auto comparison = test.getDefiningOp<arith::CmpFOp>();
  if (!comparison || comparison.getPredicate() != arith::CmpFPredicate::OEQ ||
      !isMinusInfinity(comparison.getRhs()))
    return {};
  Value element = comparison.getLhs();
  if (auto wide = element.getDefiningOp<arith::ExtFOp>())
    element = wide.getIn();
  return element == op.getBody()->getArgument(0) ? rows : Value();
}

SmallVector<EmptyRows> mlir::mp::findEmptyRows(Operation *function) {
  SmallVector<std::pair<linalg::GenericOp, Value>> questions;
  SmallVector<linalg::GenericOp> reductions;
  function->walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return;
    if (Value rows = findAsked(op))
      questions.push_back({op, rows});
    else
      reductions.push_back(op);
  });
  SmallVector<EmptyRows> found;
  if (questions.empty())
    return found;
  DominanceInfo dominance(function);
  for (auto [question, rows] : questions) {
    EmptyRows empty = {question, {}};
    for (linalg::GenericOp op : reductions)
      if (findRows(op) == rows && isMaximum(op) && dominance.dominates(op, question))
        empty.maxima.push_back(op);
    if (!empty.maxima.empty())
      found.push_back(std::move(empty));
  }
  return found;
}
