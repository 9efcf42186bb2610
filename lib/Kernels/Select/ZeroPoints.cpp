// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites (a - z) b as a b and z b: quantised convolutions and fully connected layers, whose
// weights have no zero point.

#include "ZeroPoints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/Contraction.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

/// An 8-bit operand of the product, widened, less a constant.
struct Factor {
  unsigned operand;
  bool isUnsigned;
  int64_t zero;
};

} // namespace

/// The constant that a scalar of the body is, be it an operand of the op.
static std::optional<int64_t> constantOf(linalg::GenericOp op, Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar);
      argument && argument.getOwner() == op.getBody())
    scalar = op->getOperand(argument.getArgNumber());
  APInt value;
  if (!matchPattern(scalar, m_ConstantInt(&value)))
    return std::nullopt;
  return value.getSExtValue();
}

static std::optional<Factor> readFactor(linalg::GenericOp op, Value value) {
  Factor factor{0, false, 0};
  if (auto less = value.getDefiningOp<arith::SubIOp>()) {
    std::optional<int64_t> zero = constantOf(op, less.getRhs());
    if (!zero)
      return std::nullopt;
    factor.zero = *zero;
    value = less.getLhs();
  }
  BlockArgument argument = getWidenedArgument(value);
  if (!argument || argument == value || !argument.getType().isInteger(8))
    return std::nullopt;
  factor.operand = argument.getArgNumber();
  factor.isUnsigned = bool(value.getDefiningOp<arith::ExtUIOp>());
  return factor;
}

static Value extended(OpBuilder &b, Location loc, Value element, const Factor &factor) {
  const Type i32 = b.getI32Type();
  return factor.isUnsigned ? arith::ExtUIOp::create(b, loc, i32, element).getResult()
                           : arith::ExtSIOp::create(b, loc, i32, element).getResult();
}

/// A tensor of zeros with some dimensions of `like`.
static Value zeros(OpBuilder &b, Location loc, Value like, ArrayRef<unsigned> dims) {
  const SmallVector<OpFoldResult> all = tensor::getMixedSizes(b, loc, like);
  SmallVector<OpFoldResult> sizes;
  for (unsigned dim : dims)
    sizes.push_back(all[dim]);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, b.getI32Type());
  Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

/// Sums `tensor` over the loops of `op` that its result does not have. `kept`: loops of its rest.
static Value sumOf(OpBuilder &b, linalg::GenericOp op, const Factor &factor, AffineMap map,
                   SmallVectorImpl<unsigned> &kept) {
  Value tensor = op->getOperand(factor.operand);
  SmallVector<utils::IteratorType> kinds;
  SmallVector<unsigned> dims;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    kinds.push_back(op.getIteratorTypesArray()[loop]);
    if (kinds.back() == utils::IteratorType::parallel) {
      dims.push_back(dim);
      kept.push_back(loop);
    }
  }
  AffineMap all = b.getMultiDimIdentityMap(map.getNumResults());
  SmallVector<AffineExpr> rest;
  for (unsigned dim : dims)
    rest.push_back(b.getAffineDimExpr(dim));
  AffineMap out = AffineMap::get(map.getNumResults(), 0, rest, b.getContext());
  Value init = zeros(b, op.getLoc(), tensor, dims);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange x) {
    Value wide = extended(inner, loc, x[0], factor);
    Value sum = arith::AddIOp::create(inner, loc, x[1], wide);
    linalg::YieldOp::create(inner, loc, sum);
  };
  return linalg::GenericOp::create(b, op.getLoc(), init.getType(), tensor, init,
                                   ArrayRef<AffineMap>{all, out}, kinds, body)
      .getResult(0);
}

/// True if `map` has each of its loops once, and all that are summed.
static bool isWhole(linalg::GenericOp op, AffineMap map) {
  if (!map.isProjectedPermutation())
    return false;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction && !map.isFunctionOfDim(loop))
      return false;
  return true;
}

linalg::GenericOp mlir::mp::takeOutZeroPoint(IRRewriter &rewriter, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      !getElementTypeOrSelf(op.getResult(0).getType()).isInteger(32))
    return {};
  std::optional<ProductSum> found =
      readProductSum(op.getBody(), op.getBody()->getArguments().back());
  if (!found || found->isFused())
    return {};
  std::optional<Factor> a = readFactor(op, found->factors[0]),
                        b = readFactor(op, found->factors[1]);
  if (!a || !b || a->operand == b->operand || (a->zero == 0) == (b->zero == 0))
    return {};
  if (a->zero == 0)
    std::swap(a, b);
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap result = maps.back();
  if (!isWhole(op, maps[b->operand]) || !result.isProjectedPermutation() ||
      result.getNumResults() != op.getNumParallelLoops())
    return {};
  const Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<unsigned> kept;
  Value sums = sumOf(rewriter, op, *b, maps[b->operand], kept);

  if (a->operand > b->operand) // operands keep their order
    std::swap(a, b);
  const int64_t zero = a->zero + b->zero; // one of them is none
  Value start = op.getDpsInits()[0];
  SmallVector<unsigned> every(llvm::to_vector(llvm::seq<unsigned>(0, result.getNumResults())));
  Value init = zeros(rewriter, loc, start, every);
  auto multiply = [&](OpBuilder &inner, Location at, ValueRange x) {
    Value product = arith::MulIOp::create(inner, at, extended(inner, at, x[0], *a),
                                          extended(inner, at, x[1], *b));
    Value sum = arith::AddIOp::create(inner, at, x[2], product);
    linalg::YieldOp::create(inner, at, sum);
  };
  auto products = linalg::GenericOp::create(
      rewriter, loc, init.getType(),
      ValueRange{op->getOperand(a->operand), op->getOperand(b->operand)}, init,
      ArrayRef<AffineMap>{maps[a->operand], maps[b->operand], result}, op.getIteratorTypesArray(),
      multiply);
  AffineMap identity = rewriter.getMultiDimIdentityMap(result.getNumResults());
  SmallVector<AffineExpr> dims;
  for (unsigned loop : kept)
    dims.push_back(
        rewriter.getAffineDimExpr(*result.getResultPosition(rewriter.getAffineDimExpr(loop))));
  AffineMap ofSums = AffineMap::get(result.getNumResults(), 0, dims, rewriter.getContext());
  auto correct = [&](OpBuilder &inner, Location at, ValueRange x) {
    Value factor = arith::ConstantOp::create(inner, at, inner.getI32IntegerAttr(int32_t(zero)));
    Value all = arith::AddIOp::create(inner, at, x[0], x[1]);
    Value less = arith::MulIOp::create(inner, at, x[2], factor);
    Value rest = arith::SubIOp::create(inner, at, all, less);
    linalg::YieldOp::create(inner, at, rest);
  };
  Value empty = tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, start),
                                        rewriter.getI32Type());
  SmallVector<utils::IteratorType> parallel(result.getNumResults(), utils::IteratorType::parallel);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange(empty.getType()), ValueRange{products.getResult(0), start, sums}, empty,
      ArrayRef<AffineMap>{identity, identity, ofSums, identity}, parallel, correct);
  return products;
}
