// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are made bit by bit: accumulators that are no plain sum or maximum, tensors written
// part by part in loops, and functions close to their poles.

#include "ClaimWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

static constexpr StringLiteral kSteps[] = {
    "doubles at each step", "begins unbounded",  "multiplies at each step",
    "squares at each step", "adds an unbounded", "keeps the larger of an unbounded"};

/// Writes what an accumulator becomes when it meets x and y, of which y is unbounded.
static Value nextOf(ClaimWriter &b, OpBuilder &builder, Location loc, Value x, Value y, Value out) {
  auto op = [&](StringRef name, ValueRange operands) {
    OperationState state(loc, name, operands, x.getType());
    return builder.create(state)->getResult(0);
  };
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
  };
  auto larger = [&](Value p, Value q) -> Value {
    Value isLarger = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, p, q);
    return arith::SelectOp::create(builder, loc, isLarger, p, q);
  };
  if (b.breaks("doubles at each step"))
    return op("arith.addf", {op("arith.mulf", {out, number(64)}), x});
  if (b.breaks("multiplies at each step"))
    return op("arith.mulf", {out, x});
  if (b.breaks("squares at each step"))
    return op("arith.addf", {op("arith.mulf", {out, out}), x});
  if (b.breaks("adds an unbounded"))
    return op("arith.addf", {op("arith.mulf", {out, number(0.5)}), y});
  if (b.breaks("keeps the larger of an unbounded"))
    return larger(y, out);
  switch (b.below(7)) {
  case 0: return op("arith.addf", {op("arith.mulf", {out, number(0.5)}), x});
  case 1: return larger(x, out);
  case 2: return x;
  case 3: return op("math.tanh", op("arith.addf", {out, y}));
  case 4:
    return op("arith.minimumf",
              {op("arith.maximumf", {op("arith.addf", {out, y}), number(-1000)}), number(1000)});
  case 5: return larger(op("arith.mulf", {out, number(0.9)}), x);
  default: return op("arith.addf", {x, out});
  }
}

/// An accumulator along rows that forgets, chooses or clamps
static Value accumulated(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto shape = b.matrix();
  Value x = b.argument(shape, Bounds(-100, 100)), y = b.argument(shape);
  Value init = b.argument(shape[0], Bounds(-10, 10));
  if (b.breaks("begins unbounded"))
    init = b.argument(shape[0]);
  AffineMap whole = builder.getMultiDimIdentityMap(2),
            rows = AffineMap::get(2, 0, builder.getAffineDimExpr(0));
  auto body = [&](OpBuilder &inner, Location at, ValueRange v) {
    linalg::YieldOp::create(inner, at, nextOf(b, inner, at, v[0], v[1], v[2]));
  };
  Value result =
      linalg::GenericOp::create(
          builder, loc, init.getType(), ValueRange{x, y}, init, ArrayRef{whole, whole, rows},
          ArrayRef{utils::IteratorType::parallel, utils::IteratorType::reduction}, body)
          .getResult(0);
  return b.reshape(result, {shape[0], 1});
}

static constexpr StringLiteral kWrites[] = {"written unbounded", "over an unbounded",
                                            "padded with an unbounded", "adds to what is there",
                                            "reads the row before"};

namespace {
/// Rows of one matrix written into another.
struct RowWriter {
  ClaimWriter &b;
  OpBuilder &builder;
  Location loc;
  int64_t columns;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  auto sizes(ArrayRef<int64_t> of) { return getAsIndexOpFoldResult(builder.getContext(), of); }
  Value row(Value x, Value at) {
    SmallVector<OpFoldResult> offsets = {at, builder.getIndexAttr(0)};
    return tensor::ExtractSliceOp::create(builder, loc, x, offsets, sizes({1, columns}),
                                          sizes({1, 1}));
  }
  Value write(Value row, Value into, Value at) {
    SmallVector<OpFoldResult> offsets = {at, builder.getIndexAttr(0)};
    return tensor::InsertSliceOp::create(builder, loc, row, into, offsets, sizes({1, columns}),
                                         sizes({1, 1}));
  }
};
} // namespace

/// A matrix whose rows a loop writes, perhaps in terms of those it finds
static Value writtenInLoop(ClaimWriter &b, Value x, Value into, int64_t rows, int64_t columns) {
  OpBuilder &builder = b.getBuilder();
  RowWriter w{b, builder, builder.getUnknownLoc(), columns};
  bool adds = b.breaks("adds to what is there"), follows = b.breaks("reads the row before");
  Value last = w.index(rows), one = w.index(1);
  auto loop = scf::ForOp::create(builder, w.loc, w.index(0), last, one, into);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar(), carried = loop.getRegionIterArg(0), row = w.row(x, at);
  if (adds)
    row = b.add(row, w.row(carried, w.index(0)));
  if (follows) {
    Value before = arith::MaxSIOp::create(builder, w.loc, w.index(0),
                                          arith::SubIOp::create(builder, w.loc, at, one));
    row = b.add(b.mul(w.row(carried, before), 30.0), row);
  }
  scf::YieldOp::create(builder, w.loc, w.write(row, carried, adds ? w.index(0) : at));
  return loop.getResult(0);
}

/// A tensor put together of parts that fit
static Value written(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  int64_t rows = 2 + b.below(5), columns = b.size();
  auto bounded = [&](bool isOpen) {
    return b.argument({rows, columns},
                      isOpen ? std::optional<Bounds>() : std::optional(Bounds(-4e4, 4e4)));
  };
  Value x = bounded(b.breaks("written unbounded")), into = bounded(b.breaks("over an unbounded"));
  RowWriter w{b, builder, builder.getUnknownLoc(), columns};
  bool pads = b.breaks("padded with an unbounded");
  bool loops = b.breaks("adds to what is there") || b.breaks("reads the row before");
  switch (pads ? 0 : loops ? 1 : 1 + b.below(3)) {
  case 0: {
    Value number = tensor::ExtractOp::create(builder, w.loc, b.argument({1}), w.index(0));
    auto pad = tensor::PadOp::create(
        builder, w.loc, RankedTensorType::get({rows + 1, columns}, builder.getF32Type()), x,
        w.sizes({1, 0}), w.sizes({0, 0}), number);
    return pad.getResult();
  }
  case 1: return writtenInLoop(b, x, into, rows, columns);
  case 2: return w.write(w.row(x, w.index(b.below(rows))), into, w.index(b.below(rows)));
  default: { // one element, from anywhere
    Value number = tensor::ExtractOp::create(
        builder, w.loc, x, ValueRange{w.index(b.below(rows)), w.index(b.below(columns))});
    return tensor::InsertOp::create(builder, w.loc, number, into,
                                    ValueRange{w.index(0), w.index(b.below(columns))});
  }
  }
}

namespace {
/// A function of `math`, arguments whose images f16 holds, and arguments beside a pole of it.
struct NearPole {
  StringLiteral name;
  Bounds fits, beside;
};
} // namespace

static constexpr NearPole kNearPoles[] = {
    {"math.tan", {-1.5, 1.5}, {1.4, 1.5708}},
    {"math.atanh", {-0.9, 0.9}, {-0.5, 1}},
    {"math.acosh", {1, 1e30}, {0.5, 10}},
    {"math.asin", {-1, 1}, {-1.1, 1}},
    {"math.acos", {-1, 1}, {-1, 1.1}},
    {"math.sinh", {-11, 11}, {-12, 1}},
    {"math.cosh", {-11, 11}, {-12, 1}},
    {"math.expm1", {-1e30, 11}, {0, 11.1}},
    {"math.log10", {1e-30, 1e30}, {0, 1}},
    {"math.log2", {1e-30, 1e30}, {-1, 1}},
    {"math.log1p", {-0.9, 1e30}, {-1, 1}},
    {"math.cbrt", {-1e14, 1e14}, {-3e14, 3e14}},
    {"math.asinh", {-3e38, 3e38}, {-3e38, 3e38}},
    {"math.erfc", {-3e38, 3e38}, {-3e38, 3e38}},
    {"math.atan", {-3e38, 3e38}, {-3e38, 3e38}},
    {"math.round", {-65504, 65504}, {-65519.5, 1}},
    {"math.trunc", {-65504, 65504}, {-65520, 1}},
};

static SmallVector<StringLiteral> namesOfPoles() {
  return llvm::map_to_vector(kNearPoles, [](const NearPole &row) { return row.name; });
}

/// f(x) with x away from the poles of f
static Value nearPole(ClaimWriter &b) {
  const NearPole *function = nullptr;
  for (const NearPole &row : kNearPoles)
    if (b.breaks(row.name))
      function = &row;
  bool isBeside = function != nullptr;
  if (!function)
    function = &kNearPoles[b.below(std::size(kNearPoles))];
  Value x = b.argument(b.matrix(), isBeside ? function->beside : function->fits);
  return b.create(function->name, x, x.getType());
}

static constexpr StringLiteral kPowers[] = {"base beside zero", "base negative",
                                            "exponent unbounded", "exponent the least integer"};

/// x^y with x away from zero, y an argument or an integer
static Value powers(ClaimWriter &b) {
  auto shape = b.matrix();
  Bounds base(0.5, 2);
  if (b.breaks("base beside zero"))
    base = {0, 2};
  if (b.breaks("base negative"))
    base = {-2, 2};
  Value x = b.argument(shape, base);
  bool isLeast = b.breaks("exponent the least integer");
  if (isLeast || (b.getRecipe().broken.empty() && b.oneIn(2))) {
    OpBuilder &builder = b.getBuilder();
    int32_t exponent = isLeast ? INT32_MIN : b.pick({-15, -2, -1, 0, 1, 2, 3, 15});
    Value integer = b.integers(shape, SmallVector<int32_t>(shape[0] * shape[1], exponent));
    return math::FPowIOp::create(builder, builder.getUnknownLoc(), x, integer);
  }
  std::optional<Bounds> exponents = Bounds(-15, 15);
  if (b.breaks("exponent unbounded"))
    exponents = std::nullopt;
  return b.apply(Fn::Pow, {x, b.argument(shape, exponents)});
}

static constexpr StringLiteral kRoot[] = {"power other than one half", "power other than two"};

/// x / (mean x^2 + e)^(1/2), as exporters of ONNX write it
static Value overPower(ClaimWriter &b) {
  Pair p = b.pair();
  double exponent = b.breaks(kRoot[0]) ? b.pick({0.25, 0.4, -0.5, 0.0}) : 0.5;
  double two = b.breaks(kRoot[1]) ? b.pick({1.5, 3.0, 1.0}) : 2;
  bool isPower = b.breaks(kRoot[1]) || b.oneIn(2);
  Value square = isPower ? b.apply(Fn::Pow, {p.of, two}) : b.square(p.of);
  Value root = b.apply(Fn::Pow, {b.withEpsilon(b.mean(square, p.over)), exponent});
  if (b.breaks("epsilon beside the root negative"))
    root = b.add(root, -1e-3);
  if (b.oneIn(2))
    return b.div(p.to, b.spreadTo(p, root));
  return b.mul(p.to, b.spreadTo(p, b.reciprocal(root)));
}

void mlir::mp::test::addUpdates(std::vector<HostileFamily> &families) {
  static const SmallVector<StringLiteral> poles = namesOfPoles();
  families.push_back({"accumulator of another kind", accumulated, {kSteps}});
  families.push_back({"written part by part", written, {kWrites}});
  families.push_back({"function beside its pole", nearPole, {poles}});
  families.push_back({"powers of a range", powers, {kPowers}});
  families.push_back(
      {"norm by a power",
       overPower,
       {kRoot, kPairHypotheses, kEpsilonHypotheses, kCountHypotheses, kSumHypotheses}});
}
