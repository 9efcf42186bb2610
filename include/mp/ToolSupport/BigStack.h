// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stack for nested input: MLIR's parser, verifier and printer recurse over nesting.

#ifndef MP_TOOLSUPPORT_BIGSTACK_H
#define MP_TOOLSUPPORT_BIGSTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace mlir::mp {

/// Mebibytes on which text of kMaxNesting brackets is safe, and what is tried where the system
/// gives less. Most of it is address space and never touched.
inline constexpr size_t kStackMegabytes[] = {1024, 256, 64};

/// Runs `body` on a thread of its own with a stack of that many mebibytes, and waits for it; false
/// if the system gives no such thread.
bool runOnStack(size_t megabytes, llvm::function_ref<void()> body);

} // namespace mlir::mp

#endif // MP_TOOLSUPPORT_BIGSTACK_H
