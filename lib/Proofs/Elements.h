// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of values, unfolded on demand: element(value, index) is read back through
// transpositions, broadcasts, reshapes and slices to the op that computes it, as a function of
// other elements whose indices are affine in the same symbols. Two elements are equal if they
// unfold to one expression. No value is numbered: the deciding analysis' value numbers and views
// have no part in this.

#ifndef MP_LIB_PROOFS_ELEMENTS_H
#define MP_LIB_PROOFS_ELEMENTS_H

#include "Facts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp::proofs {

/// One element. Of a tensor `at` is its index; of a scalar in the body of a structured op, the
/// iteration; of other scalars, empty.
struct Element {
  Value value;
  SmallVector<AffineExpr, 4> at;
};

/// A size: a number, or that of a dimension of some value.
struct Size {
  int64_t number = ShapedType::kDynamic;
  Value of = {};
  unsigned dim = 0;
  friend bool operator==(const Size &a, const Size &b) = default;
};

/// Says what the last op before an element does.
struct Unfolded {
  enum class Kind : uint8_t { Leaf, Constant, Apply, Reduce };
  Kind kind = Kind::Leaf;
  Function fn = Function::None;  ///< of Apply; of Reduce: Add, Max, Min, MaxNumber, MinNumber, Mul
  Type type;                     ///< in which it computes
  double constant = 0, high = 0; ///< `high`: of Clamp, whose lower bound is `constant`
  arith::CmpFPredicate predicate = arith::CmpFPredicate::AlwaysFalse;
  SmallVector<Element, 3> operands; ///< of Reduce: the term, and perhaps what it starts from
  SmallVector<unsigned, 2> bound;   ///< of Reduce: positions of the symbols it runs over
};

/// Values of symbols, by position.
using Substitution = DenseMap<unsigned, AffineExpr>;

/// The symbols of one question, which are written as dimensions of affine expressions.
class Elements {
public:
  explicit Elements(MLIRContext *context) : context(context) {}

  /// An element at an index of fresh symbols.
  Element generic(Value value);
  /// The loops of `op` as fresh symbols.
  SmallVector<AffineExpr, 4> freshLoops(linalg::LinalgOp op);

  /// Follows an element through what only moves elements.
  Element resolve(Element element);
  Unfolded unfold(const Element &element);

  /// Finds values of the `open` symbols of `pattern` for which it is the element `target`, adding
  /// to `values`; every one lies in the range of its symbol. False, with `values` as before, if
  /// none are found.
  bool match(const Element &pattern, const Element &target, Substitution &values,
             ArrayRef<unsigned> open = {});
  Element substitute(Element element, const Substitution &values);
  bool dependsOn(const Element &element, unsigned symbol);
  const Size &sizeOf(unsigned symbol) const { return sizes[symbol]; }
  AffineExpr symbol(unsigned position) { return getAffineDimExpr(position, context); }
  /// The number of steps that symbols take together; nothing if one is dynamic.
  std::optional<double> countSteps(ArrayRef<unsigned> symbols) const;

private:
  AffineExpr fresh(Size size);
  Size sizeOf(Value value, unsigned dim);
  AffineExpr simplify(AffineExpr expr);
  /// Quotient and remainder.
  std::pair<AffineExpr, AffineExpr> divide(AffineExpr expr, int64_t size);
  AffineExpr remainder(AffineExpr expr, int64_t size);
  /// Terms of a sum, with their coefficients.
  using Terms = llvm::MapVector<AffineExpr, int64_t>;
  void addTerms(AffineExpr expr, int64_t by, Terms &terms);
  std::optional<Element> moveOnce(const Element &element);
  std::optional<Element> throughStructured(const Element &element);
  std::optional<Element> throughReshape(Value source, Type resultType, const Element &element);
  Unfolded unfoldReduction(linalg::LinalgOp op, const Element &element);
  Unfolded unfoldOp(Operation *op, const Element &element);
  bool isInRange(AffineExpr expr, const Size &size);
  std::optional<std::pair<int64_t, int64_t>> boundsOf(AffineExpr expr);
  bool matchIndex(AffineExpr pattern, AffineExpr target, Substitution &values,
                  ArrayRef<unsigned> open);
  bool matchPlace(const Element &pattern, const Element &target, Substitution &values,
                  ArrayRef<unsigned> open);
  bool matchOnce(const Element &pattern, const Element &target, Substitution &values,
                 ArrayRef<unsigned> open, unsigned depth);

  MLIRContext *context;
  SmallVector<Size> sizes;
  unsigned steps = 0; ///< of matching; a question that takes too many stays open
};

/// The dimension of `other` that dimension `dim` of `type` is, if the two differ in dimensions of
/// size 1 alone.
std::optional<unsigned> dimWithoutUnits(RankedTensorType type, unsigned dim,
                                        RankedTensorType other);

/// The function of an op without a region, and the operands it reads, in order.
struct OpFunction {
  Function fn = Function::None;
  SmallVector<unsigned, 3> operands;
  double low = 0, high = 0;                       ///< of Clamp
  bool dropsNaN = false;                          ///< of Clamp: gives an end for NaN
  std::optional<int64_t> exponent = std::nullopt; ///< of a power by multiplications
};
OpFunction readFunction(Operation *op);
/// The number that a constant is everywhere.
std::optional<double> readSplat(Value value);
/// The linalg op in whose body `value` is computed or passed; null for others.
linalg::LinalgOp enclosingStructured(Value value);
/// The loop that norms in the body of `op` are taken along: that of the rows of its first result,
/// or the one that is reduced.
std::optional<unsigned> rowLoopOf(linalg::LinalgOp op);
/// Returns how a reduction combines result `index`, and what it combines; None for other bodies.
std::pair<Function, Value> readCombiner(linalg::LinalgOp op, unsigned index);
/// Returns the extremum that each step of a reduction takes, by comparison and choice, of result
/// `index` so far and of a value, and that value; None for other bodies. NaN it may keep or drop.
std::pair<Function, Value> readChoice(linalg::LinalgOp op, unsigned index);
/// The reduced dimension of a TOSA reduction.
std::optional<unsigned> readTosaAxis(Operation *op);

} // namespace mlir::mp::proofs

#endif // MP_LIB_PROOFS_ELEMENTS_H
