// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/Moves.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::movesEveryElement(Operation *op) {
  if (isa<tensor::FromElementsOp>(op))
    return op->getNumOperands() == 1;
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::CastOp,
             tensor::SplatOp, tosa::ReshapeOp, tosa::TransposeOp, tosa::TileOp, tosa::ReverseOp,
             tosa::IdentityOp, arith::ExtFOp, arith::TruncFOp, linalg::FillOp, linalg::TransposeOp,
             linalg::BroadcastOp, CastOp, RoundOp>(op);
}

Operation *mlir::mp::findConstantOp(Value value) {
  for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return op;
    if (!movesEveryElement(op))
      break;
  }
  return nullptr;
}

Attribute mlir::mp::findConstant(Value value) {
  Attribute constant;
  if (Operation *op = findConstantOp(value))
    matchPattern(op, m_Constant(&constant));
  return constant;
}
