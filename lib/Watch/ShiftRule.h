// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A positive series that should not rise: the loss, the norm of the gradients.

#ifndef MP_LIB_WATCH_SHIFTRULE_H
#define MP_LIB_WATCH_SHIFTRULE_H

#include "mp/Watch/Alarms.h"

namespace mpcore::watch {

class ShiftRule {
public:
  /// Says what a value did, in the words of the rule.
  struct Finding {
    bool shifted = false, spiked = false;
    double z = 0, ratio = 1; ///< to the window before; of the median of 16 to its least
  };

  /// Adds a value and compares it with those before; shifts count only where `isSettled`.
  Finding add(double value, bool isSettled, const AlarmOptions &options);

  llvm::json::Value toJSON() const;
  void fromJSON(const llvm::json::Object &object);

private:
  static constexpr size_t kWindow = 128, kRecent = 16, kOf = 8, kAbove = 5;
  Window logs{kWindow}; ///< natural logarithms
  Window zs{kOf};       ///< how each lay to those before
  double leastMedian = 0;
  bool hasLeast = false;
};

} // namespace mpcore::watch

#endif // MP_LIB_WATCH_SHIFTRULE_H
