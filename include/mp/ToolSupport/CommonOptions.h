// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that every tool has: limits, how much it says, what warnings are.

#ifndef MP_TOOLSUPPORT_COMMONOPTIONS_H
#define MP_TOOLSUPPORT_COMMONOPTIONS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace mlir {
class MLIRContext;
class Operation;
} // namespace mlir

namespace mlir::mp {

/// A limit of 0 is none.
struct CommonOptions {
  uint64_t maxMemory = 0;  ///< bytes that the process may hold
  double maxSeconds = 0;   ///< of wall-clock time
  int64_t maxOps = 0;      ///< operations of a module, those in bodies included
  int64_t maxElements = 0; ///< elements of one tensor, vector or buffer
  bool quiet = false;
  bool verbose = false;
  bool warningsAreErrors = false;
};

/// Takes the common options out of `arguments` (which hold no program name). Errors name the
/// option, the value and what was expected.
llvm::Expected<CommonOptions> takeCommonOptions(llvm::SmallVectorImpl<char *> &arguments);

/// The options as lines of --help.
llvm::StringRef commonHelp();

/// Leaves remarks of passes unsaid if the process is to be quiet; to be called when whoever prints
/// diagnostics listens.
void hushRemarks(MLIRContext &context);

/// Errors where a module has more operations, or a value of it more elements, than allowed; the
/// message names the place.
llvm::Error checkModuleSize(Operation *module, const CommonOptions &options);

} // namespace mlir::mp

#endif // MP_TOOLSUPPORT_COMMONOPTIONS_H
