// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partitioner puts off what ranks have to combine, and decides if it becomes whole or parts.

#include "Partitioner.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

//===----------------------------------------------------------------------===//
// Parts that are asked for
//===----------------------------------------------------------------------===//

/// The dimension of an operand that the loop runs over, by itself.
static std::optional<int64_t> dimOverLoop(AffineMap map, AffineExpr loop) {
  std::optional<int64_t> dim;
  for (auto [i, expression] : llvm::enumerate(map.getResults())) {
    if (!expression.isFunctionOfDim(cast<AffineDimExpr>(loop).getPosition()))
      continue;
    if (dim || expression != loop)
      return std::nullopt;
    dim = int64_t(i);
  }
  return dim;
}

/// The dimensions of a structured op's inputs that a dimension of its result comes from. Nothing of
/// contractions: what is summed there is better combined by ranks before.
static void sourcesOf(linalg::LinalgOp op, OpResult result, int64_t dim,
                      llvm::function_ref<void(Value, int64_t)> want) {
  if (op.getNumDpsInputs() > 1 && op.getNumReductionLoops() > 0)
    return;
  AffineExpr loop = op.getMatchingIndexingMap(op.getTiedOpOperand(result)).getResult(unsigned(dim));
  auto own = dyn_cast<AffineDimExpr>(loop);
  if (!own || op.getIteratorTypesArray()[own.getPosition()] != utils::IteratorType::parallel)
    return;
  for (OpOperand *input : op.getDpsInputOperands())
    if (std::optional<int64_t> place = dimOverLoop(op.getMatchingIndexingMap(input), loop))
      want(input->get(), *place);
}

void Partitioner::findWanted(Block &block, ArrayRef<std::optional<int64_t>> results) {
  auto want = [&](Value value, int64_t dim) {
    if (divides(value, dim))
      wanted.try_emplace(value, dim);
  };
  for (auto [value, dim] : llvm::zip_equal(block.getTerminator()->getOperands(), results))
    if (dim)
      want(value, *dim);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    for (OpResult result : op.getResults()) {
      auto found = wanted.find(result);
      if (found == wanted.end())
        continue;
      int64_t dim = found->second;
      if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
        sourcesOf(structured, result, dim, want);
      } else if (auto view = dyn_cast<tensor::CollapseShapeOp>(op)) {
        if (auto outer = outermost(view.getReassociationIndices()[size_t(dim)], view.getSrcType()))
          want(view.getSrc(), *outer);
      } else if (auto view = dyn_cast<tensor::ExpandShapeOp>(op)) {
        for (auto [i, group] : llvm::enumerate(view.getReassociationIndices()))
          if (outermost(group, view.getResultType()) == dim)
            want(view.getSrc(), int64_t(i));
      } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        if (slice.getDroppedDims().none() && takesAll(slice, slice.getSourceType(), dim))
          want(slice.getSource(), dim);
      } else if (OpTrait::hasElementwiseMappableTraits(&op)) {
        for (Value operand : op.getOperands())
          want(operand, dim);
      }
    }
}

void Partitioner::resolveWanted(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto form = placed.find(operand);
    auto found = wanted.find(operand);
    if (form != placed.end() && form->second.isPending() && found != wanted.end())
      part(operand, found->second);
  }
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

const Partitioner::Placed *Partitioner::pendingOf(Value original) const {
  auto found = placed.find(original);
  bool is = found != placed.end() && found->second.isPending() &&
            found->second.own.getType() == original.getType();
  return is ? &found->second : nullptr;
}

/// The combination by which an op sums up, or the like, elements of its only input.
static std::optional<comm::Combine> combinesInput(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  Operation *combiner = combinerOf(op, 0);
  bool isAll = combiner && llvm::hasNItems(*op.getBlock(), 2) &&
               llvm::is_contained(combiner->getOperands(), op.getRegionInputArgs().front());
  return isAll && isNeutralInit(op.getDpsInits().front(), combiner) ? combineOf(combiner)
                                                                    : std::nullopt;
}

/// The combination by which an op combines two tensors element by element.
static std::optional<comm::Combine> combinesTwo(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return OpTrait::hasElementwiseMappableTraits(op) && op->getNumOperands() == 2 ? combineOf(op)
                                                                                  : std::nullopt;
  if (structured.getNumDpsInputs() != 2 || structured.getNumDpsInits() != 1 ||
      structured.getNumReductionLoops() > 0 || !llvm::hasNItems(*structured.getBlock(), 2) ||
      !llvm::all_of(structured.getIndexingMapsArray(), [](AffineMap m) { return m.isIdentity(); }))
    return std::nullopt;
  Operation &combiner = structured.getBlock()->front();
  bool readsBoth = llvm::equal(combiner.getOperands(), structured.getRegionInputArgs());
  return readsBoth &&
                 structured.getBlock()->getTerminator()->getOperand(0).getDefiningOp() == &combiner
             ? combineOf(&combiner)
             : std::nullopt;
}

/// Combining a value with itself changes nothing: what all ranks hold may stand for what each has.
static bool isIdempotent(comm::Combine combine) { return combine != comm::Combine::Sum; }

bool Partitioner::visitPending(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  const Placed *first = pendingOf(op->getOperand(0));
  bool moves = isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                   linalg::TransposeOp>(op);
  unsigned count = 0; // operands that are combined
  std::optional<comm::Combine> combine;
  if (moves && first) {
    count = 1;
    combine = first->combine;
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op);
             structured && (combine = combinesInput(structured))) {
    count = 1;
  } else if ((combine = combinesTwo(op))) {
    count = 2;
  }
  SmallVector<Value> operands;
  unsigned pending = 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const Placed *form = i < count ? pendingOf(operand) : nullptr;
    // Ranks would exchange twice what others read as well.
    bool waits = form && form->combine == combine && operand.hasOneUse();
    bool stands = i >= count || (combine && isIdempotent(*combine) && !dimOf(operand));
    if (!waits && (!stands || form))
      return false;
    pending += waits;
    operands.push_back(waits ? form->own : Value());
  }
  if (pending == 0)
    return false;
  for (auto [original, own] : llvm::zip_equal(op->getOperands(), operands))
    if (!own)
      own = whole(original);
  Operation *clone = cloneWith(op, operands, op->getResultTypes());
  placed[op->getResult(0)] = {{}, {}, 0, clone->getResult(0), *combine};
  return true;
}
