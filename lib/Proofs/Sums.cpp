// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and contractions: as many terms as loops run over, with the roundings of their sum.

#include "Transfer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp::proofs;

/// How often reduced loops run together; infinity where one is dynamic.
static double countOf(linalg::LinalgOp op) {
  double count = 1;
  for (auto [kind, size] : llvm::zip_equal(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (kind == utils::IteratorType::reduction)
      count *= ShapedType::isDynamic(size) ? kInf : double(size);
  return count;
}

std::pair<Facts, double> Transfer::factor(Value value, double count, bool alongRows) {
  Facts known = facts(value);
  if (narrow && getElementTypeOrSelf(value.getType()).isF32()) {
    std::optional<Format> format = formatOf(narrow);
    if (format && known.magnitude() <= format->largest && !known.isEmpty()) {
      Facts rounding = rounded(known, *format);
      rounding.norm =
          up(known.norm * (1 + format->unit) + std::sqrt(count) * format->normal * format->unit);
      known = join(known, rounding);
    }
  }
  double norm = up(known.magnitude() * up(std::sqrt(count)));
  if (alongRows)
    norm = std::min(norm, known.norm);
  return {known, norm};
}

Facts Transfer::contract(const std::pair<Facts, double> &x, const std::pair<Facts, double> &y,
                         double count, const Facts &start, Type type) {
  std::optional<Format> format = formatOf(type);
  if (!format)
    return Facts();
  Format exact{0x1p-53, 0, kInf, &llvm::APFloat::IEEEdouble()};
  Facts term = apply(Function::Mul, {x.first, y.first}, exact);
  double largest = up(x.second * y.second); // Cauchy and Schwarz
  if (std::isnan(largest))
    largest = kInf;
  Facts sum = sumOf(term, count, start, *format, largest, /*onTensorCores=*/true);
  sum.norm = kInf;
  return sum;
}

/// The value that a body multiplies, without widening: an argument of the body.
static BlockArgument factorOf(Value value, Block *body) {
  while (auto widened = value.getDefiningOp<arith::ExtFOp>())
    value = widened.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == body ? argument : BlockArgument();
}

/// True if the reduced loops of more than one step are one, along the innermost dimension of the
/// operand.
static bool readsRows(linalg::LinalgOp op, BlockArgument argument) {
  AffineMap map = op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
  if (map.getNumResults() == 0)
    return false;
  std::optional<unsigned> reduced;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction || op.getStaticLoopRanges()[loop] == 1)
      continue;
    if (reduced)
      return false;
    reduced = loop;
  }
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return reduced && last && last.getPosition() == *reduced;
}

/// The extremum of `count` values of x, and of what it starts from.
static std::optional<Facts> extremumOf(Function fn, const Facts &x, double count,
                                       const Facts &start, const Format &format) {
  bool isMax = fn == Function::Max || fn == Function::MaxNumber;
  bool drops = fn == Function::MaxNumber || fn == Function::MinNumber;
  if (!isMax && fn != Function::Min && fn != Function::MinNumber)
    return std::nullopt;
  Facts found = apply(fn, {x, start}, format);
  found.norm = kInf;
  bool mayBeEmpty = !(count >= 1) || std::isinf(count);
  if (mayBeEmpty || (drops && x.mayBeNaN))
    found = join(found, start);
  if (x.isBounded() && !mayBeEmpty && !drops) {
    // With a value that is a number the start, an infinity, is not the result.
    bool startsBeyond = isMax ? start.high == -kInf : start.low == kInf;
    if (startsBeyond)
      found.mayBeInfinite = x.mayBeInfinite;
  }
  return found;
}

std::optional<Facts> Transfer::ofReduction(linalg::LinalgOp op, unsigned index) {
  auto [fn, term] = readCombiner(op, index);
  if (fn == Function::None)
    return std::nullopt;
  double count = countOf(op);
  Type type = op->getResult(index).getType();
  std::optional<Format> format = formatOf(type);
  if (!format)
    return std::nullopt;
  Facts start = facts(op.getDpsInits()[index]);
  start.norm = kInf;
  if (fn != Function::Add)
    return extremumOf(fn, facts(term), count, start, *format);
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (product && product->getBlock() == op.getBlock() && product.getLhs() != product.getRhs()) {
    BlockArgument x = factorOf(product.getLhs(), op.getBlock());
    BlockArgument y = factorOf(product.getRhs(), op.getBlock());
    if (x && y)
      return contract(factor(op.getMatchingOpOperand(x)->get(), count, readsRows(op, x)),
                      factor(op.getMatchingOpOperand(y)->get(), count, readsRows(op, y)), count,
                      start, type);
  }
  Facts sum = sumOf(facts(term), count, start, *format, kInf, /*onTensorCores=*/false);
  // A sum of squares along rows is the square of their norm.
  if (product && product.getLhs() == product.getRhs()) {
    BlockArgument x = factorOf(product.getLhs(), op.getBlock());
    if (x && readsRows(op, x)) {
      double norm = facts(op.getMatchingOpOperand(x)->get()).norm;
      double largest = up(norm * norm) * (1 + (count + 2) * 2 * format->unit) + start.high;
      sum.high = std::min(sum.high, up(largest));
    }
  }
  sum.norm = kInf;
  return sum;
}

std::optional<Facts> Transfer::ofTosaReduction(Operation *op, unsigned axis) {
  auto source = cast<ShapedType>(op->getOperand(0).getType());
  Type type = op->getResult(0).getType();
  std::optional<Format> format = formatOf(type);
  if (!format)
    return std::nullopt;
  double count = source.isDynamicDim(axis) ? kInf : double(source.getDimSize(axis));
  Facts x = facts(op->getOperand(0));
  if (isa<tosa::ReduceSumOp>(op)) {
    Facts sum = sumOf(x, count, Facts::point(0), *format, kInf, false);
    sum.norm = kInf;
    return sum;
  }
  bool isMax = isa<tosa::ReduceMaxOp>(op);
  auto mode = op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
  bool drops = mode && mode.getValue() == tosa::NanPropagationMode::IGNORE;
  Function fn = isMax ? (drops ? Function::MaxNumber : Function::Max)
                      : (drops ? Function::MinNumber : Function::Min);
  return extremumOf(fn, x, count, Facts::point(isMax ? -format->largest : format->largest),
                    *format);
}

std::optional<Facts> Transfer::ofTosaContraction(Operation *op) {
  Type type = op->getResult(0).getType();
  auto input = cast<ShapedType>(op->getOperand(0).getType());
  auto sizeOf = [](ShapedType shape, int64_t dim) {
    return shape.isDynamicDim(dim) ? kInf : double(shape.getDimSize(dim));
  };
  if (isa<tosa::MatMulOp>(op)) {
    double count = sizeOf(input, 2);
    return contract(factor(op->getOperand(0), count, true), factor(op->getOperand(1), count, false),
                    count, Facts::point(0), type);
  }
  if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op)) {
    Facts x = facts(op->getOperand(0));
    std::optional<Format> format = formatOf(type);
    double count = double(pool.getKernel()[0]) * double(pool.getKernel()[1]);
    if (!format || !(x.magnitude() * count * 1.02 <= format->largest))
      return std::nullopt;
    double error = x.magnitude() * (count + 2) * 2 * format->unit;
    bool isPositive = x.isNonNegative();
    x.low -= error;
    x.high += error;
    if (isPositive)
      x.low = std::max(x.low, 0.0);
    x.norm = kInf;
    return x;
  }
  // Filters: OHWC, or HWCM where channels stay apart. Padding is zero.
  auto filter = cast<ShapedType>(op->getOperand(1).getType());
  double count = isa<tosa::Conv2DOp>(op) ? sizeOf(filter, 1) * sizeOf(filter, 2) * sizeOf(filter, 3)
                                         : sizeOf(filter, 0) * sizeOf(filter, 1);
  std::pair<Facts, double> padded = factor(op->getOperand(0), count, false);
  padded.first = join(padded.first, Facts::point(0));
  return contract(padded, factor(op->getOperand(1), count, false), count, facts(op->getOperand(2)),
                  type);
}
