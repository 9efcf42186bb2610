// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FloatFacts holds what is known about all elements of one float value. It is the lattice element
// of the range analysis, a reduced product (Cousot and Cousot, POPL 1979) of
//
//   range         every element that is not NaN lies in it (rounded outward)
//   norm2         bound on the 2-norm of every row, a row being a run along the innermost dimension
//                 (the whole tensor if its rank is 0 or 1)
//   mayNaN mayInf some element may be NaN, may be an infinity
//   integerValued every finite element is an integer
//   nonZero       no element is a zero of either sign
//   provenance    what the facts rest on
//
// Order: a <= b when every set of elements that a allows is allowed by b. bottom() allows nothing
// and means "unvisited"; top() allows everything and is the answer whenever something is not
// understood.

#ifndef MP_DOMAINS_FACTS_H
#define MP_DOMAINS_FACTS_H

#include "mp/Domains/Interval.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mpcore::domains {

/// From strongest to weakest; a conclusion is as strong as its weakest premise.
enum class Provenance : uint8_t {
  Proved,  ///< follows from the program alone
  Assumed, ///< uses an annotation or a labelled assumption
  Sampled, ///< uses measured data
};
llvm::StringRef toString(Provenance provenance);
inline Provenance weakest(Provenance a, Provenance b) { return a < b ? b : a; }

struct FloatFacts {
  bool visited = true;
  Interval range = Interval::top();
  double norm2 = std::numeric_limits<double>::infinity();
  bool mayNaN = true;
  bool mayInf = true;
  bool integerValued = false;
  bool nonZero = false;
  Provenance provenance = Provenance::Proved;

  static FloatFacts bottom();
  static FloatFacts top() { return {}; }
  /// Neither NaN nor infinite, all elements in `range`.
  static FloatFacts finite(Interval range, Provenance provenance = Provenance::Proved);
  static FloatFacts constant(double value);
  /// An integer of the given bounds converted to float (before rounding to the result format).
  static FloatFacts fromInteger(double lo, double hi);

  bool isBottom() const { return !visited; }
  /// Nothing is known (provenance aside).
  bool isTop() const;
  bool mayBeZero() const { return !nonZero && range.contains(0); }
  bool mayBePositiveInf() const;
  bool mayBeNegativeInf() const;
  bool isNonNegative() const { return range.isEmpty() || range.lo >= 0; }
  double mag() const { return range.mag(); }

  /// Restores the normal form: an excluded zero sets nonZero, unbounded values have no norm, facts
  /// about bounded values exclude infinities.
  void normalize();
  /// Reduced product for rows of `rowLength` elements (nullopt: unknown): each of range and norm
  /// bounds the other.
  void reduce(std::optional<int64_t> rowLength);

  /// Same facts; provenance is not compared.
  bool sameFacts(const FloatFacts &other) const;
  friend bool operator==(const FloatFacts &a, const FloatFacts &b) {
    return a.sameFacts(b) && (a.isBottom() || a.provenance == b.provenance);
  }
  friend bool operator!=(const FloatFacts &a, const FloatFacts &b) { return !(a == b); }

  /// `[-8, 12] norm<=27.7 integer nonzero nan inf (assumed)`; `unvisited` for bottom.
  void print(llvm::raw_ostream &os) const;
};

/// Is everything `a` allows allowed by `b`? (Provenance is not compared.)
bool isAtMost(const FloatFacts &a, const FloatFacts &b);

/// Least upper bound: what holds for either value. Provenance: the weakest.
FloatFacts join(const FloatFacts &a, const FloatFacts &b);

/// Greatest lower bound: both facts hold for one value. When one already implies the other its
/// provenance is kept, otherwise the weakest. Contradictory facts give an empty range (the value
/// has no elements but NaN).
FloatFacts meet(const FloatFacts &a, const FloatFacts &b);

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const FloatFacts &facts) {
  facts.print(os);
  return os;
}

} // namespace mpcore::domains

#endif // MP_DOMAINS_FACTS_H
