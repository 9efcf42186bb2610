// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites that would give an op the proof of range that it lacks. Each is an option of its own:
// nothing is rewritten unless somebody asks.

#ifndef MP_ANALYSIS_COST_SUGGESTIONS_H
#define MP_ANALYSIS_COST_SUGGESTIONS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir::mp {

struct Suggestion {
  std::string rewrite; ///< clamp, powers of two, pre-scaled norm
  std::string option;  ///< that applies it
  std::string of;      ///< what lacks the proof: "operand 0"
  double found;        ///< the largest magnitude it may have; infinite: it has no bound
  double limit;        ///< where its format ends
  std::string format;  ///< that one
  /// The suggestion multiplies by 2^exponent; 0 for clamps, and for a power that is computed at run
  /// time.
  int64_t exponent = 0;
  int64_t ordinal = -1; ///< of the op among the rows of its function
};

/// `clamp (clamp-unproven=true): operand 0 may reach 1e+06, f16 ends at 65504`.
std::string describeSuggestion(const Suggestion &suggestion);

} // namespace mlir::mp

#endif // MP_ANALYSIS_COST_SUGGESTIONS_H
