// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unfolding elements: through moves, into bodies, and reductions.

#include "Elements.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp::proofs;

AffineExpr Elements::fresh(Size size) {
  if (size.number == 1)
    return getAffineConstantExpr(0, context);
  sizes.push_back(size);
  return getAffineDimExpr(sizes.size() - 1, context);
}

Element Elements::generic(Value value) {
  Element element{value, {}};
  if (auto structured = enclosingStructured(value))
    element.at = freshLoops(structured);
  else if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      element.at.push_back(fresh(sizeOf(value, dim)));
  return element;
}

SmallVector<AffineExpr, 4> Elements::freshLoops(linalg::LinalgOp op) {
  SmallVector<AffineExpr, 4> loops;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    Size found{size};
    for (auto [operand, map] : llvm::zip_equal(op->getOpOperands(), maps))
      for (auto [at, expr] : llvm::enumerate(map.getResults()))
        if (ShapedType::isDynamic(found.number) && !found.of &&
            expr == getAffineDimExpr(loop, context))
          found = sizeOf(operand.get(), at);
    loops.push_back(fresh(found));
  }
  return loops;
}

AffineExpr Elements::simplify(AffineExpr expr) {
  expr = simplifyAffineExpr(expr, sizes.size(), 0);
  // x mod n is x, and x floordiv n is 0, where x lies in [0, n).
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr left = simplify(binary.getLHS()), right = simplify(binary.getRHS());
  auto divisor = dyn_cast<AffineConstantExpr>(right);
  bool divides =
      expr.getKind() == AffineExprKind::Mod || expr.getKind() == AffineExprKind::FloorDiv;
  if (divides && divisor)
    if (auto bounds = boundsOf(left);
        bounds && bounds->first >= 0 && bounds->second < divisor.getValue())
      return expr.getKind() == AffineExprKind::Mod ? left : getAffineConstantExpr(0, context);
  return simplifyAffineExpr(getAffineBinaryOpExpr(expr.getKind(), left, right), sizes.size(), 0);
}

static SmallVector<AffineExpr, 4> mapIndex(AffineMap map, ArrayRef<AffineExpr> at) {
  SmallVector<AffineExpr, 4> index;
  for (AffineExpr expr : map.getResults())
    index.push_back(expr.replaceDims(at));
  return index;
}

/// An iteration of `op` that writes the element at `at`: nothing where loops are reduced or the
/// result is written in a way that does not name the loops.
static std::optional<SmallVector<AffineExpr, 4>> loopsAt(linalg::LinalgOp op, unsigned result,
                                                         ArrayRef<AffineExpr> at) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  SmallVector<AffineExpr, 4> loops(op.getNumLoops());
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), at)) {
    if (isa<AffineConstantExpr>(expr) && expr == index) // along a dimension of size 1
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || loops[loop.getPosition()])
      return std::nullopt;
    loops[loop.getPosition()] = index;
  }
  return loops;
}

std::optional<Element> Elements::throughStructured(const Element &element) {
  auto op = element.value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() > 0)
    return std::nullopt;
  unsigned index = cast<OpResult>(element.value).getResultNumber();
  auto loops = loopsAt(op, index, element.at);
  if (!loops)
    return std::nullopt;
  for (auto [expr, size] : llvm::zip_equal(*loops, op.getStaticLoopRanges()))
    if (!expr) {
      if (size != 1)
        return std::nullopt;
      expr = getAffineConstantExpr(0, context);
    }
  Value yielded = op.getBlock()->getTerminator()->getOperand(index);
  if (yielded.getParentBlock() == op.getBlock())
    return Element{yielded, *loops};
  return Element{yielded, {}};
}

/// Adds the terms of a sum, each times `by`, to those that are multiples of `size` and the others.
static void splitTerms(AffineExpr expr, int64_t by, int64_t size, AffineExpr &multiples,
                       AffineExpr &rest) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add) {
    splitTerms(binary.getLHS(), by, size, multiples, rest);
    return splitTerms(binary.getRHS(), by, size, multiples, rest);
  }
  if (binary && expr.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return splitTerms(binary.getLHS(), by * factor.getValue(), size, multiples, rest);
  if (by % size == 0)
    multiples = multiples + expr * (by / size);
  else
    rest = rest + expr * by;
}

std::pair<AffineExpr, AffineExpr> Elements::divide(AffineExpr expr, int64_t size) {
  AffineExpr quotient = getAffineConstantExpr(0, context), rest = quotient;
  splitTerms(expr, 1, size, quotient, rest);
  rest = simplify(rest);
  if (auto bounds = boundsOf(rest); bounds && bounds->first >= 0 && bounds->second < size)
    return {simplify(quotient), rest};
  return {simplify(expr.floorDiv(size)), simplify(expr % size)};
}

AffineExpr Elements::remainder(AffineExpr expr, int64_t size) {
  AffineExpr quotient = getAffineConstantExpr(0, context), rest = quotient;
  splitTerms(expr, 1, size, quotient, rest);
  rest = simplify(rest);
  auto bounds = boundsOf(rest);
  bool isWithin = bounds && bounds->first >= 0 && bounds->second < size;
  if (isWithin)
    return rest;
  // Not taken apart into a less its quotient.
  AffineExpr whole = rest % size, simple = simplify(whole);
  bool isApart = false;
  simple.walk([&](AffineExpr part) { isApart |= part.getKind() == AffineExprKind::FloorDiv; });
  return isApart ? whole : simple;
}

std::optional<Element> Elements::throughReshape(Value source, Type resultType,
                                                const Element &element) {
  auto from = dyn_cast<RankedTensorType>(source.getType());
  auto to = dyn_cast<RankedTensorType>(resultType);
  if (!from || !to)
    return std::nullopt;
  if (!from.hasStaticShape() || !to.hasStaticShape()) {
    // Only dimensions of size 1 come and go.
    Element inner{source,
                  SmallVector<AffineExpr, 4>(from.getRank(), getAffineConstantExpr(0, context))};
    for (unsigned dim = 0; dim < element.at.size(); ++dim)
      if (to.getDimSize(dim) != 1) {
        auto other = dimWithoutUnits(to, dim, from);
        if (!other)
          return std::nullopt;
        inner.at[*other] = element.at[dim];
      }
    return inner;
  }
  AffineExpr linear = getAffineConstantExpr(0, context);
  for (auto [index, size] : llvm::zip_equal(element.at, to.getShape()))
    linear = linear * size + index;
  SmallVector<AffineExpr, 4> at(from.getRank());
  for (int64_t dim = from.getRank(); dim-- > 0;) {
    if (dim == 0) {
      at[dim] = simplify(linear);
      break;
    }
    std::tie(linear, at[dim]) = divide(linear, from.getDimSize(dim));
  }
  return Element{source, at};
}

/// A slice with sizes and strides that are known; dimensions it drops are at its offset.
static std::optional<Element> throughSlice(tensor::ExtractSliceOp op, const Element &element,
                                           MLIRContext *context) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Element inner{op.getSource(), {}};
  unsigned next = 0;
  for (auto [dim, offset] : llvm::enumerate(op.getStaticOffsets())) {
    int64_t stride = op.getStaticStrides()[dim];
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
      return std::nullopt;
    AffineExpr base = getAffineConstantExpr(offset, context);
    inner.at.push_back(dropped[dim] ? base : base + element.at[next++] * stride);
  }
  return inner;
}

/// The element that a load in a body reads, where its indices are loops and constants.
static std::optional<Element> throughExtract(tensor::ExtractOp op, const Element &element,
                                             MLIRContext *context) {
  Element inner{op.getTensor(), {}};
  for (Value index : op.getIndices()) {
    APInt constant;
    if (auto loop = index.getDefiningOp<linalg::IndexOp>();
        loop && loop.getDim() < element.at.size())
      inner.at.push_back(element.at[loop.getDim()]);
    else if (matchPattern(index, m_ConstantInt(&constant)))
      inner.at.push_back(getAffineConstantExpr(constant.getSExtValue(), context));
    else
      return std::nullopt;
  }
  return inner;
}

/// A scalar that a body uses belongs to its iteration; one from outside to none.
static Element scalarOperand(Value value, const Element &user) {
  bool isInside =
      enclosingStructured(value) && value.getParentBlock() == Value(user.value).getParentBlock();
  bool isTensor = isa<ShapedType>(value.getType());
  return Element{value, isInside || isTensor ? user.at : SmallVector<AffineExpr, 4>()};
}

std::optional<Element> Elements::moveOnce(const Element &element) {
  if (auto argument = dyn_cast<BlockArgument>(element.value)) {
    auto op = enclosingStructured(argument);
    if (!op || !op.hasPureTensorSemantics())
      return std::nullopt;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (op.isDpsInit(operand) && op.getNumReductionLoops() > 0)
      return std::nullopt;
    return Element{operand->get(), mapIndex(op.getMatchingIndexingMap(operand), element.at)};
  }
  Operation *op = element.value.getDefiningOp();
  if (auto inner = throughStructured(element))
    return inner;
  if (isa<tensor::CastOp, arith::ExtFOp, tosa::IdentityOp>(op))
    return scalarOperand(op->getOperand(0), element);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tosa::ReshapeOp>(op))
    return throughReshape(op->getOperand(0), op->getResult(0).getType(), element);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return throughSlice(slice, element, context);
  if (auto load = dyn_cast<tensor::ExtractOp>(op))
    return throughExtract(load, element, context);
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return Element{splat.getInput(), {}};
  if (auto made = dyn_cast<tensor::FromElementsOp>(op); made && made->getNumOperands() == 1)
    return Element{made->getOperand(0), {}};
  if (auto transpose = dyn_cast<tosa::TransposeOp>(op)) {
    Element inner{transpose.getInput1(), {}};
    inner.at.resize(element.at.size());
    for (auto [to, from] : llvm::enumerate(transpose.getPerms()))
      inner.at[from] = element.at[to];
    return inner;
  }
  if (isa<tosa::TileOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type || !type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
      return std::nullopt;
    Element inner{op->getOperand(0), element.at};
    for (auto [index, size] : llvm::zip_equal(inner.at, type.getShape()))
      index = divide(index, size).second;
    return inner;
  }
  if (auto reverse = dyn_cast<tosa::ReverseOp>(op)) {
    auto type = cast<RankedTensorType>(reverse.getType());
    unsigned axis = reverse.getAxis();
    if (type.isDynamicDim(axis))
      return std::nullopt;
    Element inner{reverse.getInput1(), element.at};
    inner.at[axis] = type.getDimSize(axis) - 1 - inner.at[axis];
    return inner;
  }
  return std::nullopt;
}

Element Elements::resolve(Element element) {
  for (unsigned step = 0; step < 4096; ++step) {
    if (auto type = dyn_cast<RankedTensorType>(element.value.getType()))
      for (auto [index, size] : llvm::zip_equal(element.at, type.getShape()))
        index = size == 1 ? getAffineConstantExpr(0, context) : simplify(index);
    auto inner = moveOnce(element);
    if (!inner)
      break;
    element = *inner;
  }
  return element;
}

Unfolded Elements::unfoldReduction(linalg::LinalgOp op, const Element &element) {
  Unfolded leaf;
  unsigned index = cast<OpResult>(element.value).getResultNumber();
  auto [fn, term] = readCombiner(op, index);
  auto loops = fn == Function::None || !op.hasPureTensorSemantics()
                   ? std::nullopt
                   : loopsAt(op, index, element.at);
  if (!loops)
    return leaf;
  Unfolded found;
  SmallVector<AffineExpr, 4> news = freshLoops(op);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [expr, fresh, kind] : llvm::zip_equal(*loops, news, kinds)) {
    if (expr)
      continue;
    if (kind != utils::IteratorType::reduction && !isa<AffineConstantExpr>(fresh))
      return leaf;
    expr = fresh;
    if (auto symbol = dyn_cast<AffineDimExpr>(fresh))
      found.bound.push_back(symbol.getPosition());
  }
  found.kind = Unfolded::Kind::Reduce;
  found.fn = fn;
  found.type = element.value.getType();
  bool isInside = term.getParentBlock() == op.getBlock();
  found.operands.push_back({term, isInside ? *loops : SmallVector<AffineExpr, 4>()});
  found.operands.push_back({op.getDpsInits()[index], element.at});
  return found;
}

Unfolded Elements::unfoldOp(Operation *op, const Element &element) {
  Unfolded found;
  found.type = element.value.getType();
  if (auto axis = readTosaAxis(op)) {
    Element term{op->getOperand(0), element.at};
    term.at[*axis] = fresh(sizeOf(op->getOperand(0), *axis));
    if (auto symbol = dyn_cast<AffineDimExpr>(term.at[*axis]))
      found.bound.push_back(symbol.getPosition());
    auto mode = op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
    bool drops = mode && mode.getValue() == tosa::NanPropagationMode::IGNORE;
    found.kind = Unfolded::Kind::Reduce;
    found.fn = isa<tosa::ReduceSumOp>(op)   ? Function::Add
               : isa<tosa::ReduceMaxOp>(op) ? (drops ? Function::MaxNumber : Function::Max)
                                            : (drops ? Function::MinNumber : Function::Min);
    found.operands.push_back(term);
    return found;
  }
  OpFunction function = readFunction(op);
  // A clamp that drops NaN is no function of order, and a power's exponent no element: they stay.
  if (function.fn == Function::None || function.dropsNaN || function.exponent)
    return found;
  found.kind = Unfolded::Kind::Apply;
  found.fn = function.fn;
  found.constant = function.low;
  found.high = function.high;
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    found.predicate = compare.getPredicate();
  SmallVector<unsigned, 3> operands = function.operands;
  if (function.fn == Function::Select)
    operands.insert(operands.begin(), 0);
  for (unsigned operand : operands)
    found.operands.push_back(scalarOperand(op->getOperand(operand), element));
  // TOSA repeats what has size 1; `resolve` reads index 0 there. Ranks are equal.
  for (const Element &operand : found.operands)
    if (auto type = dyn_cast<RankedTensorType>(operand.value.getType());
        type && type.getRank() != int64_t(operand.at.size()))
      return Unfolded();
  return found;
}

Unfolded Elements::unfold(const Element &element) {
  Unfolded found;
  if (auto constant = readSplat(element.value)) {
    found.kind = Unfolded::Kind::Constant;
    found.constant = *constant;
    found.type = element.value.getType();
    return found;
  }
  Operation *op = element.value.getDefiningOp();
  if (!op)
    return found;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getNumReductionLoops() > 0 ? unfoldReduction(structured, element) : found;
  return unfoldOp(op, element);
}
