// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's content as one number, the same in every process and on every machine.

#ifndef MP_ANALYSIS_FUNCTIONHASH_H
#define MP_ANALYSIS_FUNCTIONHASH_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::mp {

/// 16 hexadecimal digits of ops, types, uses, attributes and constants (resources included), in
/// order. Names, locations, and what mp itself writes (`mp.precision`, `mp.storage`, `mp.phase`) do
/// not count.
std::string hashFunction(FunctionOpInterface function);

} // namespace mlir::mp

#endif // MP_ANALYSIS_FUNCTIONHASH_H
