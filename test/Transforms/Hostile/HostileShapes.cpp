// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes that no other family has: numbers in other guises, running sums, zeros between elements,
// places that are computed of inexact values, loops that end where data say.

#include "ClaimWriter.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

static constexpr float kLargest = 3.4028234663852886e38f;

namespace {
/// Writes scalar ops by name, and slices of matrices.
struct Scalars {
  OpBuilder &builder;
  Location loc;

  Value op(StringRef name, ValueRange operands, Type type = {}) {
    OperationState state(loc, name, operands, type ? type : operands[0].getType());
    return builder.create(state)->getResult(0);
  }
  Value number(double value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value element(Value x, ValueRange at) { return tensor::ExtractOp::create(builder, loc, x, at); }
  auto sizes(ArrayRef<int64_t> of) { return getAsIndexOpFoldResult(builder.getContext(), of); }
  Value row(Value x, Value at, int64_t columns) {
    SmallVector<OpFoldResult> offsets = {at, builder.getIndexAttr(0)};
    return tensor::ExtractSliceOp::create(builder, loc, x, offsets, sizes({1, columns}),
                                          sizes({1, 1}));
  }
  Value write(Value part, Value into, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> strides) {
    return tensor::InsertSliceOp::create(builder, loc, part, into, offsets,
                                         sizes(TensorWriter::shapeOf(part)), sizes(strides));
  }
  Value splat(Value x, ArrayRef<int64_t> shape) {
    return tensor::SplatOp::create(builder, loc, x,
                                   RankedTensorType::get(shape, builder.getF32Type()));
  }
};
} // namespace

static constexpr StringLiteral kGuises[] = {"part of a complex number", "sum of complex numbers",
                                            "integer of 128 bits"};

/// Numbers that are no dense constant of floats
static Value inOtherGuise(ClaimWriter &b) {
  Scalars s{b.getBuilder(), b.getBuilder().getUnknownLoc()};
  auto shape = b.matrix();
  Value x = b.argument(shape, Bounds(-100, 100));
  bool isLarge = !b.getRecipe().broken.empty();
  float number = isLarge ? b.pick({kLargest, -kLargest}) : b.pick({1.0f, -3e4f, 0.5f});
  Type f32 = s.builder.getF32Type();
  auto pairOf = [&](double re, double im) -> Value {
    Attribute parts[] = {s.builder.getF32FloatAttr(re), s.builder.getF32FloatAttr(im)};
    return complex::ConstantOp::create(s.builder, s.loc, ComplexType::get(f32),
                                       s.builder.getArrayAttr(parts));
  };
  unsigned kind = b.below(3);
  Value single;
  if (b.breaks("part of a complex number") || (!isLarge && kind == 0)) {
    single = s.op("complex.im", pairOf(1, number), f32);
  } else if (b.breaks("sum of complex numbers") || (!isLarge && kind == 1)) {
    Value sum = s.op("complex.add", {pairOf(number, 0), pairOf(0, 1)});
    single = s.op("complex.re", sum, f32);
  } else {
    bool isWide = b.breaks("integer of 128 bits");
    APInt bits = isWide ? APInt::getBitsSet(128, 104, 128) : APInt(64, 30000);
    Value integer = arith::ConstantOp::create(
        s.builder, s.loc,
        s.builder.getIntegerAttr(s.builder.getIntegerType(bits.getBitWidth()), bits));
    single = s.op("arith.uitofp", integer, f32);
  }
  Value all = s.splat(single, shape);
  return b.oneIn(2) ? all : b.add(x, all);
}

static constexpr StringLiteral kRuns[] = {"runs on over an unbounded", "begins unbounded",
                                          "doubles what ran", "longer than it is wide"};

/// Sums of all rows so far, which a loop hands on and writes
static Value runningSum(ClaimWriter &b) {
  Scalars s{b.getBuilder(), b.getBuilder().getUnknownLoc()};
  int64_t rows = 2 + b.below(5), columns = b.size();
  auto bounded = [&](bool isOpen, int64_t count) {
    return b.argument({count, columns},
                      isOpen ? std::optional<Bounds>() : std::optional(Bounds(-1000, 1000)));
  };
  Value x = bounded(b.breaks("runs on over an unbounded"), rows);
  Value init = bounded(b.breaks("begins unbounded"), 1);
  bool doubles = b.breaks("doubles what ran"), wraps = b.breaks("longer than it is wide");
  Value into = s.splat(s.number(0), {rows, columns});
  auto loop = scf::ForOp::create(s.builder, s.loc, s.index(0), s.index(wraps ? 200 : rows),
                                 s.index(1), ValueRange{init, into});
  OpBuilder::InsertionGuard guard(s.builder);
  s.builder.setInsertionPointToStart(loop.getBody());
  Value at = s.op("arith.remui", {loop.getInductionVar(), s.index(rows)});
  Value so = loop.getRegionIterArg(0);
  Value next = b.add(doubles ? b.mul(so, 64.0) : so, s.row(x, at, columns));
  if (!doubles && !wraps && b.oneIn(2))
    next = b.mul(next, 0.5);
  Value written = s.write(next, loop.getRegionIterArg(1), {at, s.builder.getIndexAttr(0)}, {1, 1});
  scf::YieldOp::create(s.builder, s.loc, ValueRange{next, written});
  return loop.getResult(1);
}

static constexpr StringLiteral kBetween[] = {"filter unbounded", "image unbounded",
                                             "zeros replaced by an unbounded", "too many products"};

/// A convolution of an image with zeros between its elements, as a transposed one is written
static Value withZerosBetween(ClaimWriter &b) {
  Scalars s{b.getBuilder(), b.getBuilder().getUnknownLoc()};
  int64_t rows = 1 + b.below(3), channels = b.size(), stride = 1 + b.below(3);
  double most = b.breaks("too many products") ? 6e4 : 100;
  auto argument = [&](ArrayRef<int64_t> shape, bool isOpen, double within) {
    return b.argument(shape,
                      isOpen ? std::optional<Bounds>() : std::optional(Bounds(-within, within)));
  };
  Value x = argument({1, rows, rows, channels}, b.breaks("image unbounded"), most);
  int64_t size = (rows - 1) * stride + 3;
  Value into = s.splat(s.number(0), {1, size, size, channels});
  if (b.breaks("zeros replaced by an unbounded"))
    into = argument({1, size, size, channels}, true, 0);
  OpFoldResult zero = s.builder.getIndexAttr(0), one = s.builder.getIndexAttr(1);
  Value spread = s.write(x, into, {zero, one, one, zero}, {1, stride, stride, 1});
  Value filter = argument({2, 2, channels, 2}, b.breaks("filter unbounded"), 2);
  return b.convolve(spread, filter);
}

static constexpr StringLiteral kPlaced[] = {"table unbounded", "place becomes a number",
                                            "place times a large number"};

/// Elements of a table at places that inexact values tell
static Value atComputedPlaces(ClaimWriter &b) {
  Scalars s{b.getBuilder(), b.getBuilder().getUnknownLoc()};
  int64_t rows = b.size(), columns = b.size();
  Value x = b.argument({rows, columns}, Bounds(-4, 4));
  Value h = b.matmul(x, b.argument({columns, 3}, Bounds(-1, 1)));
  Value table = b.argument({8}, b.breaks("table unbounded") ? std::optional<Bounds>()
                                                            : std::optional(Bounds(-3e4, 3e4)));
  bool isNumber = b.breaks("place becomes a number"),
       isLarge = b.breaks("place times a large number");
  Value out = tensor::EmptyOp::create(s.builder, s.loc, {rows, 3}, s.builder.getF32Type());
  AffineMap whole = s.builder.getMultiDimIdentityMap(2);
  auto body = [&](OpBuilder &inner, Location at, ValueRange v) {
    Scalars in{inner, at};
    Type i32 = inner.getI32Type();
    Value place = in.op("arith.andi", {in.op("arith.fptosi", v[0], i32), in.integer(7)});
    Value found = in.element(table, in.op("arith.index_cast", place, inner.getIndexType()));
    if (isNumber || isLarge)
      found = in.op("arith.mulf", {in.op("arith.sitofp", place, inner.getF32Type()),
                                   in.number(isLarge ? 70000 : 9000)});
    linalg::YieldOp::create(inner, at, found);
  };
  return linalg::GenericOp::create(
             s.builder, s.loc, out.getType(), h, out, ArrayRef{whole, whole},
             SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel), body)
      .getResult(0);
}

static constexpr StringLiteral kEnds[] = {"grows until it is large", "hands on an unbounded"};

/// A tensor that a loop halves until an element is small
static Value untilSmall(ClaimWriter &b) {
  Scalars s{b.getBuilder(), b.getBuilder().getUnknownLoc()};
  auto shape = b.matrix();
  bool grows = b.breaks("grows until it is large"), isOpen = b.breaks("hands on an unbounded");
  Value x = b.argument(shape, isOpen ? std::optional<Bounds>() : Bounds(0.5, 100));
  Type type = x.getType(), count = s.builder.getI32Type();
  auto loop =
      scf::WhileOp::create(s.builder, s.loc, TypeRange{count, type}, ValueRange{s.integer(0), x});
  OpBuilder::InsertionGuard guard(s.builder);
  Block *before = s.builder.createBlock(&loop.getBefore(), {}, {count, type}, {s.loc, s.loc});
  Value first = s.element(before->getArgument(1), {s.index(0), s.index(0)});
  Value isFar = arith::CmpFOp::create(s.builder, s.loc,
                                      grows ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT,
                                      first, s.number(grows ? 1e30 : 1));
  Value isEarly = arith::CmpIOp::create(s.builder, s.loc, arith::CmpIPredicate::slt,
                                        before->getArgument(0), s.integer(30));
  scf::ConditionOp::create(s.builder, s.loc, s.op("arith.andi", {isFar, isEarly}),
                           before->getArguments());
  Block *after = s.builder.createBlock(&loop.getAfter(), {}, {count, type}, {s.loc, s.loc});
  Value next = s.op("arith.addi", {after->getArgument(0), s.integer(1)});
  Value scaled = b.mul(after->getArgument(1), grows ? 8.0 : 0.5);
  scf::YieldOp::create(s.builder, s.loc, ValueRange{next, scaled});
  return loop.getResult(1);
}

void mlir::mp::test::addShapes(std::vector<HostileFamily> &families) {
  families.push_back({"number in another guise", inOtherGuise, {kGuises}});
  families.push_back({"running sum", runningSum, {kRuns}});
  families.push_back({"zeros between elements", withZerosBetween, {kBetween}});
  families.push_back({"at computed places", atComputedPlaces, {kPlaced}});
  families.push_back({"until it is small", untilSmall, {kEnds}});
}
