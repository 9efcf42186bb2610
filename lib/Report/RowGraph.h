// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a report as nodes of a graph, for the writers that draw them.

#ifndef MP_LIB_REPORT_ROWGRAPH_H
#define MP_LIB_REPORT_ROWGRAPH_H

#include "mp/Report/Report.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::mp {

using Rows = SmallVector<const OpRow *>;

/// The id of the node that "op 12" or "argument 3" is made by; empty for others.
std::string idOf(StringRef maker);
/// Rows of each function, in order.
llvm::StringMap<Rows> rowsByFunction(const Report &report);
/// The format that says most of an op: what a contraction computes in, what others store.
StringRef precisionOf(const OpRow &row);
/// A colour for a format, as #rrggbb.
StringRef colourOf(StringRef format);
/// The format that what "op 12" or "argument 3" names is stored in; empty for others.
StringRef storedFormat(StringRef maker, const Rows &rows, const FunctionRow &function);

} // namespace mlir::mp

#endif // MP_LIB_REPORT_ROWGRAPH_H
