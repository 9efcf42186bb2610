// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a training that several processes write, each its part, and any number reads.

#ifndef MP_LIB_EXECUTION_FILES_SHARDEDSTATE_H
#define MP_LIB_EXECUTION_FILES_SHARDEDSTATE_H

#include "mp/Execution/Array.h"

namespace mlir::mp {

/// One array of a state, whole; what ranks hold in parts has the dimension.
struct StateArray {
  std::string role;
  std::optional<int64_t> dim;
  Array whole;
};

/// The processes that write together.
struct StateWriters {
  int process = 0, processes = 1;
  /// Gives all processes what each brings, in their order. Where it fails, another one has ended.
  llvm::function_ref<llvm::Expected<std::string>(llvm::StringRef own)> gather;
};

/// Writes the state before step `step` into the folder: each process the parts of its ranks and a
/// share of what all hold whole, the first one a manifest when all have. The state counts once that
/// is in place. If one process fails, all return its error.
llvm::Error saveState(llvm::StringRef folder, int64_t step, llvm::ArrayRef<StateArray> arrays,
                      const StateWriters &writers);

/// Reads the newest state of a folder, or that of a manifest, into arrays that have the roles,
/// types and shapes of this program, and returns its step. A residual of gradients for another
/// number of ranks is summed up for rank 0. Errors name the file, what was expected and what was
/// found; nothing older is taken instead.
llvm::Expected<int64_t> loadState(llvm::StringRef path, llvm::MutableArrayRef<StateArray> arrays);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_FILES_SHARDEDSTATE_H
