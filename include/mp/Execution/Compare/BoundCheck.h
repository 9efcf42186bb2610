// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the values a program computed with the bounds that the analyses of ranges and of errors
// give.

#ifndef MP_EXECUTION_COMPARE_BOUNDCHECK_H
#define MP_EXECUTION_COMPARE_BOUNDCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Execution/Array.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::mp {

struct BoundCheck {
  unsigned values = 0;  ///< tensors compared
  unsigned bounded = 0; ///< of which something finite is said
  /// Sum over bounded values of log2(bound / largest seen), and how many that are.
  double excess = 0;
  unsigned measured = 0;
  /// One line each: the value, what was seen, and what was said.
  std::vector<std::string> violations;

  void add(const BoundCheck &other);
  void print(llvm::raw_ostream &os) const;
};

/// Analyses `module` with the ranges of the given arguments taken for granted, and compares every
/// float result of `function`, whose first results are its own and the others those that
/// returnValues() made of values inside: range, NaN, infinity, zero, integer, row norm.
BoundCheck checkRanges(ModuleOp module, func::FuncOp function, llvm::ArrayRef<Array> arguments,
                       llvm::ArrayRef<Array> results);

/// The same for errors: no element may be further from that of `reference`, the same results
/// computed in f64, than ErrorBounds certifies; NaN is where NaN ought to be. `chip`: whose Tensor
/// Cores the results come from; empty for none.
BoundCheck checkErrors(ModuleOp module, func::FuncOp function, llvm::ArrayRef<Array> arguments,
                       llvm::ArrayRef<Array> results, llvm::ArrayRef<Array> reference,
                       StringRef chip);

/// States the range of each argument that is given, where the function states none; not where one
/// is NaN or infinite.
void stateRanges(func::FuncOp function, llvm::ArrayRef<Array> arguments);

/// Calls `visit` for each float result once, with its place in `results`. A result may be a value
/// inside, too.
void forEachResult(func::FuncOp function, llvm::ArrayRef<Array> results,
                   llvm::function_ref<void(Value, size_t)> visit);

/// "linalg.matmul at a.mlir:3:8", "argument".
std::string describeValue(Value value);

} // namespace mlir::mp

#endif // MP_EXECUTION_COMPARE_BOUNDCHECK_H
