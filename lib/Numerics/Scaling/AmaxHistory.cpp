// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the update rules of magnitude histories.

#include "mp/Numerics/Scaling/AmaxHistory.h"

#include <algorithm>
#include <cmath>

using namespace mpcore::numerics;

float mpcore::numerics::updateAmaxHistory(llvm::MutableArrayRef<float> history, float amax,
                                          const HistoryRule &rule) {
  bool after = rule.order == HistoryOrder::AfterCurrent;
  bool rolls = rule.rollOnZero || amax != 0;
  if (after)
    history[0] = std::fmax(history[0], amax);
  float chosen = history[0];
  if (rule.choice == HistoryChoice::Max)
    for (float slot : history)
      chosen = std::fmax(chosen, slot);
  if (rolls) {
    std::rotate(history.begin(), history.begin() + 1, history.end());
    history[0] = after ? 0 : amax;
  }
  return chosen;
}
