// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of attention whose scores never leave a block: mma.sync products, softmax along the way.

#ifndef MP_LIB_KERNELS_FAMILIES_ATTENTIONKERNEL_H
#define MP_LIB_KERNELS_FAMILIES_ATTENTIONKERNEL_H

#include "../Build/KernelFunction.h"
#include "../Build/MathForms.h"
#include "../Plan/AttentionPlan.h"
#include "mp/Performance/Schedule.h"

namespace mlir::mp {

/// Says how a plan becomes a kernel. A block has `queries` rows, each of its warps an equal share;
/// keys and values come in tiles of `keys`, of which softmax takes `atOnce` at a time.
struct AttentionShape {
  AttentionPlan plan;
  unsigned queries = 64, keys = 64, warps = 4, stages = 2;
  unsigned atOnce = 64;
  bool keepsQuery = true;     ///< its fragments stay in registers
  bool hasAsyncCopies = true; ///< tiles come by cp.async; else through registers
  unsigned splits = 1;        ///< blocks that share the keys of a row, and leave their parts
  /// Not 0: so many share them as have two tiles each, and where that spares each fewer keys than
  /// this one block has all and leaves no part.
  unsigned splitFrom = 0;
  unsigned splitBlocks = 0; ///< not 0: no more share them than bring all blocks to this number

  unsigned threads() const { return 32 * warps; }
  /// A pinned schedule may have no warps, until it is refused.
  unsigned rowsOfWarp() const { return warps ? queries / warps : 0; }
  int64_t depth() const { return plan.loops[plan.depth].size; }
  int64_t width() const { return plan.loops[plan.width].size; }
  /// Elements in shared memory for each key or value with a head of this size, read 16 at a time.
  static int64_t tileColumns(int64_t head);
  int64_t sharedBytes() const;
};

/// Blocks that share the keys of a row (`index`); `extentOf` gives the iterations of loops.
Value sharersOf(OpBuilder &builder, Location loc, const AttentionShape &shape,
                function_ref<Value(ArrayRef<unsigned>)> extentOf);
/// The same on the host, of the operands of a launch, and in a kernel.
Value sharersOf(OpBuilder &host, Location loc, const AttentionShape &shape, ValueRange operands);
Value sharersOf(KernelFunction &kernel, const AttentionShape &shape);

/// The shape for a plan: as `asked`, or what suits its head size. On failure `reason` says what the
/// schedule asks that no kernel does. `hasAsyncCopies` is true of a target that has cp.async.
FailureOr<AttentionShape>
shapeAttention(const AttentionPlan &plan, bool hasAsyncCopies,
               const std::optional<mpcore::performance::AttentionSchedule> &asked,
               std::string &reason);

gpu::GPUFuncOp emitAttentionKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                   const AttentionShape &shape, TypeRange operands,
                                   const MathForms &forms);

/// Rows of all batches (`index`).
Value attentionRows(OpBuilder &host, Location loc, const AttentionShape &shape,
                    ValueRange operands);

/// True if logits are scores, and the exponent has their factor (OnlineSoftmax).
bool foldsScale(const AttentionPlan &plan, const MathForms &forms);
/// The factor that logits lack then; 1 if none.
double foldedScale(const AttentionPlan &plan, const MathForms &forms);

/// Blocks of a launch (`index`).
Value attentionBlocks(OpBuilder &host, Location loc, const AttentionShape &shape,
                      ValueRange operands);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ATTENTIONKERNEL_H
