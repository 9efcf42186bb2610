// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the mma.sync instruction that a target runs for operands of given formats.

#ifndef MP_KERNELS_MMASELECTION_H
#define MP_KERNELS_MMASELECTION_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Kernels/FragmentLayout.h"
#include "mp/Target/TargetModel.h"

namespace mlir::mp {

/// The largest native instruction of `model` for `format`, spelled as MmaInstruction::format is;
/// null if there is none.
const MmaInstruction *selectMmaInstruction(const target::TargetModel &model,
                                           llvm::StringRef format);

/// Products after which sums of this instruction should move to an accumulator of full precision;
/// 0 if they need not.
int promotionInterval(const target::TargetModel &model, const MmaInstruction &instruction);

} // namespace mlir::mp

#endif // MP_KERNELS_MMASELECTION_H
