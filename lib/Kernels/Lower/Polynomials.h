// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Made by tools/dev/fit-polynomials.py. Highest power first.

#ifndef MP_LIB_KERNELS_LOWER_POLYNOMIALS_H
#define MP_LIB_KERNELS_LOWER_POLYNOMIALS_H

namespace mlir::mp::polynomial {

/// (exp(f) - 1 - f) / f^2 on |f| <= ln(2)/2; error of the fit 1.4e-9.
inline constexpr double kExp[] = {
    1.989110342e-4, 1.393375139e-3, 8.333310824e-3, 4.166646401e-2,
    1.666666668e-1, 5.000000014e-1};

/// (2^f - 1) / f on |f| <= 1/2; error of the fit 1.7e-10.
inline constexpr double kExp2[] = {
    1.529734162e-5, 1.546146791e-4, 1.333350234e-3, 9.618056621e-3,
    5.550410884e-2, 2.402265092e-1, 6.931471806e-1};

/// (log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1+f <= sqrt(2); error of the fit 2.9e-8.
inline constexpr double kLog[] = {
    6.973070409e-2, -1.148147724e-1, 1.168571964e-1, -1.242548656e-1,
    1.424900932e-1, -1.666780858e-1, 2.000071720e-1, -2.499999691e-1,
    3.333333117e-1};

/// (tanh(x) - x) / x^3 in s = x^2 on |x| <= 0.55; error of the fit 1.3e-8.
inline constexpr double kTanh[] = {
    -6.609614013e-3, 2.130906233e-2, -5.390937564e-2, 1.333311346e-1,
    -3.333333201e-1};

/// erf(x)/x - 1 in s = x^2 on |x| <= 0.92; error of the fit 4.1e-10.
inline constexpr double kErf[] = {
    8.399424645e-5, -8.149968110e-4, 5.201707420e-3, -2.685968782e-2,
    1.128370112e-1, -3.761263414e-1, 1.283791667e-1};

/// -log(erfc(a)) on 0.92 <= a <= 4; error of the fit 1.3e-8.
inline constexpr double kErfcLog[] = {
    5.146973590e-8, -2.754307694e-6, 5.654245091e-5, -6.525105501e-4,
    4.943779806e-3, -2.681311432e-2, 1.106156087e-1, 6.313742824e-1,
    1.130446487, -3.628499869e-4};

/// (atan(x)/x - 1) / s in s = x^2 on |x| <= 1; error of the fit 2.5e-9.
inline constexpr double kAtan[] = {
    1.488287803e-3, -9.142896108e-3, 2.630190919e-2, -4.895754741e-2,
    7.031748780e-2, -8.931772708e-2, 1.108825173e-1, -1.428400289e-1,
    1.999994929e-1, -3.333333308e-1};

/// (sin(r)/r - 1) / s in s = r^2 on |r| <= pi/4; error of the fit 2.8e-11.
inline constexpr double kSin[] = {
    2.724985160e-6, -1.984008616e-4, 8.333331874e-3, -1.666666666e-1};

/// (cos(r) - 1 + s/2) / s^2 in s = r^2 on |r| <= pi/4; error of the fit 2.3e-12.
inline constexpr double kCos[] = {
    -2.730089727e-7, 2.480059990e-5, -1.388888767e-3, 4.166666666e-2};

/// (atanh(z)/z - 1) / s in s = z^2 on |z| <= (sqrt(2)-1)/(sqrt(2)+1); error of the fit 1.0e-18.
inline constexpr double kAtanh64[] = {
    6.54361809832981117e-2, 6.63435739617404833e-2, 7.69312094096929775e-2, 9.09089780003039622e-2,
    1.11111111960445040e-1, 1.42857142854009785e-1, 2.00000000000004398e-1, 3.33333333333333332e-1};

/// (2^f - 1) / f on |f| <= 1/2; error of the fit 1.3e-17.
inline constexpr double kExp264[] = {
    4.45496437126929679e-10, 7.07259302787899657e-9, 1.01780624269769234e-7, 1.32154425525222915e-6,
    1.52527338298670806e-5, 1.54035304417941374e-4, 1.33335581464169169e-3, 9.61812910760685395e-3,
    5.55041086648215944e-2, 2.40226506959100983e-1, 6.93147180559945309e-1};

} // namespace mlir::mp::polynomial

#endif // MP_LIB_KERNELS_LOWER_POLYNOMIALS_H
