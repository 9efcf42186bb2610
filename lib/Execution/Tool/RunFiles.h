// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the files that mp-run writes, which are opened before anything runs.

#ifndef MP_LIB_EXECUTION_TOOL_RUNFILES_H
#define MP_LIB_EXECUTION_TOOL_RUNFILES_H

#include "RunOptions.h"
#include "mp/Support/Files.h"
#include "llvm/Support/JSON.h"

#include <deque>

namespace mlir::mp {

struct RunFiles {
  std::deque<support::LateOutput> results; ///< of --output, in order
  support::LateOutput json, html, policy, pruned, ranges, rounded, sensitivity, smoothed, trace;
  support::FollowedFile monitor, page; ///< a monitor writes its page again and again

  /// Opens what `options` name; folders are made. Errors name the option.
  llvm::Error open(const RunOptions &options);

  llvm::Error writeResult(size_t index, const Array &array);
  llvm::Error writeJSON(llvm::json::Value value);
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TOOL_RUNFILES_H
