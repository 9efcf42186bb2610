// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs attention kernels and holds each element of the result to a bound.

#ifndef MP_TEST_KERNELS_ATTENTIONCHECK_H
#define MP_TEST_KERNELS_ATTENTIONCHECK_H

#include "AttentionText.h"
#include "Lowering.h"

namespace mlir::mp::test {

/// Runs it in both orders of threads, expects the same bits and each element within its bound.
emulator::LaunchStats check(const Attention &a);

/// The same with the keys of a row shared by `parts` blocks.
void checkParts(Attention a, int64_t parts, const std::string &tile);

} // namespace mlir::mp::test

#endif // MP_TEST_KERNELS_ATTENTIONCHECK_H
