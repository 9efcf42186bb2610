// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the factors of contractions, and the tensors behind moves.

#include "Sites.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<FactorPair> mlir::mp::readFactors(Operation *op) {
  if (!isContraction(op) || op->getNumResults() != 1)
    return std::nullopt;
  SmallVector<OpOperand *, 2> found = getFactors(op);
  auto isF32 = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isF32();
  };
  if (found.size() != 2 || !isF32(op->getResult(0).getType()) ||
      !llvm::all_of(found, [&](OpOperand *factor) { return isF32(factor->get().getType()); }))
    return std::nullopt;
  return FactorPair{op, {found[0], found[1]}};
}

/// Zeros around a tensor have the code 0.
static bool padsWithZeros(Operation *op) {
  auto pad = dyn_cast<tensor::PadOp>(op);
  Value value = pad ? pad.getConstantPaddingValue() : Value();
  return value && matchPattern(value, m_AnyZeroFloat());
}

Value mlir::mp::getMovedBy(Operation *op) {
  Movement movement = getMovement(op);
  bool moves = movement == Movement::View || movement == Movement::Whole || padsWithZeros(op);
  return moves ? op->getOperand(0) : Value();
}

Value mlir::mp::findMoved(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    Value moved = getMovedBy(def);
    if (!moved)
      break;
    value = moved;
  }
  return value;
}

bool mlir::mp::leadsToContractions(OpOperand &use) {
  Operation *user = use.getOwner();
  if (std::optional<FactorPair> pair = readFactors(user))
    return llvm::is_contained(pair->factors, &use);
  if (isa<FakeQuantizeOp>(user)) // a value on the grid has the same code
    return true;
  bool moves = getMovedBy(user) || getMovement(user) == Movement::Slice;
  return moves && use.getOperandNumber() == 0 && user->getNumResults() == 1 && !user->use_empty() &&
         llvm::all_of(user->getUses(), leadsToContractions);
}

void mlir::mp::replaceInContractions(Value value, Value by) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
    if (!isa<FakeQuantizeOp, PruneOp>(use.getOwner()) && leadsToContractions(use))
      use.set(by);
}

SmallVector<int64_t> mlir::mp::channelShape(OpOperand &factor) {
  std::optional<SmallVector<Along>> dimensions = dimensionsOf(factor);
  auto type = cast<RankedTensorType>(factor.get().getType());
  SmallVector<int64_t> shape;
  if (!dimensions || !type.hasStaticShape())
    return shape;
  for (auto [along, size] : llvm::zip_equal(*dimensions, type.getShape()))
    shape.push_back(along == Along::Keeps ? size : 1);
  return shape;
}

Value mlir::mp::moveToResult(OpBuilder &builder, Value step, AffineMap factor, AffineMap result,
                             Location loc) {
  auto type = cast<RankedTensorType>(step.getType());
  if (type.getRank() == 0)
    return step;
  SmallVector<int64_t> shape(result.getNumResults(), 1);
  unsigned channels = 0;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (size == 1)
      continue;
    auto position = result.getResultPosition(factor.getResult(dim));
    if (!position || ++channels > 1)
      return {};
    shape[*position] = size;
  }
  ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(type.getRank())), out;
  out = llvm::to_vector(llvm::seq<int64_t>(shape.size()));
  Value flat =
      tensor::CollapseShapeOp::create(builder, loc, step, SmallVector<ReassociationIndices>{all});
  return tensor::ExpandShapeOp::create(builder, loc,
                                       RankedTensorType::get(shape, type.getElementType()), flat,
                                       SmallVector<ReassociationIndices>{out});
}
