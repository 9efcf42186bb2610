// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the data of large constants out of compiled code.

#ifndef MP_LIB_EXECUTION_CONSTANTS_H
#define MP_LIB_EXECUTION_CONSTANTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace mlir::mp {

/// Replaces dense constants of a module in the LLVM dialect by the addresses of
/// their data in this process, so that weights are neither translated nor
/// compiled. Data that the attributes do not hold element by element (splats,
/// bits) is written to `storage`. Returns the bytes of the constants that the module uses.
llvm::Expected<uint64_t> placeConstants(ModuleOp module,
                                        std::vector<std::unique_ptr<char[]>> &storage);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CONSTANTS_H
