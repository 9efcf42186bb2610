// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the float values of a function mean, as a graph of scalar expressions in which equal
// expressions are one node. It looks into bodies of structured ops and through everything that only
// moves elements, and spells each function one way: x * rsqrt(y) and x / sqrt(y) are one quotient,
// a named op, its generic form, its TOSA form and its parts are one expression.
//
// Elements are not told apart: a transposition, a broadcast or a reshape is the tensor itself, so
// that relations across them are taken on trust. What is not understood is a leaf of its own.

#ifndef MP_ANALYSIS_EXPRESSIONS_H
#define MP_ANALYSIS_EXPRESSIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

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

struct Expression {
  ExpressionKind kind = ExpressionKind::Leaf;
  unsigned a = 0, b = 0;
  double value = 0;
  /// Of Sum and GroupMax: elements in a group (0: unknown), the rank of what is reduced, and which
  /// of its dimensions are.
  int64_t count = 0;
  unsigned rank = 0;
  uint64_t axes = 0;

  auto key() const { return std::tie(kind, a, b, value, count, rank, axes); }
};

class ExpressionGraph {
public:
  explicit ExpressionGraph(FunctionOpInterface function);

  /// Number of a float value's expression; 0 for anything else.
  unsigned lookup(Value value) const { return numbers.lookup(value); }
  const Expression &operator[](unsigned number) const { return expressions[number]; }
  /// Made of constants and of arguments with at most one dimension other than 1.
  bool isParameter(unsigned number) const { return parameters[number]; }

  /// Expressions in the order in which ops first computed them, with the op outside bodies.
  struct Computed {
    unsigned number;
    Operation *op;
  };
  ArrayRef<Computed> getComputed() const { return computed; }

private:
  void visit(Region &region);
  void visit(Operation *op);
  void visitStructured(Operation *op);
  /// One scalar or elementwise op; 0 if it is not understood.
  unsigned evaluate(Operation *op);
  unsigned evaluateUnary(StringRef name, unsigned x);
  unsigned evaluateBinary(StringRef name, unsigned a, unsigned b);
  void set(Value value, unsigned number);

  unsigned intern(Expression expression);
  unsigned leaf();
  unsigned constant(double value);
  unsigned scale(unsigned a, double by);
  unsigned add(unsigned a, unsigned b);
  unsigned sub(unsigned a, unsigned b);
  unsigned mul(unsigned a, unsigned b);
  unsigned div(unsigned a, unsigned b);
  unsigned reduce(ExpressionKind kind, unsigned a, int64_t count, unsigned rank, uint64_t axes);
  bool isConstant(unsigned number, double value) const;

  std::vector<Expression> expressions;
  std::vector<bool> parameters;
  std::map<std::tuple<ExpressionKind, unsigned, unsigned, double, int64_t, unsigned, uint64_t>,
           unsigned>
      known;
  DenseMap<Value, unsigned> numbers;
  std::vector<Computed> computed;
  Operation *outer = nullptr; ///< the op whose body is being visited
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_EXPRESSIONS_H
