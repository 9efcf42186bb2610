// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of epilogues: what reads a contraction element by element could run in its kernel. The
// matrix family takes none, so that the rule groups nothing and says what it would.

#include "DispatchPlan.h"
#include "mlir/IR/Remarks.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

/// The ops that read `value`, itself or through views of unit dimensions.
static void collectReaders(Value value, SmallVectorImpl<OpOperand *> &readers) {
  for (OpOperand &use : value.getUses())
    if (isUnitReshape(use.getOwner()))
      collectReaders(use.getOwner()->getResult(0), readers);
    else
      readers.push_back(&use);
}

/// True if the owner reads each element once, and computes one of its own of it.
static bool isElementwiseReader(OpOperand *operand) {
  auto op = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  return op && op.getNumReductionLoops() == 0 && !op.isDpsInit(operand) &&
         op.getMatchingIndexingMap(operand).isPermutation();
}

void mlir::mp::noteEpilogues(const DispatchPlan &plan, Block &block) {
  for (auto op : block.getOps<linalg::GenericOp>()) {
    if (!op->hasAttr(kMmaAttrName))
      continue;
    SmallVector<OpOperand *> readers;
    collectReaders(op->getResult(0), readers);
    if (readers.empty() || !llvm::all_of(readers, isElementwiseReader) ||
        !llvm::all_of(readers, [&](OpOperand *use) { return plan.getGroup(use->getOwner()); }))
      continue;
    remark::missed(op.getLoc(),
                   remark::RemarkOpts::name(remarks::kEpilogueApart).category(remarks::kDispatches))
        << "the " << std::to_string(readers.size())
        << " ops that read this contraction element by element run in kernels of their own: the "
           "matrix family takes no epilogue";
  }
}
