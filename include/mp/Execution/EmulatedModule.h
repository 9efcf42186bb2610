// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module lowered by mp-to-nvvm, run without a GPU: the host functions are interpreted, the PTX of
// the kernels runs on the emulator.

#ifndef MP_EXECUTION_EMULATEDMODULE_H
#define MP_EXECUTION_EMULATEDMODULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Emulator/Device.h"
#include "mp/Execution/Array.h"

namespace mlir::mp {

class EmulatedModule {
public:
  /// Loads the PTX of `module`'s `gpu.binary` (emit=ptx). The module must outlive this object.
  static llvm::Expected<std::unique_ptr<EmulatedModule>>
  create(ModuleOp module, const ::mp::emulator::LaunchOptions &options = {});
  ~EmulatedModule();

  /// Calls a function on buffers and scalars (arrays of rank 0). Buffers of arguments are copies.
  llvm::Expected<std::vector<Array>> run(llvm::StringRef function, llvm::ArrayRef<Array> arguments);

  /// Of all launches so far.
  const ::mp::emulator::LaunchStats &stats() const;

private:
  EmulatedModule();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mlir::mp

#endif // MP_EXECUTION_EMULATEDMODULE_H
