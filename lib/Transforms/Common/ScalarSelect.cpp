// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds and matches a select of whole tensors by a scalar condition.

#include "ScalarSelect.h"
#include "TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

Value mlir::mp::buildScalarSelect(OpBuilder &builder, const ScalarSelect &choice) {
  auto [condition, yes, no] = choice;
  if (!isa<ShapedType>(yes.getType())) {
    Value flag = tensor::ExtractOp::create(builder, yes.getLoc(), condition, ValueRange());
    return arith::SelectOp::create(builder, yes.getLoc(), flag, yes, no);
  }
  return buildElementwise(builder, yes.getLoc(), {yes, no, condition},
                          getElementTypeOrSelf(yes.getType()),
                          [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            return arith::SelectOp::create(b, loc, x[2], x[0], x[1]);
                          });
}

/// The tensor of rank 0 that a number was taken from.
static Value asTensor(Value number) {
  auto extract = number.getDefiningOp<tensor::ExtractOp>();
  return extract && extract.getIndices().empty() ? extract.getTensor() : number;
}

std::optional<ScalarSelect> mlir::mp::matchScalarSelect(Value value) {
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return ScalarSelect{asTensor(select.getCondition()), select.getTrueValue(),
                        select.getFalseValue()};
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() != 0)
    return std::nullopt;
  auto select = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select)
    return std::nullopt;
  // Each operand of the choice is an operand of the op, read in place; the condition is one for
  // all.
  Value chosen[3];
  for (auto [slot, scalar] : llvm::zip_equal(chosen, select->getOperands())) {
    auto argument = dyn_cast<BlockArgument>(scalar);
    if (!argument || argument.getOwner() != generic.getBody() ||
        argument.getArgNumber() >= unsigned(generic.getNumDpsInputs()))
      return std::nullopt;
    OpOperand &operand = generic->getOpOperand(argument.getArgNumber());
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    if (argument != select.getCondition() ? !map.isIdentity() : map.getNumResults() != 0)
      return std::nullopt;
    slot = operand.get();
  }
  return ScalarSelect{chosen[0], chosen[1], chosen[2]};
}
