// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups ops of a block into kernels: contractions with their elementwise consumers, chains of
// elementwise ops, and data movement.

#include "mp/Analysis/Cost/FusionGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

static bool hasTensor(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return llvm::any_of(op->getResultTypes(), isTensor) ||
         llvm::any_of(op->getOperandTypes(), isTensor);
}

static KernelKind getKernelKind(Operation *op, bool isRemakeable) {
  if (!hasTensor(op) || isRemakeable || op->hasTrait<OpTrait::IsTerminator>() ||
      isa<tensor::DimOp, tensor::ExtractOp>(op))
    return KernelKind::None;
  // Classes of structured ops are read off their bodies, which takes its time: only where they
  // matter.
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (structured && structured.getNumReductionLoops() == 0)
    return KernelKind::Elementwise;
  // A slice of the tensor dialect is a view of memory, too; TOSA's is a copy.
  if (!structured && (getMovement(op) == Movement::View || isa<tensor::ExtractSliceOp>(op)))
    return KernelKind::View;
  if (auto precision = dyn_cast<PrecisionOpInterface>(op);
      !structured && precision && precision.getTypeRule() == TypeRule::Container)
    return KernelKind::None;
  if (isContraction(op))
    return KernelKind::Contraction;
  if (structured)
    return KernelKind::Reduction;
  const FloatMeaning::Kind meaning = getFloatMeaning(op).kind;
  if (meaning == FloatMeaning::Kind::Reduction || meaning == FloatMeaning::Kind::Softmax)
    return KernelKind::Reduction;
  if (op->hasTrait<OpTrait::Elementwise>() ||
      op->hasTrait<OpTrait::tosa::TosaElementwiseOperator>() ||
      isa<tosa::TransposeOp, tosa::CastOp, tosa::MulOp>(op))
    return KernelKind::Elementwise;
  return KernelKind::Other;
}

KernelKind mlir::mp::getKernelKind(Operation *op) {
  return ::getKernelKind(op, mlir::mp::isRemakeable(op));
}

static bool isCast(Operation *op) {
  if (isa<CastOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumLoops() != generic.getNumParallelLoops())
    return false;
  auto body = generic.getBody()->without_terminator();
  return llvm::hasSingleElement(body) && isa<CastOp, arith::ExtFOp, arith::TruncFOp>(*body.begin());
}

Value mlir::mp::behindReshapes(Value value) {
  for (Operation *op = value.getDefiningOp(); op && getMovement(op) == Movement::View;
       op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

bool mlir::mp::isCostlyToRepeat(Operation *op) {
  auto isCostlyStep = [](Operation *step) {
    return isa_and_nonnull<math::MathDialect>(step->getDialect()) || isa<arith::DivFOp>(step);
  };
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return isCostlyStep(op) || getOpClass(op) == OpClass::KeepWide;
  unsigned count = 0;
  for (Operation &step : structured.getBlock()->without_terminator())
    if (isCostlyStep(&step) || ++count > 4)
      return true;
  return false;
}

/// True if the owner of `operand` reads each of its elements once.
static bool readsOnce(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getMatchingIndexingMap(&operand).isPermutation();
  if (getKernelKind(op) == KernelKind::Reduction)
    return getFloatMeaning(op).kind != FloatMeaning::Kind::Softmax;
  auto read = dyn_cast<RankedTensorType>(operand.get().getType());
  auto made = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  return read && made && read.getRank() == made.getRank() &&
         (isa<tosa::TransposeOp>(op) || read.getShape() == made.getShape());
}

static bool isDestination(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<linalg::LinalgOp>(op) && op->getNumResults() > 0)
    return operand.getOperandNumber() + op->getNumResults() >=
           op->getNumOperands(); // asking it makes attributes
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  return destination && destination.isDpsInit(&operand);
}

bool mlir::mp::fusesIntoConsumer(OpOperand &operand,
                                 llvm::function_ref<KernelKind(Operation *)> kindOf) {
  Operation *producer = operand.get().getDefiningOp(), *consumer = operand.getOwner();
  if (!producer || producer->getBlock() != consumer->getBlock() || producer->getNumResults() != 1 ||
      kindOf(producer) != KernelKind::Elementwise)
    return false;
  if (!computesInRegisters(kindOf(consumer)) || isDestination(operand))
    return false;
  return isCast(producer) || (producer->getResult(0).hasOneUse() &&
                              (readsOnce(operand) || !isCostlyToRepeat(producer)));
}

FusionGroups::FusionGroups(FunctionOpInterface function) {
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op)) {
      ops.push_back(op);
      return WalkResult::skip();
    }
    if (op != function)
      ops.push_back(op);
    return WalkResult::advance();
  });
  places.reserve(ops.size());
  auto kindOf = [&](Operation *op) { return getKind(op); };
  // Readers before definitions: a producer joins the kernel its reader is in.
  for (Operation *op : llvm::reverse(ops)) {
    if (op->getNumResults() != 1 || op->use_empty() ||
        !llvm::all_of(op->getUses(),
                      [&](OpOperand &use) { return fusesIntoConsumer(use, kindOf); }))
      continue;
    Operation *root = llvm::hasSingleElement(op->getUses()) ? getRoot(*op->user_begin()) : nullptr;
    Place &place = getPlace(op);
    place.isAbsorbed = true;
    place.root = root;
  }
}

FusionGroups::Place &FusionGroups::getPlace(Operation *op) const {
  if (op == lastAsked.first) // most ops are asked of several times in a row
    return *lastAsked.second;
  auto [known, isNew] = places.try_emplace(op);
  if (isNew) {
    known->second.isRemakeable = mlir::mp::isRemakeable(op);
    known->second.kind = ::getKernelKind(op, known->second.isRemakeable);
  }
  lastAsked = {op, &known->second};
  return known->second;
}

KernelKind FusionGroups::getKind(Operation *op) const { return getPlace(op).kind; }

bool FusionGroups::isAbsorbed(Operation *op) const {
  auto it = places.find(op);
  return it != places.end() && it->second.isAbsorbed;
}

Operation *FusionGroups::getRoot(Operation *op) const {
  auto it = places.find(op);
  return it != places.end() && it->second.root ? it->second.root : op;
}
