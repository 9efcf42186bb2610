// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directed rounding in double without touching the rounding mode: the nearest result is computed,
// its error recovered exactly (Knuth two-sum, fused multiply-add remainders), and the result moved
// one step only when it lies on the wrong side. Exact operations stay exact, so hand-checkable
// bounds keep their round values.
//
// Infinite arguments are limits of bounds, not floating-point infinities: 0 * inf is 0, inf / inf
// is 0 (the other corners of an interval quotient cover the limit).

#ifndef MP_DOMAINS_ROUNDING_H
#define MP_DOMAINS_ROUNDING_H

namespace mpcore::domains {

double addDown(double a, double b);
double addUp(double a, double b);
double subDown(double a, double b);
double subUp(double a, double b);
double mulDown(double a, double b);
double mulUp(double a, double b);
/// Quotients need b != 0.
double divDown(double a, double b);
double divUp(double a, double b);
/// Roots need a >= 0.
double sqrtDown(double a);
double sqrtUp(double a);

/// Moves `value`, computed with at most `ulps` units of error in the last place, to a bound below
/// or above the exact result.
double slackDown(double value, double ulps);
double slackUp(double value, double ulps);

} // namespace mpcore::domains

#endif // MP_DOMAINS_ROUNDING_H
