// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MP_LIB_EXECUTION_ENGINE_H
#define MP_LIB_EXECUTION_ENGINE_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// Compiles a module in the LLVM dialect for this machine, with libMPRuntime's functions at hand. `llvmIR`,
/// if not null, gets the text before optimisation. `onDevice` if the module's buffers are in a device's memory.
llvm::Expected<std::unique_ptr<ExecutionEngine>> createEngine(ModuleOp module, std::string *llvmIR, bool onDevice);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_ENGINE_H
