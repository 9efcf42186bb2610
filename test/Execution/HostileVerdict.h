// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds out why a converted graph gives NaN or infinity.

#ifndef MP_TEST_EXECUTION_HOSTILEVERDICT_H
#define MP_TEST_EXECUTION_HOSTILEVERDICT_H

#include "HostileRun.h"
#include "mp/Execution/Host/Program.h"

namespace mlir::mp::test {

/// Overflow if a value that is finite in f32 overflows the narrow format it is stored in, else
/// Pole. `element` of `result` of `converted` is NaN or infinite for `inputs`, that of `original`
/// finite.
Verdict whyNotFinite(ModuleOp original, ModuleOp converted, const HostileRecipe &recipe,
                     ArrayRef<Array> inputs, unsigned result, int64_t element);

/// Runs a program that was compiled in f64.
llvm::Expected<std::vector<Array>> runInF64(Program &program, ArrayRef<Array> inputs);
/// Compiles @main and runs it; nothing where that fails.
std::optional<std::vector<Array>> runOnce(ModuleOp module, ArrayRef<Array> inputs,
                                          bool inF64 = false);

/// True if a value of the graph, finite in f64, is larger than every number of f32: what the graph
/// makes of it in f32 is chance.
bool exceedsF32(ModuleOp original, ArrayRef<Array> inputs);

} // namespace mlir::mp::test

#endif // MP_TEST_EXECUTION_HOSTILEVERDICT_H
