// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges through the body of a linalg op: elementwise as written, reductions in
// closed form, without iterating.

#include "FloatTransfer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;
using domains::Extent;

/// The loop that runs along the rows of what `map` indexes.
static std::optional<unsigned> lastLoopOf(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

static Extent extentOfLoop(int64_t size) {
  return ShapedType::isDynamic(size) ? Extent::unknown() : Extent::exactly(size);
}

FloatRange FloatTransfer::captured(Value value, RowLength rows) {
  Operation *def = value.getDefiningOp();
  if (!def || !def->hasTrait<OpTrait::ConstantLike>() || !getFloatFormat(value.getType()))
    return FloatRange::unknown();
  FloatRange range = constant(def);
  range.facts = domains::reshapeRows(range.facts, rows);
  return range;
}

std::optional<unsigned> mlir::mp::rowLoopOf(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() > 0 && op.getNumReductionLoops() > 0)
    return lastLoopOf(op.getIndexingMapsArray().front());
  if (op.getNumDpsInits() > 0)
    return lastLoopOf(op.getIndexingMapsArray()[op.getNumDpsInputs()]);
  return std::nullopt;
}

domains::ReducedElements mlir::mp::reducedElements(linalg::LinalgOp op,
                                                   std::optional<unsigned> rowLoop) {
  domains::ReducedElements elements;
  elements.count = elements.rows = Extent::exactly(1);
  auto times = [](Extent a, Extent b) {
    Extent result;
    result.min = llvm::SaturatingMultiply<uint64_t>(a.min, b.min);
    if (a.max && b.max)
      result.max = llvm::SaturatingMultiply<uint64_t>(*a.max, *b.max);
    return result;
  };
  for (auto [loop, kind, size] :
       llvm::enumerate(op.getIteratorTypesArray(), op.getStaticLoopRanges())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    Extent extent = extentOfLoop(size);
    elements.count = times(elements.count, extent);
    if (rowLoop && loop == *rowLoop) {
      elements.wholeRows = true;
      if (extent.isExact())
        elements.rowLength = extent.min;
    } else {
      elements.rows = times(elements.rows, extent);
    }
  }
  return elements;
}

SmallVector<FloatRange> FloatTransfer::structured(linalg::LinalgOp op,
                                                  ArrayRef<FloatRange> operands,
                                                  DenseMap<Value, FloatRange> &inside) {
  Block *body = op.getBlock();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  bool reduces = op.getNumReductionLoops() > 0;
  std::optional<unsigned> rowLoop = rowLoopOf(op);
  RowLength rows;
  if (rowLoop && !ShapedType::isDynamic(sizes[*rowLoop]))
    rows = sizes[*rowLoop];

  for (auto [operand, range] : llvm::zip_equal(op->getOpOperands(), operands)) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!argument || !getFloatFormat(argument.getType()))
      continue;
    FloatRange read = range;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool sameRows = rowLoop && lastLoopOf(map) == rowLoop;
    if (!sameRows)
      read.facts = domains::reshapeRows(read.facts, rows);
    read.facts.channels.reset();
    inside[argument] = op.isDpsInit(&operand) && reduces ? FloatRange::unknown() : read;
  }
  for (Operation &inner : body->without_terminator()) {
    SmallVector<FloatRange> arguments;
    for (Value operand : inner.getOperands()) {
      auto known = inside.find(operand);
      if (known != inside.end()) {
        arguments.push_back(known->second);
        continue;
      }
      // Captured: a constant, or a value nothing is known of here.
      arguments.push_back(captured(operand, rows));
    }
    for (auto [result, range] :
         llvm::zip_equal(inner.getResults(), evaluate(&inner, arguments, rows)))
      if (getFloatFormat(result.getType()))
        inside[result] = range;
  }
  SmallVector<FloatRange> results;
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Value yielded = body->getTerminator()->getOperand(index);
    if (!getFloatFormat(result.getType())) {
      results.push_back(FloatRange::unknown());
    } else if (reduces) {
      results.push_back(
          reduction(op, index, inside, operands[op.getNumDpsInputs() + index], rowLoop));
    } else {
      auto known = inside.find(yielded);
      FloatRange range = known != inside.end() ? known->second : captured(yielded, rows);
      bool sameRows =
          rowLoop && lastLoopOf(op.getIndexingMapsArray()[op.getNumDpsInputs() + index]) == rowLoop;
      if (!sameRows)
        range.facts = domains::reshapeRows(range.facts, rowLengthOf(result.getType()));
      else
        range.facts.reduce(rowLengthOf(result.getType()));
      results.push_back(range);
    }
  }
  return results;
}

FloatRange FloatTransfer::reduction(linalg::LinalgOp op, unsigned index,
                                    const DenseMap<Value, FloatRange> &inside,
                                    const FloatRange &init, std::optional<unsigned> rowLoop) {
  StringRef name = op->getName().getStringRef();
  Value yielded = op.getBlock()->getTerminator()->getOperand(index);
  Operation *combiner = yielded.getDefiningOp();
  BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
  if (!combiner || combiner->getNumOperands() != 2 || op->getNumResults() != 1)
    return FloatRange::unknown(name);
  Value combined = combiner->getOperand(0) == out   ? combiner->getOperand(1)
                   : combiner->getOperand(1) == out ? combiner->getOperand(0)
                                                    : Value();
  auto known = inside.find(combined);
  if (!combined || combined == out || known == inside.end())
    return FloatRange::unknown(name);
  FloatRange x = known->second;

  domains::ReducedElements elements = reducedElements(op, rowLoop);
  Type type = op->getResult(index).getType();
  RowLength rows = rowLengthOf(type);
  FloatRange result = x;
  if (isa<arith::AddFOp>(combiner)) {
    // A square's sum is bounded by the row norm of what is squared.
    result = sum(x, elements, type, name);
    auto square = combined.getDefiningOp<arith::MulFOp>();
    auto root =
        square && square.getLhs() == square.getRhs() ? inside.find(square.getLhs()) : inside.end();
    if (root != inside.end()) {
      Facts bound = withSumError(
          domains::reduce(domains::ReduceFn::SumSquares, root->second.facts, elements, rows),
          elements.count.upper(), x.facts.mag(), type, rows);
      result.facts = domains::meet(result.facts, bound);
    }
    if (relations.isSumOfShiftedExp(op->getResult(index)) && result.facts.range.lo < 0.999)
      result.facts.range.lo = 0.999; // e^0 is 1 up to its rounding
    result.facts = roundedTo(
        domains::binary(domains::BinaryFn::Add, result.facts, init.facts, rows), type, rows);
    return result;
  }
  using domains::ReduceFn;
  std::optional<ReduceFn> selects;
  domains::BinaryFn with = domains::BinaryFn::Maximum;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    selects = ReduceFn::Max;
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(combiner)) {
    selects = ReduceFn::Min;
    with = domains::BinaryFn::Minimum;
  }
  if (!selects)
    return FloatRange::unknown(name);
  // An empty group gives the initial value, which takes part anyway.
  elements.count.min = std::max<int64_t>(elements.count.min, 1);
  result.facts = domains::reduce(*selects, x.facts, elements, rows);
  result.facts = domains::binary(with, result.facts, init.facts, rows);
  result.facts.mayNaN = x.facts.mayNaN || init.facts.mayNaN;
  if (elements.count.max == std::nullopt || *elements.count.max == 0)
    result.facts = domains::join(result.facts, init.facts);
  return result;
}
