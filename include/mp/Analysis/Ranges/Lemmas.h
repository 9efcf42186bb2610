// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of the range analysis: every bound that rests on two values being functions of each
// other is one of the lemmas below, and is concluded nowhere else. Everything besides is interval
// arithmetic on single values (lib/Domains). Each hypothesis is checked here, on the value numbers
// of ValueNumbering.h and on ranges; what fails one is refused, never assumed.
//
// Notation. All views are taken at one index i of one space. A statistic over whole fibres,
// S[k] = stat { n[q] : q_K = k }, has the node n, the kept dimensions K and every element of n
// whose kept coordinates are k. "x lies in the group of S" means: x views n at f(i), S is viewed at
// h(i), and f(i)_K = h(i) as affine maps. u is the unit roundoff of the format that computes, m its
// smallest normal number (what lies below may be flushed).
//
//   self-difference     y = a - b; a and b are the same element. Then y is 0, or NaN.
//   group-maximum       y = a - b; b >= a. Then y <= 0: rounding is monotone.
//                       b >= a where b is a maximum over a group in which a lies; where b is the
//                       maximum of two, one of them >= a (and not dropped for a NaN); where b = c +
//                       w, c >= a and w >= 0.
//   dominated-quotient  y = a / b, a * (1 / b), a * rsqrt(b), with further bounded factors; b
//                       dominates a: b >= C |a|^p (1 - s) - e (see Dominance). With b >= d > 0, or
//                       e = 0, |y| <= ((1 + e / d) / (C (1 - s)))^(1/p), times the factors, up to
//                       the roundings of y. Partial products must be finite.
//   fibre-norm          The same where b sums |a|^p over the fibre: the 2-norm of y along any
//                       dimension of the fibre is at most that bound, up to the roundings of the
//                       sum.
//   shifted-exponentials y = sum of exp(x - c) over a group, c the maximum of x over the group or a
//                       part of it. Then y >= 1 or NaN: some term is exp(0), which is 1 up to the
//                       error of exp, the others are not negative, and rounding is monotone.
//   compared-choice     y = p if pred(a, b) else q; p or q is a or b. Then the chosen one is on its
//                       side of the other's range, provided that the other is no NaN where the
//                       predicate holds, or fails, for NaN.
//
// The two judgements (b >= a, b dominates a) follow a reshape: b is a reshape of u, of known sizes
// before and behind, and a, seen at the same index, is the element that v was before it; u >= v, or
// u dominates v. Groups are then those before the reshape.
//
// Sources: monotonicity of rounding, Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 2.2; sums of non-negative terms, ibid. section 4.2. fl(s + t) >= max(s, t) for s, t
// >= 0, because max(s, t) is representable.

#ifndef MP_ANALYSIS_RANGES_LEMMAS_H
#define MP_ANALYSIS_RANGES_LEMMAS_H

#include "mp/Analysis/Values/ValueNumbering.h"
#include "mp/Domains/Facts.h"

namespace mlir::mp {

enum class Lemma : uint8_t {
  SelfDifference,
  GroupMaximum,
  DominatedQuotient,
  ShiftedExponentials,
  ComparedChoice,
};
inline constexpr unsigned kNumLemmas = unsigned(Lemma::ComparedChoice) + 1;
StringRef toString(Lemma lemma);

/// b >= factor * |a|^power * (1 - slack) - absolute wherever a and b meet.
struct Dominance {
  double factor = 1;
  unsigned power = 1;
  double slack = 0;
  double absolute = 0;
  /// b is viewed through a root: it dominates |a| as the square root of what is said here.
  bool isRooted = false;
  /// Fibres along these dimensions of a's node are summed in b (not only compared): their sum of
  /// |a|^power is bounded, too, up to `count` roundings; 0 where they are not.
  uint64_t summed = 0;
  int64_t count = -1;
};

/// States what a lemma says of every element of a node.
struct LemmaBound {
  Lemma lemma;
  domains::Interval range = domains::Interval::top();
  /// Bound on the 2-norm along each of these dimensions of the node, the others fixed.
  double norm = std::numeric_limits<double>::infinity();
  uint64_t normDims = 0;
  /// Nodes whose ranges were used.
  SmallVector<NodeId, 4> premises = {};
  /// The dominance that was used, and the views it speaks of.
  Dominance dominance = {};
  View numerator = {}, denominator = {};
};

/// States what a choice by comparison leaves of the two values it chooses from.
struct ChoiceBound {
  domains::Interval ifTrue = domains::Interval::top(), ifFalse = domains::Interval::top();
  bool trueIsNumber = false, falseIsNumber = false; ///< no NaN
  bool isTrivial() const {
    return ifTrue == domains::Interval::top() && ifFalse == domains::Interval::top() &&
           !trueIsNumber && !falseIsNumber;
  }
};

class Lemmas {
public:
  /// Facts that hold of all elements of a node; null where none are known.
  using FactsOf = llvm::function_ref<const domains::FloatFacts *(NodeId)>;

  /// `exact`: values are real numbers, without roundings.
  Lemmas(const ValueNumbering &values, bool exact) : values(values), exact(exact) {}

  /// Appends what the lemmas say of the elements of `node`.
  void conclude(NodeId node, FactsOf facts, SmallVectorImpl<LemmaBound> &bounds) const;
  /// Returns what compared-choice says of `node`, a selection.
  ChoiceBound choose(NodeId node, FactsOf facts) const;

  // The judgements that lemmas rest on, for tests and explanations.
  /// b >= a at every index.
  bool isAtLeast(const View &b, const View &a, FactsOf facts, unsigned depth = 0) const;
  std::optional<Dominance> dominates(const View &b, const View &a, FactsOf facts,
                                     unsigned depth = 0) const;
  /// Returns what a sum of exp(x - c), c the largest x of each group, is: at least 1 where some x
  /// is finite, and where none is, NaN, or 0 because c starts from the lowest finite number.
  enum class ShiftedSum : uint8_t { None, AtLeastOne, AtLeastOneOrZero };
  ShiftedSum findShiftedSum(NodeId sum, FactsOf facts) const;

private:
  struct Rounding;
  struct Quotient;
  Rounding roundingOf(const ValueNode &node) const;
  /// Two values as they were before the reshape that the first one is; nothing where it is none.
  std::optional<std::pair<View, View>> beforeReshape(const View &reshaped, const View &other) const;
  bool liesInGroup(const View &element, const View &statistic, const ValueNode &reduction) const;
  std::optional<Dominance> dominatesTerm(const View &term, const View &a, FactsOf facts,
                                         unsigned depth) const;
  std::optional<Dominance> scaled(Dominance dominance, double by, const ValueNode &node,
                                  const domains::FloatFacts *before) const;
  std::optional<Dominance> dominatesBefore(const View &b, const View &a, FactsOf facts,
                                           unsigned depth) const;
  std::optional<Dominance> dominatesGroup(const View &b, const View &a, FactsOf facts) const;
  void concludeQuotient(NodeId node, FactsOf facts, SmallVectorImpl<LemmaBound> &bounds) const;
  double sumRounding(const View &denominator) const;
  std::optional<Quotient> boundQuotient(const View &denominator, const View &a, FactsOf facts,
                                        bool underRoot) const;
  bool mayOverflow(const View &inverse, FactsOf facts) const;
  std::optional<Quotient> boundInverse(const View &inverse, const View &a, FactsOf facts,
                                       unsigned depth) const;

  const ValueNumbering &values;
  bool exact;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_RANGES_LEMMAS_H
