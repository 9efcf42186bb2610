// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs attention kernels and holds each element of the result to a bound.

#ifndef MP_TEST_KERNELS_ATTENTIONCHECK_H
#define MP_TEST_KERNELS_ATTENTIONCHECK_H

#include "AttentionText.h"
#include "Lowering.h"

namespace mlir::mp::test {

/// The options of mp-to-nvvm.
std::string optionsOf(const Attention &a);
/// Runs attention of the sizes of `a`, compiled for them or for sizes of run time, in both orders
/// of threads, and holds each element to its bound. `a.parts` says how many launches that is.
Array runOnce(Lowered &lowered, const Attention &a);

/// Runs it in both orders of threads, expects the same bits and each element within its bound.
emulator::LaunchStats check(const Attention &a);

struct RunSizes {
  int64_t batch, queries, keys;
};
/// The same for many sizes, by one compilation; `a` says which are known at run time only.
/// `a.schedule` says where blocks share keys, and how many. All give the same bits as a kernel that
/// is compiled for these sizes and as many parts if `apart` says so.
void checkSizes(Attention a, llvm::ArrayRef<RunSizes> sizes, bool apart = false);
/// The same for many numbers of keys.
void checkLengths(Attention a, llvm::ArrayRef<int64_t> lengths, bool apart = false);

/// The same with the keys of a row shared by `parts` blocks.
void checkParts(Attention a, int64_t parts, const std::string &tile);

} // namespace mlir::mp::test

#endif // MP_TEST_KERNELS_ATTENTIONCHECK_H
