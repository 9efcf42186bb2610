// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds what moves with the channels of an op, and the order of its loops then.

#include "Layouts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

SmallVector<int64_t> mlir::mp::channelsLast(int64_t rank) {
  SmallVector<int64_t> order{0};
  for (int64_t dim = 2; dim < rank; ++dim)
    order.push_back(dim);
  order.push_back(1);
  return order;
}

RankedTensorType mlir::mp::withChannelsLast(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  applyPermutationToVector(shape, channelsLast(type.getRank()));
  return type.clone(shape);
}

bool mlir::mp::multiplies(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && isContraction(op) && structured.getNumDpsInputs() == 2 &&
         structured.getNumDpsInits() == 1 && op->getNumResults() == 1 &&
         structured.hasPureTensorSemantics();
}

bool mlir::mp::isConvolution(Operation *op) {
  return multiplies(op) &&
         llvm::any_of(cast<linalg::LinalgOp>(op).getIndexingMapsArray(), [](AffineMap map) {
           return !llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
         });
}

bool mlir::mp::mayMove(Value value, const Ranks &ranks) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.getEncoding() && ranks.contains(type.getRank());
}

bool mlir::mp::isUniform(Value value) {
  SplatElementsAttr splat;
  return matchPattern(value, m_Constant(&splat)) || value.getDefiningOp<tensor::EmptyOp>() ||
         value.getDefiningOp<linalg::FillOp>();
}

/// True for a structured op whose body sees elements alone, not where they lie.
static bool movesInLoops(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op->getNumRegions() != 1 ||
      op.getBlock()->getNumArguments() != op->getNumOperands() || op.hasIndexSemantics())
    return false;
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return !map.getNumSymbols(); });
}

Moves mlir::mp::movesOf(Operation *op, const Ranks &ranks) {
  if (op->getNumResults() != 1)
    return Moves::No;
  if (auto turned = dyn_cast<linalg::TransposeOp>(op)) {
    if (!mayMove(op->getResult(0), ranks))
      return Moves::No;
    const SmallVector<int64_t> last = channelsLast(turned.getPermutation().size());
    if (turned.getPermutation() == ArrayRef(last))
      return Moves::Away;
    return turned.getPermutation() == ArrayRef(invertPermutationVector(last)) ? Moves::Back
                                                                              : Moves::No;
  }
  Moves moves = Moves::No;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    moves = movesInLoops(structured) ? Moves::InLoops : Moves::No;
  else if (auto padding = dyn_cast<tensor::PadOp>(op))
    moves = padding.getConstantPaddingValue() && padding.getLow().empty() &&
                    padding.getHigh().empty() && mayMove(op->getResult(0), ranks)
                ? Moves::WithPadding
                : Moves::No;
  else if (OpTrait::hasElementwiseMappableTraits(op) && mayMove(op->getResult(0), ranks))
    moves = Moves::ByElement;
  return moves != Moves::No && !movedOperands(op, ranks).empty() ? moves : Moves::No;
}

/// True for an operand of which each dimension is indexed by loops.
static bool isIndexedByLoops(AffineMap map) {
  return llvm::none_of(map.getResults(),
                       [](AffineExpr place) { return place.isSymbolicOrConstant(); });
}

SmallVector<OpOperand *> mlir::mp::movedOperands(Operation *op, const Ranks &ranks) {
  SmallVector<OpOperand *> moved;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (mayMove(operand.get(), ranks) &&
        (!structured || isIndexedByLoops(structured.getMatchingIndexingMap(&operand))))
      moved.push_back(&operand);
  return moved;
}

LoopOrder mlir::mp::loopsAsTheyAre(linalg::LinalgOp op) {
  LoopOrder loops{{}, op.getIndexingMapsArray(), SmallVector<bool>(op->getNumOperands(), false)};
  llvm::append_range(loops.order, llvm::seq<int64_t>(op.getNumLoops()));
  return loops;
}

LoopOrder mlir::mp::loopsMoved(linalg::LinalgOp op, const Ranks &ranks) {
  LoopOrder moved = loopsAsTheyAre(op);
  moved.order.clear();
  for (OpOperand *operand : movedOperands(op, ranks)) {
    AffineMap &map = moved.maps[operand->getOperandNumber()];
    SmallVector<unsigned> order;
    for (int64_t dim : channelsLast(map.getNumResults()))
      order.push_back(unsigned(dim));
    map = map.getSubMap(order);
    moved.isMoved[operand->getOperandNumber()] = true;
  }
  // Loops of the result in the order of its dimensions, then those that are summed over, in the
  // order in which the first operand that has them lies.
  auto append = [&](AffineMap map) {
    for (AffineExpr place : map.getResults())
      for (unsigned loop = 0; loop != map.getNumDims(); ++loop)
        if (place.isFunctionOfDim(loop) && !llvm::is_contained(moved.order, loop))
          moved.order.push_back(loop);
  };
  append(moved.maps.back());
  for (AffineMap map : moved.maps)
    append(map);
  SmallVector<AffineExpr> places(moved.order.size());
  for (auto [place, loop] : llvm::enumerate(moved.order))
    places[loop] = getAffineDimExpr(unsigned(place), op.getContext());
  for (AffineMap &map : moved.maps)
    map = map.replaceDimsAndSymbols(places, {}, unsigned(places.size()), 0);
  return moved;
}
