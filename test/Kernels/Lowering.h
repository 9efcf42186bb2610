// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of a module to kernels that run on the emulator.

#ifndef MP_TEST_KERNELS_LOWERING_H
#define MP_TEST_KERNELS_LOWERING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/DeviceProgram.h"

#include <random>
#include <string>

namespace mlir::mp::test {

/// All dialects, and what executing them needs.
DialectRegistry makeRegistry();

/// The module with every dispatch inlined, as text; empty if it cannot be parsed.
std::string inlineDispatches(llvm::StringRef text);

/// An array of numbers between -1 and 1.
Array drawn(numerics::Format format, llvm::ArrayRef<int64_t> sizes, std::mt19937 &random);

/// Runs a program twice: with blocks, warps and lanes in ascending and in descending order. An
/// error if a result depends on the order, which no check of a single run would find. `stats` are
/// of the first run.
llvm::Expected<std::vector<Array>> runInBothOrders(DeviceProgram &program,
                                                   llvm::ArrayRef<Array> arguments,
                                                   emulator::LaunchStats &stats);

/// A module lowered by mp-to-nvvm, loaded on the emulator.
class Lowered {
public:
  /// Check `error` before anything else. `options` are more of mp-to-nvvm.
  Lowered(llvm::StringRef text, llvm::StringRef target, llvm::StringRef options = "");

  /// Runs @f in both orders; on a fault `error` is set and the result is empty.
  std::vector<Array> run(llvm::ArrayRef<Array> arguments);

  std::string error;
  emulator::LaunchStats stats;
  uint64_t launches = 0; ///< of the first run

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<DeviceProgram> program;
};

} // namespace mlir::mp::test

#endif // MP_TEST_KERNELS_LOWERING_H
