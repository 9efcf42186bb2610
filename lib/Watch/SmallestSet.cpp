// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All and none, the shortest prefix of the ranking, QuickXplain within it, one last round.

#include "mp/Watch/SmallestSet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <map>

using namespace mpcore;
using namespace mpcore::watch;
using llvm::ArrayRef;
using Set = std::vector<unsigned>;

namespace {
/// The search ends where no run is left; what is thrown away then is only the current question.
struct OutOfRuns : llvm::ErrorInfo<OutOfRuns> {
  static char ID;
  void log(llvm::raw_ostream &os) const override { os << "no run is left"; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};
char OutOfRuns::ID = 0;

class Searcher {
public:
  Searcher(ArrayRef<double> suspicion, Criterion holds, size_t maxRuns)
      : criterion(holds), maxRuns(maxRuns), ranking(suspicion.size()) {
    for (unsigned i = 0; i < ranking.size(); ++i)
      ranking[i] = i;
    llvm::stable_sort(ranking, [&](unsigned i, unsigned j) { return suspicion[i] > suspicion[j]; });
  }

  llvm::Error search() {
    llvm::Expected<bool> all = holds(ranking);
    if (!all || !*all)
      return all.takeError();
    found.holdsWithAll = true;
    found.members = sorted(ranking);
    llvm::Expected<Set> prefix = shortestPrefix();
    if (!prefix)
      return prefix.takeError();
    llvm::Expected<Set> needed = explain({}, false, *prefix);
    if (!needed)
      return needed.takeError();
    return dropEach(*needed);
  }

  /// Finds a passing set within a failing one among all that was asked.
  void findNonMonotone() {
    for (const auto &[failing, holdsThere] : asked)
      for (const auto &[passing, holdsHere] : asked)
        if (!holdsThere && holdsHere && llvm::includes(failing, passing)) {
          found.failing = failing;
          found.passing = passing;
          return;
        }
  }

  SetSearch found;

private:
  static Set sorted(Set set) {
    llvm::sort(set);
    return set;
  }

  llvm::Expected<bool> holds(ArrayRef<unsigned> set) {
    Set key = sorted(set.vec());
    if (auto known = asked.find(key); known != asked.end())
      return known->second;
    if (found.runs == maxRuns)
      return llvm::make_error<OutOfRuns>();
    ++found.runs;
    llvm::Expected<bool> answer = criterion(key);
    if (!answer)
      return answer;
    asked[key] = *answer;
    if (*answer && found.holdsWithAll && key.size() < found.members.size())
      found.members = key;
    return *answer;
  }

  llvm::Expected<Set> shortestPrefix() {
    ArrayRef<unsigned> all(ranking);
    size_t fails = 0, passes = all.size(); // of the empty prefix it is asked below
    for (size_t length = 0; length < all.size(); length = std::max<size_t>(1, 2 * length)) {
      llvm::Expected<bool> answer = holds(all.take_front(length));
      if (!answer)
        return answer.takeError();
      if (*answer) {
        passes = length;
        break;
      }
      fails = length;
    }
    while (passes > fails + 1) {
      const size_t middle = (fails + passes) / 2;
      llvm::Expected<bool> answer = holds(all.take_front(middle));
      if (!answer)
        return answer.takeError();
      (*answer ? passes : fails) = middle;
    }
    return all.take_front(passes).vec();
  }

  /// Returns what of `rest` is needed beside `base`, least suspicious dropped first.
  /// `hasGrown`: `base` has members that it was not asked with yet.
  llvm::Expected<Set> explain(Set base, bool hasGrown, ArrayRef<unsigned> rest) {
    if (hasGrown || rest.empty()) {
      if (rest.empty())
        return Set();
      llvm::Expected<bool> enough = holds(base);
      if (!enough)
        return enough.takeError();
      if (*enough)
        return Set();
    }
    if (rest.size() == 1)
      return rest.vec();
    ArrayRef<unsigned> first = rest.take_front(rest.size() / 2),
                       second = rest.drop_front(first.size());
    Set withFirst = base;
    llvm::append_range(withFirst, first);
    llvm::Expected<Set> ofSecond = explain(withFirst, true, second);
    if (!ofSecond)
      return ofSecond;
    llvm::append_range(base, *ofSecond);
    llvm::Expected<Set> ofFirst = explain(base, !ofSecond->empty(), first);
    if (!ofFirst)
      return ofFirst;
    llvm::append_range(*ofFirst, *ofSecond);
    return ofFirst;
  }

  /// Leaves out each member that is not needed, least suspicious first.
  llvm::Error dropEach(Set set) {
    std::vector<size_t> rank(ranking.size());
    for (auto [at, member] : llvm::enumerate(ranking))
      rank[member] = at;
    Set order = set;
    llvm::sort(order, [&](unsigned i, unsigned j) { return rank[i] > rank[j]; });
    for (unsigned member : order) {
      Set without;
      llvm::copy_if(set, std::back_inserter(without), [&](unsigned m) { return m != member; });
      llvm::Expected<bool> answer = holds(without);
      if (!answer)
        return answer.takeError();
      if (*answer)
        set = without;
    }
    found.members = sorted(set);
    found.isMinimal = true;
    return llvm::Error::success();
  }

  Criterion criterion;
  size_t maxRuns;
  Set ranking;
  std::map<Set, bool> asked;
};
} // namespace

llvm::Expected<SetSearch> watch::findSmallestSet(ArrayRef<double> suspicion, Criterion holds,
                                                 size_t maxRuns) {
  Searcher searcher(suspicion, holds, maxRuns);
  llvm::Error rest = llvm::handleErrors(searcher.search(), [](const OutOfRuns &) {});
  if (rest)
    return std::move(rest);
  searcher.findNonMonotone();
  return std::move(searcher.found);
}
