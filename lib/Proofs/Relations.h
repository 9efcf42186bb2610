// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Concludes, for the checker, facts of values that are functions of each other, from their unfolded
// elements. include/mp/Analysis/Ranges/Lemmas.h states the same lemmas over value numbers; neither
// uses the other.

#ifndef MP_LIB_PROOFS_RELATIONS_H
#define MP_LIB_PROOFS_RELATIONS_H

#include "Elements.h"

namespace mlir::mp::proofs {

/// b >= factor |a|^power (1 - slack) - absolute; the square of b, if it is rooted.
struct Domination {
  double factor = 1;
  unsigned power = 1;
  double slack = 0, absolute = 0;
  bool isRooted = false;
  /// Relates a to b where b sums such terms: the element of a at each of its steps, the symbols of
  /// the sum, and the values of these at which a itself was found.
  struct Sum {
    SmallVector<unsigned, 2> bound;
    Substitution found;
    double count = 0, unit = 0;
    Element whole = {}; ///< the sum itself
  };
  std::optional<Sum> sum;
};

/// The bound of a lemma.
struct Conclusive {
  StringRef lemma;
  double low = -kInf, high = kInf, norm = kInf;
  Facts basis = Facts::point(0); ///< premises rest on what this does
};

class Relations {
public:
  using FactsOf = std::function<Facts(Value)>;
  Relations(MLIRContext *context, FactsOf facts) : elements(context), facts(std::move(facts)) {}

  /// Returns what the lemmas say of the elements of `value`, all of those that apply.
  SmallVector<Conclusive, 2> conclude(Value value);
  /// Returns what a selection by comparison leaves of its two values.
  std::optional<std::pair<Facts, Facts>> choose(Operation *select);

private:
  Facts factsOf(const Element &element);
  /// Returns what `element` is where x, which it is computed from, lies in a part of its range;
  /// nothing if x is not read. The part is asked for only if it is.
  std::optional<Facts> over(const Element &element, const Element &x,
                            llvm::function_ref<Facts()> part);
  bool isAtLeast(const Element &b, const Element &a, unsigned depth = 0);
  /// `orZero`: it may be zero where every x is minus infinity, and c the lowest number.
  bool isShiftedSum(const Element &sum, bool orZero);
  std::optional<Domination> dominates(const Element &b, const Element &a, Substitution &values,
                                      ArrayRef<unsigned> open, unsigned depth);
  std::optional<Domination> dominatesReduce(const Element &whole, const Unfolded &b,
                                            const Element &a, Substitution &values,
                                            ArrayRef<unsigned> open, unsigned depth);
  std::optional<Domination> dominatesProduct(const Unfolded &b, const Element &a,
                                             Substitution &values, ArrayRef<unsigned> open,
                                             unsigned depth);
  struct Ratio {
    double bound = kInf, norm = kInf;
  };
  std::optional<Ratio> overDenominator(const Element &b, const Element &a, bool underRoot,
                                       std::optional<unsigned> rowSymbol);
  std::optional<Ratio> timesInverse(const Element &inverse, const Element &a,
                                    std::optional<unsigned> rowSymbol, unsigned depth);
  void concludeQuotient(const Element &element, const Unfolded &unfolded,
                        SmallVectorImpl<Conclusive> &found);
  Element withoutSign(Element element);

  Elements elements;
  FactsOf facts;
  Facts used = Facts::point(0); ///< rests on every fact that was asked for
};

} // namespace mlir::mp::proofs

#endif // MP_LIB_PROOFS_RELATIONS_H
