// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps mp's registration, which is C++20, apart from sources with upstream's matchers, which are
// not.

#ifndef MP_TOOLS_MP_QUERY_DIALECTS_H
#define MP_TOOLS_MP_QUERY_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::mp {

/// Registers upstream's dialects and mp's.
void registerQueriedDialects(DialectRegistry &registry);

} // namespace mlir::mp

#endif // MP_TOOLS_MP_QUERY_DIALECTS_H
