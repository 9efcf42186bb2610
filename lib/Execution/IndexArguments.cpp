// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows integers to the places where they index tensors.

#include "IndexArguments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;

namespace {

/// The tables that values reached from one value index.
struct IndexSearch {
  std::optional<int64_t> bound;
  SmallVector<Value> pending;
  llvm::DenseSet<Value> seen;

  void follow(Value value) {
    if (seen.insert(value).second)
      pending.push_back(value);
  }

  void indexes(Type table, int64_t dim) {
    auto shaped = cast<ShapedType>(table);
    if (shaped.hasRank() && dim < shaped.getRank() && !shaped.isDynamicDim(dim))
      bound = std::min(bound.value_or(INT64_MAX), shaped.getDimSize(dim));
  }

  void visit(OpOperand &use);
};

} // namespace

void IndexSearch::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned operand = use.getOperandNumber();
  mp::Movement movement = mp::getMovement(op);
  if (movement == mp::Movement::View || movement == mp::Movement::Slice ||
      movement == mp::Movement::Whole ||
      isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
          tosa::CastOp>(op)) {
    if (operand == 0)
      follow(op->getResult(0));
  } else if (isa<tensor::ExtractOp, memref::LoadOp>(op)) {
    if (operand == 0)
      follow(op->getResult(0));
    else
      indexes(op->getOperand(0).getType(), operand - 1);
  } else if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
    if (operand == 1)
      for (int64_t dim : gather.getGatherDims())
        indexes(gather.getSource().getType(), dim);
  } else if (auto gather = dyn_cast<tosa::GatherOp>(op)) {
    if (operand == 1)
      indexes(gather.getValues().getType(), 1);
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    follow(structured.getMatchingBlockArgument(&use));
  } else if (auto yield = dyn_cast<linalg::YieldOp>(op)) {
    if (isa<linalg::LinalgOp>(yield->getParentOp()) &&
        operand < yield->getParentOp()->getNumResults())
      follow(yield->getParentOp()->getResult(operand));
  }
}

std::optional<int64_t> mlir::mp::findIndexBound(Value value) {
  IndexSearch search;
  search.follow(value);
  while (!search.pending.empty()) {
    Value next = search.pending.pop_back_val();
    for (OpOperand &use : next.getUses())
      search.visit(use);
  }
  return search.bound;
}
