// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program computed, set against what the range analysis says it computes.

#ifndef MP_EXECUTION_RANGECHECK_H
#define MP_EXECUTION_RANGECHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Execution/Array.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::mp {

struct RangeCheck {
  unsigned values = 0;  ///< tensors compared
  unsigned bounded = 0; ///< whose range has two ends
  /// Sum over bounded values of log2(bound / largest seen), and how many that are.
  double excess = 0;
  unsigned measured = 0;
  /// One line each: the value, what was seen, and what was said.
  std::vector<std::string> violations;

  void add(const RangeCheck &other);
  void print(llvm::raw_ostream &os) const;
};

/// Analyses `module` with the ranges of the given arguments taken for granted, and compares every float
/// result of `function`, whose first results are its own and the others those that returnValues()
/// made of values inside: range, NaN, infinity, zero, integer, row norm.
RangeCheck checkRanges(ModuleOp module, func::FuncOp function, llvm::ArrayRef<Array> arguments,
                       llvm::ArrayRef<Array> results);

} // namespace mlir::mp

#endif // MP_EXECUTION_RANGECHECK_H
