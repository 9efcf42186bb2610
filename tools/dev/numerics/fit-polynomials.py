#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the polynomials of lib/Kernels/Lower/Polynomials.h and prints that file. Needs mpmath.

Each table holds, highest power first, the near-minimax (Chebyshev) fit of the function in its
comment; the error is the fit's own, before rounding of coefficients and arithmetic."""
import mpmath
from mpmath import mp, mpf

mp.prec = 160

def around_zero(f, taylor):
    """f with its Taylor series near zero, where the closed form cancels."""
    return lambda x: taylor(x) if abs(x) < mpf(10) ** -8 else f(x)

FITS = [
    # name, type, comment, function, interval, terms
    ("Exp", "float", "(exp(f) - 1 - f) / f^2 on |f| <= ln(2)/2",
     around_zero(lambda x: (mpmath.expm1(x) - x) / x**2, lambda x: mpf(1) / 2 + x / 6), (-0.3470, 0.3470), 6),
    ("Exp2", "float", "(2^f - 1) / f on |f| <= 1/2",
     around_zero(lambda x: mpmath.expm1(x * mp.ln2) / x, lambda x: mp.ln2 + mp.ln2**2 * x / 2), (-0.5001, 0.5001), 7),
    ("Log", "float", "(log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1+f <= sqrt(2)",
     around_zero(lambda x: (mpmath.log1p(x) - x + x**2 / 2) / x**3, lambda x: mpf(1) / 3 - x / 4), (-0.2930, 0.4143), 9),
    ("Tanh", "float", "(tanh(x) - x) / x^3 in s = x^2 on |x| <= 0.55",
     around_zero(lambda s: (mpmath.tanh(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1) / s, lambda s: -mpf(1) / 3 + 2 * s / 15), (0, 0.3026), 5),
    ("Erf", "float", "erf(x)/x - 1 in s = x^2 on |x| <= 0.92",
     around_zero(lambda s: mpmath.erf(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1, lambda s: 2 / mpmath.sqrt(mp.pi) * (1 - s / 3) - 1), (0, 0.8465), 7),
    ("ErfcLog", "float", "-log(erfc(a)) on 0.92 <= a <= 4",
     lambda x: -mpmath.log(mpmath.erfc(x)), (0.9199, 4.0001), 10),
    ("Atan", "float", "(atan(x)/x - 1) / s in s = x^2 on |x| <= 1",
     around_zero(lambda s: (mpmath.atan(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1) / s, lambda s: -mpf(1) / 3 + s / 5), (0, 1.0001), 10),
    ("Sin", "float", "(sin(r)/r - 1) / s in s = r^2 on |r| <= pi/4",
     around_zero(lambda s: (mpmath.sin(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1) / s, lambda s: -mpf(1) / 6 + s / 120), (0, 0.6170), 4),
    ("Cos", "float", "(cos(r) - 1 + s/2) / s^2 in s = r^2 on |r| <= pi/4",
     around_zero(lambda s: (mpmath.cos(mpmath.sqrt(s)) - 1 + s / 2) / s**2, lambda s: mpf(1) / 24 - s / 720), (0, 0.6170), 4),
    ("Exp64", "double", "(exp(f) - 1 - f) / f^2 on |f| <= ln(2)/2",
     around_zero(lambda x: (mpmath.expm1(x) - x) / x**2, lambda x: mpf(1) / 2 + x / 6), (-0.3470, 0.3470), 11),
    ("Log64", "double", "(log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1+f <= sqrt(2)",
     around_zero(lambda x: (mpmath.log1p(x) - x + x**2 / 2) / x**3, lambda x: mpf(1) / 3 - x / 4 + x**2 / 5), (-0.2930, 0.4143), 23),
    ("Tanh64", "double", "(tanh(x) - x) / x^3 in s = x^2 on |x| <= 0.55",
     around_zero(lambda s: (mpmath.tanh(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1) / s, lambda s: -mpf(1) / 3 + 2 * s / 15 - 17 * s**2 / 315), (0, 0.3026), 12),
    ("Erf64", "double", "erf(x)/x - 1 in s = x^2 on |x| <= 1.25",
     around_zero(lambda s: mpmath.erf(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1, lambda s: 2 / mpmath.sqrt(mp.pi) * (1 - s / 3 + s**2 / 10) - 1), (0, 1.5626), 15),
    ("ErfcLog64", "double", "-log(erfc(a)) in a - 3.625 on 1.25 <= a <= 6",
     lambda x: -mpmath.log(mpmath.erfc(x + mpf("3.625"))), (-2.3751, 2.3751), 28),
    ("Atan64", "double", "(atan(x)/x - 1) / s in s = x^2 on |x| <= 1",
     around_zero(lambda s: (mpmath.atan(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1) / s, lambda s: -mpf(1) / 3 + s / 5 - s**2 / 7), (0, 1.0001), 23),
    ("Sin64", "double", "(sin(r)/r - 1) / s in s = r^2 on |r| <= pi/4",
     around_zero(lambda s: (mpmath.sin(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1) / s, lambda s: -mpf(1) / 6 + s / 120 - s**2 / 5040), (0, 0.6170), 7),
    ("Cos64", "double", "(cos(r) - 1 + s/2) / s^2 in s = r^2 on |r| <= pi/4",
     around_zero(lambda s: (mpmath.cos(mpmath.sqrt(s)) - 1 + s / 2) / s**2, lambda s: mpf(1) / 24 - s / 720 + s**2 / 40320), (0, 0.6170), 7),
    ("Atanh64", "double", "(atanh(z)/z - 1) / s in s = z^2 on |z| <= (sqrt(2)-1)/(sqrt(2)+1)",
     around_zero(lambda s: (mpmath.atanh(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1) / s, lambda s: mpf(1) / 3 + s / 5), (0, 0.02945), 8),
    ("Atanh64Tail", "double", "(atanh(z)/z - 1 - s/3) / s^2 in s = z^2 on |z| <= (sqrt(2)-1)/(sqrt(2)+1)",
     around_zero(lambda s: (mpmath.atanh(mpmath.sqrt(s)) / mpmath.sqrt(s) - 1 - s / 3) / s**2, lambda s: mpf(1) / 5 + s / 7 + s**2 / 9), (0, 0.02945), 8),
    ("Exp264", "double", "(2^f - 1) / f on |f| <= 1/2",
     around_zero(lambda x: mpmath.expm1(x * mp.ln2) / x, lambda x: mp.ln2 + mp.ln2**2 * x / 2), (-0.5001, 0.5001), 11),
]

print("""// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Made by tools/dev/numerics/fit-polynomials.py. Highest power first.

#ifndef MP_LIB_KERNELS_LOWER_POLYNOMIALS_H
#define MP_LIB_KERNELS_LOWER_POLYNOMIALS_H

namespace mlir::mp::polynomial {
""")
for name, kind, comment, f, interval, terms in FITS:
    coefficients, error = mpmath.chebyfit(f, [mpf(interval[0]), mpf(interval[1])], terms, error=True)
    print(f"/// {comment}; error of the fit {mpmath.nstr(error, 2)}.")
    digits = 10 if kind == "float" else 18
    values = [mpmath.nstr(c, digits, strip_zeros=False, min_fixed=0, max_fixed=0) for c in coefficients]
    print(f"inline constexpr double k{name}[] = {{")
    for i in range(0, len(values), 4):
        print("    " + ", ".join(values[i:i + 4]) + ("," if i + 4 < len(values) else "};"))
    print()
print("""} // namespace mlir::mp::polynomial

#endif // MP_LIB_KERNELS_LOWER_POLYNOMIALS_H""")
