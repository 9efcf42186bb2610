// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebraic normal form of value numbers: each function is spelled one way. x * rsqrt(y) and
// x / sqrt(y) are one quotient, scales stand outermost, sums of sums are one sum, casts are
// nothing. Equal expressions are equal up to rounding, not bit for bit as value numbers are.
//
// A *term* is an expression where it is seen: a view, as of value numbers, so that x - mean x over
// rows and over columns differ. A graph that does not track places takes every transposition,
// broadcast and reshape for the tensor itself; it serves annotations, which promise nothing.

#ifndef MP_ANALYSIS_VALUES_EXPRESSIONS_H
#define MP_ANALYSIS_VALUES_EXPRESSIONS_H

#include "mp/Analysis/Values/ValueNumbering.h"

#include <unordered_map>

namespace mlir::mp {

enum class ExpressionKind : uint8_t {
  Leaf,
  Count,    ///< an integer as a float: a number of elements
  Constant, ///< `value` everywhere
  NaN,      ///< everywhere
  Scale,    ///< a times `value`
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Select,
  Exp,
  Log,
  Sqrt,
  Tanh,
  Erf,
  Abs,
  Softmax,  ///< of a, named
  Sum,      ///< of the elements of a over a group
  GroupMax, ///< the largest element of a over a group
};

using Term = View;

struct Expression {
  ExpressionKind kind = ExpressionKind::Leaf;
  Term a = {}, b = {};
  double value = 0;
  SmallVector<int64_t, 4> sizes = {}; ///< of the index space; empty where places are not tracked
  /// Counts for Sum and GroupMax the elements in a group (0: unknown), the dimensions of a's space
  /// that are reduced, and the rank and dimensions of the tensor that was reduced.
  int64_t count = 0;
  uint64_t reduced = 0;
  unsigned rank = 0;
  uint64_t axes = 0;

  friend bool operator==(const Expression &a, const Expression &b) = default;
};

class ExpressionGraph {
public:
  ExpressionGraph(const ValueNumbering &values, MLIRContext *context, bool tracksPlaces);

  /// The term of a float value; none for anything else.
  Term lookup(Value value) const;
  const Expression &operator[](const Term &term) const { return expressions[term.node]; }
  /// Operands of a term's expression, seen from where the term is.
  Term left(const Term &term) const { return compose(term, (*this)[term].a); }
  Term right(const Term &term) const { return compose(term, (*this)[term].b); }
  /// True if `sum` reduces the elements of `x`, and x lies in its group.
  bool isReductionOf(const Term &sum, const Term &x) const {
    return (*this)[sum].a.node == x.node && isReductionOf(sum, (*this)[sum].a, x);
  }
  /// True if x lies in the group of `sum`, whose elements see the expression of x as `inside`.
  bool isReductionOf(const Term &sum, const Term &inside, const Term &x) const {
    return inside.node == x.node && !inside.map && isInGroup(sum, x);
  }
  /// True if `x`, of the space of what `sum` reduces, is seen at an index of its group.
  bool isInGroup(const Term &sum, const Term &x) const;
  /// Made of constants and of arguments with at most one dimension other than 1.
  bool isParameter(const Term &term) const { return parameters[term.node]; }

  /// Expressions in the order in which ops of `function` compute them, with the op outside bodies.
  struct Computed {
    unsigned number;
    Operation *op;
  };
  std::vector<Computed> getComputed(FunctionOpInterface function) const;

private:
  using Sizes = ArrayRef<int64_t>;
  Term normalize(const ValueNode &node);
  Term normalizeUnary(domains::UnaryFn fn, const Term &x, Sizes sizes);
  Term normalizeBinary(const ValueNode &node, const Term &a, const Term &b, Sizes sizes);
  Term normalizeReduction(const ValueNode &node);
  /// The term of a value number's view.
  Term ofView(const View &view) const;
  Term compose(const Term &outer, const Term &inner) const;

  Term intern(Expression expression, Sizes sizes);
  Term leaf(Sizes sizes, bool isParameter);
  Term constant(double value);
  Term apply(ExpressionKind kind, const Term &a, Sizes sizes);
  Term scale(const Term &a, double by);
  Term add(const Term &a, const Term &b, Sizes sizes);
  Term sub(const Term &a, const Term &b, Sizes sizes);
  Term mul(const Term &a, const Term &b, Sizes sizes);
  Term div(const Term &a, const Term &b, Sizes sizes);
  Term extremum(ExpressionKind kind, const Term &a, const Term &b, Sizes sizes);
  bool isConstant(const Term &term, double value) const;

  const ValueNumbering &values;
  MLIRContext *context;
  bool tracksPlaces;
  std::vector<Expression> expressions;
  std::vector<bool> parameters;
  std::vector<Term> terms;                                    ///< per value number
  std::unordered_map<size_t, SmallVector<unsigned, 1>> known; ///< by hash
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_VALUES_EXPRESSIONS_H
