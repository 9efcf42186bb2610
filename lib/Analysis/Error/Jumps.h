// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says by how much choices jump, in the mean (mp/Analysis/Values/Continuity.h: which do).

#ifndef MP_LIB_ANALYSIS_ERROR_JUMPS_H
#define MP_LIB_ANALYSIS_ERROR_JUMPS_H

#include "mp/Analysis/Values/ValueNumbering.h"
#include <memory>

namespace mlir::mp {

/// Measures how far choices jump where a comparison of inexact numbers comes out otherwise.
class Jumps {
public:
  explicit Jumps(Operation *root) : root(root) {}

  /// Returns by how much the result of `choice` is otherwise where a comparison is: nothing if it
  /// is continuous, else what it is chosen from is apart if that has nothing in common.
  double of(Operation *choice, llvm::function_ref<double(Value)> rmsOf);

private:
  bool isContinuous(Value selection);

  Operation *root;
  std::unique_ptr<ValueNumbering> values; ///< of all below `root`, once it is needed
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_JUMPS_H
