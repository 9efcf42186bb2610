// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one variable that arith, math and tosa offer (and the activations recognised from
// their pieces): sound images of intervals, bounds on the derivative, and the few global facts the
// other domains need.
//
// Images come from monotone pieces; every value computed with the C library is moved outward by the
// number of ulps stated in the table of Elementary.cpp (twice what glibc's manual lists, or more),
// then cut to the function's range.

#ifndef MP_DOMAINS_ELEMENTARY_H
#define MP_DOMAINS_ELEMENTARY_H

#include "mp/Domains/Interval.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mpcore::domains {

enum class UnaryFn : uint8_t {
  Identity,
  Neg,
  Abs,
  Square,
  Reciprocal,
  Sqrt,
  Rsqrt,
  Cbrt,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfc,
  Sigmoid,
  Softplus,
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  Floor,
  Ceil,
  Trunc,
  Round,
  RoundEven,
  Sign,
};
inline constexpr unsigned kNumUnaryFns = static_cast<unsigned>(UnaryFn::Sign) + 1;

llvm::StringRef getName(UnaryFn fn);

/// The function in double, as accurate as the C library; what the image brackets.
double evaluate(UnaryFn fn, double x);

/// Arguments for which the function has a finite real value, poles aside: sqrt [0, inf], acos [-1,
/// 1], ...
Interval domainOf(UnaryFn fn);
/// Sound image of `x` restricted to the domain. Poles (1/0, log 0, rsqrt 0) make the end unbounded.
Interval image(UnaryFn fn, const Interval &x);

/// True if the function is constant but for jumps: roundings to integers, the sign.
bool hasSteps(UnaryFn fn);

/// Upper bound on |f'| over `x`; infinite where `x` meets a pole, a jump or the outside of the
/// domain.
double derivativeBound(UnaryFn fn, const Interval &x);

/// floor, ceil, ...: the result is an integer whatever the argument.
bool hasIntegerValues(UnaryFn fn);
/// Finite integers map to integers.
bool keepsIntegers(UnaryFn fn);
/// Exact in every format: no rounding of the result (neg, abs, relu, floor, ...).
bool isExact(UnaryFn fn);
/// A constant L with |f(x)| <= L |x| for all x, if there is one: then row norms grow by L at most.
std::optional<double> linearBound(UnaryFn fn);
/// f(x) == 0 only if x == 0 (nullopt: the function may vanish elsewhere).
bool vanishesOnlyAtZero(UnaryFn fn);
/// f never returns zero in exact arithmetic (exp, cosh, reciprocal, ...).
bool neverVanishes(UnaryFn fn);

} // namespace mpcore::domains

#endif // MP_DOMAINS_ELEMENTARY_H
