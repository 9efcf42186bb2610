// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites before deciding: scaled formats, pre-scaled norms and clamps.

#ifndef MP_TRANSFORMS_PREPARE_PASSES_H
#define MP_TRANSFORMS_PREPARE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Transforms/Assign/Request.h"

namespace mlir::mp {

#define GEN_PASS_DECL
#include "mp/Transforms/Prepare/Passes.h.inc"

/// Rewrites that rest on what decisions rest on.
std::unique_ptr<Pass> createInsertClamps(const InsertClampsOptions &options, SharedRequest asked);
std::unique_ptr<Pass> createInsertScaling(const InsertScalingOptions &options, SharedRequest asked);
std::unique_ptr<Pass> createPrescaleNorms(const PrescaleNormsOptions &options, SharedRequest asked);

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/Prepare/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_TRANSFORMS_PREPARE_PASSES_H
