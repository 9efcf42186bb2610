// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites (a - y) (b - z) as a b, y (b - z) and z a: convolutions, fully connected layers and
// products of activations in quantised models. And sums in 16 bits as sums in 32.

#include "ZeroPoints.h"

#include "ConstantMatrix.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/Contraction.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

/// Holds what is subtracted from each element of an operand.
struct Zero {
  int64_t known = 0;
  Value read; ///< an i32, or a tensor of one, outside the op; null: `known`

  explicit operator bool() const { return read || known != 0; }
};

/// An 8-bit operand of the product, widened, less its zero point.
struct Factor {
  unsigned operand;
  bool isUnsigned;
  Zero zero;

  Value widen(OpBuilder &b, Location loc, Value element) const {
    const Type i32 = b.getI32Type();
    return isUnsigned ? arith::ExtUIOp::create(b, loc, i32, element).getResult()
                      : arith::ExtSIOp::create(b, loc, i32, element).getResult();
  }
};

/// Holds what comes off the sums of products: sums of an operand, times the other's zero point.
struct Correction {
  Value sums;
  SmallVector<unsigned> loops; ///< of the contraction, one for each dimension of `sums`
  Zero times;
};

/// Takes zero points out of one op.
class ZeroPoints {
public:
  ZeroPoints(IRRewriter &rewriter, linalg::GenericOp op)
      : b(rewriter), op(op), maps(op.getIndexingMapsArray()) {}

  /// False if the op is no sum of products with a zero point.
  bool read();
  linalg::GenericOp buildProducts();
  void replaceOp(linalg::GenericOp products);

private:
  std::optional<Zero> readZero(Value scalar);
  std::optional<Factor> readFactor(Value value);
  bool canSum(unsigned operand);
  Value zeros(ArrayRef<unsigned> loops);
  Correction sumOf(const Factor &factor, const Zero &less, const Zero &times);
  Value foldSum(const Factor &factor, const Zero &less, const Correction &correction);

  IRRewriter &b;
  linalg::GenericOp op;
  SmallVector<AffineMap> maps;
  Factor factors[2]; ///< in the order of operands
};

} // namespace

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

/// A number that is the same for all iterations, as it is outside the op.
std::optional<Zero> ZeroPoints::readZero(Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  const bool isOperand = argument && argument.getOwner() == op.getBody();
  if (isOperand && maps[argument.getArgNumber()].getNumResults() != 0)
    return std::nullopt;
  if (isOperand)
    scalar = op->getOperand(argument.getArgNumber());
  APInt value;
  if (matchPattern(scalar, m_ConstantInt(&value)))
    return Zero{value.getSExtValue(), {}};
  if (!getElementTypeOrSelf(scalar.getType()).isInteger(32) ||
      scalar.getParentBlock() == op.getBody())
    return std::nullopt;
  return Zero{0, scalar};
}

std::optional<Factor> ZeroPoints::readFactor(Value value) {
  Factor factor{0, false, {}};
  if (auto less = value.getDefiningOp<arith::SubIOp>()) {
    std::optional<Zero> zero = readZero(less.getRhs());
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

/// True if all that is summed over moves in the operand, by loops of known size where a window
/// slides.
bool ZeroPoints::canSum(unsigned operand) {
  FailureOr<LinearAccess> access = LinearAccess::of(maps[operand]);
  if (failed(access))
    return false;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    const bool isPlain = maps[operand].getResultPosition(b.getAffineDimExpr(loop)).has_value();
    if (kind == utils::IteratorType::reduction &&
        (!access->uses(loop) ||
         (!isPlain && ShapedType::isDynamic(op.getStaticLoopRanges()[loop]))))
      return false;
  }
  return true;
}

bool ZeroPoints::read() {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  Type accumulator = getElementTypeOrSelf(op.getResult(0).getType());
  const bool isShort = accumulator.isInteger(16);
  if ((!isShort && !accumulator.isInteger(32)) || !maps.back().isProjectedPermutation() ||
      maps.back().getNumResults() != op.getNumParallelLoops())
    return false;
  std::optional<ProductSum> found =
      readProductSum(op.getBody(), op.getBody()->getArguments().back());
  if (!found || found->isFused())
    return false;
  std::optional<Factor> left = readFactor(found->factors[0]), right = readFactor(found->factors[1]);
  if (!left || !right || left->operand == right->operand)
    return false;
  if (isShort ? left->zero.read || right->zero.read : !left->zero && !right->zero)
    return false;
  if (left->operand > right->operand)
    std::swap(left, right);
  factors[0] = *left;
  factors[1] = *right;
  return (!factors[0].zero || canSum(factors[1].operand)) &&
         (!factors[1].zero || canSum(factors[0].operand));
}

/// A tensor of zeros, with a dimension for each of these parallel loops.
Value ZeroPoints::zeros(ArrayRef<unsigned> loops) {
  const Location loc = op.getLoc();
  const SmallVector<OpFoldResult> all = tensor::getMixedSizes(b, loc, op.getDpsInits()[0]);
  SmallVector<OpFoldResult> sizes;
  for (unsigned loop : loops)
    sizes.push_back(all[*maps.back().getResultPosition(b.getAffineDimExpr(loop))]);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, b.getI32Type());
  Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

linalg::GenericOp ZeroPoints::buildProducts() {
  SmallVector<unsigned> parallel;
  for (AffineExpr loop : maps.back().getResults())
    parallel.push_back(cast<AffineDimExpr>(loop).getPosition());
  Value init = zeros(parallel);
  auto multiply = [&](OpBuilder &inner, Location at, ValueRange x) {
    Value product = arith::MulIOp::create(inner, at, factors[0].widen(inner, at, x[0]),
                                          factors[1].widen(inner, at, x[1]));
    Value sum = arith::AddIOp::create(inner, at, x[2], product);
    linalg::YieldOp::create(inner, at, sum);
  };
  const unsigned left = factors[0].operand, right = factors[1].operand;
  return linalg::GenericOp::create(b, op.getLoc(), init.getType(),
                                   ValueRange{op->getOperand(left), op->getOperand(right)}, init,
                                   ArrayRef<AffineMap>{maps[left], maps[right], maps.back()},
                                   op.getIteratorTypesArray(), multiply);
}

/// The sums of a constant less `less`, times the correction's factor if that is known; null where
/// something is not known.
Value ZeroPoints::foldSum(const Factor &factor, const Zero &less, const Correction &correction) {
  Value operand = op->getOperand(factor.operand);
  auto type = cast<RankedTensorType>(operand.getType());
  ElementsAttr constant = getConstantBehind(operand);
  std::optional<ArrayRef<char>> raw = constant ? getRawElements(constant) : std::nullopt;
  const AffineMap map = maps[factor.operand];
  if (!raw || less.read || !map.isProjectedPermutation())
    return {};
  SmallVector<int64_t> sizes, steps(type.getRank(), 0), at(type.getRank(), 0);
  for (unsigned loop : correction.loops)
    sizes.push_back(op.getStaticLoopRanges()[loop]);
  int64_t count = 1;
  for (size_t dim = sizes.size(); dim-- > 0; count *= sizes[dim])
    steps[*map.getResultPosition(b.getAffineDimExpr(correction.loops[dim]))] = count;
  SmallVector<int32_t> sums(count, 0);
  const int64_t times = correction.times.read ? 1 : correction.times.known;
  int64_t to = 0;
  for (int64_t i = 0, all = type.getNumElements(); i < all; ++i) {
    const char byte = (*raw)[constant.isSplat() ? 0 : i];
    const int64_t element = factor.isUnsigned ? int64_t(uint8_t(byte)) : int64_t(int8_t(byte));
    sums[to] = int32_t(sums[to] + (element - less.known) * times); // integers wrap
    for (int64_t dim = type.getRank(); dim-- > 0;) {               // the next element's sum
      to += steps[dim];
      if (++at[dim] < type.getDimSize(dim))
        break;
      to -= steps[dim] * at[dim];
      at[dim] = 0;
    }
  }
  auto made = RankedTensorType::get(sizes, b.getI32Type());
  return arith::ConstantOp::create(b, op.getLoc(),
                                   DenseElementsAttr::get(made, ArrayRef<int32_t>(sums)));
}

/// Sums an operand, less `less`, over all loops that the contraction sums over.
Correction ZeroPoints::sumOf(const Factor &factor, const Zero &less, const Zero &times) {
  const AffineMap map = maps[factor.operand];
  const LinearAccess access = *LinearAccess::of(map);
  Correction correction{{}, {}, times};
  SmallVector<utils::IteratorType> kinds;
  SmallVector<AffineExpr> renumbered(op.getNumLoops(), b.getAffineConstantExpr(0)), out, window;
  SmallVector<int64_t> windowSizes;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (!access.uses(loop))
      continue;
    renumbered[loop] = b.getAffineDimExpr(kinds.size());
    kinds.push_back(kind);
    if (kind == utils::IteratorType::parallel) {
      correction.loops.push_back(loop);
      out.push_back(renumbered[loop]);
    } else if (!map.getResultPosition(b.getAffineDimExpr(loop))) {
      window.push_back(renumbered[loop]);
      windowSizes.push_back(op.getStaticLoopRanges()[loop]);
    }
  }
  if ((correction.sums = foldSum(factor, less, correction))) {
    if (!times.read)
      correction.times = {1, {}};
    return correction;
  }
  const Location loc = op.getLoc();
  SmallVector<Value> inputs = {op->getOperand(factor.operand)};
  SmallVector<AffineMap> sumMaps = {map.replaceDimsAndSymbols(renumbered, {}, kinds.size(), 0)};
  if (!window.empty()) { // says how large it is
    inputs.push_back(tensor::EmptyOp::create(b, loc, windowSizes, b.getI32Type()));
    sumMaps.push_back(AffineMap::get(kinds.size(), 0, window, b.getContext()));
  }
  if (less.read) {
    inputs.push_back(less.read);
    sumMaps.push_back(AffineMap::get(kinds.size(), 0, b.getContext()));
  }
  Value init = zeros(correction.loops);
  sumMaps.push_back(AffineMap::get(kinds.size(), 0, out, b.getContext()));
  auto body = [&](OpBuilder &inner, Location at, ValueRange x) {
    Value element = factor.widen(inner, at, x[0]);
    if (less)
      element = arith::SubIOp::create(
          inner, at, element, less.read ? x[x.size() - 2] : constant(inner, at, less.known));
    Value sum = arith::AddIOp::create(inner, at, x.back(), element);
    linalg::YieldOp::create(inner, at, sum);
  };
  correction.sums =
      linalg::GenericOp::create(b, loc, init.getType(), inputs, init, sumMaps, kinds, body)
          .getResult(0);
  return correction;
}

void ZeroPoints::replaceOp(linalg::GenericOp products) {
  const Location loc = op.getLoc();
  SmallVector<Correction> corrections;
  if (factors[0].zero)
    corrections.push_back(sumOf(factors[1], factors[1].zero, factors[0].zero));
  if (factors[1].zero)
    corrections.push_back(sumOf(factors[0], Zero(), factors[1].zero));
  const AffineMap result = maps.back();
  Value start = op.getDpsInits()[0];
  AffineMap identity = b.getMultiDimIdentityMap(result.getNumResults());
  SmallVector<Value> inputs = {products.getResult(0), start};
  SmallVector<AffineMap> all = {identity, identity};
  for (const Correction &correction : corrections) {
    SmallVector<AffineExpr> dims;
    for (unsigned loop : correction.loops)
      dims.push_back(b.getAffineDimExpr(*result.getResultPosition(b.getAffineDimExpr(loop))));
    inputs.push_back(correction.sums);
    all.push_back(AffineMap::get(result.getNumResults(), 0, dims, b.getContext()));
    if (correction.times.read) {
      inputs.push_back(correction.times.read);
      all.push_back(AffineMap::get(result.getNumResults(), 0, b.getContext()));
    }
  }
  all.push_back(identity);
  const Type type = getElementTypeOrSelf(start.getType()), i32 = b.getI32Type();
  auto correct = [&](OpBuilder &inner, Location at, ValueRange x) {
    Value from = type == i32 ? x[1] : arith::ExtSIOp::create(inner, at, i32, x[1]).getResult();
    Value sum = arith::AddIOp::create(inner, at, x[0], from);
    size_t next = 2;
    for (const Correction &correction : corrections) {
      Value less = x[next++];
      if (correction.times.read)
        less = arith::MulIOp::create(inner, at, less, x[next++]);
      else if (correction.times.known != 1)
        less = arith::MulIOp::create(inner, at, less, constant(inner, at, correction.times.known));
      sum = arith::SubIOp::create(inner, at, sum, less);
    }
    if (type != i32) // the low bits of a sum are the sum of low bits
      sum = arith::TruncIOp::create(inner, at, type, sum);
    linalg::YieldOp::create(inner, at, sum);
  };
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, start), type);
  SmallVector<utils::IteratorType> parallel(result.getNumResults(), utils::IteratorType::parallel);
  b.replaceOpWithNewOp<linalg::GenericOp>(op, TypeRange(empty.getType()), inputs, empty, all,
                                          parallel, correct);
}

linalg::GenericOp mlir::mp::takeOutZeroPoints(IRRewriter &rewriter, linalg::GenericOp op,
                                              function_ref<bool(linalg::GenericOp)> isWorth) {
  ZeroPoints points(rewriter, op);
  if (!points.read())
    return {};
  rewriter.setInsertionPoint(op);
  linalg::GenericOp products = points.buildProducts();
  if (!isWorth(products)) {
    rewriter.eraseOp(products);
    return {};
  }
  points.replaceOp(products);
  return products;
}
