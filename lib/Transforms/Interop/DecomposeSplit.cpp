// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-decompose-words: parts as casts and differences.

#include "../Common/SplitCode.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSESPLIT
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

namespace {
struct DecomposeSplit : mlir::mp::impl::DecomposeSplitBase<DecomposeSplit> {
  void runOnOperation() override { mlir::mp::expandAllSplits(getOperation()); }
};
} // namespace
