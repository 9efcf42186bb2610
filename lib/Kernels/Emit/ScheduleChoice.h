// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the schedule of a contraction kernel by the performance model.

#ifndef MP_LIB_KERNELS_EMIT_SCHEDULECHOICE_H
#define MP_LIB_KERNELS_EMIT_SCHEDULECHOICE_H

#include "GemmPlan.h"
#include "mp/Kernels/Passes.h"
#include "llvm/Support/Error.h"

namespace mlir::mp {

/// The schedule that `op` pins (`mpk.schedule = #mpk.schedule<matmul, "tile=...">`), else the one
/// that the model chooses for the first part of `target` that lib/Target knows, of those that fit
/// its registers, and those that `mpk.registers` allows, without spilling. Dynamic sizes are taken
/// to be kAssumedSize. With `sums=ordered` nobody shares a sum of floats. An error says what a
/// pinned one exceeds.
llvm::Expected<mpcore::performance::MatmulSchedule>
scheduleOf(Operation *op, const GemmPlan &plan, const target::TargetModel &target, SumOrder sums);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_SCHEDULECHOICE_H
