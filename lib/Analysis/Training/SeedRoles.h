// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The roles that follow from seeds, which are looked for or named.

#ifndef MP_LIB_ANALYSIS_TRAINING_SEEDROLES_H
#define MP_LIB_ANALYSIS_TRAINING_SEEDROLES_H

#include "mp/Analysis/Training/TrainingRoles.h"

namespace mlir::mp {

/// The roles that follow from seeds.
struct RolesOfSeeds {
  TrainingRoles roles;
  /// Parameters that none of the seeds reaches.
  SmallVector<TrainingState> unreached;
  /// Every parameter is replaced by what is computed from a scaled value in its place. Where it is
  /// not, the optimizer contracts, or only a norm of all gradients connects the parameter with the
  /// seeds.
  bool scalesAll = true;

  bool reachesAll() const { return unreached.empty(); }
};

/// Looks for seeds short of weights, then among all; last what leaves only that unreached which the
/// forward pass hands on.
LogicalResult searchAll(func::FuncOp function, const HomogeneityGraph &graph,
                        FailureOr<RolesOfSeeds> &found);

/// Roles of the seeds that somebody named: of one backward pass, or of several in turn, in the
/// order of the text.
FailureOr<RolesOfSeeds> rolesFromPinned(func::FuncOp function, const HomogeneityGraph &graph,
                                        ArrayRef<Value> pinned);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_TRAINING_SEEDROLES_H
