// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers that become floats: positions and their quotients, narrow integers in wide arithmetic,
// what is signed read as unsigned, and tensors rounded onto a grid as fake quantisation does.

#include "ClaimWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

namespace {
/// Writes arith on integers: on tensors, or in the body of a structured op on scalars.
struct Integers {
  OpBuilder &builder;
  Location loc;

  Value op(StringRef name, ValueRange operands) {
    return convert(name, operands, operands[0].getType());
  }
  Value convert(StringRef name, ValueRange operands, Type type) {
    OperationState state(loc, name, operands, type);
    return builder.create(state)->getResult(0);
  }
  Value number(int64_t value, Value like) {
    TypedAttr attribute = builder.getIntegerAttr(getElementTypeOrSelf(like), value);
    if (auto shaped = dyn_cast<RankedTensorType>(like.getType()))
      attribute = DenseElementsAttr::get(shaped, attribute);
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  Value with(StringRef name, Value x, int64_t value) { return op(name, {x, number(value, x)}); }
  Value resized(StringRef name, Value x, unsigned width) {
    return convert(name, x, like(x, builder.getIntegerType(width)));
  }
  Value asFloat(Value x, bool isSigned = true) {
    return convert(isSigned ? "arith.sitofp" : "arith.uitofp", x, like(x, builder.getF32Type()));
  }

private:
  static Type like(Value x, Type element) {
    auto shaped = dyn_cast<RankedTensorType>(x.getType());
    return shaped ? Type(shaped.clone(element)) : element;
  }
};
} // namespace

static constexpr StringLiteral kPlaces[] = {"difference read as unsigned",
                                            "far apart",
                                            "power of two of a position",
                                            "product wraps",
                                            "one over a place",
                                            "quotient by an argument",
                                            "exponent grows with the place",
                                            "place of a part, read as unsigned"};

/// Writes a float of a position (i, j), as i32, in the body of a structured op.
static Value atPlace(ClaimWriter &b, Integers n, Value i, Value j) {
  auto f32 = [&](double value) -> Value {
    return arith::ConstantOp::create(n.builder, n.loc, n.builder.getF32FloatAttr(value));
  };
  if (b.breaks("difference read as unsigned"))
    return n.asFloat(n.op("arith.subi", {i, j}), false);
  if (b.breaks("place of a part, read as unsigned"))
    return n.asFloat(n.with("arith.subi", n.with("arith.remsi", j, 3), 2), false);
  if (b.breaks("far apart"))
    return n.asFloat(n.with("arith.muli", j, 70000));
  if (b.breaks("power of two of a position"))
    return n.asFloat(n.op("arith.shli", {n.number(1, j), n.with("arith.muli", j, 6)}));
  if (b.breaks("product wraps"))
    return n.asFloat(n.with("arith.muli", n.with("arith.addi", j, 40000), 60000));
  if (b.breaks("one over a place"))
    return n.op("arith.divf", {f32(1), n.asFloat(j)});
  if (b.breaks("exponent grows with the place"))
    return n.op("math.exp", n.op("arith.mulf", {n.asFloat(j), f32(6)}));
  switch (b.below(8)) {
  case 0: return n.op("arith.mulf", {n.asFloat(n.with("arith.subi", j, 3)), f32(0.1)});
  case 1: return n.asFloat(n.with("arith.divui", n.with("arith.muli", i, 7), 3), false);
  case 2: return n.asFloat(n.op("arith.muli", {i, j}));
  case 3: return n.asFloat(n.with("arith.remui", n.with("arith.muli", j, 1000000), 60000), false);
  case 4: return n.op("math.exp", n.op("arith.mulf", {n.asFloat(j), f32(-2.3)}));
  case 5: return n.op("arith.divf", {n.asFloat(i), f32(7)});
  case 6: return n.asFloat(n.resized("arith.trunci", n.with("arith.muli", j, 100), 8));
  default: return n.op("math.cos", n.op("arith.mulf", {n.asFloat(i), n.asFloat(j)}));
  }
}

/// Positions of elements, as masks, ramps and angles are made of them
static Value places(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto shape = b.matrix();
  Value out = tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
  bool divides = b.breaks("quotient by an argument");
  Value divisor = divides ? b.argument(shape) : Value();
  AffineMap map = builder.getMultiDimIdentityMap(2);
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location at, ValueRange arguments) {
    Integers n{inner, at};
    auto place = [&](unsigned dim) {
      Value index = linalg::IndexOp::create(inner, at, dim);
      return n.convert("arith.index_cast", index, inner.getI32Type());
    };
    Value value = divides ? n.op("arith.divf", {n.asFloat(place(1)), arguments[0]})
                          : atPlace(b, n, place(0), place(1));
    linalg::YieldOp::create(inner, at, value);
  };
  SmallVector<Value> inputs;
  if (divides)
    inputs.push_back(divisor);
  return linalg::GenericOp::create(builder, loc, out.getType(), inputs, out,
                                   SmallVector<AffineMap>(inputs.size() + 1, map), loops, body)
      .getResult(0);
}

static constexpr StringLiteral kWide[] = {"clamped as signed, read as unsigned",
                                          "remainder read as unsigned",
                                          "product of three",
                                          "shifted up",
                                          "one more bit",
                                          "divided by less",
                                          "complement read as unsigned",
                                          "sum wraps",
                                          "magnitude of the least, in 32 bits"};

/// Integers of 8 and 32 bits, brought within what f16 holds by integer arithmetic
static Value wide(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Integers n{builder, builder.getUnknownLoc()};
  auto shape = b.matrix();
  auto argument = [&](unsigned width) {
    return b.argumentOf(RankedTensorType::get(shape, builder.getIntegerType(width)));
  };
  if (b.breaks("clamped as signed, read as unsigned"))
    return n.asFloat(n.with("arith.minsi", argument(32), 100), false);
  if (b.breaks("remainder read as unsigned"))
    return n.asFloat(n.with("arith.remsi", argument(32), 1000), false);
  if (b.breaks("shifted up"))
    return n.asFloat(n.with("arith.shli", n.resized("arith.extsi", argument(8), 32), 10));
  if (b.breaks("one more bit"))
    return n.asFloat(
        n.with(b.oneIn(2) ? "arith.shrui" : "arith.andi", argument(32), b.oneIn(2) ? 16 : 0xffff));
  if (b.breaks("divided by less"))
    return n.asFloat(n.with("arith.divsi", argument(32), 30000));
  if (b.breaks("complement read as unsigned"))
    return n.asFloat(n.with("arith.xori", n.resized("arith.extui", argument(8), 32), -1), false);
  if (b.breaks("sum wraps"))
    return n.asFloat(n.with("arith.addi", n.with("arith.maxsi", argument(32), 0), 1));
  if (b.breaks("magnitude of the least, in 32 bits"))
    return n.asFloat(n.op("math.absi", argument(32)), b.oneIn(2));
  Value x = n.resized("arith.extsi", argument(8), 32),
        y = n.resized("arith.extui", argument(8), 32);
  if (b.breaks("product of three"))
    return n.asFloat(n.op("arith.muli", {n.op("arith.muli", {x, y}), x}));
  switch (b.below(11)) {
  case 0: return n.asFloat(n.op("arith.addi", {x, y}));
  case 1: return n.asFloat(n.op("arith.muli", {x, y}));
  case 2:
    return n.asFloat(
        n.with("arith.maxsi", n.with("arith.minsi", argument(32), 65504), b.oneIn(2) ? -65504 : 0));
  case 3: return n.asFloat(n.with("arith.remsi", argument(32), 60000));
  case 4: return n.asFloat(n.with("arith.remui", argument(32), 60000), false);
  case 5: return n.asFloat(n.with("arith.shrsi", argument(32), 17));
  case 6: return n.asFloat(n.with("arith.andi", argument(32), 0x7fff), b.oneIn(2));
  case 7: return n.asFloat(n.with("arith.divsi", argument(32), 40000));
  case 8: return n.asFloat(n.resized("arith.trunci", argument(32), 8), b.oneIn(2));
  case 9: return n.asFloat(n.with("arith.minui", argument(32), 65504), b.oneIn(2));
  default: return n.asFloat(n.op("math.absi", argument(8)), b.oneIn(2));
  }
}

static constexpr StringLiteral kGrid[] = {"step an argument", "step of the least", "step too small",
                                          "step rounded to bf16"};

/// round(x / (max |x| / 127)) and what an integer leaves of it
static Value onGrid(ClaimWriter &b) {
  Pair p = b.pair();
  bool isLeast = b.breaks("step of the least");
  Value largest = b.reduce(isLeast ? Fn::Min : Fn::Max, b.abs(p.of), p.over);
  double levels = b.breaks("step too small") ? 70000 : b.pick({127.0, 7.0, 32767.0});
  Value step = b.div(largest, levels);
  if (b.breaks("step an argument"))
    step = b.another(step);
  if (b.breaks("step rounded to bf16"))
    step = b.cast(b.cast(step, b.getBuilder().getBF16Type()), b.formatOf(largest));
  step = b.oneIn(2) ? b.max(step, 1e-10) : b.add(step, 1e-10);
  Value grid = b.apply(Fn::Round, {b.div(p.to, b.spreadTo(p, step))});
  return b.oneIn(2) ? b.add(grid, 128.0) : grid;
}

void mlir::mp::test::addIntegers(std::vector<HostileFamily> &families) {
  families.push_back({"positions", places, {kPlaces}});
  families.push_back({"integers in range", wide, {kWide}});
  families.push_back({"on a grid", onGrid, {kGrid, kPairHypotheses}});
}
