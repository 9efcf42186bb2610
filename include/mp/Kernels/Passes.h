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

namespace mlir::mp {

/// Order in which `mp-parallel-to-for` visits the points of a parallel loop.
enum class ThreadOrder { Forward, Reverse };

/// The accuracy of the functions that `mp-expand-math` generates.
enum class MathAccuracy { Exact, Approximate };

/// The order of sums in the kernels of `mp-emit-dispatches`.
enum class SumOrder { Ordered, Tree };

/// The output of `mp-emit-kernels`.
enum class EmitFormat { PTX, Cubin, Fatbin };

/// The module that holds all kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "mp_kernels";
/// On a linalg.generic: operand format of the Tensor Core instruction that will run it.
inline constexpr llvm::StringLiteral kMmaAttrName = "mpk.mma";
/// On such an op: its result is written, not added to what `outs` holds.
inline constexpr llvm::StringLiteral kMmaFreshAttrName = "mpk.fresh";
/// On a contraction: registers of a thread, at most, as estimated, that its schedule may take.
inline constexpr llvm::StringLiteral kMmaRegistersAttrName = "mpk.registers";
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
