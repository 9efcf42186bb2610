// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured ops on parts: one of their loops runs over this rank's share. If it is reduced, ranks
// combine what they have.

#include "Partitioner.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

/// The place at which the map names the loop and nothing else; nothing if it does not name it.
/// `clean` is false if the loop is part of a larger expression, or named twice.
static std::optional<unsigned> placeOf(AffineMap map, unsigned loop, bool &clean) {
  std::optional<unsigned> place;
  for (auto [i, expression] : llvm::enumerate(map.getResults())) {
    if (!expression.isFunctionOfDim(loop))
      continue;
    clean &= isa<AffineDimExpr>(expression) && !place;
    place = unsigned(i);
  }
  return place;
}

Operation *distribute::combinerOf(linalg::LinalgOp op, unsigned index) {
  bool eachOnce = llvm::all_of(op.getRegionOutputArgs(),
                               [](BlockArgument destination) { return destination.hasOneUse(); });
  SmallVector<Operation *> combiners;
  if (!eachOnce || !matchReduction(op.getRegionOutputArgs(), index, combiners) ||
      combiners.size() != 1)
    return nullptr;
  return combiners.front();
}

std::optional<comm::Combine> distribute::combineOf(Operation *combiner) {
  return llvm::TypeSwitch<Operation *, std::optional<comm::Combine>>(combiner)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return comm::Combine::Sum; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return comm::Combine::Maximum; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return comm::Combine::Minimum; })
      .Case<arith::MaxNumFOp>([](auto) { return comm::Combine::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return comm::Combine::MinNum; })
      .Case<arith::OrIOp>([](auto) { return comm::Combine::Or; })
      .Case<arith::AndIOp>([](auto) { return comm::Combine::And; })
      .Default(std::nullopt);
}

/// Ranks combine floats of 32 bits and more, and integers that the runtime knows. A maximum of i1
/// compares -1 and 0 here, 1 and 0 there.
static bool canCombine(Type element, comm::Combine combine) {
  if (auto format = dyn_cast<FloatType>(element))
    return format.getWidth() <= 32 || format.isF64();
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || !llvm::is_contained({1u, 8u, 32u, 64u}, integer.getWidth()))
    return false;
  return integer.getWidth() > 1 || combine == comm::Combine::Or || combine == comm::Combine::And ||
         combine == comm::Combine::Sum;
}

std::optional<int64_t> Partitioner::costOf(linalg::LinalgOp op, unsigned loop) const {
  int64_t extent = op.getStaticLoopRanges()[loop], bytes = 0;
  if (ShapedType::isDynamic(extent) || extent % ranks != 0)
    return std::nullopt;
  bool clean = true;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> place = placeOf(op.getMatchingIndexingMap(&operand), loop, clean);
    std::optional<int64_t> held = dimOf(operand.get());
    if (held && (!place || int64_t(*place) != *held))
      bytes += bytesToGather(operand.get());
  }
  if (!clean)
    return std::nullopt;
  if (op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
    return bytes;
  for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
    Operation *combiner = combinerOf(op, unsigned(i));
    auto type = dyn_cast<RankedTensorType>(init.getType());
    std::optional<comm::Combine> combine = combiner ? combineOf(combiner) : std::nullopt;
    if (!combine || !type || !type.hasStaticShape() || !canCombine(type.getElementType(), *combine))
      return std::nullopt;
    bytes += 2 * bytesOf(init);
  }
  return bytes;
}

bool Partitioner::visitStructured(linalg::LinalgOp op) {
  std::optional<unsigned> best;
  int64_t least = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<int64_t> dim = dimOf(operand.get());
    if (!dim)
      continue;
    auto place =
        dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(unsigned(*dim)));
    if (!place)
      continue;
    std::optional<int64_t> cost = costOf(op, place.getPosition());
    if (cost && (!best || *cost < least || (*cost == least && place.getPosition() < *best))) {
      best = place.getPosition();
      least = *cost;
    }
  }
  if (best)
    overPartsOf(op, *best);
  return best.has_value();
}

/// Zeros of both signs are neutral to a sum that starts from +0.
static bool isNeutral(Attribute value, Attribute neutral) {
  auto number = dyn_cast_or_null<FloatAttr>(value);
  auto expected = dyn_cast<FloatAttr>(neutral);
  if (number && expected && expected.getValue().isZero())
    return number.getValue().isZero();
  return value == neutral;
}

bool distribute::isNeutralInit(Value original, Operation *combiner) {
  Attribute filled;
  if (auto broadcast = original.getDefiningOp<linalg::BroadcastOp>())
    return isNeutralInit(broadcast.getInput(), combiner);
  if (auto fill = original.getDefiningOp<linalg::FillOp>())
    matchPattern(fill.getInputs().front(), m_Constant(&filled));
  else if (SplatElementsAttr splat; matchPattern(original, m_Constant(&splat)))
    filled = splat.getSplatValue<Attribute>();
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  return neutral && isNeutral(filled, *neutral);
}

/// The neutral element of a combination, or the init itself where it is that already.
static Value neutralInit(OpBuilder &b, Location loc, Value init, Value original,
                         Operation *combiner) {
  if (isNeutralInit(original, combiner))
    return init;
  auto type = cast<RankedTensorType>(init.getType());
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, *arith::getNeutralElement(combiner)));
}

/// Leaves what ranks have to be combined when it is asked for. An init that is not neutral counts
/// once, after that.
void Partitioner::combineRanks(Value original, Value own, Operation *combiner, Value init) {
  auto type = cast<RankedTensorType>(own.getType());
  auto format = dyn_cast<FloatType>(type.getElementType());
  Location loc = original.getLoc();
  if (format && format.getWidth() < 32)
    own = arith::ExtFOp::create(b, loc, cast<RankedTensorType>(type.clone(b.getF32Type())), own);
  placed[original] = {{}, {}, 0, own, *combineOf(combiner)};
  if (!init)
    return;
  OperationState state(loc, combiner->getName(), {whole(original), init}, type,
                       combiner->getAttrs());
  setWhole(original, b.create(state)->getResult(0));
}

void Partitioner::overPartsOf(linalg::LinalgOp op, unsigned loop) {
  Location loc = op.getLoc();
  bool isReduced = op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  bool clean = true;
  SmallVector<Value> operands, laterInits;
  SmallVector<Type> types;
  SmallVector<std::optional<unsigned>> places;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> place = placeOf(op.getMatchingIndexingMap(&operand), loop, clean);
    Value own = place ? part(operand.get(), *place) : whole(operand.get());
    if (op.isDpsInit(&operand)) {
      Value init = own;
      if (isReduced) {
        unsigned index = unsigned(places.size());
        own = neutralInit(b, loc, init, operand.get(), combinerOf(op, index));
      }
      laterInits.push_back(own == init ? Value() : init);
      places.push_back(place);
      types.push_back(own.getType());
    }
    operands.push_back(own);
  }
  Operation *clone = cloneWith(op, operands, types);
  // Indices count from the start of the whole.
  int64_t share = op.getStaticLoopRanges()[loop] / ranks;
  SmallVector<linalg::IndexOp> indices;
  clone->walk([&](linalg::IndexOp index) {
    if (index.getDim() == loop && index->getParentOp() == clone)
      indices.push_back(index);
  });
  if (!indices.empty()) {
    OpBuilder before(clone);
    Value size = arith::ConstantIndexOp::create(before, loc, share);
    Value start = arith::MulIOp::create(before, loc, rank(), size);
    for (linalg::IndexOp index : indices) {
      OpBuilder after(index->getContext());
      after.setInsertionPointAfter(index);
      auto moved = arith::AddIOp::create(after, loc, index, start);
      index.getResult().replaceAllUsesExcept(moved, moved);
    }
  }
  for (auto [i, original] : llvm::enumerate(op->getResults())) {
    Value result = clone->getResult(unsigned(i));
    if (isReduced)
      combineRanks(original, result, combinerOf(op, unsigned(i)), laterInits[i]);
    else
      setPart(original, result, int64_t(*places[i]));
  }
}
