// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Worst-case rounding error, forwards: how far a computed value may be from the value that exact
// arithmetic on exact inputs gives. Every function takes the exact ranges (FloatFacts) and the
// errors of its operands and returns the error of the result; all are upper bounds rounded outward.
// Meant for certificates and for proofs of no overflow; to choose between precisions use the
// averages of Variance.h.
//
// Model of one operation: computed = exact op on the computed operands, then one rounding of at
// most roundingError(). This is the standard model of Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd edition 2002, section 2.2, with absolute errors.

#ifndef MP_DOMAINS_ERROR_H
#define MP_DOMAINS_ERROR_H

#include "mp/Domains/Accumulation.h"
#include "mp/Domains/Contraction.h"
#include "mp/Numerics/SplitPrecision.h"

namespace mpcore::domains {

/// Bounds on |computed - exact|. Infinite: nothing known, or an overflow is possible.
struct ErrorFacts {
  bool visited = true;
  double abs = std::numeric_limits<double>::infinity();   ///< of every element
  double norm2 = std::numeric_limits<double>::infinity(); ///< 2-norm of every row of differences
  /// |computed - exact| <= relative * |exact|; infinite when unknown or when zero cannot be
  /// excluded.
  double relative = std::numeric_limits<double>::infinity();
  Provenance provenance = Provenance::Proved;

  static ErrorFacts bottom();
  static ErrorFacts unknown() { return {}; }
  static ErrorFacts none();
  static ErrorFacts absolute(double abs);

  bool isBottom() const { return !visited; }
  bool isExact() const { return visited && abs == 0; }
  friend bool operator==(const ErrorFacts &a, const ErrorFacts &b);
  /// `<=1.2e-07 norm<=3e-06 relative<=6e-08`, `exact`, `unknown`, `unvisited`.
  void print(llvm::raw_ostream &os) const;
};

ErrorFacts join(const ErrorFacts &a, const ErrorFacts &b);
bool isAtMost(const ErrorFacts &a, const ErrorFacts &b);

/// A value with its error: exact facts, distance of the computed value.
struct Measured {
  FloatFacts value;
  ErrorFacts error;
  /// A proved range of the computed value, where more is known than "exact range plus error" (sums
  /// of computed squares are not negative, say).
  Interval computed = Interval::top();

  /// Magnitude the computed value may have.
  double computedMag() const;
  /// Returns the range of the computed value.
  Interval computedRange() const;
};

/// The arithmetic that an operation is carried out in.
struct Arithmetic {
  numerics::Format format = numerics::Format::F32;
  /// Error of the result in units of its last place: 0.5 is correct rounding to nearest, 1
  /// truncation; approximate functions state more.
  double ulps = 0.5;
  /// Use that x - y is exact for y/2 <= x <= 2y (Sterbenz). Tools without the rule give larger
  /// bounds.
  bool sterbenz = true;
  RowLength rowLength = std::nullopt;
};

/// Error of rounding a value of magnitude at most `magnitude`: 2^floor(log2 m) u (times 2 ulps), at
/// least the underflow unit, 0 for 0, infinite when it may overflow.
double roundingError(double magnitude, const Arithmetic &arithmetic);

/// Storing a value in a format; also the error of an input or a constant of that format.
ErrorFacts castError(const Measured &x, const Arithmetic &arithmetic);

ErrorFacts addError(const Measured &x, const Measured &y, const Arithmetic &arithmetic);
ErrorFacts subError(const Measured &x, const Measured &y, const Arithmetic &arithmetic);
ErrorFacts mulError(const Measured &x, const Measured &y, const Arithmetic &arithmetic);
ErrorFacts divError(const Measured &x, const Measured &y, const Arithmetic &arithmetic);
ErrorFacts fmaError(const Measured &x, const Measured &y, const Measured &z,
                    const Arithmetic &arithmetic);
ErrorFacts unaryError(UnaryFn fn, const Measured &x, const Arithmetic &arithmetic);
/// min, max, select with an exact condition, concat: the larger of the two, no rounding.
ErrorFacts eitherError(const Measured &x, const Measured &y);

/// Any binary function; the ones without a rule (pow, rem, ...) are unknown unless exact or
/// bounded.
ErrorFacts binaryError(BinaryFn fn, const Measured &x, const Measured &y,
                       const Arithmetic &arithmetic);

//===-- sums ----------------------------------------------------------------------------------===//

/// Sum of a group, accumulated as stated, stored in arithmetic.format.
ErrorFacts sumError(const Measured &x, const ReducedElements &elements,
                    const Accumulation &accumulation, const Arithmetic &arithmetic);

/// One side of a contraction.
struct ContractionSide {
  ContractionOperand operand;
  ErrorFacts error;
  /// Bound on the sum of magnitudes of each contracted vector (K |X|, or a constant's norm1).
  double norm1 = std::numeric_limits<double>::infinity();
  /// Format the operand is converted to first; nullopt when it is stored in it already (or needs no
  /// conversion).
  std::optional<numerics::Format> conversion;
};

struct ContractionError {
  ErrorFacts total;
  /// The parts of total.abs to first order in each: what comes in, operand conversion,
  /// accumulation, result rounding.
  double inherited = 0, conversion = 0, accumulation = 0, result = 0;
};

/// sum_k x_k w_k over at most `k` products; `contracted` as in contract().
ContractionError contractionError(const ContractionSide &x, const ContractionSide &w, int64_t k,
                                  const Accumulation &accumulation, const Extent &contracted,
                                  const Arithmetic &result);

/// Bounds the error of k split products of x and w, within these magnitudes, beyond that of a
/// contraction of x and w accumulated alike: dropped parts, and the sums of smaller products.
double splitError(double x, double w, int64_t k, numerics::SplitScheme scheme,
                  const Accumulation &accumulation);

//===-- idioms --------------------------------------------------------------------------------===//

struct SoftmaxError {
  ErrorFacts elements;
  /// Bound on the sum of |error| over a group: what a following product P * V needs.
  double norm1 = std::numeric_limits<double>::infinity();
};

/// Softmax of groups of at most n, shifted form, exp within `expUlps`, sum accumulated in
/// arithmetic.format: the incoming error moves an output by at most half of it, and rounding adds
/// the order of u (ln n + n). Division by the sum or multiplication by its rounded reciprocal are
/// both covered.
SoftmaxError softmaxError(const Measured &x, int64_t n, double expUlps,
                          const Arithmetic &arithmetic);

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const ErrorFacts &error) {
  error.print(os);
  return os;
}

} // namespace mpcore::domains

#endif // MP_DOMAINS_ERROR_H
