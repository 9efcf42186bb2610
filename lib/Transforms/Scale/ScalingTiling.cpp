// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaling ops in tiles: for each op the loops it stands for, and where the elements of its operands
// and results lie among them; all else follows. A tile may lie within what shares a scale that is
// read. What computes a scale, or sums before it is scaled, takes whole blocks, so that the results
// keep their bits; other tiles are refused.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Transforms/Scale/Interfaces.h"

using namespace mlir;
using namespace mlir::mp;

static RankedTensorType rankedTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
/// The place of a dimension among the loops.
struct Place {
  static constexpr int64_t all = -1;
  unsigned loop;
  int64_t per = 1;   ///< iterations that one element serves, or all
  int64_t whole = 1; ///< a tile has a multiple of so many, or all
};
using Places = SmallVector<Place>;

struct Access {
  SmallVector<utils::IteratorType> loops;
  SmallVector<Places> operands, results; ///< in their order
};
} // namespace

static Places inPlace(RankedTensorType type) {
  Places places;
  for (int64_t dim = 0; dim != type.getRank(); ++dim)
    places.push_back({unsigned(dim)});
  return places;
}

/// Places scales that lie over data whose places are given.
static Places over(RankedTensorType scale, RankedTensorType data, ArrayRef<Place> ofData) {
  Places places;
  for (int64_t dim = 0; dim != scale.getRank(); ++dim) {
    int64_t count = scale.getDimSize(dim), size = data.getDimSize(dim);
    places.push_back({ofData[dim].loop, count == size ? 1
                                        : count == 1  ? Place::all
                                                      : size / count});
  }
  return places;
}

/// Places data whose blocks are taken as wholes, each making one of `scale`.
static Places inBlocks(RankedTensorType data, RankedTensorType scale) {
  Places places = inPlace(data), ofScale = over(scale, data, places);
  for (auto [dim, place] : llvm::enumerate(places))
    place.whole =
        scale.getRank() == 0 ? (data.getDimSize(dim) == 1 ? 1 : Place::all) : ofScale[dim].per;
  return places;
}

static Access accessOf(ScaledMatmulOp op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  Access access;
  access.loops.assign(maps[0].getNumDims(), utils::IteratorType::parallel);
  SmallVector<int64_t> whole(maps[0].getNumDims(), 1);
  auto placesOf = [&](AffineMap map) {
    Places places;
    for (unsigned dim = 0; dim != map.getNumResults(); ++dim)
      places.push_back({map.getDimPosition(dim), 1, whole[map.getDimPosition(dim)]});
    return places;
  };
  // A sum is scaled once: it is not cut.
  for (unsigned loop : op.getSummedLoops()) {
    access.loops[loop] = utils::IteratorType::reduction;
    int64_t blocks = op.getBlocksAlong(loop);
    auto dim = maps[0].getResultPosition(getAffineDimExpr(loop, op.getContext()));
    whole[loop] = blocks == 1 ? Place::all : rankedTypeOf(op.getA()).getDimSize(*dim) / blocks;
  }
  access.results.push_back(placesOf(maps[2]));
  access.operands.push_back(access.results.front());
  OperandRange scalesOf[] = {op.getScalesA(), op.getScalesB()};
  Value factors[] = {op.getA(), op.getB()};
  for (auto [index, data] : llvm::enumerate(factors)) {
    access.operands.push_back(placesOf(maps[index]));
    Places ofData = access.operands.back();
    for (Value scale : scalesOf[index])
      access.operands.push_back(over(rankedTypeOf(scale), rankedTypeOf(data), ofData));
  }
  return access;
}

static Access accessOf(Operation *op) {
  if (auto matmul = dyn_cast<ScaledMatmulOp>(op))
    return accessOf(matmul);
  RankedTensorType data = rankedTypeOf(op->getOperand(0));
  Access access;
  access.loops.assign(data.getRank(), utils::IteratorType::parallel);
  Places same = inPlace(data), source = same;
  if (auto amax = dyn_cast<AmaxOp>(op))
    source = inBlocks(data, amax.getType());
  else if (auto blocks = dyn_cast<BlockQuantizeOp>(op))
    source = inBlocks(data, rankedTypeOf(blocks.getScale()));
  else if (auto hadamard = dyn_cast<HadamardOp>(op))
    source[hadamard.getAxis()].whole = hadamard.getSigns().size();
  for (Value operand : op->getOperands())
    access.operands.push_back(over(rankedTypeOf(operand), data, same));
  access.operands.front() = source;
  for (Value result : op->getResults())
    access.results.push_back(over(rankedTypeOf(result), data, same));
  return access;
}

//===-- Tiles ---------------------------------------------------------------------------===//

/// True if the value is a multiple of `factor` in every iteration of the loops around it.
static bool isMultiple(OpFoldResult value, int64_t factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  if (auto argument = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(value))) {
    auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    auto variables = loop ? loop.getLoopInductionVars() : std::nullopt;
    auto lower = loop ? loop.getLoopLowerBounds() : std::nullopt,
         steps = loop ? loop.getLoopSteps() : std::nullopt;
    if (!variables || !lower || !steps)
      return false;
    auto place = llvm::find(*variables, argument);
    if (place == variables->end())
      return false;
    unsigned index = place - variables->begin();
    return isMultiple((*lower)[index], factor) && isMultiple((*steps)[index], factor);
  }
  auto apply = cast<Value>(value).getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return false;
  AffineMap map = apply.getAffineMap();
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    bool isSymbol = i >= map.getNumDims();
    AffineExpr expr = isSymbol ? getAffineSymbolExpr(i - map.getNumDims(), map.getContext())
                               : getAffineDimExpr(i, map.getContext());
    (isSymbol ? symbols : dims).push_back(isMultiple(operand, factor) ? expr * factor : expr);
  }
  return map.getResult(0).replaceDimsAndSymbols(dims, symbols).isMultipleOf(factor);
}

namespace {
struct Tile {
  SmallVector<OpFoldResult> offsets, sizes;
};
} // namespace

/// Returns the tile of an operand or result, for a tile of the loops; failure where it cuts a
/// block.
static FailureOr<Tile> tileOf(OpBuilder &builder, Operation *op, ArrayRef<Place> places,
                              const Tile &loops, ArrayRef<Range> domain) {
  MLIRContext *context = builder.getContext();
  Tile tile;
  for (const Place &place : places) {
    OpFoldResult offset = loops.offsets[place.loop], size = loops.sizes[place.loop];
    std::optional<int64_t> elements = getConstantIntValue(size),
                           first = getConstantIntValue(offset);
    bool isAll = first == 0 && isEqualConstantIntOrValue(size, domain[place.loop].size);
    auto holds = [&](int64_t block) { // whole blocks
      return elements && block > 0 && *elements % block == 0 && isMultiple(offset, block);
    };
    bool lies = elements && place.per > 1 && *elements > 0 && place.per % *elements == 0 &&
                isMultiple(offset, *elements); // within one
    if (!(place.whole == 1 || isAll || holds(place.whole)) ||
        !(place.per == 1 || place.per == Place::all || holds(place.per) || lies)) {
      int64_t block = place.whole == 1 ? place.per : place.whole;
      auto remark = op->emitRemark("is not tiled by ");
      (elements ? remark << *elements : remark << "a number not known")
          << " along loop d" << place.loop << ", expected ";
      (block == Place::all ? remark << "all of it" : remark << "multiples of " << block)
          << (place.whole == 1 ? ", or tiles that divide that" : "")
          << ", which share a scale or a sum";
      return failure();
    }
    if (place.per == 1) {
      tile.offsets.push_back(offset);
      tile.sizes.push_back(size);
    } else if (place.per == Place::all) {
      tile.offsets.push_back(builder.getIndexAttr(0));
      tile.sizes.push_back(builder.getIndexAttr(1));
    } else {
      AffineExpr block = getAffineDimExpr(0, context).floorDiv(place.per);
      tile.offsets.push_back(
          affine::makeComposedFoldedAffineApply(builder, op->getLoc(), block, {offset}));
      tile.sizes.push_back(builder.getIndexAttr(std::max<int64_t>(1, *elements / place.per)));
    }
  }
  return tile;
}

static SmallVector<Range> domainOf(OpBuilder &builder, Operation *op, const Access &access) {
  SmallVector<Range> domain(access.loops.size(),
                            {builder.getIndexAttr(0), OpFoldResult(), builder.getIndexAttr(1)});
  for (auto [operand, places] : llvm::zip_equal(op->getOperands(), access.operands))
    for (auto [dim, place] : llvm::enumerate(places))
      if (place.per == 1 && !domain[place.loop].size)
        domain[place.loop].size = tensor::getMixedSize(builder, op->getLoc(), operand, dim);
  return domain;
}

static FailureOr<TilingResult> buildTile(OpBuilder &builder, Operation *op, const Tile &loops) {
  Access access = accessOf(op);
  SmallVector<Range> domain = domainOf(builder, op, access);
  TilingResult result;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (auto [operand, places] : llvm::zip_equal(op->getOperands(), access.operands)) {
    FailureOr<Tile> tile = tileOf(builder, op, places, loops, domain);
    if (failed(tile))
      return failure();
    operands.push_back(operand);
    if (places.empty())
      continue;
    SmallVector<OpFoldResult> strides(places.size(), builder.getIndexAttr(1));
    auto slice = tensor::ExtractSliceOp::create(builder, op->getLoc(), operand, tile->offsets,
                                                tile->sizes, strides);
    operands.back() = slice;
    result.generatedSlices.push_back(slice);
  }
  for (auto [value, places] : llvm::zip_equal(op->getResults(), access.results)) {
    FailureOr<Tile> tile = tileOf(builder, op, places, loops, domain);
    if (failed(tile))
      return failure();
    SmallVector<int64_t> shape;
    for (OpFoldResult size : tile->sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    types.push_back(RankedTensorType::get(shape, rankedTypeOf(value).getElementType(),
                                          rankedTypeOf(value).getEncoding()));
  }
  Operation *tiled = clone(builder, op, types, operands);
  result.tiledOps.push_back(tiled);
  llvm::append_range(result.tiledValues, tiled->getResults());
  return result;
}

namespace {

template <typename ConcreteOp>
struct TilingModel : TilingInterface::ExternalModel<TilingModel<ConcreteOp>, ConcreteOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return accessOf(op).loops;
  }
  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &builder) const {
    return domainOf(builder, op, accessOf(op));
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *op, OpBuilder &builder,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) const {
    return buildTile(builder, op,
                     {SmallVector<OpFoldResult>(offsets), SmallVector<OpFoldResult>(sizes)});
  }

  LogicalResult getResultTilePosition(Operation *op, OpBuilder &builder, unsigned number,
                                      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                      SmallVector<OpFoldResult> &resultOffsets,
                                      SmallVector<OpFoldResult> &resultSizes) const {
    Access access = accessOf(op);
    auto tile = tileOf(builder, op, access.results[number],
                       {SmallVector<OpFoldResult>(offsets), SmallVector<OpFoldResult>(sizes)},
                       domainOf(builder, op, access));
    if (failed(tile))
      return failure();
    resultOffsets = tile->offsets;
    resultSizes = tile->sizes;
    return success();
  }

  LogicalResult
  getIterationDomainTileFromResultTile(Operation *op, OpBuilder &builder, unsigned number,
                                       ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                       SmallVectorImpl<OpFoldResult> &loopOffsets,
                                       SmallVectorImpl<OpFoldResult> &loopSizes) const {
    Access access = accessOf(op);
    for (const Range &range : domainOf(builder, op, access)) {
      loopOffsets.push_back(range.offset);
      loopSizes.push_back(range.size);
    }
    for (auto [dim, place] : llvm::enumerate(access.results[number])) {
      if (place.per == Place::all)
        continue;
      AffineExpr times = getAffineDimExpr(0, builder.getContext()) * place.per;
      auto iterations = [&](OpFoldResult elements) {
        return affine::makeComposedFoldedAffineApply(builder, op->getLoc(), times, {elements});
      };
      loopOffsets[place.loop] = iterations(offsets[dim]);
      loopSizes[place.loop] = iterations(sizes[dim]);
    }
    return success();
  }

  FailureOr<TilingResult> generateResultTileValue(Operation *op, OpBuilder &builder,
                                                  unsigned number, ArrayRef<OpFoldResult> offsets,
                                                  ArrayRef<OpFoldResult> sizes) const {
    Tile loops;
    if (failed(getIterationDomainTileFromResultTile(op, builder, number, offsets, sizes,
                                                    loops.offsets, loops.sizes)))
      return failure();
    FailureOr<TilingResult> tiled = buildTile(builder, op, loops);
    if (succeeded(tiled))
      tiled->tiledValues = {tiled->tiledValues[number]};
    return tiled;
  }
};

template <typename ConcreteOp>
struct ShapeModel
    : ReifyRankedShapedTypeOpInterface::ExternalModel<ShapeModel<ConcreteOp>, ConcreteOp> {
  LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) const {
    Access access = accessOf(op);
    SmallVector<Range> domain = domainOf(builder, op, access);
    for (auto [result, places] : llvm::zip_equal(op->getResults(), access.results)) {
      auto &shape = shapes.emplace_back();
      for (auto [size, place] : llvm::zip_equal(rankedTypeOf(result).getShape(), places))
        shape.push_back(ShapedType::isDynamic(size) ? domain[place.loop].size
                                                    : OpFoldResult(builder.getIndexAttr(size)));
    }
    return success();
  }
};

template <typename... Ops> void attachTiling(MLIRContext *context) {
  (Ops::template attachInterface<TilingModel<Ops>, ShapeModel<Ops>>(*context), ...);
}

} // namespace

void mlir::mp::registerScalingTiling(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MPDialect *) {
    context->loadDialect<affine::AffineDialect, tensor::TensorDialect>();
    attachTiling<AmaxOp, ComputeScaleOp, QuantizeOp, DequantizeOp, BlockQuantizeOp, HadamardOp,
                 ScaledMatmulOp>(context);
  });
}
