// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbering of linalg bodies in the space of their loops: elements are read through maps, extracted
// by indices, written to results, and summed over whole fibres.

#include "NumberingSpace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Infinity.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::kInfinity;
using domains::ReduceFn;

void ValueNumbering::visitStructured(linalg::LinalgOp op) {
  Space space(op, *readLoopNest(op));
  nameSizes(space);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!argument || !isNumbered(argument.getType()))
      continue;
    bool isPartial = op.isDpsInit(&operand) && space.nest.hasReductions();
    View view = isPartial
                    ? View()
                    : read(operand.get(), space.nest.reads[operand.getOperandNumber()], space);
    set(argument, view ? view : View{opaque(Kind::Opaque, space.extents, op), {}}, space.extents);
  }
  for (Operation &inner : op.getBlock()->without_terminator())
    visitBody(&inner, space);
  Operation *yield = op.getBlock()->getTerminator();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (!isNumbered(result.getType()))
      continue;
    View view = space.nest.hasReductions()
                    ? numberReduction(op, index, space)
                    : write(lookup(yield->getOperand(index)), result, index, space);
    if (view)
      set(result, view, extentsOf(result));
    else
      setOpaque(op, result);
  }
}

void ValueNumbering::visitBody(Operation *inner, const Space &space) {
  for (Value result : inner->getResults()) {
    if (!isNumbered(result.getType()))
      continue;
    View view;
    if (isa<tensor::ExtractOp>(inner)) {
      view = numberExtract(inner, space);
    } else if (inner->getNumResults() == 1 && inner->getNumRegions() == 0) {
      SmallVector<View> operands;
      for (Value operand : inner->getOperands())
        operands.push_back(isa<ShapedType>(operand.getType()) ? View() : lookup(operand));
      view = numberScalarOp(inner, getFloatMeaning(inner), operands, space.extents);
    }
    set(result, view ? view : View{opaque(Kind::Opaque, space.extents, inner), {}}, space.extents);
  }
}

/// An index inside a body as a function of its loops; null if it is no affine one. Indices are not
/// negative, so that quotients round down.
static AffineExpr readIndex(Value index, Operation *body, unsigned depth = 0) {
  MLIRContext *context = body->getContext();
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  Operation *op = index.getDefiningOp();
  if (!op || depth > 8)
    return {};
  if (auto loop = dyn_cast<linalg::IndexOp>(op))
    return loop->getParentOp() == body ? getAffineDimExpr(loop.getDim(), context) : AffineExpr();
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return readIndex(op->getOperand(0), body, depth + 1);
  if (op->getNumOperands() != 2)
    return {};
  AffineExpr a = readIndex(op->getOperand(0), body, depth + 1);
  AffineExpr b = readIndex(op->getOperand(1), body, depth + 1);
  if (!a || !b)
    return {};
  auto divisor = dyn_cast<AffineConstantExpr>(b);
  bool isDivisor = divisor && divisor.getValue() > 0 && isa<AffineDimExpr>(a);
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::MulIOp>(op) && (divisor || isa<AffineConstantExpr>(a)))
    return a * b;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op) && isDivisor)
    return a.floorDiv(b);
  if (isa<arith::RemUIOp, arith::RemSIOp>(op) && isDivisor)
    return a % b;
  return {};
}

/// An element read at loop indices and constants is what an operand with that map would be.
View ValueNumbering::numberExtract(Operation *op, const Space &space) const {
  auto extract = cast<tensor::ExtractOp>(op);
  SmallVector<AffineExpr> results;
  for (Value index : extract.getIndices()) {
    AffineExpr place = readIndex(index, space.op);
    if (!place)
      return {};
    results.push_back(place);
  }
  AffineMap map = AffineMap::get(space.nest.sizes.size(), 0, results, op->getContext());
  return read(extract.getTensor(), map, space);
}

View ValueNumbering::write(const View &element, Value result, unsigned index,
                           const Space &space) const {
  if (!element || get(element).sizes.empty())
    return element;
  auto kept = space.getKept(result, index);
  if (!kept)
    return {};
  if (kept->size() == space.extents.size() && llvm::is_sorted(*kept))
    return element;
  // Loops as dimensions of the result.
  SmallVector<AffineExpr> loops(space.extents.size());
  for (auto [dim, loop] : llvm::enumerate(*kept))
    loops[loop] = getAffineDimExpr(dim, space.op->getContext());
  AffineMap place = AffineMap::get(kept->size(), 0, loops, space.op->getContext());
  if (place.isIdentity())
    return element;
  return {element.node, canonicalMap(element.map ? element.map.compose(place) : place)};
}

View ValueNumbering::numberReduction(linalg::LinalgOp op, unsigned index, const Space &space) {
  Value result = op->getResult(index);
  auto combination = getFloatFormat(result.getType()) ? readCombination(op, index) : std::nullopt;
  auto kept = space.getKept(result, index);
  View operand = combination ? lookup(combination->combined) : View();
  View init = lookup(op.getDpsInits()[index]);
  if (!operand || !init || !kept)
    return {};
  ValueNode node;
  node.kind = Kind::Reduce;
  node.op = op;
  AffineMap map = op.getIndexingMapsArray().front();
  node.rank = map.getNumResults();
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr);
        loop && dim < 64 && space.nest.isReduction[loop.getPosition()])
      node.axes |= 1ull << dim;
  FloatMeaning meaning = getFloatMeaning(combination->combiner);
  if (meaning.kind != FloatMeaning::Kind::Binary)
    return {};
  SmallVector<int64_t, 4> extents = extentsOf(result);
  auto withInit = [&](BinaryFn fn, const View &reduced) {
    ValueNode combined;
    combined.kind = Kind::Binary;
    combined.binary = fn;
    combined.op = combination->combiner;
    return elementwise(std::move(combined), {reduced, init}, extents);
  };
  std::optional<double> start = constantOf(init.node);
  switch (meaning.binary) {
  case BinaryFn::Add: {
    node.reduce = ReduceFn::Sum;
    View sum = reduction(std::move(node), operand, space, space.getReduced(), *kept);
    return start && *start == 0 ? sum : withInit(BinaryFn::Add, sum);
  }
  case BinaryFn::Maximum:
  case BinaryFn::MaxNum: {
    node.reduce = ReduceFn::Max;
    View max = reduction(std::move(node), operand, space, space.getReduced(), *kept);
    return start == -kInfinity ? max : withInit(BinaryFn::Maximum, max);
  }
  case BinaryFn::Minimum:
  case BinaryFn::MinNum: {
    node.reduce = ReduceFn::Min;
    View min = reduction(std::move(node), operand, space, space.getReduced(), *kept);
    return start == kInfinity ? min : withInit(BinaryFn::Minimum, min);
  }
  default: return {};
  }
}
