// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closed forms for reductions and softmax: no iteration, whatever the extent. As in
// Transfer.h the arithmetic is exact; perturb() and roundTo() add what an accumulator does.

#ifndef MP_DOMAINS_REDUCTIONS_H
#define MP_DOMAINS_REDUCTIONS_H

#include "mp/Domains/Transfer.h"

namespace mpcore::domains {

/// A number of terms: exactly known (min == max), bounded, or unbounded above.
struct Extent {
  int64_t min = 0;
  std::optional<int64_t> max;

  static Extent exactly(int64_t n) { return {n, n}; }
  static Extent atMost(int64_t n) { return {0, n}; }
  static Extent unknown() { return {}; }
  bool isExact() const { return max && *max == min; }
  double upper() const;
};

/// { n * x : n in extent, x in range }: the sum of that many members of `range`.
Interval times(const Extent &extent, const Interval &range);

/// Describes the elements that one result element of a reduction is made of.
struct ReducedElements {
  Extent count;
  /// When whole rows are reduced (the innermost dimension is among the reduced ones): how many
  /// rows, and their length. They link the row norm to the sum.
  bool wholeRows = false;
  Extent rows = Extent::exactly(1);
  RowLength rowLength;

  /// All dimensions known: `rows` rows of `length` elements each.
  static ReducedElements ofRows(int64_t rows, int64_t length);
  /// Only dimensions other than the innermost: rows are combined element by element.
  static ReducedElements acrossRows(Extent count) { return {count, false, count, std::nullopt}; }
};

enum class ReduceFn : uint8_t {
  Sum,
  Mean,
  Product,
  Max,
  Min,
  SumSquares,
  MeanSquares,
  SumAbs,
  Norm2,
  LogSumExp
};
inline constexpr unsigned kNumReduceFns = static_cast<unsigned>(ReduceFn::LogSumExp) + 1;
llvm::StringRef getName(ReduceFn fn);

/// Facts of the reduction of each group of `elements`. An empty group gives the function's neutral
/// element (0, 1, -inf for Max, inf for Min, NaN for Mean). `resultRowLength` is for the result.
FloatFacts reduce(ReduceFn fn, const FloatFacts &x, const ReducedElements &elements,
                  RowLength resultRowLength);

/// softmax of groups of n: [e^(lo-hi) / n, 1 / (1 + (n-1) e^(lo-hi))]; rows that are groups have
/// 2-norm at most 1. Taking the operands of x - max(x) as independent would give false alarms.
FloatFacts softmax(const FloatFacts &x, const Extent &n, bool groupsAreRows, RowLength rowLength);

} // namespace mpcore::domains

#endif // MP_DOMAINS_REDUCTIONS_H
