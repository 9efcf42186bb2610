// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the JIT of host programs.

#ifndef MP_LIB_EXECUTION_ENGINE_H
#define MP_LIB_EXECUTION_ENGINE_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// A module in the LLVM dialect, compiled for this machine with libMPRuntime's functions at hand.
/// Functions that only compute (KernelModules.h) are optimised, several at a time; what calls them
/// is compiled the quick way: LLVM's register allocator takes minutes over the one long function
/// that calls the layers of a network.
class Engine {
public:
  /// `llvmIR`, if not null, gets the text before optimisation. `onDevice` if the module's buffers
  /// are in a device's memory. Without `optimise`, all is compiled the quick way.
  static llvm::Expected<std::unique_ptr<Engine>> create(ModuleOp module, std::string *llvmIR,
                                                        bool onDevice, bool optimise = true);

  /// The address of a function or record of what calls.
  llvm::Expected<void *> lookup(llvm::StringRef name) const { return callers->lookup(name); }

private:
  std::vector<std::unique_ptr<ExecutionEngine>> kernels; // outlive what calls them
  std::unique_ptr<ExecutionEngine> callers;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_ENGINE_H
