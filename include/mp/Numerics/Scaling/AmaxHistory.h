// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Delayed scaling: the scale of this step from the magnitudes of earlier ones.

#ifndef MP_NUMERICS_SCALING_AMAXHISTORY_H
#define MP_NUMERICS_SCALING_AMAXHISTORY_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mpcore::numerics {

/// Selects the magnitudes of a history that decide.
enum class HistoryChoice : uint8_t { Max, MostRecent };

/// Tells whether this step's magnitude counts for the next scale already.
enum class HistoryOrder : uint8_t {
  AfterCurrent,  ///< it enters first (Transformer Engine)
  BeforeCurrent, ///< the scale comes first: one more step of delay (Flax)
};

struct HistoryRule {
  HistoryChoice choice = HistoryChoice::Max;
  HistoryOrder order = HistoryOrder::AfterCurrent;
  /// True if a step whose values were all zero moves the history.
  bool rollOnZero = true;
};

/// Enters `amax` into `history` (at least one slot) and returns the magnitude
/// that decides; NaN is passed over by every maximum here.
///
/// AfterCurrent: slot 0 becomes max(slot 0, amax); the choice is made from all
/// slots (or is slot 0); the slots move down by one, the first to the end, and
/// slot 0 becomes 0.
/// BeforeCurrent: the choice is made from the old slots; they move down by one,
/// and slot 0 becomes amax.
float updateAmaxHistory(llvm::MutableArrayRef<float> history, float amax, const HistoryRule &rule);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_AMAXHISTORY_H
