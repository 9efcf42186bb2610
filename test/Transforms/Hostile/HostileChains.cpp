// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Claims that build on each other: attention, blocks of transformers, norms of norms.

#include "ClaimWriter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

static Value rmsOf(ClaimWriter &b, Value of, Value to, int64_t along) {
  int64_t count = b.shapeOf(of)[along];
  Value mean = b.mul(b.reduce(Fn::Add, b.square(of), {along}), 1.0 / count);
  return b.mul(to, b.spread(b.rsqrt(b.add(mean, 1e-6)), to, {along}));
}

static Value softmaxOf(ClaimWriter &b, Value x, int64_t along) {
  Value exp = b.exp(b.sub(x, b.spread(b.reduce(Fn::Max, x, {along}), x, {along})));
  return b.div(exp, b.spread(b.reduce(Fn::Add, exp, {along}), x, {along}));
}

static constexpr StringLiteral kAttention[] = {"keys not normalised", "values not normalised",
                                               "softmax along the other axis", "no softmax",
                                               "queries' norm of other rows"};

/// Attention over normalised rows: every factor of every contraction is bounded.
static Value attention(ClaimWriter &b) {
  int64_t n = b.pick<int64_t>({2, 3, 4, 5});
  Value x = b.argument({n, n});
  Value rows =
      b.breaks("queries' norm of other rows") ? rmsOf(b, b.reverse(x, 0), x, 1) : rmsOf(b, x, x, 1);
  Value keyed = b.breaks("keys not normalised") ? x : rows;
  Value valued = b.breaks("values not normalised") ? x : rows;
  Value queries = b.matmul(rows, b.weights({n, n})), keys = b.matmul(keyed, b.weights({n, n}));
  Value values = b.matmul(valued, b.weights({n, n}));
  Value scores = b.mul(b.matmulTransposed(queries, keys), 1.0 / std::sqrt(n));
  Value weights = scores;
  if (!b.breaks("no softmax"))
    weights = softmaxOf(b, scores, b.breaks("softmax along the other axis") ? 0 : 1);
  return b.matmul(weights, values);
}

static constexpr StringLiteral kResidual[] = {"residual of the input",
                                              "second norm of the first's input", "no second norm"};

/// A norm of what a contraction of a norm gives
static Value normOfNorm(ClaimWriter &b) {
  int64_t rows = b.size(), n = b.size();
  Value x = b.argument({rows, n});
  Value first = rmsOf(b, x, x, 1);
  Value hidden = b.matmul(first, b.weights({n, n}));
  if (b.breaks("residual of the input"))
    return b.add(hidden, x);
  if (b.breaks("no second norm"))
    return b.mul(hidden, b.argument({rows, n}));
  return rmsOf(b, b.breaks("second norm of the first's input") ? x : hidden, hidden, 1);
}

static constexpr StringLiteral kRunning[] = {"loop ends early", "loop carries the last term alone",
                                             "sum starts below zero", "sum decays"};

/// |x| / sum |x|, the sum carried by a loop over the rows
static Value runningSum(ClaimWriter &b) {
  int64_t rows = 1 + b.below(5), n = b.size();
  Value x = b.argument({rows, n});
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  double start = b.breaks("sum starts below zero") ? -2 : 0;
  Value init = b.constant({1, n}, SmallVector<double>(n, start));
  int64_t trips = b.breaks("loop ends early") ? rows - 1 : rows;
  auto loop = scf::ForOp::create(builder, loc, index(0), index(trips), index(1), init);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<OpFoldResult> offsets = {loop.getInductionVar(), builder.getIndexAttr(0)};
    Value row = tensor::ExtractSliceOp::create(
        builder, loc, x, offsets, getAsIndexOpFoldResult(builder.getContext(), {1, n}),
        getAsIndexOpFoldResult(builder.getContext(), {1, 1}));
    Value sum = b.add(b.abs(row), loop.getRegionIterArg(0));
    if (b.breaks("loop carries the last term alone"))
      sum = b.abs(row);
    if (b.breaks("sum decays"))
      sum = b.mul(sum, 0x1p-20);
    scf::YieldOp::create(builder, loc, sum);
  }
  Value sum = loop.getResult(0);
  if (b.getSpelling() != Spelling::Tosa)
    sum = b.spread(b.reshape(sum, {n}), x, {0});
  return b.div(x, b.max(sum, 1e-12));
}

static constexpr StringLiteral kProbability[] = {"of other scores", "weights of one share scaled"};

/// p (1 - p) and p1 p2: products of shares
static Value productOfShares(ClaimWriter &b) {
  auto shape = b.matrix();
  Value x = b.argument(shape);
  Value p = softmaxOf(b, x, 1);
  if (b.breaks("of other scores"))
    return b.mul(p, b.sub(1.0, b.argument(shape)));
  if (b.breaks("weights of one share scaled"))
    return b.mul(b.mul(p, 3e5), softmaxOf(b, b.another(x), 1));
  return b.oneIn(2) ? b.mul(p, b.sub(1.0, p)) : b.mul(p, softmaxOf(b, x, 0));
}

static constexpr StringLiteral kGate[] = {"gate not squashed", "other half not normalised"};

/// Gated units over a norm: one half squashed, the other a contraction of what is normalised
static Value gatedUnit(ClaimWriter &b) {
  int64_t rows = b.size(), n = b.size();
  Value x = b.argument({rows, n});
  Value norm = rmsOf(b, x, x, 1);
  Value gate = b.matmul(norm, b.weights({n, n}));
  if (!b.breaks("gate not squashed"))
    gate = b.oneIn(2) ? b.apply(Fn::Sigmoid, {gate}) : b.tanh(gate);
  Value other = b.breaks("other half not normalised") ? x : b.matmul(norm, b.weights({n, n}));
  return b.mul(gate, b.breaks("gate not squashed") ? b.mul(other, b.another(x)) : other);
}

void mlir::mp::test::addChains(std::vector<HostileFamily> &families) {
  families.push_back({"attention over norms", attention, {kAttention}});
  families.push_back({"norm of a norm", normOfNorm, {kResidual}});
  families.push_back({"part of a running sum", runningSum, {kRunning}});
  families.push_back({"product of shares", productOfShares, {kProbability}});
  families.push_back({"gated unit", gatedUnit, {kGate}});
}
