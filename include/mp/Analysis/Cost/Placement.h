// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the result of placing storage and casts in one function, as plain numbers for reports.

#ifndef MP_ANALYSIS_COST_PLACEMENT_H
#define MP_ANALYSIS_COST_PLACEMENT_H

#include "mp/Analysis/Cost/Suggestions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::mp {

/// The placement a painting compiler would choose among the same permitted storages.
struct PaintedPlacement {
  std::string name;
  int64_t cost;
  int64_t casts;
  int64_t castBytes; ///< that the casts read
};

struct Placement {
  std::string function;
  std::string part;      ///< the GPU whose figures were used
  std::string objective; ///< time, memory or error
  /// Calls of the function per call of the public ones.
  int64_t calls = 1;
  /// Per call, in picoseconds for time and in bytes for memory; modelled, not measured.
  int64_t before = 0;     ///< as it was given: all in f32
  int64_t after = 0;      ///< as decided
  int64_t lowerBound = 0; ///< nothing permitted is below this
  bool provenOptimal = false;
  std::string method;    ///< min-cut, frontier or expansion
  int64_t casts = 0;     ///< at run time: those of constants and inside kernels not counted
  int64_t castBytes = 0; ///< that the casts read
  std::vector<PaintedPlacement> baselines;
  /// Root mean square error of the results relative to them, modelled; nothing without
  /// contractions, or where that fails or would exceed the results.
  std::optional<double> modelledError;
  bool hasUnmodelled = false; ///< contractions on integer codes, of whose error there is no model
  double maxRelError = 0;     ///< what was allowed; 0 if nothing was said
  bool assumedSizes = false, assumedTrips = false;
  std::vector<Suggestion> suggestions; ///< what would let more be narrow, by op
};

/// All of them as one, costs times calls. There must be at least one.
Placement sumPlacements(llvm::ArrayRef<Placement> placements);

/// Three digits and a unit: "2.5 us", "1.3 kB".
std::string formatTime(int64_t picoseconds);
std::string formatBytes(int64_t bytes);
/// An amount of what `objective` counts.
std::string formatAmount(int64_t amount, llvm::StringRef objective);

} // namespace mlir::mp

#endif // MP_ANALYSIS_COST_PLACEMENT_H
