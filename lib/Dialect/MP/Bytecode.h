// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The version of the mp dialect in bytecode.

#ifndef MP_LIB_DIALECT_MP_BYTECODE_H
#define MP_LIB_DIALECT_MP_BYTECODE_H

#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

/// Lets files say which version of the dialect they hold. A newer one is refused.
void addBytecodeVersion(MPDialect &dialect);

} // namespace mlir::mp

#endif // MP_LIB_DIALECT_MP_BYTECODE_H
