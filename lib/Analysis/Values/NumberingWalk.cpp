// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk that numbers a program, in its order and without recursion along chains of ops:
//
//   1. block arguments, and results of what is not understood, are opaque;
//   2. ops on tensors and scalars are numbered by their meaning, read as loop nests;
//   3. bodies of linalg ops are numbered in the space of their loops, and what they yield is seen
//      from the result through the output's map;
//   4. reductions of whole fibres become reductions of nodes, all others are told apart.

#include "NumberingSpace.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/IntegerBounds.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::ReduceFn;

//===-- index spaces --------------------------------------------------------------------------===//

ValueNumbering::Space::Space(Operation *op, LoopNest loopNest) : op(op), nest(std::move(loopNest)) {
  if (!llvm::is_contained(nest.sizes, 1)) {
    extents = nest.sizes;
    return;
  }
  MLIRContext *context = op->getContext();
  for (int64_t size : nest.sizes) {
    loops.push_back(size == 1 ? getAffineConstantExpr(0, context)
                              : getAffineDimExpr(extents.size(), context));
    if (size != 1)
      extents.push_back(size);
  }
}

AffineMap ValueNumbering::Space::placeOf(Value value, AffineMap map) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == 0)
    return AffineMap::get(extents.size(), 0, op->getContext());
  bool isPlain = loops.empty();
  if (isPlain && !llvm::is_contained(type.getShape(), 1))
    return canonicalMap(map);
  SmallVector<AffineExpr> results;
  for (auto [dim, result] : llvm::enumerate(map.getResults()))
    if (type.getDimSize(dim) != 1)
      results.push_back(isPlain ? result : result.replaceDims(loops));
  return canonicalMap(AffineMap::get(extents.size(), 0, results, op->getContext()));
}

SmallVector<bool, 4> ValueNumbering::Space::getReduced() const {
  SmallVector<bool, 4> reduced;
  for (auto [size, isReduced] : llvm::zip_equal(nest.sizes, nest.isReduction))
    if (size != 1)
      reduced.push_back(isReduced);
  return reduced;
}

std::optional<SmallVector<unsigned, 4>> ValueNumbering::Space::getKept(Value result,
                                                                       unsigned index) const {
  SmallVector<unsigned, 4> kept;
  AffineMap map = placeOf(result, nest.writes[index]);
  SmallVector<bool, 4> reduced = getReduced();
  if (!map) {
    kept.resize(extents.size());
    std::iota(kept.begin(), kept.end(), 0);
    return llvm::is_contained(reduced, true) ? std::nullopt : std::optional(kept);
  }
  for (AffineExpr expr : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || reduced[loop.getPosition()] || llvm::is_contained(kept, loop.getPosition()))
      return std::nullopt;
    kept.push_back(loop.getPosition());
  }
  if (kept.size() != size_t(llvm::count(reduced, false)))
    return std::nullopt;
  return kept;
}

int64_t ValueNumbering::extentOf(Value value, unsigned dim) {
  int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return size;
  auto [known, isNew] = symbols.try_emplace({value, dim}, lastSymbol);
  if (isNew)
    known->second = --lastSymbol;
  return known->second;
}

SmallVector<int64_t, 4> ValueNumbering::extentsOf(Value value) {
  SmallVector<int64_t, 4> extents;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0, rank = type ? type.getRank() : 0; dim < rank; ++dim)
    if (type.getDimSize(dim) != 1)
      extents.push_back(extentOf(value, dim));
  return extents;
}

/// Calls `found` with each dimension of `value` that a map indexes by a loop of the space alone.
static void forEachLoop(Value value, AffineMap map,
                        llvm::function_ref<void(unsigned dim, unsigned loop)> found) {
  if (!map || !isa<RankedTensorType>(value.getType()))
    return;
  for (auto [dim, result] : llvm::enumerate(map.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(result))
      found(dim, loop.getPosition());
}

bool ValueNumbering::nameSizes(Space &space) {
  if (!llvm::is_contained(space.nest.sizes, ShapedType::kDynamic))
    return true;
  SmallVector<int64_t, 4> names(space.nest.sizes);
  bool isAligned = true;
  for (auto [operand, map] : llvm::zip_equal(space.op->getOperands(), space.nest.reads))
    forEachLoop(operand, map, [&](unsigned dim, unsigned loop) {
      if (!ShapedType::isDynamic(space.nest.sizes[loop]))
        return;
      int64_t name = extentOf(operand, dim);
      isAligned &= names[loop] == ShapedType::kDynamic || names[loop] == name;
      if (names[loop] == ShapedType::kDynamic)
        names[loop] = name;
    });
  for (int64_t &name : names)
    if (name == ShapedType::kDynamic)
      name = --lastSymbol;
  unsigned next = 0;
  for (auto [size, name] : llvm::zip_equal(space.nest.sizes, names))
    if (size != 1)
      space.extents[next++] = name;
  for (auto [result, map] : llvm::zip(space.op->getResults(), space.nest.writes))
    forEachLoop(result, map, [&](unsigned dim, unsigned loop) {
      if (cast<ShapedType>(result.getType()).isDynamicDim(dim))
        symbols[{result, dim}] = names[loop];
    });
  // TOSA repeats an operand whose dynamic size turns out to be 1.
  return isAligned || !isa<tosa::TosaOp>(space.op);
}

//===-- the walk ------------------------------------------------------------------------------===//

void ValueNumbering::set(Value value, const View &view, ArrayRef<int64_t> extents) {
  views[value] = {view, covers(view, extents)};
}

void ValueNumbering::setOpaque(Operation *op, Value value) {
  // Other shaped types do not even say how many dimensions they have.
  if (isa<ShapedType>(value.getType()) && !isa<RankedTensorType>(value.getType()))
    return;
  SmallVector<int64_t, 4> extents = extentsOf(value);
  set(value, {opaque(Kind::Opaque, extents, op), {}}, extents);
}

void ValueNumbering::add(Operation *op) {
  for (Region &region : op->getRegions())
    visitRegion(region);
}

void ValueNumbering::visitRegion(Region &region) {
  for (Block &block : region) {
    for (BlockArgument argument : block.getArguments())
      if (isNumbered(argument.getType()))
        setOpaque(region.getParentOp(), argument);
    for (Operation &op : block)
      visitOp(&op);
  }
}

void ValueNumbering::visitOp(Operation *op) {
  FloatMeaning meaning = getFloatMeaning(op);
  if (meaning.kind == FloatMeaning::Kind::Structured)
    if (auto structured = cast<linalg::LinalgOp>(op); structured.hasPureTensorSemantics())
      return visitStructured(structured);
  add(op);
  if (op->getNumResults() != 1) {
    for (Value result : op->getResults())
      if (isNumbered(result.getType()))
        setOpaque(op, result);
    return;
  }
  Value result = op->getResult(0);
  if (!isNumbered(result.getType()))
    return;
  View view;
  if (isa<ShapedType>(result.getType())) {
    view = numberTensorOp(op, meaning);
  } else {
    SmallVector<View> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<ShapedType>(operand.getType()) ? View() : lookup(operand));
    view = numberScalarOp(op, meaning, operands, {});
  }
  if (view)
    set(result, view, extentsOf(result));
  else
    setOpaque(op, result);
}

View ValueNumbering::numberTensorOp(Operation *op, const FloatMeaning &meaning) {
  if (std::optional<double> splat = getSplat(op))
    return constant(*splat, op);
  bool isMove = meaning.kind == FloatMeaning::Kind::Move;
  Value source = isMove ? op->getOperand(meaning.operands[0]) : Value();
  std::optional<LoopNest> nest = readLoopNest(op, meaning);
  if (!nest) {
    if (meaning.kind == FloatMeaning::Kind::Softmax && lookup(op->getOperand(0))) {
      ValueNode node;
      node.kind = Kind::Softmax;
      node.operands = {lookup(op->getOperand(0))};
      node.sizes = extentsOf(op->getResult(0));
      auto type = cast<ShapedType>(op->getOperand(0).getType());
      node.count = type.isDynamicDim(meaning.dims[0]) ? -1 : type.getDimSize(meaning.dims[0]);
      node.rank = type.getRank();
      node.axes = 1ull << meaning.dims[0];
      node.op = op;
      return {intern(std::move(node)), {}};
    }
    if (meaning.kind == FloatMeaning::Kind::Average && lookup(op->getOperand(0))) {
      ValueNode node;
      node.kind = Kind::Reduce;
      node.reduce = ReduceFn::Mean;
      node.operands = {lookup(op->getOperand(0))};
      node.sizes = extentsOf(op->getResult(0));
      node.count = meaning.products.max.value_or(-1);
      node.rank = 4;
      node.axes = 0b0110; // of a pool
      node.op = op;
      return {intern(std::move(node)), {}};
    }
    return isMove && lookup(source) ? moved(lookup(source), extentsOf(op->getResult(0)), op)
                                    : View();
  }
  Space space(op, std::move(*nest));
  if (!nameSizes(space))
    return {};
  SmallVector<View> operands;
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), space.nest.reads))
    operands.push_back(map ? read(operand, map, space) : View());
  if (isMove) {
    // A part of a tensor is a tensor of its own, so that statistics may be of the part.
    bool isPart =
        operands[0] && getMovement(op) == Movement::Slice && !covers(operands[0], space.extents);
    return isPart ? part(operands[0], space.extents, op) : operands[0];
  }
  if (meaning.kind != FloatMeaning::Kind::Reduction)
    return numberScalarOp(op, meaning, operands, space.extents);
  ValueNode node;
  node.kind = Kind::Reduce;
  node.reduce = meaning.reduce;
  node.rank = space.nest.sizes.size();
  node.axes = 1ull << meaning.dims[0];
  node.op = op;
  auto kept = space.getKept(op->getResult(0), 0);
  if (!kept || !operands[0])
    return {};
  View reduced = reduction(std::move(node), operands[0], space, space.getReduced(), *kept);
  // TOSA's extrema begin with the largest finite numbers.
  bool isMax = meaning.reduce == ReduceFn::Max, isMin = meaning.reduce == ReduceFn::Min;
  FloatType format = getFloatFormat(op->getResult(0).getType());
  if ((!isMax && !isMin) || !format)
    return reduced;
  double largest = numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
  ValueNode combined;
  combined.kind = Kind::Binary;
  combined.binary = isMax ? BinaryFn::Maximum : BinaryFn::Minimum;
  combined.op = op;
  return elementwise(std::move(combined), {reduced, constant(isMax ? -largest : largest, op)},
                     extentsOf(op->getResult(0)));
}

View ValueNumbering::read(Value operand, AffineMap map, const Space &space) const {
  View view = lookup(operand);
  if (!view || get(view).sizes.empty())
    return view;
  AffineMap place = space.placeOf(operand, map);
  if (!place)
    return view;
  return {view.node, view.map ? canonicalMap(view.map.compose(place)) : place};
}

View ValueNumbering::numberScalarOp(Operation *op, const FloatMeaning &meaning,
                                    ArrayRef<View> operands, ArrayRef<int64_t> sizes) {
  if (std::optional<double> splat = getSplat(op))
    return constant(*splat, op);
  using Meaning = FloatMeaning::Kind;
  ValueNode node;
  node.op = op;
  SmallVector<View, 3> x;
  for (unsigned operand : meaning.operands)
    x.push_back(operand < operands.size() ? operands[operand] : View());
  if (meaning.kind == Meaning::Integer) {
    std::optional<double> value = getConvertedConstant(op);
    return value ? constant(*value, op) : View{opaque(Kind::Integer, sizes, op), {}};
  }
  if (x.empty() || llvm::any_of(x, [](const View &view) { return !view; }))
    return {};
  switch (meaning.kind) {
  case Meaning::Unary:
    node.kind = Kind::Unary;
    node.unary = meaning.unary;
    break;
  case Meaning::Binary:
    node.kind = Kind::Binary;
    node.binary = meaning.binary;
    break;
  case Meaning::Compare:
    node.kind = Kind::Compare;
    node.predicate = meaning.predicate;
    break;
  case Meaning::Select:
    if (!operands[0]) // the condition
      return {};
    node.kind = Kind::Select;
    x.insert(x.begin(), operands[0]);
    break;
  case Meaning::IntegerPower:
    node.kind = Kind::Binary;
    node.binary = BinaryFn::Pow;
    x.push_back(constant(meaning.exponent, op));
    break;
  case Meaning::Clamp:
    node.kind = Kind::Clamp;
    node.value = meaning.lo;
    node.high = meaning.hi;
    break;
  case Meaning::Cast: {
    FloatType from = getFloatFormat(op->getOperand(0).getType());
    FloatType to = isa<RoundOp>(op) ? cast<RoundOp>(op).getFormat()
                                    : getFloatFormat(op->getResult(0).getType());
    if (!from || !to) // a truth value
      return {};
    if (holdsEveryValueOf(to, from))
      return x[0];
    node.kind = Kind::Cast;
    node.format = to;
    if (auto cast = dyn_cast<CastOp>(op)) {
      if (cast->getNumOperands() > 1) // rounds as random bits say
        return {};
      node.value = cast.getOverflow() == Overflow::Saturate;
      node.high = cast.getRounding() ? static_cast<double>(*cast.getRounding()) : -1;
    }
    break;
  }
  default: return {};
  }
  return elementwise(std::move(node), x, sizes);
}
