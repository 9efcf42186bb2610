// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check dialect: expectations inside programs.

#ifndef MP_DIALECT_CHECK_CHECKDIALECT_H
#define MP_DIALECT_CHECK_CHECKDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mp/Dialect/Check/CheckDialect.h.inc"

namespace mlir::mp::detail {
/// Replaces the tensors among `op`'s operands by their buffers.
LogicalResult readBuffers(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state);
} // namespace mlir::mp::detail

#define GET_OP_CLASSES
#include "mp/Dialect/Check/CheckOps.h.inc"

#endif // MP_DIALECT_CHECK_CHECKDIALECT_H
