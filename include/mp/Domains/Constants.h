// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Summarises a constant in one pass: exact range and flags, and the norm of its rows, rounded
// outward. NaN elements set mayNaN and count for nothing else.

#ifndef MP_DOMAINS_CONSTANTS_H
#define MP_DOMAINS_CONSTANTS_H

#include "mp/Domains/Facts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mpcore::domains {

/// Fills `row` (as long as a row) with the elements of row `index`.
using ReadRow = llvm::function_ref<void(int64_t index, llvm::MutableArrayRef<double> row)>;

/// The facts of `rows` x `length` elements, read with memory for one row.
FloatFacts scanElements(int64_t rows, int64_t length, ReadRow readRow);

} // namespace mpcore::domains

#endif // MP_DOMAINS_CONSTANTS_H
