// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra: how expressions are made, each function spelled one way.

#include "mp/Analysis/Expressions.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using Kind = ExpressionKind;

unsigned ExpressionGraph::intern(Expression expression) {
  // A factor in f64 and its f32 rounding are one: exporters take variances in f64.
  expression.value = static_cast<float>(expression.value);
  if (std::isnan(expression.value))
    return expression.kind == Kind::Constant ? intern({.kind = Kind::NaN}) : leaf();
  auto [it, isNew] = known.try_emplace(expression.key(), expressions.size());
  if (!isNew)
    return it->second;
  bool parameter =
      expression.kind == Kind::Constant ||
      (expression.a && parameters[expression.a] && (!expression.b || parameters[expression.b]));
  expressions.push_back(expression);
  parameters.push_back(parameter);
  return it->second;
}

unsigned ExpressionGraph::leaf() {
  expressions.emplace_back();
  parameters.push_back(false);
  return expressions.size() - 1;
}

unsigned ExpressionGraph::constant(double value) {
  return intern({.kind = Kind::Constant, .value = value});
}

bool ExpressionGraph::isConstant(unsigned number, double value) const {
  return expressions[number].kind == Kind::Constant && expressions[number].value == value;
}

/// Scales move outward and merge; a scale by one is none.
unsigned ExpressionGraph::scale(unsigned a, double by) {
  Expression e = expressions[a];
  if (e.kind == Kind::Constant)
    return constant(e.value * by);
  if (e.kind == Kind::Scale)
    return scale(e.a, e.value * by);
  // 1 / 12288 and 0.0000813802 differ by roundings of two formats.
  if (std::fabs(by - 1) < 1e-6)
    return a;
  return intern({.kind = Kind::Scale, .a = a, .value = by});
}

unsigned ExpressionGraph::add(unsigned a, unsigned b) {
  Expression x = expressions[a], y = expressions[b];
  if (x.kind == Kind::Constant && y.kind == Kind::Constant)
    return constant(x.value + y.value);
  if (isConstant(a, 0))
    return b;
  if (isConstant(b, 0))
    return a;
  if (y.kind == Kind::Scale && y.value == -1)
    return sub(a, y.a);
  if (x.kind == Kind::Scale && x.value == -1)
    return sub(b, x.a);
  return intern({.kind = Kind::Add, .a = std::min(a, b), .b = std::max(a, b)});
}

unsigned ExpressionGraph::sub(unsigned a, unsigned b) {
  Expression y = expressions[b];
  if (y.kind == Kind::Constant)
    return add(a, constant(-y.value));
  if (y.kind == Kind::Scale && y.value == -1)
    return add(a, y.a);
  if (isConstant(a, 0))
    return scale(b, -1);
  return intern({.kind = Kind::Sub, .a = a, .b = b});
}

/// (c a) b = c (a b), a (b / c) = (a b) / c.
unsigned ExpressionGraph::mul(unsigned a, unsigned b) {
  Expression x = expressions[a], y = expressions[b];
  if (x.kind == Kind::Constant)
    return scale(b, x.value);
  if (y.kind == Kind::Constant)
    return scale(a, y.value);
  if (x.kind == Kind::Scale)
    return scale(mul(x.a, b), x.value);
  if (y.kind == Kind::Scale)
    return scale(mul(a, y.a), y.value);
  if (y.kind == Kind::Div)
    return div(mul(a, y.a), y.b);
  if (x.kind == Kind::Div)
    return div(mul(x.a, b), x.b);
  if (a == b && x.kind == Kind::Abs)
    return mul(x.a, x.a);
  return intern({.kind = Kind::Mul, .a = std::min(a, b), .b = std::max(a, b)});
}

unsigned ExpressionGraph::div(unsigned a, unsigned b) {
  Expression x = expressions[a], y = expressions[b];
  if (y.kind == Kind::Constant && y.value != 0)
    return scale(a, 1 / y.value);
  if (y.kind == Kind::Scale && y.value != 0)
    return scale(div(a, y.a), 1 / y.value);
  if (x.kind == Kind::Scale)
    return scale(div(x.a, b), x.value);
  if (y.kind == Kind::Div && isConstant(y.a, 1))
    return mul(a, y.b);
  return intern({.kind = Kind::Div, .a = a, .b = b});
}

unsigned ExpressionGraph::reduce(Kind kind, unsigned a, int64_t count, unsigned rank,
                                 uint64_t axes) {
  Expression x = expressions[a];
  if (kind == Kind::Sum && x.kind == Kind::Scale)
    return scale(reduce(kind, x.a, count, rank, axes), x.value);
  // A sum over one dimension after another is one over all of them. Dimensions reduced before may
  // be gone, and the others have moved up.
  if (x.kind == kind && x.count && count) {
    if (rank + llvm::popcount(x.axes) == x.rank) {
      uint64_t spread = 0;
      for (unsigned dim = 0, kept = 0; dim < x.rank; ++dim)
        if (!(x.axes >> dim & 1))
          spread |= (axes >> kept++ & 1) << dim;
      axes = spread;
    }
    return intern(
        {.kind = kind, .a = x.a, .count = x.count * count, .rank = x.rank, .axes = x.axes | axes});
  }
  return intern({.kind = kind, .a = a, .count = count, .rank = rank, .axes = axes});
}

unsigned ExpressionGraph::evaluateUnary(StringRef name, unsigned x) {
  auto apply = [&](Kind kind, unsigned of) { return intern({.kind = kind, .a = of}); };
  unsigned one = constant(1);
  enum class Fn {
    None,
    Neg,
    Square,
    Reciprocal,
    Sqrt,
    Rsqrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Tanh,
    Erf,
    Erfc,
    Abs,
    Sigmoid
  };
  Fn fn = llvm::StringSwitch<Fn>(name)
              .Cases({"negf", "negate"}, Fn::Neg)
              .Case("square", Fn::Square)
              .Case("reciprocal", Fn::Reciprocal)
              .Case("sqrt", Fn::Sqrt)
              .Case("rsqrt", Fn::Rsqrt)
              .Case("exp", Fn::Exp)
              .Case("exp2", Fn::Exp2)
              .Case("expm1", Fn::Expm1)
              .Case("log", Fn::Log)
              .Case("log2", Fn::Log2)
              .Case("log10", Fn::Log10)
              .Case("log1p", Fn::Log1p)
              .Case("tanh", Fn::Tanh)
              .Case("erf", Fn::Erf)
              .Case("erfc", Fn::Erfc)
              .Cases({"absf", "abs"}, Fn::Abs)
              .Case("sigmoid", Fn::Sigmoid)
              .Default(Fn::None);
  switch (fn) {
  case Fn::None: return 0;
  case Fn::Neg: return scale(x, -1);
  case Fn::Square: return mul(x, x);
  case Fn::Reciprocal: return div(one, x);
  case Fn::Sqrt: return apply(Kind::Sqrt, x);
  case Fn::Rsqrt: return div(one, apply(Kind::Sqrt, x));
  case Fn::Exp: return apply(Kind::Exp, x);
  case Fn::Exp2: return apply(Kind::Exp, scale(x, M_LN2));
  case Fn::Expm1: return sub(apply(Kind::Exp, x), one);
  case Fn::Log: return apply(Kind::Log, x);
  case Fn::Log2: return scale(apply(Kind::Log, x), M_LOG2E);
  case Fn::Log10: return scale(apply(Kind::Log, x), M_LOG10E);
  case Fn::Log1p: return apply(Kind::Log, add(one, x));
  case Fn::Tanh: return apply(Kind::Tanh, x);
  case Fn::Erf: return apply(Kind::Erf, x);
  case Fn::Erfc: return sub(one, apply(Kind::Erf, x));
  case Fn::Abs: return apply(Kind::Abs, x);
  case Fn::Sigmoid: return div(one, add(one, apply(Kind::Exp, scale(x, -1))));
  }
  llvm_unreachable("unknown function");
}

unsigned ExpressionGraph::evaluateBinary(StringRef name, unsigned a, unsigned b) {
  auto apply = [&](Kind kind) {
    return intern({.kind = kind, .a = std::min(a, b), .b = std::max(a, b)});
  };
  if (name == "powf" || name == "pow" || name == "fpowi") {
    Expression exponent = expressions[b];
    if (exponent.kind != Kind::Constant)
      return 0;
    if (exponent.value == 2)
      return mul(a, a);
    if (exponent.value == 3)
      return mul(a, mul(a, a));
    if (exponent.value == 0.5)
      return evaluateUnary("sqrt", a);
    if (exponent.value == -0.5)
      return evaluateUnary("rsqrt", a);
    return exponent.value == -1 ? evaluateUnary("reciprocal", a) : 0;
  }
  return llvm::StringSwitch<llvm::function_ref<unsigned()>>(name)
      .Cases({"addf", "add"}, [&] { return add(a, b); })
      .Cases({"subf", "sub"}, [&] { return sub(a, b); })
      .Cases({"mulf", "mul"}, [&] { return mul(a, b); })
      .Cases({"divf", "div"}, [&] { return div(a, b); })
      .Cases({"maximumf", "maxnumf", "max", "maximum"}, [&] { return apply(Kind::Max); })
      .Cases({"minimumf", "minnumf", "min", "minimum"}, [&] { return apply(Kind::Min); })
      .Default([] { return 0u; })();
}
