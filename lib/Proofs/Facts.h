// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's own arithmetic on sets of floats. It shares no code with lib/Domains on purpose: a
// mistake there must not be repeated here. Ends are doubles, rounded outward by one neighbour after
// every operation; a computed value lies between the roundings of the ends, because rounding is
// monotone (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 2.2).

#ifndef MP_LIB_PROOFS_FACTS_H
#define MP_LIB_PROOFS_FACTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mp/Proofs/Derivation.h"

namespace mlir::mp::proofs {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
/// Relative error that is allowed of elementary functions (docs/reference/Math.md).
inline constexpr double kFunctionSlack = 0x1p-18;

/// Constants of a float format (IEEE 754-2019, table 3.5; bfloat16 as in the RISC-V BF16 manual).
struct Format {
  double unit = 1;       ///< largest relative rounding error
  double normal = 0;     ///< smallest normal number; what is below may be flushed to zero
  double largest = kInf; ///< finite number
  const llvm::fltSemantics *semantics = nullptr;
};
/// Nothing for a type that is no float of these: f16, bf16, f32, f64.
std::optional<Format> formatOf(Type type);

/// A set of floats. Numbers lie in [low, high]; an end that is infinite bounds nothing.
struct Facts {
  double low = -kInf, high = kInf;
  bool mayBeNaN = true, mayBeInfinite = true;
  double norm = kInf; ///< of rows, where these are elements of a tensor
  Basis basis = Basis::Proved;
  bool confirmed = true; ///< false if it rests on what nobody checked

  static Facts point(double value);
  static Facts between(double low, double high);
  static Facts empty() { return between(kInf, -kInf); }
  bool isEmpty() const { return !(low <= high); }
  double magnitude() const;
  bool contains(double value) const { return low <= value && value <= high; }
  bool isNonNegative() const { return low >= 0; }
  bool isBounded() const { return magnitude() < kInf; }
  /// Rests on what `other` rests on, too.
  Facts &restOn(const Facts &other);
  /// Nothing is known, on the same basis.
  Facts withoutKnowledge() const;
};

Facts join(const Facts &a, const Facts &b);

/// The functions that the checker knows.
enum class Function : uint8_t {
  None,
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  MaxNumber,
  MinNumber,
  Fma,
  Power,
  Remainder,
  CopySign,
  Select,
  Compare,
  Clamp,
  Negate,
  Absolute,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Tanh,
  Erf,
  Sigmoid,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Asinh,
  Acosh,
  Atanh,
  Cbrt,
  Erfc,
  Floor,
  Ceil,
  Trunc,
  Round,
  Square,
  Narrow,
};

/// The set of fn(x, y), as it is computed in `format`.
Facts apply(Function fn, ArrayRef<Facts> x, const Format &format);
/// The set of fn(x), before it is rounded.
Facts ofUnary(Function fn, const Facts &x);
Facts reciprocalOf(const Facts &x);
/// Moves the ends away from each other by a share of themselves; signs stay.
Facts slackened(Facts facts, double share);
/// The set of values of `exact` rounded to the format.
Facts rounded(Facts exact, const Format &format);
/// Sums of `count` values, each of `term`, on top of `start`, in any order. `largestSum` bounds the
/// exact sum of the magnitudes by another way. Tensor Cores lose more than additions of the format.
Facts sumOf(const Facts &term, double count, const Facts &start, const Format &format,
            double largestSum, bool onTensorCores);

inline double up(double x) { return std::nextafter(x, kInf); }
inline double down(double x) { return std::nextafter(x, -kInf); }

} // namespace mlir::mp::proofs

#endif // MP_LIB_PROOFS_FACTS_H
