// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that can be called with arrays, wherever it runs.

#ifndef MP_EXECUTION_EXECUTABLE_H
#define MP_EXECUTION_EXECUTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mp/Execution/Array.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::mp {

/// An argument or a result. Scalars are arrays of rank 0.
struct Parameter {
  std::string name; ///< of the location or attribute; empty if none
  ElementType type;
  llvm::SmallVector<int64_t> shape; ///< -1 where the size is only known at run time
  bool isTensor = true;
  std::string role;                               ///< mp.role, empty if none
  std::optional<int64_t> nextValue;               ///< mp.state: the result that replaces it
  llvm::SmallVector<int64_t> likelyShape;         ///< mp.dim, empty if none
  std::optional<std::pair<double, double>> range; ///< mp.range
  std::optional<int64_t> indexBound;              ///< of integers that index a table: its size

  std::string typeStr() const { return typeString(shape, type); }
};

struct Signature {
  std::vector<Parameter> arguments, results;
};

/// The function called `entry`; if that is empty `main`, or the only public one. An
/// error lists what there is.
llvm::Expected<func::FuncOp> findEntry(ModuleOp module, llvm::StringRef entry);

/// True of what mp-to-nvvm made: functions are on buffers, and kernels are launched, if there are
/// any (a result without elements needs none).
bool isLoweredForDevices(ModuleOp module);

/// Argument and result types of a function on tensors and scalars (on buffers, too, where
/// isLoweredForDevices()), or an error naming the type that cannot be passed.
llvm::Expected<Signature> signatureOf(func::FuncOp function);

/// A function to compile and its signature, in a module of its own.
struct Entry {
  std::string name;
  Signature signature;
  /// A copy in which every other function is private: only this one has to be callable from
  /// outside, and what it does not call need not be compiled.
  OwningOpRef<ModuleOp> module;
};

/// Isolates the function that findEntry() finds, for compiling. Errors are those of findEntry() and
/// signatureOf().
llvm::Expected<Entry> isolateEntry(ModuleOp module, llvm::StringRef entry);

/// The error for an array that `parameter` cannot take (it names `what`, such as
/// "input 2"), or success. The element type must be the parameter's.
llvm::Error checkArgument(const Array &array, const Parameter &parameter, const llvm::Twine &what);

class Executable {
public:
  virtual ~Executable();

  virtual const Signature &signature() const = 0;

  /// Calls the function. Arguments are checked against the signature and never
  /// written to. A failed check, a fault or lack of memory inside is an error.
  virtual llvm::Expected<std::vector<Array>> run(llvm::ArrayRef<Array> arguments) = 0;

  /// Bytes of buffers held at once, at most, by the last run.
  virtual int64_t peakBytes() const = 0;

protected:
  /// The error of the first argument that does not fit the signature.
  llvm::Error checkArguments(llvm::ArrayRef<Array> arguments) const;
};

} // namespace mlir::mp

#endif // MP_EXECUTION_EXECUTABLE_H
