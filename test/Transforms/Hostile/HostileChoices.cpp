// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices: a contraction whose factors are bounded computes narrow, and its result decides which
// number is taken, or jumps, or lies where a function is steep. Arguments lie where rounding
// decides otherwise.

#include "ClaimWriter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;
using P = arith::CmpFPredicate;

namespace {
/// A x with ones for weights: where all elements are a little above -4, f16 and bf16 find `edge`.
struct Product {
  Value value;
  double edge;
};
} // namespace

static Product product(ClaimWriter &b) {
  int64_t rows = b.size(), inner = b.size();
  Value x = b.argument({rows, inner}, Bounds(-4, 4));
  Value ones = b.constant({inner, 3}, SmallVector<double>(inner * 3, 1));
  return {b.matmul(x, ones), -4.0 * inner};
}

static Value choose(ClaimWriter &b, Value of, Operand at, Operand above, Operand below) {
  bool isTurned = b.oneIn(2);
  Value condition = b.compare(
      isTurned ? b.pick({P::OLE, P::ULE, P::OLT}) : b.pick({P::OGT, P::UGT, P::OGE}), of, at);
  return isTurned ? b.select(condition, below, above) : b.select(condition, above, below);
}

static constexpr StringLiteral kChoices[] = {
    "alternative unbounded", "alternative of another size", "decided by other elements",
    "slope unbounded",       "one of two, or nothing",      "alternative infinite"};

/// select(c > edge, p, q) of a product c: units in two pieces, extrema, known numbers
static Value byProduct(ClaimWriter &b) {
  auto [c, edge] = product(b);
  auto other = [&](std::optional<Bounds> range) {
    return b.argument(TensorWriter::shapeOf(c), range);
  };
  if (b.breaks("alternative unbounded"))
    return choose(b, c, edge, b.oneIn(2) ? Operand(0.0) : Operand(c), other({}));
  if (b.breaks("alternative of another size"))
    return b.square(choose(b, c, edge, 0.0, other(Bounds(-1e30, 1e30))));
  if (b.breaks("alternative infinite"))
    return choose(b, c, edge, c, b.oneIn(2) ? HUGE_VAL : std::nan(""));
  Value open = b.add(c, other({}));
  if (b.breaks("decided by other elements"))
    return choose(b, open, edge, 0.0, b.oneIn(2) ? b.reverse(open, 0) : b.reverse(open, 1));
  if (b.breaks("slope unbounded"))
    return choose(b, c, edge, c, b.mul(c, other({})));
  if (b.breaks("one of two, or nothing"))
    return choose(b, open, b.oneIn(2) ? other({}) : b.add(c, other({})), 0.0, open);
  switch (b.below(7)) {
  case 0: return choose(b, c, edge, c, 0.0);
  case 1: return choose(b, c, edge, other(Bounds(-3e4, 3e4)), 1.0);
  case 2: return choose(b, open, 0.0, open, b.mul(open, 0.25));
  case 3: {
    Value rest = other({});
    return choose(b, open, rest, open, rest);
  }
  case 4: return choose(b, open, 0.0, open, b.neg(open));
  case 5: return choose(b, b.mul(c, 0.5), edge / 2, c, other(Bounds(-100, 100)));
  default: return choose(b, open, 20.0, open, b.apply(Fn::Log1p, {b.exp(b.min(open, 20.0))}));
  }
}

static constexpr StringLiteral kBranches[] = {"branch computes an unbounded",
                                              "branch hands on an unbounded"};

/// A branch that a product takes, as a region
static Value byBranch(ClaimWriter &b) {
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto [c, edge] = product(b);
  bool computes = b.breaks("branch computes an unbounded"),
       isOpen = b.breaks("branch hands on an unbounded");
  Value t = b.argument(TensorWriter::shapeOf(c),
                       computes || isOpen ? std::optional<Bounds>() : Bounds(-100, 100));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value first = tensor::ExtractOp::create(builder, loc, c, ValueRange{zero, zero});
  Value at = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(edge));
  Value isAbove = arith::CmpFOp::create(builder, loc, P::OGT, first, at);
  auto branch = scf::IfOp::create(builder, loc, TypeRange{t.getType()}, isAbove, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, b.mul(t, 0.5));
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(builder, loc, isOpen ? t : b.square(t));
  return branch.getResult(0);
}

static constexpr StringLiteral kJumps[] = {
    "step times an unbounded",         "truth value times an unbounded",
    "alternatives times an unbounded", "remainder times an unbounded",
    "integer times an unbounded",      "sum of steps times an unbounded"};

/// Makes a number that is about 0 above the edge, and not where rounding finds `edge` itself.
static Value jump(ClaimWriter &b, const Product &product, StringRef of) {
  auto [c, edge] = product;
  if (of == kJumps[1]) {
    Value holds = b.compare(b.pick({P::OLE, P::ULE}), c, edge);
    auto as = [&](StringRef op, Value x, Type type) {
      return b.create(op, x, TensorWriter::typeOf(c).clone(type));
    };
    Type f32 = b.formatOf(c);
    if (b.getSpelling() != Spelling::Tosa)
      return as("arith.uitofp", holds, f32);
    return as("tosa.cast", as("tosa.cast", holds, b.getBuilder().getI32Type()), f32);
  }
  if (of == kJumps[2])
    return choose(b, c, edge, 0.0, 1.0);
  if (of == kJumps[3])
    return b.add(b.apply(Fn::Rem, {c, 1.0}), 1.0);
  if (of == kJumps[4]) {
    auto integers = TensorWriter::typeOf(c).clone(b.getBuilder().getI32Type());
    return b.sub(b.create("arith.sitofp", b.create("arith.fptosi", c, integers), c.getType()),
                 edge + 1);
  }
  return b.sub(b.apply(Fn::Ceil, {c}), edge + 1);
}

/// (J t)^2 for a number J that jumps where rounding decides: only if t is known
static Value byJump(ClaimWriter &b) {
  Product of = product(b);
  for (StringLiteral hypothesis : kJumps)
    if (b.breaks(hypothesis)) {
      Value step = jump(b, of, hypothesis);
      Value t = b.argument(TensorWriter::shapeOf(step));
      if (hypothesis == kJumps[5]) // a sum keeps what jumps in it
        step = b.sub(b.add(step, b.mul(t, 0.0)), b.mul(step, 0.5));
      return b.square(b.mul(step, t));
    }
  Value t = b.argument(TensorWriter::shapeOf(of.value), Bounds(-3e4, 3e4));
  if (b.oneIn(4)) // two pieces that meet
    return b.mul(choose(b, of.value, 0.0, of.value, 0.0), b.argument(TensorWriter::shapeOf(t)));
  return b.mul(jump(b, of, kJumps[b.below(6)]), t);
}

static constexpr StringLiteral kSlopes[] = {"power of a steep function", "exponent open",
                                            "epsilon tiny"};

/// Functions that no range keeps small, steep where c passes the edge
static Value bySlope(ClaimWriter &b) {
  auto [c, edge] = product(b);
  Value distance = b.abs(b.sub(c, edge)); // some 1e-6, and zero where c is rounded
  if (b.breaks("exponent open"))
    return b.apply(Fn::Pow, {2.0, b.sub(128.0, b.mul(distance, 1e6))});
  bool isTiny = b.breaks("epsilon tiny"), isPower = b.breaks("power of a steep function");
  Value steep = b.div(1.0, b.add(distance, isTiny ? 1e-30 : isPower ? 1e-12 : 1e-2));
  return isPower ? b.square(b.square(steep)) : isTiny ? b.square(steep) : steep;
}

void mlir::mp::test::addChoices(std::vector<HostileFamily> &families) {
  families.push_back({"chosen by a product", byProduct, {kChoices}, /*isPole=*/true});
  families.push_back({"branch by a product", byBranch, {kBranches}, /*isPole=*/true});
}

void mlir::mp::test::addJumps(std::vector<HostileFamily> &families) {
  families.push_back({"jump of a product", byJump, {kJumps}, /*isPole=*/true});
  families.push_back({"slope of a product", bySlope, {kSlopes}, /*isPole=*/true});
}
