// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from tensors to PTX (phases 5 and 6).

#ifndef MP_KERNELS_PASSES_H
#define MP_KERNELS_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Target/TargetName.h"

namespace mlir::mp {

/// Order in which `mp-parallel-to-for` visits the points of a parallel loop.
enum class ThreadOrder { Forward, Reverse };
inline auto wordsOf(ThreadOrder) {
  using enum ThreadOrder;
  static constexpr support::Word<ThreadOrder> all[] = {{Forward, "forward", "first point first"},
                                                       {Reverse, "reverse", "last point first"}};
  return llvm::ArrayRef(all);
}

/// The accuracy of the functions that `mp-expand-math` generates.
enum class MathAccuracy { Exact, Approximate };
inline auto wordsOf(MathAccuracy) {
  using enum MathAccuracy;
  static constexpr support::Word<MathAccuracy> all[] = {
      {Exact, "exact", "polynomials, the same bits on CPU, emulator and GPU"},
      {Approximate, "approximate", "approximate instructions where there are any"}};
  return llvm::ArrayRef(all);
}

/// The order of sums in the kernels of `mp-emit-dispatches`.
enum class SumOrder { Ordered, Tree };
inline auto wordsOf(SumOrder) {
  using enum SumOrder;
  static constexpr support::Word<SumOrder> all[] = {
      {Ordered, "ordered", "ascending"},
      {Tree, "tree", "a tree that depends on shape and schedule only"}};
  return llvm::ArrayRef(all);
}

/// The output of `mp-emit-kernels`.
enum class EmitFormat { PTX, Cubin, Fatbin };
inline auto wordsOf(EmitFormat) {
  using enum EmitFormat;
  static constexpr support::Word<EmitFormat> all[] = {
      {PTX, "ptx", "PTX assembly"},
      {Cubin, "cubin", "machine code of one architecture"},
      {Fatbin, "fatbin", "machine code and PTX"}};
  return llvm::ArrayRef(all);
}

/// The module that holds all kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "mp_kernels";
/// On a linalg.generic: operand format of the Tensor Core instruction that will run it.
inline constexpr llvm::StringLiteral kMmaAttrName = "mpk.mma";
/// On such an op: its result is written, not added to what `outs` holds.
inline constexpr llvm::StringLiteral kMmaFreshAttrName = "mpk.fresh";
/// On a contraction: registers of a thread, at most, as estimated, that its schedule may take.
inline constexpr llvm::StringLiteral kMmaRegistersAttrName = "mpk.registers";
/// On a contraction: of each four elements of this factor, a constant, two are not zero.
inline constexpr llvm::StringLiteral kMmaTwoOfFourAttrName = "mpk.two_of_four";
/// On a contraction that is emitted: of each four elements of A along this loop two are stored.
inline constexpr llvm::StringLiteral kMmaSparseAttrName = "mpk.sparse";
/// On such an op: the schedule that its kernel must have, an #mpk.schedule.
inline constexpr llvm::StringLiteral kScheduleAttrName = "mpk.schedule";
/// On a memref.load: the host reads one element back, on purpose.
inline constexpr llvm::StringLiteral kHostReadAttrName = "mpk.host_read";

#define GEN_PASS_DECL
#include "mp/Kernels/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Kernels/Passes.h.inc"

/// Translations to LLVM IR that serialisation needs.
void registerKernelsTranslations(DialectRegistry &registry);

} // namespace mlir::mp

#endif // MP_KERNELS_PASSES_H
