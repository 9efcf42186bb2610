// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/Relations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;
using ::mp::domains::BinaryFn;
using ::mp::domains::ReduceFn;
using ::mp::domains::UnaryFn;

Relations::Relations(Operation *root) {
  expressions.emplace_back(); // number 0 is nobody's
  visit(root);
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
    return first.kind == Kind::Via ? number(Kind::Via, number(kind, first.a, b, factor), 0, 0, first.map) : 0;
  case Kind::Add:
  case Kind::Sub:
  case Kind::Mul:
  case Kind::Div:
    return first.kind == Kind::Via && second.kind == Kind::Via && first.map == second.map
               ? number(Kind::Via, number(kind, first.a, second.a, factor), 0, 0, first.map)
               : 0;
  default:
    return 0;
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

std::optional<double> Relations::scalarOf(unsigned value) const {
  const Expression &e = expressions[value];
  return e.kind == Kind::Scalar ? std::optional(e.factor) : std::nullopt;
}

//===-- numbering ---------------------------------------------------------------------------------===//

/// In program order, without recursion along chains of ops.
void Relations::visit(Operation *op) {
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
        visit(&inner);
        numberResults(&inner);
      }
    }
}

void Relations::numberResults(Operation *op) {
  SmallVector<unsigned> operands;
  for (Value operand : op->getOperands())
    operands.push_back(numbers.lookup(operand));
  for (Value result : op->getResults())
    if (getFloatFormat(result.getType()))
      numbers[result] = op->getNumResults() == 1 ? numberResult(op, operands) : opaque();
}

unsigned Relations::read(unsigned tensor, AffineMap map) {
  const Expression &e = expressions[tensor];
  if (tensor == 0 || map.isIdentity() || e.kind == Kind::Scalar)
    return tensor;
  if (e.kind == Kind::Via && e.map == map.getAsOpaquePointer())
    return e.a;
  return number(Kind::Access, tensor, 0, 0, map.getAsOpaquePointer());
}

unsigned Relations::write(unsigned element, AffineMap map) {
  if (element == 0 || map.isIdentity() || expressions[element].kind == Kind::Scalar)
    return element;
  return number(Kind::Via, element, 0, 0, map.getAsOpaquePointer());
}

void Relations::visitStructured(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand &operand : op->getOpOperands())
    if (BlockArgument argument = op.getMatchingBlockArgument(&operand);
        argument && getFloatFormat(argument.getType())) {
      bool isAccumulator = op.isDpsInit(&operand) && op.getNumReductionLoops() > 0;
      unsigned tensor = numbers.lookup(operand.get());
      numbers[argument] =
          isAccumulator || !tensor ? opaque() : read(tensor, op.getMatchingIndexingMap(&operand));
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
    if (!getFloatFormat(result.getType()))
      continue;
    AffineMap map = maps[op.getNumDpsInputs() + index];
    Value yielded = body->getTerminator()->getOperand(index);
    if (!mask) {
      numbers[result] = write(numbers.lookup(yielded), map);
      continue;
    }
    numbers[result] = opaque();
    Operation *combiner = yielded.getDefiningOp();
    BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
    if (!combiner || op->getNumResults() != 1 || combiner->getNumOperands() != 2)
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
      numbers[result] = write(number(Kind::Max, x, mask, count), map);
  }
}

/// Dimensions of size 1 put in or taken out of what a reduction wrote: its map changes likewise.
unsigned Relations::numberReshape(Operation *op, unsigned x) {
  const Expression e = expressions[x];
  if (e.kind == Kind::Scalar)
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
      results.push_back(isUnit ? getAffineConstantExpr(0, op->getContext()) : map.getResult(source));
      placed |= !isUnit;
    }
    if (!placed && expand.getSrcType().getDimSize(source) != 1)
      return opaque();
  }
  AffineMap expanded = AffineMap::get(map.getNumDims(), 0, results, op->getContext());
  return number(Kind::Via, e.a, 0, 0, expanded.getAsOpaquePointer());
}

unsigned Relations::numberResult(Operation *op, ArrayRef<unsigned> operands) {
  Attribute constant;
  if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&constant))) {
    if (auto scalar = dyn_cast<FloatAttr>(constant))
      return number(Kind::Scalar, 0, 0, scalar.getValueAsDouble());
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      return number(Kind::Scalar, 0, 0, splat.getSplatValue<APFloat>().convertToDouble());
    return opaque();
  }
  FloatMeaning meaning = getFloatMeaning(op);
  SmallVector<unsigned, 3> x;
  for (unsigned operand : meaning.operands)
    x.push_back(operand < operands.size() ? operands[operand] : 0);
  if (llvm::is_contained(x, 0u))
    return opaque();
  switch (meaning.kind) {
  case FloatMeaning::Kind::Unary:
    return numberUnary(meaning.unary, x[0]);
  case FloatMeaning::Kind::Binary:
    return numberBinary(meaning.binary, x[0], x[1]);
  case FloatMeaning::Kind::Cast: {
    if (isa<RoundOp>(op))
      return opaque();
    FloatType from = getFloatFormat(op->getOperand(0).getType());
    FloatType to = getFloatFormat(op->getResult(0).getType());
    if (holdsEveryValueOf(to, from))
      return x[0];
    // Epsilons are given in f64 and added in f32.
    if (std::optional<double> scalar = scalarOf(x[0]); scalar && from.isF64() && to.isF32())
      return number(Kind::Scalar, 0, 0, static_cast<float>(*scalar));
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
    return scalarOf(x[0]) ? x[0] : opaque();
  default:
    return opaque();
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
  case BinaryFn::Sub:
    return number(Kind::Sub, a, b);
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
  case BinaryFn::Pow:
    return right && *right == 2 ? number(Kind::Square, a) : opaque();
  default:
    return opaque();
  }
}

//===-- questions ---------------------------------------------------------------------------------===//

bool Relations::isGroupMax(Value max, Value x) const {
  const Expression &e = get(max);
  return e.kind == Kind::Max && numberOf(x) && e.a == numberOf(x);
}

std::optional<Relations::Largest> Relations::largestOf(unsigned bound, unsigned x) const {
  const Expression &e = expressions[bound];
  switch (e.kind) {
  case Kind::Plus:
  case Kind::AtLeast:
    return largestOf(e.a, x);
  case Kind::Scaled: {
    auto inner = largestOf(e.a, x);
    return inner ? std::optional(Largest{inner->factor * e.factor, /*isRounded=*/true}) : std::nullopt;
  }
  case Kind::Max:
    if (expressions[e.a].kind == Kind::Abs && expressions[e.a].a == x)
      return Largest{1};
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<Relations::Largest> Relations::largestOf(Value bound, Value x) const {
  return numberOf(x) ? largestOf(numberOf(bound), numberOf(x)) : std::nullopt;
}

std::optional<Relations::Largest> Relations::inverseLargestOf(Value inverse, Value x) const {
  const Expression *e = &get(inverse);
  double numerator = 1;
  if (e->kind == Kind::Scaled) {
    numerator = e->factor;
    e = &expressions[e->a];
  }
  if (e->kind == Kind::Div && scalarOf(e->a))
    numerator *= std::abs(*scalarOf(e->a));
  else if (e->kind != Kind::Reciprocal)
    return std::nullopt;
  auto largest = numberOf(x) ? largestOf(e->kind == Kind::Div ? e->b : e->a, numberOf(x)) : std::nullopt;
  return largest ? std::optional(Largest{numerator / largest->factor, /*isRounded=*/true}) : std::nullopt;
}

bool Relations::isSumOf(unsigned sum, unsigned x) const {
  const Expression &e = expressions[sum];
  if (e.kind == Kind::Plus)
    return isSumOf(e.a, x);
  return e.kind == Kind::Sum && e.a == x;
}

bool Relations::isSumOf(Value sum, Value x) const {
  return numberOf(x) && isSumOf(numberOf(sum), numberOf(x));
}

bool Relations::isReciprocalOfSumOf(Value inverse, Value x) const {
  const Expression &e = get(inverse);
  return numberOf(x) && e.kind == Kind::Reciprocal && isSumOf(e.a, numberOf(x));
}

bool Relations::isSumOfShiftedExp(Value sum) const {
  const Expression *e = &get(sum);
  // The value may be asked for where it was written, not yet where it is read.
  if (e->kind == Kind::Via)
    e = &expressions[e->a];
  if (e->kind != Kind::Sum)
    return false;
  const Expression &exp = expressions[e->a];
  if (exp.kind != Kind::Exp || expressions[exp.a].kind != Kind::Sub)
    return false;
  const Expression &shifted = expressions[exp.a], &max = expressions[shifted.b];
  // The maximum over the same dimensions, or over fewer: each group of the sum has its own.
  return max.kind == Kind::Max && max.a == shifted.a && (max.b & ~e->b) == 0;
}

bool Relations::isMeanOf(unsigned mean, unsigned x) const {
  const Expression &e = expressions[mean];
  if (e.kind == Kind::Rounded)
    return isMeanOf(e.a, x);
  return e.kind == Kind::Scaled && isSumOf(e.a, x);
}

std::optional<Relations::OwnSquares> Relations::asSquares(unsigned value, bool summed,
                                                          int64_t count) const {
  const Expression &e = expressions[value];
  switch (e.kind) {
  case Kind::Rounded:
    return asSquares(e.a, summed, count);
  case Kind::Plus: {
    auto inner = asSquares(e.a, summed, count);
    if (inner)
      inner->squares.positive |= !summed && e.factor > 1e-30;
    return inner;
  }
  case Kind::Sum: {
    auto inner = summed ? std::nullopt : asSquares(e.a, true, static_cast<int64_t>(e.factor));
    if (inner)
      inner->squares.loops = e.b;
    return inner;
  }
  case Kind::Scaled: {
    auto inner = asSquares(e.a, summed, count);
    if (inner)
      inner->squares.factor *= e.factor;
    return inner;
  }
  case Kind::Square:
    return summed ? std::optional(OwnSquares{e.a, {1, count}}) : std::nullopt;
  case Kind::Sub: {
    // mean(x^2) - mean(x)^2 is the mean square of x - mean(x).
    auto squares = asSquares(e.a, summed, count);
    const Expression &b = expressions[e.b];
    const Expression *mean = &expressions[b.a];
    if (mean->kind == Kind::Rounded)
      mean = &expressions[mean->a];
    if (!squares || b.kind != Kind::Square || !isMeanOf(b.a, squares->of) ||
        mean->factor != static_cast<float>(squares->squares.factor))
      return std::nullopt;
    squares->squares.cancels = true;
    auto difference = known.find({Kind::Sub, squares->of, b.a, 0.0, nullptr});
    if (difference == known.end())
      return std::nullopt;
    return OwnSquares{difference->second, squares->squares};
  }
  default:
    return std::nullopt;
  }
}

std::optional<Relations::Squares> Relations::rootOfSquares(Value root, Value x) const {
  const Expression &e = get(root);
  if (e.kind != Kind::Sqrt || !numberOf(x))
    return std::nullopt;
  auto squares = asSquares(e.a);
  return squares && squares->of == numberOf(x) ? std::optional(squares->squares) : std::nullopt;
}

std::optional<Relations::Squares> Relations::inverseRootOfSquares(Value inverse, Value x) const {
  const Expression &e = get(inverse);
  if (e.kind != Kind::Rsqrt || !numberOf(x))
    return std::nullopt;
  auto squares = asSquares(e.a);
  return squares && squares->of == numberOf(x) ? std::optional(squares->squares) : std::nullopt;
}
