// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads sizes, lifetimes and modelled times of a function's values.

#include "MemoryGraph.h"

#include "../Common/ProductProblem.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Dialect/MP/Recomputed.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;
using assignment::MemoryStep;
using assignment::MemoryValue;

/// The runtime's blocks are multiples of this; as much more is asked for, to align what is in them.
static constexpr int64_t kBlockBytes = 64;

static bool isView(Operation *op) {
  Movement movement = getMovement(op);
  return movement == Movement::View || movement == Movement::Slice;
}

bool mlir::mp::isMade(Operation *op) {
  if (isRemakeable(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumDpsInputs() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(structured.getDpsInits(), [](Value init) {
           Operation *def = init.getDefiningOp();
           return def && isMade(def);
         });
}

/// True if others only write over what `op` makes.
static bool isOnlyWrittenTo(Operation *op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto writes = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return writes && writes.isDpsInit(&use);
  });
}

SmallVector<Value> MemoryGraph::tensorsOf(Operation *op) {
  SmallVector<Value> tensors;
  for (Value result : op->getResults())
    if (isa<TensorType>(result.getType()))
      tensors.push_back(result);
  return tensors;
}

SmallVector<OpOperand *> MemoryGraph::readsOf(Operation *op) {
  SmallVector<OpOperand *> reads;
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (!op->isAncestor(operand.get().getParentBlock()->getParentOp()))
        reads.push_back(&operand);
  });
  return reads;
}

Operation *MemoryGraph::storageOf(Value value) const {
  Operation *op = value.getDefiningOp();
  while (op && isView(op))
    op = op->getOperand(0).getDefiningOp();
  return op && numbers.contains(op) ? op : nullptr;
}

static int64_t bytesOf(Type type, unsigned bits) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0; // MemoryGraph says so
  int64_t bytes = llvm::divideCeil(tensor.getNumElements() * bits, 8);
  return llvm::alignTo(bytes + kBlockBytes, kBlockBytes);
}

static int64_t bytesOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return bytesOf(type, llvm::alignTo(bits, 8));
}

/// Bytes of what is computed into the place of an operand that nothing else reads.
int64_t MemoryGraph::takenOver(Operation *op) const {
  auto writes = dyn_cast<DestinationStyleOpInterface>(op);
  int64_t bytes = 0;
  if (writes)
    for (Value init : writes.getDpsInits())
      if (init.hasOneUse() && init.getDefiningOp() && storageOf(init) == init.getDefiningOp())
        bytes += bytesOf(init.getType());
  return bytes;
}

int64_t MemoryGraph::timeOf(Operation *op) const {
  Sizes sizes(1);
  uint64_t bytes = 0, operations = 0;
  for (OpOperand *read : readsOf(op))
    bytes += bytesOf(read->get().getType());
  for (Value result : op->getResults())
    bytes += bytesOf(result.getType());
  if (isContraction(op)) {
    return costs.timeOf(productOf(op, sizes));
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    operations = structured.getBlock()->getOperations().size();
    for (int64_t size : structured.getStaticLoopRanges())
      operations *= uint64_t(std::max<int64_t>(size, 1));
  }
  return costs.elementwiseTime(operations, bytes);
}

void MemoryGraph::addStep(Operation *op) {
  MemoryStep step;
  for (OpOperand *read : readsOf(op))
    if (Operation *storage = storageOf(read->get()))
      if (uint32_t value = valueOf(storage); !llvm::is_contained(step.reads, value))
        step.reads.push_back(value);
  step.time = timeOf(op);
  step.isRepeatable = isMemoryEffectFree(op);
  step.mayWait = late;
  SmallVector<Value> tensors = tensorsOf(op);
  if (!tensors.empty()) {
    MemoryValue value;
    for (Value tensor : tensors) {
      value.bytes += bytesOf(tensor.getType());
      if (!cast<ShapedType>(tensor.getType()).hasStaticShape())
        reason = "'" + op->getName().getStringRef().str() + "' computes a tensor of unknown size";
    }
    FloatType format = tensors.size() == 1 ? getFloatFormat(tensors[0].getType()) : FloatType();
    if (reason.empty() && narrow && format && format.isF32()) {
      value.narrowBytes = bytesOf(tensors[0].getType(), narrow.getWidth());
      auto elements = uint64_t(cast<ShapedType>(tensors[0].getType()).getNumElements());
      value.castTime = costs.castTime(elements, 32, narrow.getWidth());
    }
    step.scratch = -takenOver(op);
    step.writes = uint32_t(problem.values.size());
    numbers[op] = *step.writes;
    problem.values.push_back(value);
  }
  ops.push_back(op);
  problem.steps.push_back(std::move(step));
}

MemoryGraph::MemoryGraph(func::FuncOp function, const mpcore::performance::CostModel &costs,
                         FloatType narrow, bool late)
    : costs(costs), narrow(narrow), late(late) {
  for (Operation &op : function.getBody().front()) {
    if (op.hasTrait<OpTrait::ConstantLike>() || isView(&op) ||
        (isMade(&op) && isOnlyWrittenTo(&op)))
      continue;
    if (!op.hasTrait<OpTrait::IsTerminator>()) {
      addStep(&op);
      if (!reason.empty())
        return;
      continue;
    }
    for (Value result : op.getOperands())
      if (Operation *storage = storageOf(result))
        problem.values[valueOf(storage)].isResult = true;
  }
}

Operation *mlir::mp::makeAgain(OpBuilder &builder, Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp();
        def && isMade(def) && !def->hasTrait<OpTrait::ConstantLike>() && !mapping.contains(operand))
      mapping.map(operand, makeAgain(builder, def)->getResult(0));
  Operation *again = builder.clone(*op, mapping);
  if (!isRemakeable(op))
    again->setAttr(kRecomputedAttrName, builder.getUnitAttr());
  return again;
}

void mlir::mp::separateInits(func::FuncOp function) {
  SmallVector<OpOperand *> inits;
  for (Operation &op : function.getBody().front())
    if (auto writes = dyn_cast<DestinationStyleOpInterface>(op);
        writes && !(isMade(&op) && isOnlyWrittenTo(&op)))
      for (OpOperand &init : writes.getDpsInitsMutable())
        inits.push_back(&init);
  for (OpOperand *init : inits) {
    Operation *op = init->get().getDefiningOp();
    if (!op || !isMade(op) || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    OpBuilder builder(init->getOwner());
    auto result = cast<OpResult>(init->get());
    init->set(makeAgain(builder, op)->getResult(result.getResultNumber()));
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isMade(&op) && isOpTriviallyDead(&op))
      op.erase();
}
