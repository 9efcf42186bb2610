// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the part of mp-run that launches PTX kernels.

#ifndef MP_LIB_EXECUTION_PTXMODE_H
#define MP_LIB_EXECUTION_PTXMODE_H

#include "RunOptions.h"
#include "mp/Support/ErrorCode.h"

namespace mlir::mp {

/// Launches one kernel of a PTX file in the emulator. An --input that is an array
/// becomes device memory, whose address the kernel gets; one like i32:7 is passed
/// by value. The last arrays, as many as there are --outputs (all if there are
/// none, printed), are read back. Returns the exit status of mp-run.
support::ExitStatus runPtx(const RunOptions &options);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_PTXMODE_H
