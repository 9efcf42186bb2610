// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function compiled for the host and called with arrays.

#ifndef MP_EXECUTION_PROGRAM_H
#define MP_EXECUTION_PROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mp/Execution/Array.h"

#include <memory>

namespace mlir {
class ExecutionEngine;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace mlir::mp {

/// An argument or a result. Scalars are arrays of rank 0.
struct Parameter {
  std::string name; ///< of the location or attribute; empty if none
  ElementType type;
  llvm::SmallVector<int64_t> shape; ///< -1 where the size is only known at run time
  bool isTensor = true;
  std::string role; ///< mp.role, empty if none
  llvm::SmallVector<int64_t> likelyShape; ///< mp.dim, empty if none
  std::optional<std::pair<double, double>> range; ///< mp.range

  std::string typeStr() const { return typeString(shape, type); }
};

struct Signature {
  std::vector<Parameter> arguments, results;
};

/// The function called `entry`; if that is empty `main`, or the only public one. An
/// error lists what there is.
llvm::Expected<func::FuncOp> findEntry(ModuleOp module, llvm::StringRef entry);

/// Argument and result types of a function on tensors and scalars, or an error
/// naming the type that cannot be passed.
llvm::Expected<Signature> signatureOf(func::FuncOp function);

/// The error for an array that `parameter` cannot take (it names `what`, such as
/// "input 2"), or success. The element type must be the parameter's.
llvm::Error checkArgument(const Array &array, const Parameter &parameter, const llvm::Twine &what);

struct ProgramOptions {
  /// Compute in f64 throughout; floats go in and come out as f64.
  bool promoteToF64 = false;
  /// Contractions by libMPRuntime instead of loops in the order written.
  bool runtimeContractions = true;
  /// Math functions as kernels compute them, instead of by the C library.
  bool exactMath = false;
  /// Text of the LLVM IR before optimisation, if not null.
  std::string *llvmIR = nullptr;
};

class Program {
public:
  /// Compiles a copy of `module`, whose context must have the dialects and
  /// translations of registerExecution(). Errors of the lowering are MLIR
  /// diagnostics besides.
  static llvm::Expected<std::unique_ptr<Program>>
  compile(ModuleOp module, llvm::StringRef entry, const ProgramOptions &options = {});
  ~Program();

  const Signature &signature() const { return types; }

  /// Calls the function. Arguments are checked against the signature and never
  /// written to. A failed check or lack of memory inside is an error.
  llvm::Expected<std::vector<Array>> run(llvm::ArrayRef<Array> arguments);

  /// Bytes of buffers held at once, at most, by the last run.
  int64_t peakBytes() const { return peak; }

private:
  Program() = default;

  OwningOpRef<ModuleOp> module; ///< lowered; owns constants the code points into
  std::unique_ptr<ExecutionEngine> engine;
  void (*entry)(void **) = nullptr;
  Signature types;
  std::vector<std::string> checks;
  std::vector<std::unique_ptr<char[]>> constants;
  int64_t peak = 0;
};

/// Dialect translations to LLVM IR, and the host as a target.
void registerExecution(DialectRegistry &registry);

} // namespace mlir::mp

#endif // MP_EXECUTION_PROGRAM_H
