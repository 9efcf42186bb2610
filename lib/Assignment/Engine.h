// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One linear objective minimised by the best method that applies.

#ifndef MP_LIB_ASSIGNMENT_ENGINE_H
#define MP_LIB_ASSIGNMENT_ENGINE_H

#include "IndexedProblem.h"

namespace mpcore::assignment {

struct Answer {
  Labels labels;
  Weight value = 0; ///< of the objective
  Weight bound = 0; ///< no assignment is below; equal to value when exact
  Method method = Method::MinCut;
  uint64_t effort = 0; ///< in visits of graph nodes, roughly
  bool exact() const { return bound >= value; }
};

class Engine {
public:
  /// `allowed` sets of the indexed problem may change between calls.
  Engine(const IndexedProblem &indexed, const SolveOptions &options)
      : indexed(indexed), options(options) {}

  /// Fills `certificate`, if given, with multipliers that prove the bound, or the part of it that
  /// multipliers can prove when the frontier search found the answer.
  Answer minimise(const Objective &objective, Certificate *certificate = nullptr) const;

private:
  Answer approximate(const Objective &objective, Certificate *certificate) const;

  const IndexedProblem &indexed;
  const SolveOptions &options;
  /// The objective hardly changes whether the frontier fits: a cap that failed is not tried again.
  mutable unsigned smallestCapExceeded = ~0u;
};

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_ENGINE_H
