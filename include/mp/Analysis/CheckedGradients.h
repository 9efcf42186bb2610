// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a train step with loss scaling, what lies between `mp.scale_loss` and the check of `mp.unscale`
// needs no bound: should it overflow, the check finds the infinity, the step is skipped and the scale
// falls.

#ifndef MP_ANALYSIS_CHECKEDGRADIENTS_H
#define MP_ANALYSIS_CHECKEDGRADIENTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mp {

/// The values within `root` that a scaled loss reaches and that reach a check.
llvm::DenseSet<Value> findCheckedGradients(Operation *root);

} // namespace mlir::mp

#endif // MP_ANALYSIS_CHECKEDGRADIENTS_H
