// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what the performance model sees of a body that a family of streams takes.

#ifndef MP_LIB_KERNELS_SELECT_STREAMPROBLEM_H
#define MP_LIB_KERNELS_SELECT_STREAMPROBLEM_H

#include "../Plan/StreamPlan.h"
#include "mp/Performance/Part.h"
#include "mp/Performance/Problem.h"

namespace mlir::mp {

/// The problem of a body with this plan: a map, rows, or a reduction of columns. Dynamic sizes are
/// taken to be kAssumedSize. An instruction in f64 counts as many as `part` begins in its time.
mpcore::performance::Problem problemOf(const StreamPlan &plan, Block &body,
                                       const mpcore::performance::Part &part);

/// Instructions of a scalar op: functions are polynomials, divisions are short loops.
double instructionsOf(Operation *op);

/// True if elements that lie together in an input do not in a result.
bool movesAcross(const StreamPlan &plan, Block &body);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_STREAMPROBLEM_H
