// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the keys that a mask of indices (causal, windows) leaves to a query; others need no work.

#ifndef MP_LIB_KERNELS_PLAN_KEYBOUNDS_H
#define MP_LIB_KERNELS_PLAN_KEYBOUNDS_H

#include "AttentionPlan.h"

namespace mlir::mp {

/// Keys outside of [query + lower, query + upper] have logits of `hidden` at most. Their
/// probabilities are zero in f32 if the row has a logit above `hidden` + 128, and if `hidden` is
/// minus infinity.
struct KeyBounds {
  std::optional<int64_t> lower, upper;
  unsigned query = 0; ///< the loop of rows whose index counts
  double hidden = 0;  ///< the largest of such logits

  explicit operator bool() const { return lower || upper; }
};

/// The bounds that the logits of a plan state by comparing indices; none if they state none.
KeyBounds boundKeys(const AttentionPlan &plan);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_KEYBOUNDS_H
