// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk: which expression each value of a function is.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Expressions.h"
#include "mp/Analysis/SelectedExtrema.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::mp;
using Kind = ExpressionKind;

ExpressionGraph::ExpressionGraph(FunctionOpInterface function) {
  leaf(); // number 0 is nobody's
  for (BlockArgument argument : function.getArguments()) {
    if (!getFloatFormat(argument.getType()))
      continue;
    unsigned number = leaf();
    // One number a channel, however it is shaped to be broadcast.
    auto shaped = dyn_cast<ShapedType>(argument.getType());
    parameters[number] =
        shaped && shaped.hasRank() &&
        llvm::count_if(shaped.getShape(), [](int64_t size) { return size != 1; }) <= 1;
    numbers[argument] = number;
  }
  visit(function.getFunctionBody());
}

void ExpressionGraph::set(Value value, unsigned number) {
  numbers[value] = number;
  computed.push_back({number, outer ? outer : value.getDefiningOp()});
}

void ExpressionGraph::visit(Region &region) {
  for (Block &block : region) {
    for (BlockArgument argument : block.getArguments())
      if (getFloatFormat(argument.getType()) && !numbers.contains(argument))
        numbers[argument] = leaf();
    for (Operation &op : block)
      visit(&op);
  }
}

/// The value of a constant whose elements are all equal.
static std::optional<double> getSplat(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto elements = dyn_cast<ElementsAttr>(attribute)) {
    // The bytes of a resource may be missing; large ones are no splats worth finding.
    auto dense = dyn_cast<DenseElementsAttr>(elements);
    if (!dense || !dense.isSplat())
      return std::nullopt;
    attribute = dense.getSplatValue<Attribute>();
  }
  if (auto scalar = dyn_cast<FloatAttr>(attribute))
    return scalar.getValueAsDouble();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().isSignedIntN(64) ? std::optional<double>(integer.getInt())
                                               : std::nullopt;
  return std::nullopt;
}

/// An integer that is known, seen through casts.
static std::optional<double> getInteger(Value value) {
  while (auto cast = value.getDefiningOp<CastOpInterface>()) {
    if (cast->getNumOperands() != 1)
      break;
    value = cast->getOperand(0);
  }
  return getSplat(value);
}

/// Does an index depend on nothing but the loops it is in and constants? Picking by it is a move of
/// data.
static bool isFixedIndex(Value index) {
  llvm::SetVector<Value> reached;
  reached.insert(index);
  for (unsigned i = 0; i < reached.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(reached[i])) {
      auto structured = dyn_cast_or_null<linalg::LinalgOp>(argument.getOwner()->getParentOp());
      if (!structured ||
          !matchPattern(structured.getMatchingOpOperand(argument)->get(), m_Constant()))
        return false;
      continue;
    }
    Operation *op = reached[i].getDefiningOp();
    if (isa<linalg::IndexOp>(op) || matchPattern(op, m_Constant()))
      continue;
    if (!isa_and_nonnull<arith::ArithDialect, tosa::TosaDialect>(op->getDialect()) ||
        !isMemoryEffectFree(op))
      return false;
    reached.insert_range(op->getOperands());
  }
  return true;
}

void ExpressionGraph::visit(Operation *op) {
  bool isFloat = llvm::any_of(op->getResultTypes(), getFloatFormat);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (isFloat && op->getNumResults() == 1)
    if (unsigned number = evaluate(op))
      return set(op->getResult(0), number);
  if (isFloat && isa<linalg::LinalgOp>(op) && op->getNumRegions() == 1)
    return visitStructured(op);
  for (Region &region : op->getRegions())
    visit(region);
  for (Value result : op->getResults())
    if (getFloatFormat(result.getType()))
      set(result, leaf());
}

unsigned ExpressionGraph::evaluate(Operation *op) {
  if (op->getNumOperands() == 0) {
    if (std::optional<double> splat = getSplat(op->getResult(0)))
      return constant(*splat);
    unsigned number = leaf();
    parameters[number] = op->hasTrait<OpTrait::ConstantLike>();
    return number;
  }
  Value first = op->getOperand(0);
  bool fromInteger = !getFloatFormat(first.getType());
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) || (isa<tosa::CastOp>(op) && fromInteger)) {
    if (std::optional<double> integer = getInteger(first))
      return constant(*integer);
    bool isSize = !isa<ShapedType>(first.getType());
    return isSize ? intern({.kind = Kind::Count}) : 0;
  }
  if (movesEveryElement(op) || isa<tosa::CastOp>(op))
    return lookup(first);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return llvm::all_of(extract.getIndices(), isFixedIndex) ? lookup(first) : 0;
  if (auto gather = dyn_cast<tosa::GatherOp>(op))
    return isFixedIndex(gather.getIndices()) ? lookup(gather.getValues()) : 0;
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
    ShapedType type = softmax.getInputOperandType();
    int64_t count = type.getDimSize(softmax.getDimension());
    return intern({.kind = Kind::Softmax,
                   .a = lookup(first),
                   .count = ShapedType::isDynamic(count) ? 0 : count,
                   .rank = unsigned(type.getRank()),
                   .axes = 1ull << softmax.getDimension()});
  }
  if (isa<tosa::ReduceSumOp, tosa::ReduceMaxOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(first.getType());
    if (!type)
      return 0;
    uint64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
    int64_t count = type.getDimSize(axis);
    return reduce(isa<tosa::ReduceSumOp>(op) ? Kind::Sum : Kind::GroupMax, lookup(first),
                  ShapedType::isDynamic(count) ? 0 : count, type.getRank(), 1ull << axis);
  }
  if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op)) {
    int64_t count = pool.getKernel()[0] * pool.getKernel()[1];
    return scale(reduce(Kind::Sum, lookup(first), count, 4, 0b0110), 1.0 / count);
  }
  if (isa<arith::SelectOp, tosa::SelectOp>(op)) {
    unsigned a = lookup(op->getOperand(1)), b = lookup(op->getOperand(2));
    if (auto extremum = getSelectedExtremum(op); extremum && a && b)
      return evaluateBinary(*extremum == domains::BinaryFn::MaxNum ? "max" : "min", a, b);
    // A guard, as of a variance that no element is left for.
    for (auto [guard, value] : {std::pair(a, b), std::pair(b, a)})
      if (value && expressions[guard].kind == Kind::NaN)
        return value;
    // Which condition chose does not matter otherwise to what is recognised.
    return a && b ? intern({.kind = Kind::Select, .a = a, .b = b}) : 0;
  }
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    auto hi = dyn_cast<FloatAttr>(clamp.getMaxVal()), lo = dyn_cast<FloatAttr>(clamp.getMinVal());
    if (!hi || !lo || hi.getValueAsDouble() < 3e38)
      return 0;
    return evaluateBinary("max", lookup(first), constant(lo.getValueAsDouble()));
  }
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect, tosa::TosaDialect>(
          op->getDialect())) {
    StringRef name = op->getName().stripDialect();
    SmallVector<unsigned> operands;
    for (Value operand : op->getOperands())
      if (unsigned number = lookup(operand))
        operands.push_back(number);
    if (auto power = dyn_cast<math::FPowIOp>(op))
      if (std::optional<double> exponent = getInteger(power.getRhs()))
        operands.push_back(constant(*exponent));
    if (unsigned number = operands.empty() ? 0 : evaluateUnary(name, operands[0]))
      return number;
    if (operands.size() == 2)
      return evaluateBinary(name, operands[0], operands[1]);
  }
  return 0;
}

/// What `yielded` combines with its own destination: out + x, max(out, x), out + a * b.
static std::pair<Operation *, Value> getCombined(Value yielded, BlockArgument out) {
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2)
    return {};
  if (combiner->getOperand(0) == out)
    return {combiner, combiner->getOperand(1)};
  if (combiner->getOperand(1) == out)
    return {combiner, combiner->getOperand(0)};
  return {};
}

void ExpressionGraph::visitStructured(Operation *op) {
  auto structured = cast<linalg::LinalgOp>(op);
  auto unknown = [&] {
    for (Value result : op->getResults())
      set(result, leaf());
  };
  if (getOpClass(op) == OpClass::TensorCore)
    return unknown();
  Operation *before = std::exchange(outer, op);
  auto restore = llvm::make_scope_exit([&] { outer = before; });
  Block *body = structured.getBlock();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = structured.getMatchingBlockArgument(&operand);
    if (!argument || !getFloatFormat(argument.getType()))
      continue;
    // Elements picked by index are others than those of the operand.
    AffineMap map = structured.getMatchingIndexingMap(&operand);
    bool moves = map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
                 structured.getNumReductionLoops() > 0;
    numbers[argument] = moves && lookup(operand.get()) ? lookup(operand.get()) : leaf();
  }
  for (Operation &inner : body->without_terminator())
    visit(&inner);

  // The group reduced: its size, and the dimensions of the first operand that runs over it.
  int64_t count = 1;
  unsigned rank = 0;
  uint64_t axes = 0;
  SmallVector<utils::IteratorType> iterators = structured.getIteratorTypesArray();
  for (auto [size, kind] : llvm::zip_equal(structured.getStaticLoopRanges(), iterators))
    if (kind == utils::IteratorType::reduction)
      count = ShapedType::isDynamic(size) ? 0 : count * size;
  AffineMap map = structured.getIndexingMapsArray().front();
  rank = map.getNumResults();
  for (auto [dim, result] : llvm::enumerate(map.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(result))
      if (iterators[loop.getPosition()] == utils::IteratorType::reduction && dim < 64)
        axes |= 1ull << dim;

  Operation *yield = body->getTerminator();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (!getFloatFormat(result.getType()))
      continue;
    Value yielded = yield->getOperand(index);
    unsigned number = lookup(yielded);
    if (structured.getNumReductionLoops() > 0) {
      number = 0;
      BlockArgument out = body->getArgument(structured.getNumDpsInputs() + index);
      auto [combiner, combined] = getCombined(yielded, out);
      if (combined && lookup(combined)) {
        if (isa<arith::AddFOp>(combiner))
          number = add(reduce(Kind::Sum, lookup(combined), count, rank, axes),
                       lookup(structured.getDpsInits()[index]));
        else if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
          number = reduce(Kind::GroupMax, lookup(combined), count, rank, axes);
      }
    }
    set(result, number ? number : leaf());
  }
}
