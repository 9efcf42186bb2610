// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells which integers of a program are indices of tables.

#ifndef MP_LIB_EXECUTION_INDEXARGUMENTS_H
#define MP_LIB_EXECUTION_INDEXARGUMENTS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::mp {

/// The size of the smallest table of static size that elements of `value` index, if they index any:
/// they have to be at least 0 and below it. Values are followed through casts, reshapes, copies
/// and bodies of structured ops, not through arithmetic and calls.
std::optional<int64_t> findIndexBound(Value value);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_INDEXARGUMENTS_H
