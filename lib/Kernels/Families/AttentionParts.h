// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention whose keys several blocks share: what each leaves of a row, and the kernel that makes
// one result of all.

#ifndef MP_LIB_KERNELS_FAMILIES_ATTENTIONPARTS_H
#define MP_LIB_KERNELS_FAMILIES_ATTENTIONPARTS_H

#include "AttentionKernel.h"
#include "OnlineSoftmax.h"

namespace mlir::mp {

/// The buffers behind the operands of a body: the outputs of all rows, not divided yet, and the
/// maximum and the sum of each row, part after part.
class AttentionParts {
public:
  AttentionParts(KernelFunction &kernel, const AttentionShape &shape)
      : k(kernel), d(kernel.d), s(shape), outputs(kernel.operands.end()[-2]),
        statistics(kernel.operands.end()[-1]) {}

  /// The types of these buffers. Rows of a number that is known at run time only have as many parts
  /// as share them then.
  static SmallVector<MemRefType> buffers(const AttentionShape &shape);

  /// Writes neighbouring columns `column` and `column + 1`.
  void putOutput(Value part, Value row, Value column, Value first, Value second);
  void putStatistics(Value part, Value row, Value maximum, Value sum);
  /// Loads the same.
  std::pair<Value, Value> getOutput(Value part, Value row, Value column);
  std::pair<Value, Value> getStatistics(Value part, Value row);

  /// The number of a row among those of all batches.
  Value rowOf(Value batch, Value row);
  /// Rows of all batches.
  Value rows();

private:
  Value place(const KernelOperand &buffer, Value part, Value row, int64_t columns, Value column);
  std::pair<Value, Value> load(Value pointer);

  KernelFunction &k;
  DeviceBuilder &d;
  const AttentionShape &s;
  KernelOperand outputs, statistics;
};

/// Makes the second kernel: of each row the largest maximum m, then the sum of parts times
/// exp(their maximum - m), in their order, over that of their sums; then what the body makes of it.
/// `scale` is the factor that maxima lack (OnlineSoftmax).
gpu::GPUFuncOp emitAttentionMerge(gpu::GPUModuleOp module, Location loc, StringRef name,
                                  const AttentionShape &shape, TypeRange operands,
                                  const MathForms &forms);

/// Threads of a block of the second kernel, and its blocks (`index`).
inline constexpr unsigned kMergingThreads = 128;
Value mergingBlocks(OpBuilder &host, Location loc, const AttentionShape &shape,
                    ValueRange operands);

/// The output of a row, divided by its sum: 0 / 0 where all logits are minus infinity, since others
/// have at least exp(0) of the largest in it, unless the plan says that such rows are zero.
Value divideRow(DeviceBuilder &d, const AttentionPlan &plan, Value value, Value total);

/// The size (`index`) of a dynamic dimension of the buffers.
Value partRows(OpBuilder &host, Location loc, const AttentionShape &shape, ValueRange operands);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ATTENTIONPARTS_H
