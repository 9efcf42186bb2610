// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function compiled for the host and called with arrays.

#ifndef MP_EXECUTION_HOST_PROGRAM_H
#define MP_EXECUTION_HOST_PROGRAM_H

#include "mp/Execution/Executable.h"
#include "mp/Transforms/Options.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>

namespace mlir::mp {

class Engine;

struct ProgramOptions {
  /// Compute in f64 throughout; floats go in and come out as f64.
  bool promoteToF64 = false;
  /// Contractions by libMPRuntime instead of loops in the order written.
  bool runtimeContractions = true;
  /// Math functions as kernels compute them, instead of by the C library.
  bool exactMath = false;
  /// Elementwise ops share loops: the same bits, sooner.
  bool fuse = false;
  /// Bytes that what the program computes may take at a time (mp-recompute); 0 for no limit.
  int64_t maxMemory = 0;
  OptionalStoredFormat storeNarrow; ///< in which it may be stored for that
  /// LLVM optimises what computes. Without, small programs are ready in half the time.
  bool optimise = true;
  /// The number of calls, where the caller knows it: loops that take less time in all of them than
  /// LLVM takes to optimise them are compiled the quick way, to the same bits.
  int64_t calls = 0;
  /// Text of the LLVM IR before optimisation, if not null.
  std::string *llvmIR = nullptr;
};

/// An array where it lies: dense, row-major, read and never written.
struct ArrayView {
  ElementType type;
  llvm::ArrayRef<int64_t> shape;
  const void *data = nullptr;
};

/// Gets result `index`, which lies in memory of the program until it returns.
using TakeResult = llvm::function_ref<llvm::Error(size_t index, const ArrayView &result)>;

class Program : public Executable {
public:
  /// Compiles a copy of `module`, whose context must have the dialects and
  /// translations of registerExecution(). Errors of the lowering are MLIR
  /// diagnostics besides.
  static llvm::Expected<std::unique_ptr<Program>> compile(ModuleOp module, llvm::StringRef entry,
                                                          const ProgramOptions &options = {});
  ~Program() override;

  const Signature &signature() const override { return types; }
  llvm::Expected<std::vector<Array>> run(llvm::ArrayRef<Array> arguments) override;
  int64_t peakBytes() const override { return peak; }
  /// Says what was planned under ProgramOptions::maxMemory.
  llvm::StringRef memoryPlan() const { return plan; }

  /// As run(), for several threads at once; `peak` gets the bytes of this call.
  llvm::Expected<std::vector<Array>> call(llvm::ArrayRef<Array> arguments, int64_t &peak) const;
  /// The same without copies: arguments are read where they are, and `take` gets each result.
  llvm::Error callInPlace(llvm::ArrayRef<ArrayView> arguments, TakeResult take,
                          int64_t &peak) const;

private:
  Program() = default;
  llvm::Error checkViews(llvm::ArrayRef<ArrayView> arguments) const;

  OwningOpRef<ModuleOp> module; ///< lowered; owns constants the code points into
  std::unique_ptr<Engine> engine;
  void (*entry)(void **) = nullptr;
  Signature types;
  std::vector<std::string> checks;
  std::vector<std::unique_ptr<char[]>> constants;
  int64_t peak = 0;
  std::string plan; ///< of memory
};

/// Dialect translations to LLVM IR, and the host as a target.
void registerExecution(DialectRegistry &registry);

} // namespace mlir::mp

#endif // MP_EXECUTION_HOST_PROGRAM_H
