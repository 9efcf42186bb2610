// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The labelled class assumption: what networks are trained to give stays well below f16's limit.
//
//   |value| <= growth * (what arguments, and contractions of factors it holds of, reach)
//
// Sums of few terms and bounded functions keep it, growing constants raise it up to a margin, and
// exponentials, powers, quotients, products and sums over a dimension lose it. Beside it stands a
// range that takes idioms on trust: a norm computed in a way that the lemmas do not prove (a
// variance by cancellation, a folded mean) is taken for one. Neither is ever reported as proved.

#ifndef MP_ANALYSIS_RANGES_ASSUMPTION_H
#define MP_ANALYSIS_RANGES_ASSUMPTION_H

#include "mlir/IR/Value.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Interval.h"

#include <limits>

namespace mlir::mp {

/// States how far below a format's limit arguments and contraction results are assumed to stay:
/// growth up to this needs no further evidence.
inline constexpr double kAssumedMargin = 16;

struct Assumption {
  /// Holds if what is taken on trust does; never wider than the facts.
  domains::Interval range = domains::Interval::top();
  double growth = std::numeric_limits<double>::infinity();
  /// Depends on constants alone, and on arguments of which at most one dimension is not 1.
  bool parameter = false;
  /// The op that lost the last bound; empty while there is one.
  StringRef lostAt;

  bool isAssumed() const { return growth <= kAssumedMargin; }
  /// The growth beside other values, where one that is bounded counts as 1 at most.
  double besideOthers() const;

  /// Stands for the elements of a new tensor: joined to anything, it changes nothing.
  static Assumption nothing() { return {domains::Interval(), 0, /*parameter=*/true, ""}; }
  static Assumption ofArgument(BlockArgument argument);
  static Assumption lost(StringRef op) {
    Assumption assumption;
    assumption.lostAt = op;
    return assumption;
  }
};

/// Returns what holds of both.
Assumption join(const Assumption &a, const Assumption &b);

} // namespace mlir::mp

#endif // MP_ANALYSIS_RANGES_ASSUMPTION_H
