// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about values that are functions of each other, where treating the operands as independent
// gives false alarms: x - max(x), softmax, variance, normalisation, x * sigmoid(x), ... The caller
// recognises the idiom; these functions say what follows. `n` is the number of elements of the
// group (softmax row, normalised row). Exact arithmetic, as in Transfer.h.

#ifndef MP_DOMAINS_RELATIONAL_H
#define MP_DOMAINS_RELATIONAL_H

#include "mp/Domains/Reductions.h"

namespace mpcore::domains {

//===-- softmax, piece by piece ---------------------------------------------------------------===//

/// x - max(x) over each group: [lo - hi, 0]. NaN where x has infinities (inf - inf).
FloatFacts minusGroupMax(const FloatFacts &x, RowLength rowLength);
/// sum over a group of exp(x - max(x)): [1, n], or tighter. `shifted`: facts of x - max(x).
FloatFacts sumOfShiftedExp(const FloatFacts &shifted, const Extent &n, RowLength resultRowLength);
/// softmax of groups: [e^(lo-hi) / n, 1 / (1 + (n-1) e^(lo-hi))]; rows that are groups have 2-norm
/// at most 1.
FloatFacts softmax(const FloatFacts &x, const Extent &n, bool groupsAreRows, RowLength rowLength);
/// log of the above: [-(hi - lo) - ln n, 0].
FloatFacts logSoftmax(const FloatFacts &x, const Extent &n, RowLength rowLength);

//===-- statistics ----------------------------------------------------------------------------===//

/// x - mean(x) over each group of n: at most (hi - lo) (n - 1) / n in magnitude; never longer than
/// x.
FloatFacts minusGroupMean(const FloatFacts &x, const Extent &n, bool groupsAreRows,
                          RowLength rowLength);
/// mean((x - mean(x))^2): [0, (hi - lo)^2 / 4] (Popoviciu), times n / (n - 1) when `unbiased`.
FloatFacts variance(const FloatFacts &x, const Extent &n, bool unbiased, RowLength resultRowLength);
/// (x - mean) / sqrt(variance + epsilon): magnitude at most sqrt(n - 1), row 2-norm at most
/// sqrt(n). epsilon > 0 keeps constant groups finite; with epsilon == 0 they are NaN.
FloatFacts layerNormalized(const FloatFacts &x, const Extent &n, double epsilon, bool groupsAreRows,
                           RowLength rowLength);
/// x / sqrt(mean(x^2) + epsilon): magnitude and row 2-norm at most sqrt(n).
FloatFacts rmsNormalized(const FloatFacts &x, const Extent &n, double epsilon, bool groupsAreRows,
                         RowLength rowLength);
/// x / sqrt(sum(x^2) + epsilon) (or with max(., epsilon)): magnitude and row 2-norm at most 1.
FloatFacts l2Normalized(const FloatFacts &x, double epsilon, bool groupsAreRows,
                        RowLength rowLength);

//===-- elementwise ---------------------------------------------------------------------------===//

/// x * sigmoid(x): image of silu, row norm not longer than x's.
FloatFacts timesOwnSigmoid(const FloatFacts &x, RowLength rowLength);
/// a / (|a| + b) with b >= 0: [-1, 1]; NaN only for a = b = 0.
FloatFacts overOwnMagnitude(const FloatFacts &a, const FloatFacts &b, RowLength rowLength);
/// x / sum(x) over groups with x >= 0: [0, 1] and row norm at most 1; NaN where a sum may be zero.
/// With a negative x nothing is promised beyond ordinary division.
FloatFacts overGroupSum(const FloatFacts &x, const Extent &n, bool groupsAreRows,
                        RowLength rowLength);

} // namespace mpcore::domains

#endif // MP_DOMAINS_RELATIONAL_H
