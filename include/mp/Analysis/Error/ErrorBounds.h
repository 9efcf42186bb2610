// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds how far each float value of a module can be from what exact arithmetic gives. It applies
// the worst-case rules of mp/Domains/Error.h over a graph, forwards, with the ranges of
// RangeAnalysis.h. Exact arithmetic is that of the same graph in which casts do nothing, on the
// same arguments. *Certified*: holds for every input in the ranges stated (`mp.range`), whatever
// the order of sums. Unknown is never optimistic: infinite, and the op where the last bound was
// lost is remembered.

#ifndef MP_ANALYSIS_ERROR_ERRORBOUNDS_H
#define MP_ANALYSIS_ERROR_ERRORBOUNDS_H

#include "mlir/IR/BuiltinOps.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Error.h"

namespace mlir::mp {

class ErrorBounds {
public:
  /// `chip`: whose Tensor Cores may sum up what is narrow (`sm_80`); empty for IEEE arithmetic
  /// alone. `assumed`: as `RangeOptions::arguments`.
  explicit ErrorBounds(ModuleOp module, StringRef chip = "", double assumed = 0);

  /// The error of every element of a float value, over all times it is computed, is within these
  /// facts; unknown for what no public function reaches.
  domains::ErrorFacts lookup(Value value) const;
  /// The exact value's range.
  domains::FloatFacts lookupExact(Value value) const { return exact.lookup(value).facts; }
  /// The op that lost the bound of `value`; null where there is a bound, or an argument had no
  /// range.
  Operation *getLostAt(Value value) const { return lostAt.lookup(value); }

private:
  friend class ErrorSweep;
  mutable ModuleRanges exact, computed; ///< swept when first asked
  DenseMap<Value, domains::ErrorFacts> errors;
  DenseMap<Value, Operation *> lostAt;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_ERROR_ERRORBOUNDS_H
