// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints which version a step ran in, where that has changed.

#ifndef MP_LIB_EXECUTION_VERSIONLOG_H
#define MP_LIB_EXECUTION_VERSIONLOG_H

#include "mp/Execution/Executable.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::mp {

/// For steps that mp-merge-versions made; others print nothing.
class VersionLog {
public:
  VersionLog(func::FuncOp step, const Signature &signature);

  /// Looks at the results of a step, and prints a line where another version ran than before:
  /// which, and by which rule.
  void record(llvm::raw_ostream &os, int64_t step, llvm::ArrayRef<Array> results);

private:
  std::vector<std::string> versions, reasons;
  std::optional<size_t> result; ///< the state of the choice
  int64_t last = -1;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_VERSIONLOG_H
