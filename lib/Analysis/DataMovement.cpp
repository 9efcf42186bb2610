// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks through ops that only move or exactly widen elements, down to the constants behind them.

#include "mp/Analysis/DataMovement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::movesEveryElement(Operation *op) {
  if (isa<tensor::FromElementsOp>(op))
    return op->getNumOperands() == 1;
  Movement movement = getMovement(op);
  return movement == Movement::View || movement == Movement::Whole ||
         isa<arith::ExtFOp, arith::TruncFOp, CastOp, RoundOp>(op);
}

bool mlir::mp::isTransposition(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return isa<tosa::TransposeOp>(op);
  Block &body = *structured.getBlock();
  return structured.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
         llvm::hasSingleElement(body) &&
         body.getTerminator()->getOperand(0) == body.getArgument(0) &&
         llvm::all_of(structured.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isPermutation(); });
}

/// Returns the input that the only op in the body of an elementwise linalg op widens, position by
/// position.
static OpOperand *getWidenedInput(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op->getNumResults() != 1 ||
      op.getNumLoops() != op.getNumParallelLoops() || op.getBlock()->getOperations().size() != 2)
    return nullptr;
  OpOperand *input = op.getDpsInputOperand(0);
  auto extend = dyn_cast<arith::ExtFOp>(op.getBlock()->front());
  bool reads = extend && extend.getIn() == op.getMatchingBlockArgument(input) &&
               op.getBlock()->getTerminator()->getOperand(0) == extend.getOut();
  AffineMap in = op.getMatchingIndexingMap(input);
  return reads && in.isPermutation() && in == op.getMatchingIndexingMap(op.getDpsInitOperand(0))
             ? input
             : nullptr;
}

Value mlir::mp::getExactlyWidened(Operation *op) {
  Value source;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (OpOperand *input = getWidenedInput(structured))
      source = input->get();
  } else if (getFloatMeaning(op).kind == FloatMeaning::Kind::Cast) {
    source = op->getOperand(0);
  }
  FloatType from = source ? getFloatFormat(source.getType()) : FloatType();
  FloatType to = from ? getFloatFormat(op->getResult(0).getType()) : FloatType();
  return to && from != to && isa<TensorType>(source.getType()) && holdsEveryValueOf(to, from)
             ? source
             : Value();
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

std::optional<double> mlir::mp::getSplat(Operation *op) {
  Attribute attribute;
  if (!op || !matchPattern(op, m_Constant(&attribute)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute); dense && dense.isSplat())
    attribute = dense.getSplatValue<Attribute>();
  auto scalar = dyn_cast<FloatAttr>(attribute);
  return scalar ? std::optional(scalar.getValueAsDouble()) : std::nullopt;
}

void mlir::mp::forEachBranch(BlockArgument argument,
                             function_ref<void(Block *from, Value given)> visit) {
  Block *block = argument.getOwner();
  for (auto edge = block->pred_begin(), end = block->pred_end(); edge != end; ++edge) {
    auto branch = dyn_cast<BranchOpInterface>((*edge)->getTerminator());
    visit(*edge,
          branch ? branch.getSuccessorOperands(edge.getSuccessorIndex())[argument.getArgNumber()]
                 : Value());
  }
}

bool mlir::mp::holdsTF32(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto round = dyn_cast<RoundOp>(op))
    return isa<FloatTF32Type>(round.getFormat());
  if (isa<CastOp, arith::ExtFOp>(op)) {
    FloatType from = getFloatFormat(op->getOperand(0).getType());
    return from && holdsEveryValueOf(FloatTF32Type::get(op->getContext()), from);
  }
  ElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.getElementType().isF32()) {
    std::optional<ArrayRef<char>> raw = getRawElements(constant);
    for (size_t at = 0; raw && at != raw->size(); at += sizeof(uint32_t))
      if (llvm::support::endian::read32le(raw->data() + at) & 0x1fff)
        return false;
    return raw.has_value();
  }
  if (getMovement(op) != Movement::None)
    return holdsTF32(op->getOperand(0));
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    return padding && matchPattern(padding, m_AnyZeroFloat()) && holdsTF32(pad.getSource());
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    // A generic that only moves one input about.
    Block *body = generic.getBody();
    auto moved = dyn_cast<BlockArgument>(
        body->getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
    return moved && moved.getArgNumber() < generic.getNumDpsInputs() &&
           holdsTF32(generic.getDpsInputs()[moved.getArgNumber()]);
  }
  return false;
}
