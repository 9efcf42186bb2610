// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one value, as large as interval arithmetic says: ranges that end just below and just
// beyond what f16 holds, and functions that are bounded whatever they read.

#include "ClaimWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::mp::test;

namespace {
/// A function, arguments whose images f16 holds, and arguments of which one is beyond.
struct Edge {
  StringLiteral name;
  Bounds fits, overflows;
  Value (*apply)(ClaimWriter &, Value);
};
} // namespace

static const Edge kEdges[] = {
    {"x", {-65504, 65504}, {-65521, 65521}, [](ClaimWriter &, Value x) { return x; }},
    {"exp", {-100, 11}, {-100, 11.1}, [](ClaimWriter &b, Value x) { return b.exp(x); }},
    {"exp2", {-200, 15.9}, {0, 16}, [](ClaimWriter &b, Value x) { return b.apply(Fn::Exp2, {x}); }},
    {"square", {-255, 255}, {-256.5, 3}, [](ClaimWriter &b, Value x) { return b.square(x); }},
    {"cube", {-40, 40}, {-41, 1}, [](ClaimWriter &b, Value x) { return b.mul(b.square(x), x); }},
    {"fourth power",
     {-15.9, 15.9},
     {-16.1, 2},
     [](ClaimWriter &b, Value x) { return b.apply(Fn::Pow, {x, 4.0}); }},
    {"twice", {-32752, 32752}, {-32761, 1}, [](ClaimWriter &b, Value x) { return b.add(x, x); }},
    {"rsqrt", {1e-9, 1}, {1e-10, 1}, [](ClaimWriter &b, Value x) { return b.rsqrt(x); }},
    {"rsqrt beside zero", {1e-9, 1}, {0, 1}, [](ClaimWriter &b, Value x) { return b.rsqrt(x); }},
    {"reciprocal", {2e-5, 1}, {1e-5, 1}, [](ClaimWriter &b, Value x) { return b.reciprocal(x); }},
    {"reciprocal beside zero",
     {2e-5, 1},
     {-1, 1},
     [](ClaimWriter &b, Value x) { return b.reciprocal(x); }},
    {"sqrt", {0, 4.2e9}, {0, 4.3e9}, [](ClaimWriter &b, Value x) { return b.sqrt(x); }},
    {"floor",
     {-65504, 65504},
     {-65519.5, 0},
     [](ClaimWriter &b, Value x) { return b.apply(Fn::Floor, {x}); }},
    {"ceil",
     {-65504, 65504},
     {0, 65519.5},
     [](ClaimWriter &b, Value x) { return b.apply(Fn::Ceil, {x}); }},
    {"log", {1e-30, 1e30}, {0, 1}, [](ClaimWriter &b, Value x) { return b.log(x); }},
    {"tan by quotient",
     {-1, 1},
     {-2, 2},
     [](ClaimWriter &b, Value x) {
       Value sine = b.apply(Fn::Sin, {x});
       return b.div(sine, b.apply(Fn::Sin, {b.sub(1.5707964, x)}));
     }},
    {"softplus",
     {-1e4, 6e4},
     {-1e4, 7e4},
     [](ClaimWriter &b, Value x) {
       Value tail = b.apply(Fn::Log1p, {b.exp(b.neg(b.abs(x)))});
       return b.add(b.max(x, 0.0), tail);
     }},
    {"silu",
     {-60000, 60000},
     {-1, 70000},
     [](ClaimWriter &b, Value x) { return b.mul(x, b.apply(Fn::Sigmoid, {x})); }},
    {"gelu",
     {-60000, 60000},
     {-1, 70000},
     [](ClaimWriter &b, Value x) {
       Value cdf = b.add(b.apply(Fn::Erf, {b.mul(x, 0.70710678)}), 1.0);
       return b.mul(b.mul(x, 0.5), cdf);
     }},
    {"polynomial",
     {-30, 30},
     {-30, 50},
     [](ClaimWriter &b, Value x) { return b.mul(x, b.add(b.mul(x, b.sub(x, 2.0)), 3.0)); }},
    {"hyperbolic sine",
     {-11, 11},
     {-12, 12},
     [](ClaimWriter &b, Value x) { return b.mul(b.sub(b.exp(x), b.exp(b.neg(x))), 0.5); }},
};

static SmallVector<StringLiteral> namesOfEdges() {
  return llvm::map_to_vector(kEdges, [](const Edge &edge) { return edge.name; });
}

/// f(x) with x within what f16 can take, or just beyond
static Value edge(ClaimWriter &b) {
  const Edge *edge = nullptr;
  for (const Edge &row : kEdges)
    if (b.breaks(row.name))
      edge = &row;
  Bounds range;
  if (edge) {
    range = edge->overflows;
  } else {
    edge = &kEdges[b.below(std::size(kEdges))];
    range = edge->fits;
  }
  auto shape = b.matrix();
  return edge->apply(b, b.argument(shape, range));
}

static constexpr StringLiteral kAlways[] = {
    "sign of the exponent turned", "odd power in the exponent", "product of two in the exponent",
    "remainder by an argument",    "floor of another tensor",   "scaled beyond f16",
    "magnitude an argument"};

/// Bounded, whatever is read: exp(-x^2), x mod c, x - floor x, tanh x, sin x
static Value alwaysBounded(ClaimWriter &b) {
  Value x = b.anything();
  if (b.breaks("sign of the exponent turned"))
    return b.exp(b.square(x));
  if (b.breaks("odd power in the exponent"))
    return b.exp(b.neg(b.mul(b.square(x), x)));
  if (b.breaks("product of two in the exponent"))
    return b.exp(b.neg(b.mul(x, b.another(x))));
  if (b.breaks("remainder by an argument"))
    return b.apply(Fn::Rem, {x, b.another(x)});
  if (b.breaks("floor of another tensor"))
    return b.sub(x, b.apply(Fn::Floor, {b.another(x)}));
  if (b.breaks("magnitude an argument"))
    return b.apply(Fn::CopySign, {b.another(x), x});
  double scale = b.breaks("scaled beyond f16") ? 70000 : b.pick({1.0, 100.0, 65000.0});
  switch (b.below(8)) {
  case 0: return b.mul(b.exp(b.neg(b.square(x))), scale);
  case 1: return b.mul(b.exp(b.neg(b.abs(x))), scale);
  case 2: return b.mul(b.exp(b.min(x, 0.0)), scale);
  case 3: return b.apply(Fn::Rem, {x, scale});
  case 4: return b.mul(b.sub(x, b.apply(Fn::Floor, {x})), scale);
  case 5: return b.mul(b.tanh(x), scale);
  case 6: return b.mul(b.apply(Fn::Sin, {x}), scale);
  default: return b.mul(b.apply(Fn::Erf, {x}), scale);
  }
}

static constexpr StringLiteral kIntegers[] = {"32 bits", "16 bits, unsigned"};

/// Integers as floats: as large as their type
static Value fromIntegers(ClaimWriter &b) {
  unsigned width = b.breaks("32 bits") ? 32 : b.breaks("16 bits, unsigned") ? 16 : b.pick({8, 16});
  bool isUnsigned = b.breaks("16 bits, unsigned") || (width == 8 && b.oneIn(2));
  OpBuilder &builder = b.getBuilder();
  auto shape = b.matrix();
  Value integers = b.argumentOf(RankedTensorType::get(shape, builder.getIntegerType(width)));
  return b.create(isUnsigned ? "arith.uitofp" : "arith.sitofp", integers,
                  RankedTensorType::get(shape, builder.getF32Type()));
}

static constexpr StringLiteral kSums[] = {"one element more", "elements larger by a tenth",
                                          "sum starts high"};

/// The sum of n elements within 65504 / n
static Value sumOfBounded(ClaimWriter &b) {
  auto shape = b.matrix();
  shape[1] = std::max<int64_t>(shape[1], 2);
  double limit = 65504.0 / shape[1];
  if (b.breaks("elements larger by a tenth"))
    limit *= 1.1;
  if (b.breaks("one element more"))
    ++shape[1];
  Value x = b.argument(shape, Bounds(-limit, limit));
  Value sum =
      b.reduce(Fn::Add, x, {1}, b.breaks("sum starts high") ? std::optional(1000.0) : std::nullopt);
  return b.getSpelling() == Spelling::Tosa ? sum : b.reshape(sum, {shape[0], 1});
}

static constexpr StringLiteral kProducts[] = {"factor just too large", "factor unbounded",
                                              "one product more"};

/// A contraction of bounded factors, a factor of the next
static Value productOfBounded(ClaimWriter &b) {
  int64_t rows = b.size(), inner = 2 + b.below(5), columns = b.size();
  double limit = std::sqrt(65504.0 / inner);
  int64_t extra = b.breaks("one product more") ? 2 : 0;
  std::optional<Bounds> range = Bounds(-limit, limit);
  Value y = b.argument({inner + extra, columns}, range);
  if (b.breaks("factor just too large"))
    range = Bounds(-limit, limit * 1.1);
  if (b.breaks("factor unbounded"))
    range = std::nullopt;
  Value x = b.argument({rows, inner + extra}, range);
  return b.matmul(x, y);
}

static constexpr StringLiteral kArithmetic[] = {"difference of signs", "quotient of a wide range",
                                                "product of both ends", "sum of three"};

/// Sums, products and quotients of ranges
static Value arithmetic(ClaimWriter &b) {
  auto shape = b.matrix();
  auto argument = [&](double lo, double hi) { return b.argument(shape, Bounds(lo, hi)); };
  if (b.breaks("difference of signs"))
    return b.sub(argument(-40000, 40000), argument(-40000, 40000));
  if (b.breaks("quotient of a wide range"))
    return b.div(argument(-1000, 1000), argument(0.01, 10));
  if (b.breaks("product of both ends"))
    return b.mul(argument(-300, 10), argument(-300, 10));
  Value x = argument(-20000, 20000), y = argument(-20000, 20000);
  if (b.breaks("sum of three"))
    return b.add(b.add(x, y), argument(-30000, 30000));
  switch (b.below(3)) {
  case 0: return b.sub(b.add(x, y), argument(0, 25000));
  case 1: return b.mul(argument(-250, 250), argument(0, 260));
  default: return b.div(argument(-600, 600), argument(0.01, 10));
  }
}

void mlir::mp::test::addFunctions(std::vector<HostileFamily> &families) {
  static const SmallVector<StringLiteral> edges = namesOfEdges();
  families.push_back({"function of a range", edge, {edges}});
  families.push_back({"bounded whatever it reads", alwaysBounded, {kAlways}});
  families.push_back({"from integers", fromIntegers, {kIntegers}});
  families.push_back({"sum of bounded terms", sumOfBounded, {kSums}});
  families.push_back({"product of bounded factors", productOfBounded, {kProducts}});
  families.push_back({"arithmetic of ranges", arithmetic, {kArithmetic}});
}
