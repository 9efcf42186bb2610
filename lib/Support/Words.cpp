// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edit distances with a limit.

#include "mp/Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;

static size_t commonBeginning(StringRef x, StringRef y) {
  size_t length = std::min(x.size(), y.size());
  for (size_t i = 0; i != length; ++i)
    if (toLower(x[i]) != toLower(y[i]))
      return i;
  return length;
}

StringRef mpcore::support::nearestWord(StringRef word, ArrayRef<StringRef> candidates) {
  const unsigned limit = word.size() <= 3 ? 1 : std::max<size_t>(2, word.size() / 3);
  StringRef best;
  std::pair<unsigned, int> bestScore = {limit + 1, 0};
  for (StringRef candidate : candidates) {
    std::pair<unsigned, int> score = {word.edit_distance_insensitive(candidate),
                                      -int(commonBeginning(word, candidate))};
    // Half of a short word may differ if it begins alike, as "mian" and "main" do.
    bool isHalf = 2 * score.first >= word.size() && score.second == 0;
    if (score.first <= limit && !isHalf && score < bestScore) {
      best = candidate;
      bestScore = score;
    }
  }
  return best;
}

std::string mpcore::support::didYouMean(StringRef word, ArrayRef<StringRef> candidates,
                                        StringRef prefix) {
  StringRef near = nearestWord(word, candidates);
  return near.empty() ? "" : ("; did you mean '" + prefix + near + "'?").str();
}

std::string mpcore::support::suggestWord(StringRef word, ArrayRef<StringRef> candidates,
                                         StringRef prefix) {
  if (std::string meant = didYouMean(word, candidates, prefix); !meant.empty())
    return meant;
  auto shown =
      map_range(candidates, [&](StringRef candidate) { return (prefix + candidate).str(); });
  return "; known: " + join(shown, ", ");
}

std::string mpcore::support::listWords(StringRef word, ArrayRef<StringRef> candidates,
                                       StringRef what) {
  std::string meant = didYouMean(word, candidates);
  return (meant.empty() ? "." : meant) + " Known " + what.str() + ": " + join(candidates, ", ");
}
