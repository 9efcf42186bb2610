// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory against time of a program that runs from beginning to end: which values are kept until
// they are read again, which are computed a second time, which are stored narrow meanwhile.
//
// Each value has one *gap*, the longest time between two of its uses. A value that is not kept is
// freed before its gap and made again right before the first use behind it, from what is there by
// then; what is not there is made again as well. No value is computed more than twice.

#ifndef MP_ASSIGNMENT_RECOMPUTE_H
#define MP_ASSIGNMENT_RECOMPUTE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mpcore::assignment {

/// Says how a value gets over its gap.
enum class Keeping : uint8_t { Whole, Narrow, Recomputed };

struct MemoryStep {
  std::vector<uint32_t> reads;         ///< values
  std::optional<uint32_t> writes = {}; ///< the value that it computes
  int64_t time = 0;
  bool isRepeatable = false; ///< a second run gives the same bits
  int64_t scratch = 0;       ///< bytes that it needs while it runs
  bool mayWait = true;       ///< where it is read late alone, the second run may be the only one
};

struct MemoryValue {
  int64_t bytes = 0;     ///< 0: costs nothing to keep, as arguments do
  bool isResult = false; ///< lives to the end
  /// Bytes that it takes where it is stored narrow; nothing where it may not be.
  std::optional<int64_t> narrowBytes = {};
  int64_t castTime = 0; ///< to that format, or back
};

/// Steps in the order in which they run.
struct MemoryProblem {
  std::vector<MemoryValue> values;
  std::vector<MemoryStep> steps;
};

/// One thing that runs: a step, or a cast of a value that is stored narrow.
struct ScheduledStep {
  enum class Kind : uint8_t { Original, Again, ToNarrow, FromNarrow } kind;
  uint32_t index; ///< of the step, or of the value that is cast
  friend bool operator==(const ScheduledStep &, const ScheduledStep &) = default;
};

/// A choice for each value, and what follows from it.
struct MemoryPlan {
  std::vector<Keeping> keeping;
  std::vector<ScheduledStep> schedule;
  int64_t peak = 0;         ///< bytes
  int64_t extra = 0;        ///< time beyond running each step once
  bool readsNarrow = false; ///< something is made again from what was stored narrow
};

/// The positions of a value's gap, counted in steps: it is free from behind `from` to before `to`;
/// nothing if it has none that is worth anything.
struct Gap {
  uint32_t from, to;
};
std::vector<std::optional<Gap>> findGaps(const MemoryProblem &problem);

/// Follows from choices; those that are not possible count as Whole.
MemoryPlan evaluatePlan(const MemoryProblem &problem, llvm::ArrayRef<Keeping> keeping);

struct MemoryAnswer {
  MemoryPlan plan; ///< within the limit if one was found, else the one with the least peak found
  bool isWithin = false;
  bool isProven = false; ///< all choices were looked at: none within the limit takes less time
  uint64_t looked = 0;   ///< choices evaluated
  /// The extra time of the best checkpointing by segments (keepBorders) within the limit; 0 where
  /// all can be kept.
  std::optional<int64_t> checkpointing = {};
};

/// The least time within `limit` bytes, of plans that make nothing again from what was stored
/// narrow: it would have other bits than at first. All choices are looked at where there are at
/// most `exhaustive`, else it starts from keeping everything, from keeping what crosses the borders
/// of 1, 2, 3, 4, 6, 8, ... segments alone, as checkpointing does, and changes one value after the
/// other as long as that helps.
MemoryAnswer planMemory(const MemoryProblem &problem, int64_t limit,
                        uint64_t exhaustive = uint64_t(1) << 16);

/// Checkpointing by segments recomputes values that cross none of the borders between `segments` of
/// about equally many bytes.
std::vector<Keeping> keepBorders(const MemoryProblem &problem, unsigned segments);

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_RECOMPUTE_H
