// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values are functions of each other: value numbers. Equal numbers are equal
// values, element by element in the index space they are read in. What a linalg op
// reads or writes other than element by element gets a number that remembers the
// indexing map, so that a relation holds only where the same elements meet:
//
//   written through map m:  Via(y, m);  read back through the same map: y
//   read through another map m:  Access(x, m)
//
// A reduction's number stands for its result repeated along the reduced dimensions.

#ifndef MP_ANALYSIS_RELATIONS_H
#define MP_ANALYSIS_RELATIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Interfaces/FloatRangeOpInterface.h"
#include <map>

namespace mlir::mp {

class Relations {
public:
  explicit Relations(Operation *root);

  /// Numbers the values in the regions of another op, too.
  void add(Operation *op);

  /// Number of a float value, or of what a comparison of such gives; 0, equal to nothing, if it has
  /// none.
  unsigned numberOf(Value value) const { return numbers.lookup(value); }

  /// Facts of two values that meet in one op (or of one, and the numbers it is made of).
  bool areEqual(Value a, Value b) const { return numberOf(a) && numberOf(a) == numberOf(b); }
  /// `max` is at least every `x` it meets.
  bool isGroupMax(Value max, Value x) const;
  /// Of what a comparison gives: the numbers of a and b, if a >= b where it is true and a <= b
  /// where it is not, or one is NaN.
  std::optional<std::pair<unsigned, unsigned>> comparedBy(Value truth) const;
  /// `x` is e^(y - max y) over some group of `sum`, which adds them up: at least 1.
  bool isSumOfShiftedExp(Value sum) const;
  /// `sum` adds up non-negative things, the `x` it meets among them.
  bool isSumOf(Value sum, Value x) const;
  /// `inverse` is 1 / sum, the sum being of the `x` it meets.
  bool isReciprocalOfSumOf(Value inverse, Value x) const;

  /// `bound` is at least every magnitude of the `x` it meets, times a factor: that factor. With
  /// `inverse`, `bound` is a number over such a value instead, and the factor that of the product
  /// with x.
  struct Largest {
    double factor;
    /// Scaled or inverted: holds up to rounding, and where the magnitude is no subnormal number.
    bool isRounded = false;
  };
  std::optional<Largest> largestOf(Value bound, Value x) const;
  std::optional<Largest> inverseLargestOf(Value inverse, Value x) const;

  /// A value that is at least `factor` times the sum of the squares of the x it meets.
  struct Squares {
    double factor;
    int64_t count;      ///< of squares; -1 if unknown
    unsigned loops = 0; ///< they run over, a bit each, of the op that reads `x`
    /// Taken as mean(x^2) - mean(x)^2, which cancellation may leave below the squares it stands
    /// for.
    bool cancels = false;
    /// A positive constant is added: the value is never zero.
    bool positive = false;
  };
  /// For `root` = sqrt(v) or `inverse` = 1 / sqrt(v), if v is such a value for `x`.
  std::optional<Squares> rootOfSquares(Value root, Value x) const;
  std::optional<Squares> inverseRootOfSquares(Value inverse, Value x) const;

private:
  enum class Kind : uint8_t {
    None,
    Opaque,
    Scalar,
    NaN,
    Via,
    Access,
    Add,
    Sub,
    Mul,
    Div,
    Square,
    Sum,
    Max,
    Scaled,
    Plus,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Exp,
    Abs,
    AtLeast, ///< a maximum with a constant
    OrNaN,   ///< or NaN instead
    InOrder, ///< a truth value: see comparedBy
    Rounded  ///< from f64 to f32: good enough for statistics
  };
  struct Expression {
    Kind kind = Kind::None;
    unsigned a = 0, b = 0;
    double factor = 0;
    const void *map = nullptr;
  };

  unsigned number(Kind kind, unsigned a = 0, unsigned b = 0, double factor = 0,
                  const void *map = nullptr);
  unsigned numberBehindMap(Kind kind, unsigned a, unsigned b, double factor);
  unsigned opaque();
  void visitStructured(linalg::LinalgOp op);
  void numberResults(Operation *op);
  unsigned numberResult(Operation *op, ArrayRef<unsigned> operands);
  unsigned numberUnary(domains::UnaryFn fn, unsigned x);
  unsigned numberBinary(domains::BinaryFn fn, unsigned a, unsigned b);
  unsigned numberReshape(Operation *op, unsigned x);
  unsigned numberScalar(double value);
  unsigned numberMaximum(unsigned max, double init, Type type);
  unsigned numberComparison(Operation *op, unsigned a, unsigned b);
  unsigned numberSelection(unsigned a, unsigned b);
  unsigned read(unsigned tensor, AffineMap map);
  unsigned write(unsigned element, AffineMap map);
  std::optional<double> scalarOf(unsigned value) const;
  bool isUniform(unsigned value) const;

  struct OwnSquares {
    unsigned of;
    Squares squares;
  };
  std::optional<OwnSquares> asSquares(unsigned value, bool summed = false, int64_t count = 1) const;
  /// Of a `root` that is one of this kind.
  std::optional<Squares> squaresBehind(Value root, Kind kind, Value x) const;
  std::optional<Largest> largestOf(unsigned bound, unsigned x) const;
  bool isSumOf(unsigned sum, unsigned x) const;
  bool isMeanOf(unsigned mean, unsigned x) const;
  const Expression &get(Value value) const { return expressions[numberOf(value)]; }

  std::vector<Expression> expressions;
  std::map<std::tuple<Kind, unsigned, unsigned, double, const void *>, unsigned> known;
  DenseMap<Value, unsigned> numbers;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_RELATIONS_H
