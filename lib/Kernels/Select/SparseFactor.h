// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that are constants with two of each four products zero: which factor of a contraction has
// them, and what the performance model then sees.

#ifndef MP_LIB_KERNELS_SELECT_SPARSEFACTOR_H
#define MP_LIB_KERNELS_SELECT_SPARSEFACTOR_H

#include "mp/Interfaces/Contraction.h"
#include "mp/Performance/Problem.h"
#include "mp/Target/TargetModel.h"

namespace mlir::mp {

struct SparseFactor {
  unsigned operand; ///< 0 or 1
  unsigned loop;    ///< of the sum, along which four follow each other
};

/// The same contraction with factors A and B exchanged.
Contraction exchanged(const Contraction &contraction);

/// The factor of a contraction that can be sparse on `model`. `factors` are the tensors or buffers
/// that it multiplies, null for those that are made on the way. On failure `reason` says why there
/// is none.
FailureOr<SparseFactor> findSparseFactor(linalg::GenericOp op, ArrayRef<Value> factors,
                                         const mpcore::target::TargetModel &model,
                                         std::string &reason);

/// The problem of mma.sp, whose A is factor `operand` of a dense product.
mpcore::performance::MatmulProblem sparseProblemOf(const mpcore::performance::MatmulProblem &dense,
                                                   unsigned operand);

/// The same for an op that mp-select-contractions marked; nothing for others.
std::optional<mpcore::performance::MatmulProblem>
sparseProblemOf(const mpcore::performance::MatmulProblem &dense, linalg::GenericOp op);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_SPARSEFACTOR_H
