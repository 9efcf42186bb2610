// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions on buffers, made callable with arrays.

#ifndef MP_EXECUTION_HOST_BUFFERENTRY_H
#define MP_EXECUTION_HOST_BUFFERENTRY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::mp {

/// Puts a function on tensors in front of an entry that takes or returns contiguous buffers or
/// vectors, under its name: it copies its arguments, calls the entry, and returns besides the
/// entry's results the contents of every argument that the entry may have written to. Nothing
/// happens where there are none, or where a buffer is not contiguous or a vector scalable. Memory
/// spaces become one. A module with kernels stays as it is.
llvm::Error exposeBuffers(ModuleOp module, llvm::StringRef entry);

} // namespace mlir::mp

#endif // MP_EXECUTION_HOST_BUFFERENTRY_H
