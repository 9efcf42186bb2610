// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the body of a Tensor Core contraction kernel.

#ifndef MP_LIB_KERNELS_EMIT_GEMMKERNEL_H
#define MP_LIB_KERNELS_EMIT_GEMMKERNEL_H

#include "../Build/EpilogueStore.h"
#include "GemmPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::mp {

/// Holds what an epilogue reads: the sums, and the operands and scalars behind A and B.
struct GemmEpilogue {
  DeviceBuilder &d;
  EpilogueStore &store;
  function_ref<Value(Point)> sum;
  ArrayRef<ResultOperand> operands; ///< those of the plan after A and B
  ValueRange scalars;
};

/// Says what a kernel makes of its sums and, on the scalar units, what each of them starts from;
/// null: zeros. `sum` of what `start` gets is null.
struct GemmEnds {
  function_ref<void(const GemmEpilogue &)> epilogue;
  function_ref<Value(const GemmEpilogue &, Point)> start = nullptr;

  /// `sums` are those of a row, then of the next.
  void startSums(const GemmEpilogue &e, MutableArrayRef<Value> sums) const {
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = start(e, {unsigned(i) / e.store.columns(), unsigned(i) % e.store.columns()});
  }
};

/// Makes `module`'s kernel `name` for `plan`. Its arguments are, for each of the plan's products,
/// `buffers`, one for each operand, and `scalars`; then sizes, of ragged products those of each.
gpu::GPUFuncOp emitGemmKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                              const GemmPlan &plan, TypeRange buffers, TypeRange scalars,
                              const GemmEnds &ends);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_GEMMKERNEL_H
