// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/Relations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/IntegerBounds.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Format.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::ReduceFn;
using domains::UnaryFn;

Relations::Relations(Operation *root) {
  expressions.emplace_back(); // number 0 is nobody's
  add(root);
}

/// What is computed element by element of what a map wrote is written by that map.
unsigned Relations::numberBehindMap(Kind kind, unsigned a, unsigned b, double factor) {
  const Expression first = expressions[a], second = expressions[b];
  switch (kind) {
  case Kind::Square:
  case Kind::Scaled:
  case Kind::Plus:
  case Kind::Sqrt:
  case Kind::Rsqrt:
  case Kind::Reciprocal:
  case Kind::Exp:
  case Kind::Abs:
  case Kind::AtLeast:
  case Kind::Rounded:
  case Kind::OrNaN:
    return first.kind == Kind::Via
               ? number(Kind::Via, number(kind, first.a, b, factor), 0, 0, first.map)
               : 0;
  case Kind::Add:
  case Kind::Sub:
  case Kind::Mul:
  case Kind::Div:
  case Kind::InOrder:
    return first.kind == Kind::Via && second.kind == Kind::Via && first.map == second.map
               ? number(Kind::Via, number(kind, first.a, second.a, factor), 0, 0, first.map)
               : 0;
  default: return 0;
  }
}

unsigned Relations::number(Kind kind, unsigned a, unsigned b, double factor, const void *map) {
  if (unsigned behind = numberBehindMap(kind, a, b, factor))
    return behind;
  // A factor in f64 and its f32 rounding are one: torch takes variances in f64.
  factor = static_cast<float>(factor);
  auto [it, isNew] = known.try_emplace({kind, a, b, factor, map}, expressions.size());
  if (isNew)
    expressions.push_back({kind, a, b, factor, map});
  return it->second;
}

unsigned Relations::opaque() {
  expressions.push_back({Kind::Opaque});
  return expressions.size() - 1;
}

/// The same everywhere, through any map.
bool Relations::isUniform(unsigned value) const {
  return expressions[value].kind == Kind::Scalar || expressions[value].kind == Kind::NaN;
}

std::optional<double> Relations::scalarOf(unsigned value) const {
  const Expression &e = expressions[value];
  return e.kind == Kind::Scalar ? std::optional(e.factor) : std::nullopt;
}

/// In program order, without recursion along chains of ops.
void Relations::add(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        if (getFloatFormat(argument.getType()))
          numbers[argument] = opaque();
      for (Operation &inner : block) {
        if (auto structured = dyn_cast<linalg::LinalgOp>(inner);
            structured && getFloatMeaning(&inner).kind == FloatMeaning::Kind::Structured) {
          visitStructured(structured);
          continue;
        }
        add(&inner);
        numberResults(&inner);
      }
    }
}

void Relations::numberResults(Operation *op) {
  SmallVector<unsigned> operands;
  for (Value operand : op->getOperands())
    operands.push_back(numbers.lookup(operand));
  if (isa<arith::CmpFOp, tosa::GreaterOp, tosa::GreaterEqualOp>(op))
    numbers[op->getResult(0)] = numberComparison(op, operands[0], operands[1]);
  for (Value result : op->getResults())
    if (getFloatFormat(result.getType()))
      numbers[result] = op->getNumResults() == 1 ? numberResult(op, operands) : opaque();
}

unsigned Relations::read(unsigned tensor, AffineMap map) {
  const Expression &e = expressions[tensor];
  if (tensor == 0 || map.isIdentity() || isUniform(tensor))
    return tensor;
  if (e.kind == Kind::Via && e.map == map.getAsOpaquePointer())
    return e.a;
  return number(Kind::Access, tensor, 0, 0, map.getAsOpaquePointer());
}

unsigned Relations::write(unsigned element, AffineMap map) {
  if (element == 0 || map.isIdentity() || isUniform(element))
    return element;
  return number(Kind::Via, element, 0, 0, map.getAsOpaquePointer());
}

/// The maps of `op` in one spelling: loops of one step are at 0, and where only such differ from
/// the identity, it is that.
static SmallVector<AffineMap> getPlainMaps(linalg::LinalgOp op) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> loops;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    loops.push_back(size == 1 ? getAffineConstantExpr(0, context)
                              : getAffineDimExpr(loop, context));
  AffineMap identity = AffineMap::getMultiDimIdentityMap(loops.size(), context);
  return llvm::map_to_vector(op.getIndexingMapsArray(), [&](AffineMap map) {
    AffineMap plain = map.replaceDimsAndSymbols(loops, {}, loops.size(), 0);
    return ArrayRef(loops) == plain.getResults() ? identity : plain;
  });
}

void Relations::visitStructured(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  SmallVector<AffineMap> maps = getPlainMaps(op);
  for (OpOperand &operand : op->getOpOperands())
    if (BlockArgument argument = op.getMatchingBlockArgument(&operand)) {
      bool isAccumulator = op.isDpsInit(&operand) && op.getNumReductionLoops() > 0;
      unsigned tensor = numbers.lookup(operand.get());
      if (tensor && !isAccumulator)
        numbers[argument] = read(tensor, maps[operand.getOperandNumber()]);
      else if (getFloatFormat(argument.getType()))
        numbers[argument] = opaque();
    }
  for (Operation &inner : body->without_terminator())
    numberResults(&inner);
  unsigned mask = 0; // of loops; those from the 32nd on share a bit, which no relation uses
  int64_t count = 1;
  for (auto [loop, kind, size] :
       llvm::enumerate(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (kind == utils::IteratorType::reduction) {
      mask |= 1u << std::min<unsigned>(loop, 31);
      count = count < 0 || ShapedType::isDynamic(size) ? -1 : count * size;
    }
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    AffineMap map = maps[op.getNumDpsInputs() + index];
    Value yielded = body->getTerminator()->getOperand(index);
    if (!mask)
      numbers[result] = write(numbers.lookup(yielded), map);
    if (!mask || !getFloatFormat(result.getType()))
      continue;
    numbers[result] = opaque();
    Operation *combiner = yielded.getDefiningOp();
    BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
    if (!combiner || combiner->getNumOperands() != 2)
      continue;
    Value combined = combiner->getOperand(0) == out   ? combiner->getOperand(1)
                     : combiner->getOperand(1) == out ? combiner->getOperand(0)
                                                      : Value();
    unsigned x = combined ? numbers.lookup(combined) : 0;
    std::optional<double> init = scalarOf(numbers.lookup(op.getDpsInits()[index]));
    if (!x || !init || op.getNumLoops() > 31)
      continue;
    if (isa<arith::AddFOp>(combiner) && *init == 0)
      numbers[result] = write(number(Kind::Sum, x, mask, count), map);
    else if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
      numbers[result] =
          write(numberMaximum(number(Kind::Max, x, mask, count), *init, result.getType()), map);
  }
}

/// A maximum that begins with `init` is one of what it reads if that is the lowest number, or
/// infinite.
unsigned Relations::numberMaximum(unsigned max, double init, Type type) {
  double lowest =
      -numerics::info(*numerics::formatOf(getFloatFormat(type).getFloatSemantics())).maxFinite;
  return init <= lowest ? max : number(Kind::AtLeast, max, 0, init);
}

unsigned Relations::numberComparison(Operation *op, unsigned a, unsigned b) {
  using P = arith::CmpFPredicate;
  auto comparison = dyn_cast<arith::CmpFOp>(op);
  P predicate = comparison ? comparison.getPredicate() : P::OGT;
  if (a && b && llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, predicate))
    return number(Kind::InOrder, a, b);
  if (a && b && llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, predicate))
    return number(Kind::InOrder, b, a);
  return 0;
}

/// One or the other; NaN where that is a constant, so that what is known of the other is known of
/// it, or it is NaN.
unsigned Relations::numberSelection(unsigned a, unsigned b) {
  auto isNaN = [&](unsigned x) { return expressions[x].kind == Kind::NaN; };
  if (a == b)
    return a;
  return isNaN(a) ? number(Kind::OrNaN, b) : isNaN(b) ? number(Kind::OrNaN, a) : opaque();
}

/// Dimensions of size 1 put in or taken out of what a reduction wrote: its map changes likewise.
unsigned Relations::numberReshape(Operation *op, unsigned x) {
  const Expression e = expressions[x];
  if (isUniform(x))
    return x;
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (!expand || e.kind != Kind::Via)
    return number(Kind::Access, x, 0, 0, op->getResult(0).getType().getAsOpaquePointer());
  AffineMap map = AffineMap::getFromOpaquePointer(e.map);
  SmallVector<AffineExpr> results;
  for (auto [source, group] : llvm::enumerate(expand.getReassociationIndices())) {
    bool placed = false;
    for (int64_t dim : group) {
      bool isUnit = expand.getResultType().getDimSize(dim) == 1;
      if (!isUnit && placed)
        return opaque();
      results.push_back(isUnit ? getAffineConstantExpr(0, op->getContext())
                               : map.getResult(source));
      placed |= !isUnit;
    }
    if (!placed && expand.getSrcType().getDimSize(source) != 1)
      return opaque();
  }
  AffineMap expanded = AffineMap::get(map.getNumDims(), 0, results, op->getContext());
  return number(Kind::Via, e.a, 0, 0, expanded.getAsOpaquePointer());
}

unsigned Relations::numberScalar(double value) {
  return value == value ? number(Kind::Scalar, 0, 0, value) : number(Kind::NaN);
}

unsigned Relations::numberResult(Operation *op, ArrayRef<unsigned> operands) {
  Attribute constant;
  if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&constant))) {
    if (auto scalar = dyn_cast<FloatAttr>(constant))
      return numberScalar(scalar.getValueAsDouble());
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      return numberScalar(splat.getSplatValue<APFloat>().convertToDouble());
    return opaque();
  }
  FloatMeaning meaning = getFloatMeaning(op);
  if (meaning.kind == FloatMeaning::Kind::Integer) {
    std::optional<double> value = getConvertedConstant(op);
    return value ? numberScalar(*value) : opaque();
  }
  SmallVector<unsigned, 3> x;
  for (unsigned operand : meaning.operands)
    x.push_back(operand < operands.size() ? operands[operand] : 0);
  if (llvm::is_contained(x, 0u))
    return opaque();
  switch (meaning.kind) {
  case FloatMeaning::Kind::Unary: return numberUnary(meaning.unary, x[0]);
  case FloatMeaning::Kind::Binary: return numberBinary(meaning.binary, x[0], x[1]);
  case FloatMeaning::Kind::Cast: {
    if (isa<RoundOp>(op))
      return opaque();
    FloatType from = getFloatFormat(op->getOperand(0).getType());
    FloatType to = getFloatFormat(op->getResult(0).getType());
    if (holdsEveryValueOf(to, from))
      return x[0];
    // Epsilons are given in f64 and added in f32.
    if (std::optional<double> scalar = scalarOf(x[0]); scalar && from.isF64() && to.isF32())
      return numberScalar(static_cast<float>(*scalar));
    // Statistics taken in f64 and given back in f32 are what they were, up to f32's rounding.
    return from.isF64() && to.isF32() ? number(Kind::Rounded, x[0]) : opaque();
  }
  case FloatMeaning::Kind::Reduction: {
    int64_t dim = meaning.dims[0];
    if (dim > 30)
      return opaque();
    int64_t size = cast<ShapedType>(op->getOperand(0).getType()).getDimSize(dim);
    int64_t count = ShapedType::isDynamic(size) ? -1 : size;
    if (meaning.reduce == ReduceFn::Sum)
      return number(Kind::Sum, x[0], 1u << dim, count);
    return meaning.reduce == ReduceFn::Max ? number(Kind::Max, x[0], 1u << dim, count) : opaque();
  }
  case FloatMeaning::Kind::Move:
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tosa::ReshapeOp, tensor::CastOp>(op))
      return numberReshape(op, x[0]);
    return isUniform(x[0]) ? x[0] : opaque();
  case FloatMeaning::Kind::Merge: {
    bool isRepeated =
        op->getNumOperands() == 3 && (op->getOperand(1).getType() != op->getResult(0).getType() ||
                                      op->getOperand(2).getType() != op->getResult(0).getType());
    return isa<arith::SelectOp, tosa::SelectOp>(op) && !isRepeated ? numberSelection(x[0], x[1])
                                                                   : opaque();
  }
  default: return opaque();
  }
}

unsigned Relations::numberUnary(UnaryFn fn, unsigned x) {
  switch (fn) {
  case UnaryFn::Square: return number(Kind::Square, x);
  case UnaryFn::Sqrt: return number(Kind::Sqrt, x);
  case UnaryFn::Rsqrt: return number(Kind::Rsqrt, x);
  case UnaryFn::Reciprocal:
    return expressions[x].kind == Kind::Sqrt ? number(Kind::Rsqrt, expressions[x].a)
                                             : number(Kind::Reciprocal, x);
  case UnaryFn::Exp: return number(Kind::Exp, x);
  case UnaryFn::Abs: return number(Kind::Abs, x);
  default: return opaque();
  }
}

unsigned Relations::numberBinary(BinaryFn fn, unsigned a, unsigned b) {
  std::optional<double> left = scalarOf(a), right = scalarOf(b);
  unsigned low = std::min(a, b), high = std::max(a, b);
  switch (fn) {
  case BinaryFn::Add:
    if (right && *right >= 0)
      return number(Kind::Plus, a, 0, *right);
    if (left && *left >= 0)
      return number(Kind::Plus, b, 0, *left);
    return number(Kind::Add, low, high);
  case BinaryFn::Sub: return number(Kind::Sub, a, b);
  case BinaryFn::Mul:
    if (a == b)
      return number(Kind::Square, a);
    if (right && *right > 0)
      return number(Kind::Scaled, a, 0, *right);
    if (left && *left > 0)
      return number(Kind::Scaled, b, 0, *left);
    return number(Kind::Mul, low, high);
  case BinaryFn::Div:
    if (left && *left == 1)
      return numberUnary(UnaryFn::Reciprocal, b);
    if (right && *right > 0)
      return number(Kind::Scaled, a, 0, 1 / *right);
    return number(Kind::Div, a, b);
  case BinaryFn::Maximum:
  case BinaryFn::MaxNum:
    return right  ? number(Kind::AtLeast, a, 0, *right)
           : left ? number(Kind::AtLeast, b, 0, *left)
                  : opaque();
  case BinaryFn::Pow: return right && *right == 2 ? number(Kind::Square, a) : opaque();
  default: return opaque();
  }
}
