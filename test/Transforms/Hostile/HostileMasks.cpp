// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks, paddings and what maxima begin with: the largest finite number is not infinity, rounded to
// a narrower format it becomes that, and zero times it NaN.

#include "ClaimWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

static constexpr double kLargest = 3.40282347e38; ///< of f32
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static Value bounded(ClaimWriter &b) {
  auto shape = b.matrix();
  return b.argument(shape, Bounds(-100, 100));
}

static Value maskLike(ClaimWriter &b, Value x) {
  return b.argumentOf(b.typeOf(x).clone(b.getBuilder().getI1Type()));
}

static constexpr StringLiteral kNumber[] = {"masked by the lowest number", "masked by infinity",
                                            "masked by a billion", "masked just beyond f16"};

/// Picks a number that f16 holds, or one of those that masks are made of.
static double maskNumber(ClaimWriter &b) {
  double sign = b.pick({-1.0, 1.0});
  if (b.breaks("masked by the lowest number"))
    return sign * kLargest;
  if (b.breaks("masked by infinity"))
    return sign * kInfinity;
  if (b.breaks("masked by a billion"))
    return sign * b.pick({1e9, 1e4 * 7, 1e30});
  if (b.breaks("masked just beyond f16"))
    return sign * b.pick({65520.0, 65505.0, 65519.0});
  return sign * b.pick({0.0, 1.0, 10000.0, 65504.0});
}

/// select(m, x, c) is a factor, and c with it
static Value masked(ClaimWriter &b) {
  Value x = bounded(b);
  double number = maskNumber(b);
  Value mask = maskLike(b, x);
  if (b.oneIn(2))
    return b.select(mask, x, number);
  return b.select(b.compare(arith::CmpFPredicate::OGT, x, b.argument(b.shapeOf(x))), number, x);
}

/// The same by addition
static Value maskedBySum(ClaimWriter &b) {
  Value x = bounded(b);
  double number = maskNumber(b) / 2;
  return b.add(x, b.select(maskLike(b, x), 0.0, b.splat(number, x, b.formatOf(x))));
}

/// x with c around it
static Value padded(ClaimWriter &b) {
  Value x = bounded(b);
  double number = maskNumber(b);
  int64_t low = b.below(2), high = b.below(2);
  return b.pad(x, {low, 1}, {high, 0}, number);
}

static constexpr StringLiteral kStarts[] = {"group empty", "group masked out",
                                            "starts at the lowest number", "starts above"};

/// A maximum is one of what it reads, unless that is nothing
static Value extremum(ClaimWriter &b) {
  auto shape = b.matrix();
  bool isEmpty = b.breaks("group empty") && b.getSpelling() != Spelling::Tosa;
  if (isEmpty)
    shape[1] = 0;
  Value x = b.argument(shape, Bounds(-100, 100));
  if (b.breaks("group masked out"))
    x = b.select(maskLike(b, x), x, b.pick({-kLargest, -kInfinity, -1e30}));
  bool isMax = b.oneIn(2);
  double start = b.pick({-kInfinity, -1000.0});
  if (isEmpty || b.breaks("starts at the lowest number"))
    start = b.pick({-kLargest, -1e9, -kInfinity});
  if (b.breaks("starts above"))
    start = b.pick({1e6, kLargest});
  Fn fn = isMax ? b.pick({Fn::Max, Fn::MaxNum}) : b.pick({Fn::Min, Fn::MinNum});
  Value result = b.reduce(fn, x, {1}, isMax ? start : -start);
  return b.getSpelling() == Spelling::Tosa ? result : b.reshape(result, {shape[0], 1});
}

static constexpr StringLiteral kPooled[] = {"window all padding", "padded with the lowest number"};

/// The maximum of windows x[i + j] of a padded row, as pooling computes it
static Value pooled(ClaimWriter &b) {
  int64_t count = b.size(), size = 1 + b.below(3), low = b.below(int64_t(size));
  double number = -b.pick({0.0, 1000.0});
  if (b.breaks("window all padding")) { // windows that begin before x and end there
    low = size;
    number = -b.pick({kLargest, kInfinity, 1e6});
  }
  if (b.breaks("padded with the lowest number")) {
    low = size + 1;
    number = -kLargest;
  }
  Value x = b.argument({count + size - 1}, Bounds(-100, 100));
  Value row = b.pad(x, {low}, {0}, number);
  Value windows = b.windows(row, count + low, size);
  Value max = b.reduce(Fn::Max, windows, {1});
  return b.reshape(max, {1, count + low});
}

/// The same by the named op
static Value pooledByName(ClaimWriter &b) {
  int64_t rows = 2 + b.below(5), channels = b.size(), size = 2, pad = b.below(2);
  double start = -b.pick({kInfinity, kLargest});
  if (b.breaks("window all padding"))
    pad = size;
  if (b.breaks("padded with the lowest number")) {
    pad = size + 1;
    start = -kLargest;
  }
  return b.poolMax(b.argument({1, rows, 1, channels}, Bounds(-100, 100)), size, pad, start);
}

static constexpr StringLiteral kTable[] = {"table holds the lowest number", "table holds infinity",
                                           "table holds a billion", "table holds NaN",
                                           "table just beyond f16"};

/// A constant factor of which each element fits
static Value table(ClaimWriter &b) {
  auto shape = b.matrix();
  SmallVector<double> numbers;
  for (int64_t i = 0, e = shape[0] * shape[1]; i < e; ++i)
    numbers.push_back(b.pick({0.0, 1.0, -2.0, 0.5, 65504.0}));
  double odd = 1;
  if (b.breaks("table holds the lowest number"))
    odd = -kLargest;
  if (b.breaks("table holds infinity"))
    odd = kInfinity;
  if (b.breaks("table holds a billion"))
    odd = b.pick({1e9, -1e5});
  if (b.breaks("table holds NaN"))
    odd = std::numeric_limits<double>::quiet_NaN();
  if (b.breaks("table just beyond f16"))
    odd = b.pick({65520.0, 65519.0});
  numbers[b.below(numbers.size())] = odd;
  Value constant = b.constant(shape, numbers);
  if (b.oneIn(3))
    constant = b.transpose(constant, {1, 0});
  return b.oneIn(3) ? b.add(constant, 0.0) : constant;
}

static constexpr StringLiteral kMaskedSoftmax[] = {
    "maximum of the unmasked scores", "numerator of the unmasked scores",
    "sum of the unmasked scores", "mask behind the exponential, sum before it",
    "mask of the lowest number added"};

/// Softmax of masked scores, the mask before the maximum
static Value maskedSoftmax(ClaimWriter &b) {
  auto shape = b.matrix();
  Value raw = b.argument(shape);
  double number = b.pick({-1e9, -1e4, -kInfinity, -kLargest});
  Value mask = maskLike(b, raw);
  Value x;
  if (b.breaks("mask of the lowest number added"))
    x = b.add(raw, b.select(mask, 0.0, b.splat(-kLargest, raw, b.formatOf(raw))));
  else
    x = b.select(mask, raw, number);
  Value ofMax = b.breaks("maximum of the unmasked scores") ? b.select(mask, 0.0, raw) : x;
  Value max = b.spread(b.reduce(Fn::Max, ofMax, {1}), x, {1});
  Value exp = b.exp(b.sub(x, max));
  Value other = b.exp(b.sub(raw, max));
  Value terms = b.breaks("sum of the unmasked scores") ? other : exp;
  Value top = b.breaks("numerator of the unmasked scores") ? other : exp;
  if (b.breaks("mask behind the exponential, sum before it")) {
    top = b.mul(other, 8.0);
    terms = b.select(mask, other, 0.0);
  }
  return b.div(top, b.spread(b.reduce(Fn::Add, terms, {1}), x, {1}));
}

static constexpr StringLiteral kGated[] = {"x unbounded", "gate not a truth value"};

/// x times a truth value
static Value gated(ClaimWriter &b) {
  auto shape = b.matrix();
  Value x =
      b.argument(shape, b.breaks("x unbounded") ? std::optional<Bounds>() : Bounds(-1e4, 1e4));
  if (b.breaks("gate not a truth value"))
    return b.mul(x, b.argument(shape));
  Value gate = b.select(maskLike(b, x), b.splat(1.0, x, b.formatOf(x)), 0.0);
  return b.mul(x, gate);
}

void mlir::mp::test::addMasks(std::vector<HostileFamily> &families) {
  families.push_back({"masked by selection", masked, {kNumber}});
  families.push_back({"masked by addition", maskedBySum, {kNumber}});
  families.push_back({"padded", padded, {kNumber}});
  families.push_back({"extremum of a group", extremum, {kStarts}});
  families.push_back({"extremum of windows", pooled, {kPooled}});
  families.push_back({"pooling", pooledByName, {kPooled}});
  families.push_back({"constant table", table, {kTable}});
  families.push_back({"masked softmax", maskedSoftmax, {kMaskedSoftmax}});
  families.push_back({"gated by a mask", gated, {kGated}});
}
