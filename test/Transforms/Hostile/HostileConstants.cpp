// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that a program writes itself, and that a narrow format makes infinite: bounds that win,
// starts that are read, values that regions and ops without a meaning hand on, bits of integers.

#include "ClaimWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

static constexpr double kLargest = 3.4028234663852886e38;

/// A number of f32 in a body.
static Value number(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
}

/// An op by name, whose result is of the type of its first operand unless one is given.
static Value op(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                Type type = {}) {
  OperationState state(loc, name, operands, type ? type : operands[0].getType());
  return builder.create(state)->getResult(0);
}

static constexpr StringLiteral kBounds[] = {"lower bound above all", "upper bound below all",
                                            "bounds beyond f16", "NaN becomes the largest",
                                            "clamped twice, the last time from afar"};

/// min(max(x, lo), hi), which is lo or hi wherever x is beyond
static Value boundsOfClamp(ClaimWriter &b) {
  Value x = b.anything();
  Fn min = b.pick({Fn::Min, Fn::MinNum});
  if (b.breaks("lower bound above all"))
    return b.clamp(x, b.pick({3.39e38, 3.3961e38, 1e30}), kLargest, min);
  if (b.breaks("upper bound below all"))
    return b.clamp(x, -kLargest, b.pick({-3.39e38, -3.3961e38, -1e30}), min);
  if (b.breaks("bounds beyond f16"))
    return b.clamp(x, 65520, 1e6, min);
  if (b.breaks("NaN becomes the largest"))
    return b.clamp(x, -kLargest, kLargest, Fn::MinNum);
  if (b.breaks("clamped twice, the last time from afar"))
    return b.clamp(b.clamp(x, -6, 6, min), 3.4e38, kLargest, min);
  switch (b.below(4)) {
  case 0: return b.clamp(x, 60000, 65504, min);
  case 1: return b.clamp(x, -65504, -65000, min);
  case 2: return b.clamp(b.clamp(x, -kLargest, kLargest, min), -1000, 1000, min);
  default: return b.clamp(x, 0, 6, min);
  }
}

static constexpr StringLiteral kStarts[] = {"another result reads the start",
                                            "least of the largest so far",
                                            "chosen by comparison, of NaN",
                                            "no elements",
                                            "sum of the largest so far, and the start",
                                            "start read by another op"};

/// Writes what a second result of a reduction makes of the largest so far: before, or after.
static Value second(ClaimWriter &b, OpBuilder &builder, Location loc, Value before, Value after,
                    Value out) {
  if (b.breaks("another result reads the start"))
    return op(builder, loc, "arith.maximumf", {out, op(builder, loc, "arith.negf", before)});
  if (b.breaks("least of the largest so far"))
    return op(builder, loc, "arith.minimumf", {out, before});
  if (b.breaks("sum of the largest so far, and the start"))
    return op(builder, loc, "arith.addf",
              {op(builder, loc, "arith.mulf", {out, number(builder, loc, 0.5)}), before});
  return b.oneIn(2) ? op(builder, loc, "arith.minimumf", {out, after})
                    : op(builder, loc, "arith.maximumf", {out, after});
}

/// The second result of a maximum that begins with the lowest number
static Value startOfMaximum(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto shape = b.matrix();
  bool ofNaN = b.breaks("chosen by comparison, of NaN");
  if (b.breaks("no elements"))
    shape[1] = 0;
  Value x = b.argument(shape, ofNaN ? std::optional<Bounds>() : Bounds(-1e4, 1e4));
  Value out = tensor::EmptyOp::create(builder, loc, {shape[0]}, builder.getF32Type());
  auto filled = [&](double with) {
    return linalg::FillOp::create(builder, loc, number(builder, loc, with), out).getResult(0);
  };
  double low = b.pick({-kLargest, -3.4e38});
  Value start = filled(low), other = filled(b.pick({0.0, 1.0, -1.0}));
  AffineMap whole = builder.getMultiDimIdentityMap(2), rows = whole.getMajorSubMap(1);
  bool compares = ofNaN || b.oneIn(2);
  auto body = [&](OpBuilder &inner, Location at, ValueRange v) {
    Value after;
    if (compares) {
      Value isLarger = arith::CmpFOp::create(inner, at, arith::CmpFPredicate::OGT, v[0], v[1]);
      after = arith::SelectOp::create(inner, at, isLarger, v[0], v[1]);
    } else {
      after = op(inner, at, b.pick({"arith.maximumf", "arith.maxnumf"}), {v[0], v[1]});
    }
    linalg::YieldOp::create(inner, at, ValueRange{after, second(b, inner, at, v[1], after, v[2])});
  };
  auto maximum = linalg::GenericOp::create(
      builder, loc, TypeRange{out.getType(), out.getType()}, x, ValueRange{start, other},
      ArrayRef{whole, rows, rows},
      ArrayRef{utils::IteratorType::parallel, utils::IteratorType::reduction}, body);
  bool ofFirst = ofNaN || shape[1] == 0 || (b.getRecipe().broken.empty() && b.oneIn(2));
  Value result = maximum.getResult(ofFirst ? 0 : 1);
  if (b.breaks("start read by another op"))
    result = op(builder, loc, "arith.minimumf", {start, result});
  return b.reshape(result, {shape[0], 1});
}

static constexpr StringLiteral kMade[] = {"the largest", "negated lowest", "an unbounded",
                                          "grows with the place", "a product beyond f16"};

/// Writes what a region gives for an element at (i, j), perhaps read from `x`.
static Value made(ClaimWriter &b, OpBuilder &builder, Location loc, Value x, ValueRange at) {
  auto place = [&](Value index) {
    Value integer = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
    return op(builder, loc, "arith.sitofp", integer, builder.getF32Type());
  };
  if (b.breaks("the largest"))
    return number(builder, loc, b.pick({kLargest, -3.3961e38}));
  if (b.breaks("negated lowest"))
    return op(builder, loc, "arith.negf", number(builder, loc, -kLargest));
  if (b.breaks("a product beyond f16"))
    return op(builder, loc, "arith.mulf", {number(builder, loc, 300), number(builder, loc, 300)});
  if (b.breaks("grows with the place"))
    return op(builder, loc, "arith.mulf", {place(at[1]), number(builder, loc, 70000)});
  Value element = tensor::ExtractOp::create(builder, loc, x, at);
  switch (b.breaks("an unbounded") ? 0 : b.below(4)) {
  case 0: return element;
  case 1: return op(builder, loc, "arith.negf", number(builder, loc, b.pick({1.0, -65504.0})));
  case 2: return op(builder, loc, "arith.mulf", {place(at[0]), number(builder, loc, 0.1)});
  default: return op(builder, loc, "math.tanh", element);
  }
}

/// A tensor, or the border of one, that a region makes
static Value madeByRegion(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto shape = b.matrix();
  bool isOpen = b.breaks("an unbounded");
  Value x = b.argument(shape, isOpen ? std::optional<Bounds>() : Bounds(-6e4, 6e4));
  OpBuilder::InsertionGuard guard(builder);
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  if (b.oneIn(2))
    return tensor::GenerateOp::create(
        builder, loc, type, ValueRange(), [&](OpBuilder &inner, Location place, ValueRange at) {
          tensor::YieldOp::create(inner, place, made(b, inner, place, x, at));
        });
  type = RankedTensorType::get({shape[0] + 1, shape[1] + 1}, builder.getF32Type());
  auto sizes = [&](int64_t size) {
    return SmallVector<OpFoldResult>(2, builder.getIndexAttr(size));
  };
  auto pad = tensor::PadOp::create(builder, loc, type, x, sizes(1), sizes(0));
  Block *block = builder.createBlock(
      &pad.getRegion(), {}, TypeRange{builder.getIndexType(), builder.getIndexType()}, {loc, loc});
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value column =
      op(builder, loc, "arith.minui",
         {block->getArgument(1), arith::ConstantIndexOp::create(builder, loc, shape[1] - 1)});
  tensor::YieldOp::create(builder, loc, made(b, builder, loc, x, {zero, column}));
  return pad.getResult();
}

static constexpr StringLiteral kUnknown[] = {"hands on the largest", "hands on an unbounded",
                                             "power of the largest", "power beyond f16"};

/// Numbers that ops and regions without a meaning hand on
static Value withoutMeaning(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto shape = b.matrix();
  bool isOpen = b.breaks("hands on an unbounded");
  Value x = b.argument(shape, isOpen ? std::optional<Bounds>() : Bounds(-6e4, 6e4));
  auto filled = [&](double with) {
    return b.constant(shape, SmallVector<double>(shape[0] * shape[1], with));
  };
  Value large = filled(b.pick({kLargest, -kLargest}));
  if (b.breaks("power of the largest"))
    return b.apply(Fn::Pow, {large, b.pick({1.0, 0.9999999, 2.0})});
  if (b.breaks("power beyond f16"))
    return b.apply(Fn::Pow, {filled(300), b.pick({2.0, 3.0})});
  Value given = b.breaks("hands on the largest") ? large : x;
  Value condition = tensor::ExtractOp::create(
      builder, loc, b.argumentOf(RankedTensorType::get({1}, builder.getI1Type())),
      ValueRange{arith::ConstantIndexOp::create(builder, loc, 0)});
  switch (b.below(5)) {
  case 0: {
    auto region = scf::ExecuteRegionOp::create(builder, loc, given.getType());
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region.getRegion());
    scf::YieldOp::create(builder, loc, b.neg(given));
    return region.getResult(0);
  }
  case 1: {
    Value index = op(builder, loc, "arith.index_castui", condition, builder.getIndexType());
    auto chosen =
        scf::IndexSwitchOp::create(builder, loc, given.getType(), index, ArrayRef<int64_t>{1}, 1);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [region, value] : llvm::zip_equal(chosen->getRegions(), std::array{x, given})) {
      builder.createBlock(&region);
      scf::YieldOp::create(builder, loc, value);
    }
    return chosen.getResult(0);
  }
  case 2: return op(builder, loc, "math.clampf", {x, given, given});
  case 3: // a whole tensor is chosen by one truth value
    return op(builder, loc, "arith.select", {condition, x, given}, x.getType());
  default: {
    Value indices = b.integers({shape[0], 1}, SmallVector<int32_t>(shape[0], 0));
    auto type = RankedTensorType::get({shape[0], 1, shape[1]}, builder.getF32Type());
    Value gathered =
        tensor::GatherOp::create(builder, loc, type, given, indices, ArrayRef<int64_t>{0});
    return b.reshape(gathered, shape);
  }
  }
}

static constexpr StringLiteral kBits[] = {"bits of the largest", "bits of infinity",
                                          "bits computed", "bits of an argument",
                                          "bits of bf16's largest"};

/// Integers whose bits are read as floats, clamped where f16 is to hold them
static Value bitsOfIntegers(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto shape = b.matrix();
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  auto integers = [&](int64_t value) -> Value {
    return b.integers(shape, SmallVector<int32_t>(shape[0] * shape[1], int32_t(value)));
  };
  Type f32 = type.clone(builder.getF32Type());
  Value bits, others = b.argument(shape, Bounds(-1e4, 1e4));
  if (b.breaks("bits of the largest"))
    bits = integers(b.pick<int64_t>({0x7f7fffff, 0xff7fffff, 0x7f7fc000}));
  else if (b.breaks("bits of infinity"))
    bits = integers(b.pick<int64_t>({0x7f800000, 0xff800000, 0x7fc00000}));
  else if (b.breaks("bits computed"))
    bits = op(builder, loc, "arith.addi", {integers(0x3f7fffff), integers(0x40000000)});
  else if (b.breaks("bits of an argument"))
    bits = b.argumentOf(type);
  else if (b.breaks("bits of bf16's largest"))
    bits = op(builder, loc, "arith.shli", {integers(0x7f80), integers(16)});
  else
    bits = integers(b.pick<int64_t>({0x3f800000, 0x477fe000, 0, int64_t(0x80000000), 1}));
  if (b.oneIn(2)) { // beside other bits
    Value condition = b.argumentOf(type.clone(builder.getI1Type()));
    Value own = op(builder, loc, "arith.bitcast", others, type);
    bits = op(builder, loc, "arith.select", {condition, own, bits}, type);
  }
  Value floats = op(builder, loc, "arith.bitcast", bits, f32);
  return b.getRecipe().broken.empty() ? b.clamp(floats, -60000, 60000, Fn::Min) : floats;
}

void mlir::mp::test::addConstants(std::vector<HostileFamily> &families) {
  families.push_back({"bounds of a clamp", boundsOfClamp, {kBounds}});
  families.push_back({"start of a maximum", startOfMaximum, {kStarts}});
  families.push_back({"made by a region", madeByRegion, {kMade}});
  families.push_back({"handed on without a meaning", withoutMeaning, {kUnknown}});
  families.push_back({"bits of integers", bitsOfIntegers, {kBits}});
}
