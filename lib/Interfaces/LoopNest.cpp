// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads linalg ops, elementwise tensor ops, TOSA reductions and moves of data as loop nests.

#include "mp/Interfaces/LoopNest.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// A nest of parallel loops over the elements of a result.
struct NestBuilder {
  explicit NestBuilder(ArrayRef<int64_t> shape, MLIRContext *context) : context(context) {
    nest.sizes.assign(shape.begin(), shape.end());
    nest.isReduction.assign(shape.size(), false);
  }
  AffineExpr loop(unsigned index) const { return getAffineDimExpr(index, context); }
  AffineExpr constant(int64_t value) const { return getAffineConstantExpr(value, context); }
  AffineMap map(ArrayRef<AffineExpr> results) const {
    return AffineMap::get(nest.sizes.size(), 0, results, context);
  }
  AffineMap identity() const {
    return AffineMap::getMultiDimIdentityMap(nest.sizes.size(), context);
  }

  MLIRContext *context;
  LoopNest nest;
};
} // namespace

/// Reads a tensor of `from` at the position of each element of `to`; dimensions of size 1 are
/// repeated. Null where a dynamic size may be 1 beside one that is not: then it would be repeated.
static AffineMap readElementwise(const NestBuilder &builder, Type from, RankedTensorType to) {
  if (!isa<ShapedType>(from))
    return builder.map({});
  auto tensor = dyn_cast<RankedTensorType>(from);
  if (!tensor)
    return {};
  if (tensor.getRank() == 0)
    return builder.map({});
  if (tensor.getRank() != to.getRank())
    return {};
  if (tensor.getShape() == to.getShape())
    return builder.identity();
  SmallVector<AffineExpr> results;
  for (auto [dim, size] : llvm::enumerate(tensor.getShape())) {
    if (size != 1 && size != to.getDimSize(dim))
      return {};
    results.push_back(size == 1 ? builder.constant(0) : builder.loop(dim));
  }
  return builder.map(results);
}

static std::optional<LoopNest> readElementwiseOp(Operation *op, RankedTensorType type) {
  NestBuilder builder(type.getShape(), op->getContext());
  for (Type operand : op->getOperandTypes())
    builder.nest.reads.push_back(readElementwise(builder, operand, type));
  builder.nest.writes.push_back(builder.identity());
  return builder.nest;
}

static std::optional<LoopNest> readReduction(Operation *op, const FloatMeaning &meaning) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || !isa<RankedTensorType>(op->getResult(0).getType()))
    return std::nullopt;
  NestBuilder builder(type.getShape(), op->getContext());
  SmallVector<AffineExpr> written;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isReduced = dim == meaning.dims[0];
    builder.nest.isReduction[dim] = isReduced;
    written.push_back(isReduced ? builder.constant(0) : builder.loop(dim));
  }
  builder.nest.reads = {builder.identity()};
  builder.nest.writes = {builder.map(written)};
  return builder.nest;
}

/// Matches the dimensions other than 1 of two shapes with equal elements in equal order. At most
/// one size may be dynamic, or sizes could be exchanged.
static bool differInUnitDims(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto isLong = [](int64_t size) { return size != 1; };
  auto longOf = [&](ArrayRef<int64_t> shape) {
    return llvm::to_vector(llvm::make_filter_range(shape, isLong));
  };
  SmallVector<int64_t> left = longOf(a), right = longOf(b);
  return left == right && llvm::count_if(left, ShapedType::isDynamic) <= 1;
}

/// A change of shape that puts in or takes out dimensions of size 1 alone.
static AffineMap readReshape(const NestBuilder &builder, RankedTensorType from,
                             RankedTensorType to) {
  if (!differInUnitDims(from.getShape(), to.getShape()))
    return {};
  SmallVector<AffineExpr> results;
  int64_t next = 0;
  for (int64_t size : from.getShape()) {
    if (size == 1) {
      results.push_back(builder.constant(0));
      continue;
    }
    while (to.getDimSize(next) == 1)
      ++next;
    results.push_back(builder.loop(next++));
  }
  return builder.map(results);
}

/// A slice of static place; a dimension of dynamic size is taken whole or not at all.
static AffineMap readSlice(const NestBuilder &builder, tensor::ExtractSliceOp op) {
  RankedTensorType source = op.getSourceType();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<AffineExpr> results;
  unsigned next = 0;
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    int64_t offset = op.getStaticOffsets()[dim], size = op.getStaticSizes()[dim],
            stride = op.getStaticStrides()[dim];
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) ||
        ShapedType::isDynamic(stride))
      return {};
    results.push_back(dropped[dim] ? builder.constant(offset)
                                   : builder.loop(next) * stride + offset);
    next += !dropped[dim];
  }
  return builder.map(results);
}

static AffineMap readTosaSlice(const NestBuilder &builder, tosa::SliceOp op) {
  DenseElementsAttr start;
  if (!matchPattern(op.getStart(), m_Constant(&start)) ||
      ShapedType::isDynamicShape(builder.nest.sizes))
    return {};
  SmallVector<AffineExpr> results;
  for (auto [dim, offset] : llvm::enumerate(start.getValues<APInt>()))
    results.push_back(builder.loop(dim) + offset.getSExtValue());
  return results.size() == builder.nest.sizes.size() ? builder.map(results) : AffineMap();
}

static AffineMap readReverse(const NestBuilder &builder, tosa::ReverseOp op) {
  SmallVector<AffineExpr> results;
  for (auto [dim, size] : llvm::enumerate(builder.nest.sizes)) {
    bool isReversed = dim == op.getAxis();
    if (isReversed && ShapedType::isDynamic(size))
      return {};
    results.push_back(isReversed ? size - 1 - builder.loop(dim) : builder.loop(dim));
  }
  return builder.map(results);
}

static AffineMap readTranspose(const NestBuilder &builder, tosa::TransposeOp op) {
  ArrayRef<int32_t> permutation = op.getPerms();
  SmallVector<AffineExpr> results(permutation.size());
  for (auto [dim, from] : llvm::enumerate(permutation))
    results[from] = builder.loop(dim);
  return builder.map(results);
}

/// The elements of a constant of `count` integers, or of a sum of two, of which one may be a single
/// number; empty where they are not known.
static SmallVector<int64_t> readConstantIndices(Value value, int64_t count, unsigned depth = 0) {
  DenseIntElementsAttr constant;
  SmallVector<int64_t> elements;
  if (matchPattern(value, m_Constant(&constant))) {
    for (const APInt &element : constant.getValues<APInt>())
      elements.push_back(element.getSExtValue());
    if (elements.size() == 1)
      elements.resize(count, elements[0]);
    return elements.size() == size_t(count) ? elements : SmallVector<int64_t>();
  }
  auto sum = value.getDefiningOp<tosa::AddOp>();
  if (!sum || depth > 4)
    return {};
  elements = readConstantIndices(sum.getInput1(), count, depth + 1);
  SmallVector<int64_t> other = readConstantIndices(sum.getInput2(), count, depth + 1);
  if (elements.empty() || other.empty())
    return {};
  for (auto [element, added] : llvm::zip_equal(elements, other))
    element += added;
  return elements;
}

/// A gather along the middle dimension whose indices, constants, are an affine function of their
/// place: i, i / k or i mod k.
static AffineMap readGather(const NestBuilder &builder, tosa::GatherOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getIndices().getType());
  if (!type || !type.hasStaticShape() || type.getDimSize(0) != 1)
    return {};
  SmallVector<int64_t> places = readConstantIndices(op.getIndices(), type.getNumElements());
  int64_t count = places.size();
  for (int64_t k = 1; k <= count; ++k) {
    auto follows = [&](auto function) {
      return llvm::all_of(llvm::enumerate(places), [&](auto entry) {
        return int64_t(entry.value()) == function(int64_t(entry.index()));
      });
    };
    AffineExpr middle = builder.loop(1);
    if (follows([&](int64_t i) { return i / k; }))
      middle = k == 1 ? middle : middle.floorDiv(k);
    else if (follows([&](int64_t i) { return i % k; }))
      middle = middle % k;
    else
      continue;
    return builder.map({builder.loop(0), middle, builder.loop(2)});
  }
  return {};
}

static AffineMap readTile(const NestBuilder &builder, tosa::TileOp op) {
  auto source = dyn_cast<RankedTensorType>(op.getInput1().getType());
  if (!source || !source.hasStaticShape())
    return {};
  SmallVector<AffineExpr> results;
  for (auto [dim, size] : llvm::enumerate(source.getShape()))
    results.push_back(size == builder.nest.sizes[dim] ? builder.loop(dim)
                                                      : builder.loop(dim) % size);
  return builder.map(results);
}

/// Returns where an op that moves elements reads each element of its result; null if that is not
/// affine.
static AffineMap readMove(const NestBuilder &builder, Operation *op, RankedTensorType to) {
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (isa<tensor::SplatOp>(op))
    return builder.map({});
  if (!from)
    return {};
  if (isa<tosa::IdentityOp>(op))
    return readReshape(builder, from, to);
  if (isa<tensor::CastOp>(op)) {
    SmallVector<AffineExpr> results;
    for (int64_t dim = 0; from.getRank() == to.getRank() && dim < from.getRank(); ++dim)
      results.push_back(to.getDimSize(dim) == 1 ? builder.constant(0) : builder.loop(dim));
    return from.getRank() == to.getRank() ? builder.map(results) : AffineMap();
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tosa::ReshapeOp>(op))
    return readReshape(builder, from, to);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return readSlice(builder, slice);
  if (auto slice = dyn_cast<tosa::SliceOp>(op))
    return readTosaSlice(builder, slice);
  if (auto reverse = dyn_cast<tosa::ReverseOp>(op))
    return readReverse(builder, reverse);
  if (auto transpose = dyn_cast<tosa::TransposeOp>(op))
    return readTranspose(builder, transpose);
  if (auto gather = dyn_cast<tosa::GatherOp>(op))
    return readGather(builder, gather);
  if (auto tile = dyn_cast<tosa::TileOp>(op))
    return readTile(builder, tile);
  return {};
}

SmallVector<int64_t, 4> mlir::mp::readLoopSizes(linalg::LinalgOp op, ArrayRef<AffineMap> maps) {
  // Asks operands that loops index by themselves; else upstream inverts all maps together.
  SmallVector<int64_t, 4> sizes(maps.front().getNumDims(), -1);
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), maps)) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    for (auto [dim, result] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(result)) {
        int64_t &size = sizes[loop.getPosition()];
        if (size < 0) // not known, or dynamic so far
          size = type.getDimSize(dim);
      }
  }
  return llvm::is_contained(sizes, -1) ? SmallVector<int64_t, 4>(op.getStaticLoopRanges()) : sizes;
}

static std::optional<LoopNest> readStructured(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return std::nullopt;
  LoopNest nest;
  nest.reads = op.getIndexingMapsArray();
  if (nest.reads.size() != op->getNumOperands())
    return std::nullopt;
  nest.sizes = readLoopSizes(op, nest.reads);
  for (utils::IteratorType kind : op.getIteratorTypesArray())
    nest.isReduction.push_back(kind == utils::IteratorType::reduction);
  nest.writes.append(nest.reads.begin() + op.getNumDpsInputs(), nest.reads.end());
  return nest;
}

std::optional<LoopNest> mlir::mp::readLoopNest(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return readStructured(structured);
  return readLoopNest(op, getFloatMeaning(op));
}

std::optional<LoopNest> mlir::mp::readLoopNest(Operation *op, const FloatMeaning &meaning) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return readStructured(structured);
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  if (!type)
    return std::nullopt;
  switch (meaning.kind) {
  case FloatMeaning::Kind::Reduction: return readReduction(op, meaning);
  case FloatMeaning::Kind::Move: {
    NestBuilder builder(type.getShape(), op->getContext());
    builder.nest.reads.assign(op->getNumOperands(), AffineMap());
    if (!(builder.nest.reads[0] = readMove(builder, op, type)))
      return std::nullopt;
    builder.nest.writes.push_back(builder.identity());
    return builder.nest;
  }
  case FloatMeaning::Kind::Unary:
  case FloatMeaning::Kind::Binary:
  case FloatMeaning::Kind::Fma:
  case FloatMeaning::Kind::IntegerPower:
  case FloatMeaning::Kind::Clamp:
  case FloatMeaning::Kind::Cast:
  case FloatMeaning::Kind::Integer:
  case FloatMeaning::Kind::Select:
  case FloatMeaning::Kind::Compare: return readElementwiseOp(op, type);
  default: return std::nullopt;
  }
}

/// True if `value` of the body of `op` is made of partial results.
static bool dependsOnPartials(linalg::LinalgOp op, Value value) {
  SmallVector<Value> pending = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second || next.getParentBlock() != op.getBlock())
      continue;
    if (llvm::is_contained(op.getRegionOutputArgs(), next))
      return true;
    if (Operation *def = next.getDefiningOp()) {
      if (def->getNumRegions() > 0)
        return true;
      llvm::append_range(pending, def->getOperands());
    }
  }
  return false;
}

std::optional<Combination> mlir::mp::readCombination(linalg::LinalgOp op, unsigned index) {
  BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(index).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2)
    return std::nullopt;
  for (unsigned operand : {0u, 1u}) {
    Value combined = combiner->getOperand(1 - operand);
    if (combiner->getOperand(operand) == out && !dependsOnPartials(op, combined))
      return Combination{combiner, combined};
  }
  return std::nullopt;
}
