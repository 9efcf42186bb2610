// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes for the host side of a module of kernels.

#ifndef MP_KERNELS_HOST_PASSES_H
#define MP_KERNELS_HOST_PASSES_H

#include "mp/Kernels/Passes.h"

namespace mlir::mp {

/// On a function: what mp-plan-buffers found, as `{bytes, live_bytes, buffers, separate}`.
inline constexpr llvm::StringLiteral kBufferPlanAttrName = "mpk.buffers";
/// On a public function from mp-lower-launches on: its type before conversion, a `TypeAttr`.
inline constexpr llvm::StringLiteral kHostTypeAttrName = "mpk.host_type";
/// The same of a function of which no part runs on a device, from mp-keep-types on.
inline constexpr llvm::StringLiteral kCPUTypeAttrName = "mpk.cpu_type";
/// On an argument or result of a function: what callers see is unsigned.
inline constexpr llvm::StringLiteral kUnsignedAttrName = "mpk.unsigned";
/// Prefix of the `mp_rt_function` record of a public function.
inline constexpr llvm::StringLiteral kFunctionRecordPrefix = "mp_function_";
/// The `mp_rt_module` record of the kernels.
inline constexpr llvm::StringLiteral kModuleRecordSuffix = "_module";

/// The type that one of these attributes keeps; null without.
FunctionType getTypeOnBuffers(Operation *function);

#define GEN_PASS_DECL
#include "mp/Kernels/Host/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Kernels/Host/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_KERNELS_HOST_PASSES_H
