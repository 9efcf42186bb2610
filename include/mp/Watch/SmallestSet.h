// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a small set of members that suffices for a criterion: which contractions to compute wide so
// that a run is good. A ranking by suspicion gives the shortest prefix that suffices, QuickXplain
// (Junker, AAAI 2004) what of it is needed, and a last pass tries to leave out each member.

#ifndef MP_WATCH_SMALLESTSET_H
#define MP_WATCH_SMALLESTSET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace mpcore::watch {

/// Says whether the criterion holds with exactly these members, sorted, chosen. One call is a run.
using Criterion = llvm::function_ref<llvm::Expected<bool>(llvm::ArrayRef<unsigned> chosen)>;

struct SetSearch {
  bool holdsWithAll = false;     ///< if not, no set is looked for
  std::vector<unsigned> members; ///< sorted; the criterion was seen to hold with these
  size_t runs = 0;               ///< calls of the criterion; repeated questions are not asked
  bool isMinimal = false;        ///< the criterion fails without any one of the members
  std::vector<unsigned> failing; ///< a failing set that contains a passing one, if one was seen:
  std::vector<unsigned> passing; ///< the criterion is not monotone, and there may be smaller sets
};

/// Looks among members 0 to suspicion.size() - 1; a larger suspicion is tried first. At most
/// `maxRuns` calls: then the best set so far is returned, not minimal. Errors are the criterion's.
llvm::Expected<SetSearch> findSmallestSet(llvm::ArrayRef<double> suspicion, Criterion holds,
                                          size_t maxRuns);

} // namespace mpcore::watch

#endif // MP_WATCH_SMALLESTSET_H
