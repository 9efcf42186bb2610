// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and contractions: as many terms as loops run over, with the roundings of their sum.

#include "Feeds.h"
#include "Transfer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp::proofs;

Facts mlir::mp::proofs::sumOf(const Facts &term, double count, const Facts &start,
                              const Format &format, double largestSum, bool onTensorCores) {
  Facts total = Facts::between(down(count * term.low), up(count * term.high));
  if (count == 0)
    total = Facts::point(0);
  total.low = std::max(total.low, -largestSum);
  total.high = std::min(total.high, largestSum);
  total.low = down(total.low + start.low);
  total.high = up(total.high + start.high);
  total.restOn(term).restOn(start);
  bool isNonNegative = term.isNonNegative() && start.isNonNegative();
  bool isGiven = term.mayBeInfinite || start.mayBeInfinite;
  total.mayBeNaN = term.mayBeNaN || start.mayBeNaN || (isGiven && !isNonNegative);
  total.mayBeInfinite = isGiven;
  // No partial sum is larger than all magnitudes together, however the terms are grouped.
  double magnitudes = up(std::min(count * term.magnitude(), largestSum) + start.magnitude());
  double spread = up(count * term.magnitude() + start.magnitude());
  // Tensor Cores cut off aligned products (docs/concepts/Numerics.md); 2^-21 a product covers all
  // of them.
  bool startsAtZero = start.low == 0 && start.high == 0 && !start.mayBeNaN;
  double additions = std::max(count - startsAtZero, 0.0);
  double share = onTensorCores ? (count + 2) * std::max(0x1p-21, 2 * format.unit)
                               : additions * 1.1 * format.unit;
  double error = up(spread * share);
  // Terms of one sign are all of the sum, which loses no more than that share of itself; what
  // Tensor Cores take for zero is not counted.
  bool losesAll = onTensorCores || !(share < 1);
  double least = losesAll ? 0 : down(total.low * (1 - share) - (count + 1) * format.normal);
  if (!(magnitudes * 1.02 + error <= format.largest) || !(count < 0x1p40)) {
    total.low = isNonNegative ? std::max(least, 0.0) : -kInf;
    total.high = kInf;
    total.mayBeInfinite = true;
    total.mayBeNaN |= !isNonNegative;
    return total;
  }
  total.low -= error;
  total.high += error;
  if (isNonNegative)
    total.low = std::max({total.low, least, 0.0});
  return rounded(total, format);
}

//===-- ops
//--------------------------------------------------------------------------------------===//

/// Counts how often reduced loops run together; infinity where one is dynamic.
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
      // Tensor Cores and conversions to 16 bits keep subnormal numbers.
      Format kept = *format;
      kept.normal = 0;
      Facts rounding = rounded(known, kept);
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

/// True if rows of the operand run along the reduced loop.
static bool readsRows(linalg::LinalgOp op, BlockArgument argument) {
  AffineMap map = op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
  std::optional<unsigned> reduced = rowLoopOf(op);
  if (map.getNumResults() == 0 || !reduced)
    return false;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && last.getPosition() == *reduced;
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

Facts Transfer::ofPartialResult(linalg::LinalgOp op, BlockArgument argument) {
  unsigned index = argument.getArgNumber() - op.getNumDpsInputs();
  auto [fn, term] = readCombiner(op, index);
  if (fn == Function::None)
    std::tie(fn, term) = readChoice(op, index);
  // A term that the body computes is known where it was visited before what reads the argument.
  Operation *maker = term ? term.getDefiningOp() : nullptr;
  bool isKnown = !maker || llvm::all_of(argument.getUsers(), [&](Operation *user) {
    Operation *reader = op.getBlock()->findAncestorOpInBlock(*user);
    return maker->getBlock() != op.getBlock() || maker->isBeforeInBlock(reader);
  });
  Facts partial;
  if (fn == Function::None && findAccumulated(argument)) {
    partial = facts(*findAccumulated(argument));
  } else if (fn != Function::None && fn != Function::Add && isKnown) {
    Facts start = facts(op.getDpsInits()[index]);
    partial = join(facts(term), start); // one of the terms, or the start
    // Without NaN each step is no smaller than the one before, or no larger.
    if (!partial.mayBeNaN && (fn == Function::Max || fn == Function::MaxNumber))
      partial.low = start.low;
    else if (!partial.mayBeNaN)
      partial.high = start.high;
  }
  partial.norm = kInf;
  return partial;
}

std::optional<Facts> Transfer::ofReduction(linalg::LinalgOp op, unsigned index) {
  auto [fn, term] = readCombiner(op, index);
  bool isChoice = fn == Function::None;
  if (isChoice)
    std::tie(fn, term) = readChoice(op, index);
  Type type = op->getResult(index).getType();
  std::optional<Format> format = formatOf(type);
  if (fn == Function::None || !format)
    return std::nullopt;
  double count = countOf(op);
  Facts start = facts(op.getDpsInits()[index]);
  start.norm = kInf;
  if (isChoice) {
    Facts any = join(facts(term), start);
    any.norm = kInf;
    return any.mayBeNaN ? any : extremumOf(fn, facts(term), count, start, *format);
  }
  if (fn != Function::Add)
    return extremumOf(fn, ofExtremumTerm(op, fn, term), count, start, *format);
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (product && product->getBlock() == op.getBlock() && product.getLhs() != product.getRhs()) {
    BlockArgument x = factorOf(product.getLhs(), op.getBlock());
    BlockArgument y = factorOf(product.getRhs(), op.getBlock());
    if (x && y) {
      Facts sum = contract(factor(op.getMatchingOpOperand(x)->get(), count, readsRows(op, x)),
                           factor(op.getMatchingOpOperand(y)->get(), count, readsRows(op, y)),
                           count, start, type);
      // Squares, of factors that are one; rounding them keeps their signs.
      if (facts(term).isNonNegative() && start.isNonNegative())
        sum.low = std::max(sum.low, 0.0);
      return sum;
    }
  }
  double largest = kInf;
  if (product && rowLoopOf(op)) { // Cauchy and Schwarz, each product rounded
    double norms = facts(product.getLhs()).norm * facts(product.getRhs()).norm;
    if (norms < kInf)
      largest = up(norms * (1 + 2 * format->unit) + count * format->normal);
  }
  Facts sum = sumOf(facts(term), count, start, *format, largest, /*onTensorCores=*/false);
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
