// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two recipes by pairs of runs, with statements that hold however often one looks and
// whenever one stops. The unit is a run (a seed): the steps of one run share a trajectory and are
// not independent.

#ifndef MP_WATCH_PAIREDTEST_H
#define MP_WATCH_PAIREDTEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace mpcore::watch {

/// Sums up what the pairs say about a metric of which less is better.
enum class Verdict { Identical, ABetter, BBetter, Equivalent, Undecided };

llvm::StringRef toString(Verdict verdict);

struct PairedOptions {
  double alpha = 0.05; ///< chance of calling equal recipes different, over all looks together
  double prior = 1;    ///< g: the effect over its deviation is N(0, 1/g) a priori
  double margin = 0;   ///< differences within it do not matter; 0: equivalence is never stated
};

struct PairedResult {
  size_t pairs = 0, dropped = 0; ///< `dropped`: a run ended without a number
  double mean = 0, deviation = 0;
  double low, high;        ///< the confidence sequence of the mean difference; may be infinite
  double evidence = 1;     ///< e-value: odds for a difference against none, under the prior
  double signEvidence = 1; ///< the same from the signs alone, whatever the distribution
  double correlation = 0;  ///< of the two members of a pair
  Verdict verdict = Verdict::Undecided;
  size_t pairsNeeded = 0; ///< if undecided: a projection from the pairs so far; 0 if there is none

  llvm::json::Object toJSON() const;
};

/// "95 % interval -0.2 to 0.1 at any look", or that there is none yet.
std::string describeInterval(const PairedResult &result, const PairedOptions &options);

/// Judges pairs (a[i], b[i]) of runs from the same state on the same data. The test is the
/// t-mixture martingale with the right-Haar prior on the deviation (Wang, Ramdas, "Anytime-valid
/// t-tests and confidence sequences", 2310.03722). A member that is no number counts as worse than
/// any number.
PairedResult comparePairs(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b,
                          const PairedOptions &options = {});

} // namespace mpcore::watch

#endif // MP_WATCH_PAIREDTEST_H
