// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra: how expressions are made from value numbers, each function spelled one way.

#include "mp/Analysis/Values/Expressions.h"
#include "mp/Analysis/SelectedExtrema.h"
#include "mp/Dialect/MP/MPDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::ReduceFn;
using domains::UnaryFn;

/// Arguments and constants of at most one dimension other than 1: one number a channel.
static bool isParameterNode(const ValueNode &node) {
  bool isArgument = isa<FunctionOpInterface>(node.op);
  bool isConstant = node.op->hasTrait<OpTrait::ConstantLike>();
  return isConstant || (isArgument && node.sizes.size() <= 1);
}

ExpressionGraph::ExpressionGraph(const ValueNumbering &values, MLIRContext *context,
                                 bool tracksPlaces)
    : values(values), context(context), tracksPlaces(tracksPlaces) {
  leaf({}, false); // number 0 is nobody's
  terms.resize(values.size());
  for (NodeId id = 1; id < values.size(); ++id)
    terms[id] = normalize(values[id]);
}

std::vector<ExpressionGraph::Computed>
ExpressionGraph::getComputed(FunctionOpInterface function) const {
  std::vector<Computed> computed;
  auto add = [&](Operation *op, Operation *outside) {
    for (Value result : op->getResults())
      if (Term term = lookup(result))
        computed.push_back({term.node, outside});
  };
  // Bodies before the results of their op.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isStructured = isa<linalg::LinalgOp>(op);
    if (isStructured)
      for (Region &region : op->getRegions())
        region.walk([&](Operation *inner) { add(inner, op); });
    add(op, op);
    return isStructured ? WalkResult::skip() : WalkResult::advance();
  });
  return computed;
}

Term ExpressionGraph::lookup(Value value) const {
  return getFloatFormat(value.getType()) ? ofView(values.lookup(value)) : Term();
}

Term ExpressionGraph::ofView(const View &view) const {
  if (!view)
    return {};
  return compose({view.node, tracksPlaces ? view.map : AffineMap()}, terms[view.node]);
}

Term ExpressionGraph::compose(const Term &outer, const Term &inner) const {
  return composeViews(outer, inner, expressions[inner.node].sizes.empty());
}

bool ExpressionGraph::isInGroup(const Term &sum, const Term &x) const {
  const Expression &e = (*this)[sum];
  if (e.kind != ExpressionKind::Sum && e.kind != ExpressionKind::GroupMax)
    return false;
  if (!tracksPlaces)
    return true;
  if ((*this)[x].sizes != (*this)[e.a].sizes)
    return false;
  auto coordinate = [&](const Term &term, unsigned dim) {
    return term.map ? term.map.getResult(dim) : getAffineDimExpr(dim, context);
  };
  unsigned kept = 0;
  for (unsigned dim = 0, rank = (*this)[x].sizes.size(); dim < rank; ++dim)
    if (!(e.reduced >> dim & 1) && coordinate(sum, kept++) != coordinate(x, dim))
      return false;
  return true;
}

//===-- making expressions --------------------------------------------------------------------===//

Term ExpressionGraph::intern(Expression e, Sizes sizes) {
  // A factor in f64 and its f32 rounding are one: exporters take variances in f64.
  e.value = static_cast<float>(e.value);
  if (std::isnan(e.value))
    return e.kind == ExpressionKind::Constant ? intern({.kind = ExpressionKind::NaN}, {})
                                              : leaf(sizes, false);
  bool isReduction = e.kind == ExpressionKind::Sum || e.kind == ExpressionKind::GroupMax ||
                     e.kind == ExpressionKind::Softmax;
  AffineMap place;
  if (tracksPlaces && !isReduction) {
    SmallVector<View, 2> operands;
    for (const Term &operand : {e.a, e.b})
      if (operand)
        operands.push_back(operand);
    MeetingSpace space = meet(
        operands, sizes, [&](NodeId id) { return ArrayRef<int64_t>(expressions[id].sizes); },
        context);
    if (e.a)
      e.a = operands[0];
    if (e.b)
      e.b = operands[e.a ? 1 : 0];
    e.sizes = space.sizes;
    place = space.place;
  }
  size_t hash = llvm::hash_combine(e.kind, e.a.node, e.a.map.getAsOpaquePointer(), e.b.node,
                                   e.b.map.getAsOpaquePointer(), llvm::bit_cast<uint64_t>(e.value),
                                   e.count, e.reduced, e.axes,
                                   llvm::hash_combine_range(e.sizes.begin(), e.sizes.end()));
  SmallVector<unsigned, 1> &alike = known[hash];
  for (unsigned number : alike)
    if (expressions[number] == e)
      return {number, place};
  bool isParameter = e.kind == ExpressionKind::Constant ||
                     (e.a && parameters[e.a.node] && (!e.b || parameters[e.b.node]));
  alike.push_back(expressions.size());
  expressions.push_back(std::move(e));
  parameters.push_back(isParameter);
  return {alike.back(), place};
}

Term ExpressionGraph::leaf(Sizes sizes, bool isParameter) {
  Expression expression;
  if (tracksPlaces)
    expression.sizes.assign(sizes.begin(), sizes.end());
  expressions.push_back(std::move(expression));
  parameters.push_back(isParameter);
  return {unsigned(expressions.size() - 1), {}};
}

Term ExpressionGraph::constant(double value) {
  return intern({.kind = ExpressionKind::Constant, .value = value}, {});
}

bool ExpressionGraph::isConstant(const Term &term, double value) const {
  return (*this)[term].kind == ExpressionKind::Constant && (*this)[term].value == value;
}

Term ExpressionGraph::apply(ExpressionKind kind, const Term &a, Sizes sizes) {
  return intern({.kind = kind, .a = a}, sizes);
}

/// Scales move outward and merge; a scale by one is none.
Term ExpressionGraph::scale(const Term &a, double by) {
  const Expression &e = (*this)[a];
  if (e.kind == ExpressionKind::Constant)
    return constant(e.value * by);
  if (e.kind == ExpressionKind::Scale)
    return scale(left(a), e.value * by);
  // 1 / 12288 and 0.0000813802 differ by roundings of two formats.
  if (std::fabs(by - 1) < 1e-6)
    return a;
  Term scaled = intern({.kind = ExpressionKind::Scale, .a = {a.node, {}}, .value = by}, e.sizes);
  return compose(a, scaled);
}

Term ExpressionGraph::add(const Term &a, const Term &b, Sizes sizes) {
  const Expression &x = (*this)[a], &y = (*this)[b];
  if (x.kind == ExpressionKind::Constant && y.kind == ExpressionKind::Constant)
    return constant(x.value + y.value);
  if (isConstant(a, 0))
    return b;
  if (isConstant(b, 0))
    return a;
  if (y.kind == ExpressionKind::Scale && y.value == -1)
    return sub(a, left(b), sizes);
  if (x.kind == ExpressionKind::Scale && x.value == -1)
    return sub(b, left(a), sizes);
  bool inOrder = a.node <= b.node;
  return intern({.kind = ExpressionKind::Add, .a = inOrder ? a : b, .b = inOrder ? b : a}, sizes);
}

Term ExpressionGraph::sub(const Term &a, const Term &b, Sizes sizes) {
  const Expression &y = (*this)[b];
  if (y.kind == ExpressionKind::Constant)
    return add(a, constant(-y.value), sizes);
  if (y.kind == ExpressionKind::Scale && y.value == -1)
    return add(a, left(b), sizes);
  if (isConstant(a, 0))
    return scale(b, -1);
  return intern({.kind = ExpressionKind::Sub, .a = a, .b = b}, sizes);
}

/// (c a) b = c (a b), a (b / c) = (a b) / c.
Term ExpressionGraph::mul(const Term &a, const Term &b, Sizes sizes) {
  const Expression x = (*this)[a], y = (*this)[b];
  if (x.kind == ExpressionKind::Constant)
    return scale(b, x.value);
  if (y.kind == ExpressionKind::Constant)
    return scale(a, y.value);
  if (x.kind == ExpressionKind::Scale)
    return scale(mul(left(a), b, sizes), x.value);
  if (y.kind == ExpressionKind::Scale)
    return scale(mul(a, left(b), sizes), y.value);
  if (y.kind == ExpressionKind::Div)
    return div(mul(a, left(b), sizes), right(b), sizes);
  if (x.kind == ExpressionKind::Div)
    return div(mul(left(a), b, sizes), right(a), sizes);
  if (a == b && x.kind == ExpressionKind::Abs)
    return mul(left(a), left(a), sizes);
  bool inOrder = a.node <= b.node;
  return intern({.kind = ExpressionKind::Mul, .a = inOrder ? a : b, .b = inOrder ? b : a}, sizes);
}

Term ExpressionGraph::div(const Term &a, const Term &b, Sizes sizes) {
  const Expression x = (*this)[a], y = (*this)[b];
  if (y.kind == ExpressionKind::Constant && y.value != 0)
    return scale(a, 1 / y.value);
  if (y.kind == ExpressionKind::Scale && y.value != 0)
    return scale(div(a, left(b), sizes), 1 / y.value);
  if (x.kind == ExpressionKind::Scale)
    return scale(div(left(a), b, sizes), x.value);
  if (y.kind == ExpressionKind::Div && isConstant(left(b), 1))
    return mul(a, right(b), sizes);
  return intern({.kind = ExpressionKind::Div, .a = a, .b = b}, sizes);
}

Term ExpressionGraph::extremum(ExpressionKind kind, const Term &a, const Term &b, Sizes sizes) {
  bool inOrder = a.node <= b.node;
  return intern({.kind = kind, .a = inOrder ? a : b, .b = inOrder ? b : a}, sizes);
}

//===-- from value numbers --------------------------------------------------------------------===//

Term ExpressionGraph::normalizeUnary(UnaryFn fn, const Term &x, Sizes sizes) {
  Term one = constant(1);
  auto exp = [&](const Term &of) { return apply(ExpressionKind::Exp, of, sizes); };
  switch (fn) {
  case UnaryFn::Identity: return x;
  case UnaryFn::Neg: return scale(x, -1);
  case UnaryFn::Square: return mul(x, x, sizes);
  case UnaryFn::Reciprocal: return div(one, x, sizes);
  case UnaryFn::Sqrt: return apply(ExpressionKind::Sqrt, x, sizes);
  case UnaryFn::Rsqrt: return div(one, apply(ExpressionKind::Sqrt, x, sizes), sizes);
  case UnaryFn::Exp: return exp(x);
  case UnaryFn::Exp2: return exp(scale(x, M_LN2));
  case UnaryFn::Expm1: return sub(exp(x), one, sizes);
  case UnaryFn::Log: return apply(ExpressionKind::Log, x, sizes);
  case UnaryFn::Log2: return scale(apply(ExpressionKind::Log, x, sizes), M_LOG2E);
  case UnaryFn::Log10: return scale(apply(ExpressionKind::Log, x, sizes), M_LOG10E);
  case UnaryFn::Log1p: return apply(ExpressionKind::Log, add(one, x, sizes), sizes);
  case UnaryFn::Tanh: return apply(ExpressionKind::Tanh, x, sizes);
  case UnaryFn::Erf: return apply(ExpressionKind::Erf, x, sizes);
  case UnaryFn::Erfc: return sub(one, apply(ExpressionKind::Erf, x, sizes), sizes);
  case UnaryFn::Abs: return apply(ExpressionKind::Abs, x, sizes);
  case UnaryFn::Sigmoid: return div(one, add(one, exp(scale(x, -1)), sizes), sizes);
  default: return {};
  }
}

Term ExpressionGraph::normalizeBinary(const ValueNode &node, const Term &a, const Term &b,
                                      Sizes sizes) {
  switch (node.binary) {
  case BinaryFn::Add: return add(a, b, sizes);
  case BinaryFn::Sub: return sub(a, b, sizes);
  case BinaryFn::Mul: return mul(a, b, sizes);
  case BinaryFn::Div: return div(a, b, sizes);
  case BinaryFn::Maximum:
  case BinaryFn::MaxNum: {
    // A maximum that begins with the lowest number is one of what it reads.
    auto isLowest = [&](const Term &term) {
      return (*this)[term].kind == ExpressionKind::Constant &&
             (*this)[term].value <= -std::numeric_limits<float>::max();
    };
    auto isMaximum = [&](const Term &term) {
      return (*this)[term].kind == ExpressionKind::GroupMax;
    };
    if (isMaximum(a) && isLowest(b))
      return a;
    return isLowest(a) && isMaximum(b) ? b : extremum(ExpressionKind::Max, a, b, sizes);
  }
  case BinaryFn::Minimum:
  case BinaryFn::MinNum: return extremum(ExpressionKind::Min, a, b, sizes);
  case BinaryFn::Pow: {
    const Expression &exponent = (*this)[b];
    if (exponent.kind != ExpressionKind::Constant)
      return {};
    if (exponent.value == 3)
      return mul(a, mul(a, a, sizes), sizes);
    UnaryFn fn = exponent.value == 2      ? UnaryFn::Square
                 : exponent.value == 0.5  ? UnaryFn::Sqrt
                 : exponent.value == -0.5 ? UnaryFn::Rsqrt
                 : exponent.value == -1   ? UnaryFn::Reciprocal
                                          : UnaryFn::Sign;
    return fn == UnaryFn::Sign ? Term() : normalizeUnary(fn, a, sizes);
  }
  default: return {};
  }
}

Term ExpressionGraph::normalizeReduction(const ValueNode &node) {
  bool isMean = node.reduce == ReduceFn::Mean;
  if (node.reduce != ReduceFn::Sum && node.reduce != ReduceFn::Max && !isMean)
    return {};
  if (tracksPlaces && !node.isWhole)
    return {};
  Term x = terms[node.operands[0].node];
  if (!x || (tracksPlaces && x.map))
    return {};
  x.map = {};
  Expression e = {.kind =
                      node.reduce == ReduceFn::Max ? ExpressionKind::GroupMax : ExpressionKind::Sum,
                  .a = x,
                  .count = std::max<int64_t>(node.count, 0),
                  .reduced = tracksPlaces ? node.reduced : 0,
                  .rank = node.rank,
                  .axes = node.axes};
  double by = isMean && e.count ? 1.0 / e.count : 1;
  const Expression inner = (*this)[x];
  if (e.kind == ExpressionKind::Sum && inner.kind == ExpressionKind::Scale) {
    e.a = inner.a;
    by *= inner.value;
  } else if (!tracksPlaces && inner.kind == e.kind && inner.count && e.count) {
    // A reduction of a reduction is one over both.
    uint64_t axes = e.axes;
    if (e.rank + llvm::popcount(inner.axes) == inner.rank) {
      axes = 0;
      for (unsigned dim = 0, kept = 0; dim < inner.rank; ++dim)
        if (!(inner.axes >> dim & 1))
          axes |= (e.axes >> kept++ & 1) << dim;
    }
    e.a = inner.a;
    e.count *= inner.count;
    e.rank = inner.rank;
    e.axes = inner.axes | axes;
  }
  if (tracksPlaces)
    e.sizes = node.sizes;
  return scale(intern(std::move(e), {}), by);
}

Term ExpressionGraph::normalize(const ValueNode &node) {
  using Value = ValueNode::Kind;
  Sizes sizes = node.sizes;
  SmallVector<Term, 3> x;
  for (const View &operand : node.operands)
    x.push_back(ofView(operand));
  auto orLeaf = [&](Term term) { return term ? term : leaf(sizes, false); };
  switch (node.kind) {
  case Value::None:
  case Value::Compare: return {};
  case Value::Opaque: return leaf(sizes, isParameterNode(node));
  case Value::Integer: {
    bool isSize = !isa<ShapedType>(node.op->getResult(0).getType());
    return isSize ? intern({.kind = ExpressionKind::Count}, {}) : leaf(sizes, false);
  }
  case Value::Constant: return constant(node.value);
  case Value::NaN: return intern({.kind = ExpressionKind::NaN}, {});
  case Value::Cast: return x[0];
  case Value::Unary: return orLeaf(normalizeUnary(node.unary, x[0], sizes));
  case Value::Binary: return orLeaf(normalizeBinary(node, x[0], x[1], sizes));
  case Value::Clamp:
    return node.high < 3e38 ? leaf(sizes, false)
                            : extremum(ExpressionKind::Max, x[0], constant(node.value), sizes);
  case Value::Reduce: return orLeaf(normalizeReduction(node));
  case Value::Part: return leaf(sizes, false);
  case Value::Moved: return tracksPlaces ? leaf(sizes, false) : orLeaf(x[0]);
  case Value::Softmax: {
    Expression e = {.kind = ExpressionKind::Softmax,
                    .a = x[0],
                    .count = std::max<int64_t>(node.count, 0),
                    .rank = node.rank,
                    .axes = node.axes};
    if (tracksPlaces)
      e.sizes.assign(sizes.begin(), sizes.end());
    return intern(std::move(e), sizes);
  }
  case Value::Select: {
    Term a = x[1], b = x[2];
    if (!a || !b)
      return leaf(sizes, false);
    if (auto fn = getSelectedExtremum(node.op))
      return extremum(*fn == BinaryFn::MaxNum ? ExpressionKind::Max : ExpressionKind::Min, a, b,
                      sizes);
    // A guard, as of a variance that no element is left for.
    for (auto [guard, value] : {std::pair(a, b), std::pair(b, a)})
      if ((*this)[guard].kind == ExpressionKind::NaN)
        return value;
    // No recogniser asks which condition chose.
    return intern({.kind = ExpressionKind::Select, .a = a, .b = b}, sizes);
  }
  }
  llvm_unreachable("unknown kind");
}
