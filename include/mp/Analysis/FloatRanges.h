// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of all float values of a module, by MLIR's dataflow framework over the
// facts of lib/Domains: through bodies, control flow and calls, with closed forms
// for reductions and contractions, relations between values (Relations.h), and
// widening at the limits of formats. What the arithmetic rounds to is part of the
// range: every value that the module computes in its own formats lies in it.
//
// Beside the range stands a growth, the labelled class assumption: |value| <= growth *
// (what arguments and contraction results reach), which sums and bounded functions
// keep, growing constants raise (up to a margin), and exponentials, powers,
// quotients, products and sums over a dimension lose. Unknown is never optimistic:
// top, and an infinite growth.

#ifndef MP_ANALYSIS_FLOATRANGES_H
#define MP_ANALYSIS_FLOATRANGES_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mp/Analysis/AssumedMargin.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Facts.h"

namespace mlir::mp {

struct FloatRange {
  domains::FloatFacts facts = domains::FloatFacts::bottom();
  double growth = 0;
  /// Depends on constants and on arguments of rank 0 or 1 alone.
  bool parameter = true;
  /// The op that lost the last bound; empty while there is one.
  StringRef lostAt;

  static FloatRange unknown(StringRef lostAt = "");
  bool isBottom() const { return facts.isBottom(); }
  bool isAssumed() const { return growth <= kAssumedMargin; }
  friend bool operator==(const FloatRange &a, const FloatRange &b) {
    return a.facts == b.facts && a.growth == b.growth && a.parameter == b.parameter &&
           a.lostAt == b.lostAt;
  }
  void print(raw_ostream &os) const;
};

FloatRange join(const FloatRange &a, const FloatRange &b);

/// Which values ranges are of.
enum class RangesOf : uint8_t {
  Computed, ///< in the formats that the module computes in
  Exact, ///< of the same graph in f64, where casts do nothing: exact arithmetic is among them, too
};

class FloatRanges {
public:
  /// Analyses the whole module: private functions see the arguments of their callers.
  /// Arguments of functions that anyone may call lie within ± `assumed` where they state no range
  /// and that is positive.
  explicit FloatRanges(Operation *module, RangesOf of = RangesOf::Computed, double assumed = 0);
  ~FloatRanges();

  /// What is known of a float value outside bodies.
  FloatRange lookup(Value value) const;
  /// What is known of the float values in the body of `op`.
  DenseMap<Value, FloatRange> lookInside(linalg::LinalgOp op) const;

  /// Why `value` must not be stored in `format`, or an empty string if it may be. The class
  /// assumption counts only if it `mayAssume`.
  std::string whyNot(Value value, FloatType format, double maxUnderflow,
                     bool mayAssume = true) const;

private:
  struct Solution;
  std::unique_ptr<Solution> solution;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_FLOATRANGES_H
