// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-decompose-words: words as casts and differences.

#include "../Common/WordCode.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSEWORDS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

namespace {
struct DecomposeWords : mlir::mp::impl::DecomposeWordsBase<DecomposeWords> {
  void runOnOperation() override { mlir::mp::expandAllWords(getOperation()); }
};
} // namespace
