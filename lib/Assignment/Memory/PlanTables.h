// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables that all plans of one problem share.

#ifndef MP_LIB_ASSIGNMENT_MEMORY_PLANTABLES_H
#define MP_LIB_ASSIGNMENT_MEMORY_PLANTABLES_H

#include "mp/Assignment/Recompute.h"

namespace mpcore::assignment {

struct PlanTables {
  explicit PlanTables(const MemoryProblem &problem);

  bool isPossible(uint32_t value, Keeping keeping) const;
  MemoryPlan evaluate(llvm::ArrayRef<Keeping> keeping) const;

  const MemoryProblem &problem;
  std::vector<std::optional<Gap>> gaps;
  std::vector<std::optional<uint32_t>> definitions; ///< steps, by value
};

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_MEMORY_PLANTABLES_H
