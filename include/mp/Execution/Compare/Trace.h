// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values inside a function made results, to be compared op by op.

#ifndef MP_EXECUTION_COMPARE_TRACE_H
#define MP_EXECUTION_COMPARE_TRACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/Format.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::mp {

/// Float tensors that ops in a function's entry block compute, in order. Ops that
/// only move, fill, or convert values (casts, reshapes, constants) are left out, so
/// that a function and its mixed-precision form give corresponding lists.
struct TracedValue {
  Value value;
  std::string label; ///< "12 linalg.matmul", and the name of its location if any
  /// The format among its own and those it is cast to, moved about at most, that reaches least far
  /// down.
  std::optional<numerics::Format> storedAs;
};
std::vector<TracedValue> tracedValues(func::FuncOp function);

/// The formats that casts and roundings of a module narrow floats to, by name, sorted.
std::vector<std::string> narrowedFormats(ModuleOp module);

/// Pairs of indices into two lists whose ops correspond: by order when the lists
/// name the same ops, else by the nearest op of the same name and shape.
std::vector<std::pair<size_t, size_t>> matchTraces(llvm::ArrayRef<TracedValue> result,
                                                   llvm::ArrayRef<TracedValue> reference);

/// Appends the values to the results of the function, which nothing may call.
llvm::Error returnValues(func::FuncOp function, llvm::ArrayRef<Value> values);

} // namespace mlir::mp

#endif // MP_EXECUTION_COMPARE_TRACE_H
