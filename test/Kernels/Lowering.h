// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of a module to kernels that run on the emulator.

#ifndef MP_TEST_KERNELS_LOWERING_H
#define MP_TEST_KERNELS_LOWERING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mp/Execution/EmulatedModule.h"

#include <string>

namespace mlir::mp::test {

/// A module lowered by mp-to-nvvm, loaded on the emulator.
class Lowered {
public:
  /// Check `error` before anything else.
  Lowered(llvm::StringRef text, llvm::StringRef target);

  /// Runs @f; on a fault `error` is set and the result is empty.
  std::vector<Array> run(llvm::ArrayRef<Array> arguments, bool reverse = false);

  std::string error;
  ::mp::emulator::LaunchStats stats;

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace mlir::mp::test

#endif // MP_TEST_KERNELS_LOWERING_H
