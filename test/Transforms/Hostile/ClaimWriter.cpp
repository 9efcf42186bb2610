// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ClaimWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mp::test;

static constexpr StringLiteral kEpsilons[] = {
    "epsilon absent",        "epsilon negative",    "epsilon subnormal",
    "epsilon tiny",          "epsilon an argument", "epsilon beside the root negative",
    "epsilon an upper bound"};
static constexpr StringLiteral kCounts[] = {"count too large", "count less one", "count negative",
                                            "count an argument", "count of another dimension"};
static constexpr StringLiteral kSums[] = {"sum starts below zero", "sum less a constant"};
static constexpr StringLiteral kAffines[] = {"gain unbounded", "gain too large", "shift unbounded"};
const ArrayRef<StringLiteral> mlir::mp::test::kEpsilonHypotheses = kEpsilons;
const ArrayRef<StringLiteral> mlir::mp::test::kCountHypotheses = kCounts;
const ArrayRef<StringLiteral> mlir::mp::test::kSumHypotheses = kSums;
const ArrayRef<StringLiteral> mlir::mp::test::kAffineHypotheses = kAffines;

/// Names every hypothesis of every family.
static const llvm::StringSet<> &allHypotheses() {
  static const llvm::StringSet<> all = [] {
    llvm::StringSet<> names;
    for (const HostileFamily &family : hostileFamilies())
      for (StringRef name : family.hypotheses())
        names.insert(name);
    return names;
  }();
  return all;
}

bool ClaimWriter::breaks(StringRef hypothesis) {
  assert(allHypotheses().contains(hypothesis) && "a table of families lists every hypothesis");
  bool broken = recipe.broken == hypothesis;
  found |= broken;
  return broken;
}

bool ClaimWriter::breaksAny(ArrayRef<StringLiteral> hypotheses) {
  return llvm::is_contained(hypotheses, StringRef(recipe.broken));
}

Value ClaimWriter::argumentOf(Type type, std::optional<Bounds> range) {
  ranges.push_back(range);
  return entry.addArgument(type, getBuilder().getUnknownLoc());
}

Value ClaimWriter::argument(ArrayRef<int64_t> shape, std::optional<Bounds> range) {
  return argumentOf(RankedTensorType::get(shape, getBuilder().getF32Type()), range);
}

Value ClaimWriter::another(Value like) {
  SmallVector<Value> others;
  for (BlockArgument argument : entry.getArguments())
    if (argument != like && argument.getType() == like.getType())
      others.push_back(argument);
  if (!others.empty() && oneIn(2))
    return others[below(others.size())];
  return argumentOf(like.getType());
}

Value ClaimWriter::anything() {
  Dims shape = matrix();
  if (isDynamic()) {
    sizeOfDynamic = oneIn(12) ? 0 : shape[0];
    shape[0] = ShapedType::kDynamic;
  }
  return argument(shape);
}

Value ClaimWriter::spreadTo(const Pair &pair, Value statistic) {
  return spread(cast(statistic, formatOf(pair.to)), pair.to, pair.along);
}

Value ClaimWriter::sum(Value x, ArrayRef<int64_t> over) {
  if (breaks("sum starts below zero"))
    return reduce(Fn::Add, x, over, pick({-1.0, -3.0, -0.5}));
  Value total = reduce(Fn::Add, x, over);
  return breaks("sum less a constant") ? sub(total, pick({1.0, 4.0})) : total;
}

Value ClaimWriter::mean(Value x, ArrayRef<int64_t> over) {
  Value total = sum(x, over);
  if (breaks("count an argument"))
    return div(total,
               argumentOf(total.getType(), oneIn(2) ? std::optional<Bounds>() : Bounds(-1, 8)));
  double count = 1;
  for (int64_t dim : over) {
    int64_t size = typeOf(x).getDimSize(dim);
    if (!ShapedType::isDynamic(size)) {
      count *= size;
      continue;
    }
    OpBuilder &b = getBuilder();
    Location loc = b.getUnknownLoc();
    Value number = tensor::DimOp::create(b, loc, x, dim);
    number = arith::IndexCastOp::create(b, loc, b.getI32Type(), number);
    number = arith::SIToFPOp::create(b, loc, formatOf(total), number);
    Dims all = llvm::to_vector(llvm::seq(typeOf(total).getRank()));
    Value out = empty(total, all, formatOf(total));
    total = div(total, linalg::FillOp::create(b, loc, number, out).getResult(0));
  }
  if (breaks("count too large"))
    count *= pick({1e9, 1e12, 300.0});
  else if (breaks("count less one"))
    count -= 1;
  else if (breaks("count negative"))
    count = -count;
  else if (breaks("count of another dimension"))
    count = 7 * typeOf(x).getRank() - count;
  return oneIn(2) ? div(total, count) : mul(total, 1 / count);
}

Value ClaimWriter::withEpsilon(Value x) {
  if (breaks("epsilon absent") || breaks("epsilon beside the root negative"))
    return x;
  if (breaks("epsilon an argument"))
    return add(x, argumentOf(x.getType(), oneIn(2) ? std::optional<Bounds>() : Bounds(-1, 1)));
  double epsilon = pick({1e-5, 1e-6, 1e-3, 1e-12});
  if (breaks("epsilon negative"))
    epsilon = pick({-1e-3, -1.0, -1e-12});
  if (breaks("epsilon subnormal"))
    epsilon = 1e-42;
  if (breaks("epsilon tiny"))
    epsilon = pick({1e-30, 1e-20});
  if (breaks("epsilon an upper bound"))
    return min(x, epsilon);
  return oneIn(4) ? max(x, epsilon) : add(x, epsilon);
}

Value ClaimWriter::overRoot(const Pair &pair, Value x, Value square) {
  bool beside = breaks("epsilon beside the root negative");
  bool early = oneIn(2); // the root is taken before the statistic is spread
  unsigned form = beside ? 0 : breaksAny(kEpsilonHypotheses) ? 1 + below(6) : below(7);
  if (form == 0) {
    Value root = add(sqrt(square), beside ? pick({-1e-3, -1.0}) : 1e-6);
    return div(x, spreadTo(pair, root));
  }
  Value inside = early ? withEpsilon(square) : spreadTo(pair, withEpsilon(square));
  auto apply = [&](Value value) { return early ? spreadTo(pair, value) : value; };
  switch (form) {
  case 1: return div(x, apply(sqrt(inside)));
  case 2: return mul(x, apply(reciprocal(sqrt(inside))));
  case 3: return mul(x, apply(TensorWriter::apply(Fn::Pow, {inside, -0.5})));
  case 4: return mul(x, apply(mul(rsqrt(inside), pick({1.5, 0.25}))));
  case 5: { // the gain meets the root first
    Value root = apply(rsqrt(inside));
    Dims others = llvm::to_vector(llvm::seq(typeOf(x).getRank() - 1));
    Value gain = spread(argument(shapeOf(x).back(), Bounds(-4, 4)), x, others);
    return mul(x, mul(root, gain));
  }
  default: return mul(x, apply(rsqrt(inside)));
  }
}

Value ClaimWriter::affine(Value x) {
  if (breaks("gain too large"))
    return mul(x, pick({3e5, 7e4}));
  bool unbounded = breaks("gain unbounded"), shift = breaks("shift unbounded");
  if (!unbounded && !shift && oneIn(2))
    return oneIn(3) ? mul(x, 2.0) : x;
  Dims shape = shapeOf(x), others = llvm::to_vector(llvm::seq(typeOf(x).getRank() - 1));
  auto channels = [&](std::optional<Bounds> range) {
    return spread(argument(shape.back(), range), x, others);
  };
  x = mul(x, channels(unbounded ? std::optional<Bounds>() : Bounds(-4, 4)));
  return shift || oneIn(2) ? add(x, channels(shift ? std::optional<Bounds>() : Bounds(-2, 2))) : x;
}

Value ClaimWriter::weights(ArrayRef<int64_t> shape) {
  SmallVector<double> numbers;
  for (int64_t i = 0, e = ShapedType::getNumElements(shape); i < e; ++i)
    numbers.push_back(pick({-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0}));
  return constant(shape, numbers);
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// Reshapes `value` into a matrix: the last dimension remains.
static Value asMatrix(ClaimWriter &b, Value value) {
  auto shape = b.shapeOf(value);
  if (shape.size() == 2)
    return value;
  if (shape.empty())
    return b.reshape(value, {1, 1});
  return b.reshape(value, {ShapedType::getNumElements(ArrayRef(shape).drop_back()), shape.back()});
}

static Value readAsImage(ClaimWriter &b, Value matrix) {
  int64_t rows = b.shapeOf(matrix)[0], channels = b.shapeOf(matrix)[1], height = rows > 1 ? 2 : 1;
  Value image = b.reshape(matrix, {1, rows, 1, channels});
  return b.convolve(image, b.weights({height, 1, channels, 2}));
}

static Value readAsBatch(ClaimWriter &b, Value value) {
  auto shape = b.shapeOf(value);
  if (shape.size() != 3) {
    Value matrix = asMatrix(b, value);
    value = b.reshape(matrix, {1, b.shapeOf(matrix)[0], b.shapeOf(matrix)[1]});
    shape = b.shapeOf(value);
  }
  return b.matmul(value, b.weights({shape[0], shape[2], 3}));
}

SmallVector<Value> mlir::mp::test::writeReaders(ClaimWriter &b, Value value) {
  bool isStatic = b.typeOf(value).hasStaticShape();
  Reader reader = b.getRecipe().reader;
  if (reader == Reader::Batch && isStatic)
    return {readAsBatch(b, value)};
  Value x = asMatrix(b, value);
  int64_t rows = b.shapeOf(x)[0], columns = b.shapeOf(x)[1];
  if (ShapedType::isDynamic(columns))
    return {b.matmul(x, b.argument({columns, 3}, Bounds(-2, 2)))};
  switch (reader) {
  case Reader::Right:
    return {isStatic ? b.matmul(b.weights({2, rows}), x)
                     : b.matmul(b.argument({2, rows}, Bounds(-2, 2)), x)};
  case Reader::Itself: return {b.matmulTransposed(x, x)};
  case Reader::Matvec: return {b.matvec(x, b.weights({columns}))};
  case Reader::Convolution:
    if (isStatic && rows > 0 && columns > 0)
      return {readAsImage(b, x)};
    break;
  case Reader::Argument: return {b.matmul(x, b.argument({columns, 2}, Bounds(-2, 2)))};
  case Reader::Twice: {
    Value hidden = b.matmul(x, b.weights({columns, 3}));
    if (b.oneIn(2))
      hidden = b.tanh(hidden);
    return {b.matmul(hidden, b.weights({3, 2}))};
  }
  default: break;
  }
  Value product = b.matmul(x, b.weights({columns, 3}));
  if (b.oneIn(8)) // the value is a result, too
    return {product, value};
  return {product};
}
