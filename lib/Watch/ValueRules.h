// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One probed value over the steps: does its gradient vanish, does its format fit?

#ifndef MP_LIB_WATCH_VALUERULES_H
#define MP_LIB_WATCH_VALUERULES_H

#include "mp/Watch/Alarms.h"

namespace mpcore::watch {

class ValueRules {
public:
  /// Judges a value in a step that was not skipped. `total` is the norm of all gradients, 0 if
  /// unknown. Alerts come without step.
  std::vector<Alert> add(const ValueReading &reading, double total, const AlarmOptions &options);

  llvm::json::Value toJSON() const;
  void fromJSON(const llvm::json::Object &object);

private:
  void judgeGradient(const ValueReading &reading, double total, const AlarmOptions &options,
                     std::vector<Alert> &alerts);
  void judgeFormat(const ValueReading &reading, const FormatShares &shares,
                   const AlarmOptions &options, std::vector<Alert> &alerts);

  static constexpr size_t kPersistent = 8, kRecent = 16;
  static constexpr int64_t kReferenceFrom = 50, kReferenceTo = 250;
  int64_t readings = 0, zeroInARow = 0;
  bool hasMoved = false, isSparse = false; ///< a gradient that is mostly zero at the reference
  Window shares{kRecent};                  ///< log2 of norm over total
  Window early{kReferenceTo - kReferenceFrom};
  std::map<std::string, Window> flushed, earlyFlushed; ///< by format
};

} // namespace mpcore::watch

#endif // MP_LIB_WATCH_VALUERULES_H
