// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of a kernel that is written op by op: a gpu.func whose buffers are pointers, sizes and
// strides, and the launch that hands them over.

#ifndef MP_LIB_KERNELS_BUILD_KERNELFUNCTION_H
#define MP_LIB_KERNELS_BUILD_KERNELFUNCTION_H

#include "../Plan/StreamPlan.h"
#include "DeviceBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mp/Dialect/MPK/MPKDialect.h"

namespace mlir::mp {

/// A buffer or a scalar, as a kernel sees it.
struct KernelOperand {
  Type type;     ///< of the host's operand
  Value pointer; ///< of a buffer's base, global memory
  Value scalar;  ///< what the kernel got, if it is no buffer
  Size offset;   ///< of element zero from the base, in elements
  SmallVector<Size> sizes, strides;

  Type element() const { return getElementTypeOrSelf(type); }
  /// Bytes that an element takes in memory.
  int64_t bytes() const { return llvm::divideCeil(element().getIntOrFloatBitWidth(), 8); }
  /// The largest power of two up to `most` that divides the place of element zero and all strides
  /// but those of dimensions that are `along` the access, in elements, and moves 16 bytes at most.
  int64_t alignment(int64_t most, function_ref<bool(unsigned)> along) const;
};

/// A kernel under construction. Arguments are, for each operand: its base and then its dynamic
/// offset, sizes and strides as `index`; scalars as they are.
struct KernelFunction {
  /// Begins kernel `name` in `module` for operands of these types. Ops go to `d`.
  KernelFunction(gpu::GPUModuleOp module, Location loc, StringRef name, TypeRange operandTypes,
                 unsigned threads);

  gpu::GPUFuncOp function;
  DeviceBuilder d;
  SmallVector<KernelOperand> operands;

  /// Iterations of loops of a plan whose arguments are the operands.
  Value extent(const LoopPlan &plan, ArrayRef<unsigned> loops);
  /// Returns what `make` gives where `inside` holds (null: always), zeros of these types elsewhere.
  SmallVector<Value> where(Value inside, TypeRange types, function_ref<SmallVector<Value>()> make);
  /// Room in shared memory, aligned to 128 bytes. Once for a kernel.
  Value sharedRoom(int64_t bytes);
  /// Address (i32) of the shared memory that the launch gives. Not in a kernel with a room of its
  /// own.
  Value dynamicShared();
  /// Index of this thread in its block, of this block in the grid (i32).
  Value thread();
  Value block();
  void barrier();
};

/// True if the condition (i1) holds in some thread of the block. A barrier.
Value anyThread(DeviceBuilder &device, Value condition);

/// Returns what a launch of such a kernel passes for these operands.
SmallVector<Value> kernelArguments(OpBuilder &host, Location loc, ValueRange operands);

/// Iterations of loops of a plan whose arguments are these operands, on the host (`index`).
Value hostExtent(OpBuilder &host, Location loc, const LoopPlan &plan, ArrayRef<unsigned> loops,
                 ValueRange operands);

/// Launches `kernel` with `blocks` blocks (an `index`) unless those are none, each with so much
/// dynamic shared memory.
void launchKernel(OpBuilder &host, Location loc, gpu::GPUFuncOp kernel, Value blocks,
                  unsigned threads, ValueRange arguments, int64_t sharedBytes = 0);

/// Marks the launches that are made in the place of a dispatch while this lives with its number.
class NumberLaunches {
public:
  explicit NumberLaunches(mpk::DispatchOp dispatch);
  ~NumberLaunches();

private:
  Attribute number;
  Block *block;
  Operation *before, *after;
};

/// The dynamic shared memory of all kernels of `module`, whose swizzles want 1024 bytes aligned.
LLVM::GlobalOp dynamicSharedMemory(gpu::GPUModuleOp module, Location loc);

/// LLVM would take the last step, which loads nothing, out of the loop: twice the code, and more
/// registers than there are.
void keepWhole(scf::ForOp loop);

/// The module of kernels in `module`, made if there is none.
gpu::GPUModuleOp kernelModuleOf(ModuleOp module);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_KERNELFUNCTION_H
