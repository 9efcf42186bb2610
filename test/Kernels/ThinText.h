// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of products of few rows or columns, for tests of their kernels.

#ifndef MP_TEST_KERNELS_THINTEXT_H
#define MP_TEST_KERNELS_THINTEXT_H

#include <cstdint>
#include <string>

namespace mlir::mp::test {

struct Thin {
  int64_t m, n, k;
  std::string format = "bf16";
  std::string schedule = ""; ///< pinned, but for unit and copy
  int slices = 1;            ///< of that
  bool transposeA = false, transposeB = true;
  bool fresh = true;
  bool dynamic = false; ///< the number of rows
  /// "gelu" of the sum and a bias, or "relu" of these and a residual; stored in bf16.
  std::string epilogue = "";
  bool narrowed = false; ///< B is f32 in memory
  int splits = 1;        ///< blocks that share a sum
  bool dynamicK = false; ///< the length of the sum
};

/// A module whose @f takes A, B, C, a bias and a residual.
std::string thinText(const Thin &o, const std::string &copy = "async");
/// One whose @f takes A and `count` of B, and returns the product with each.
std::string thinGroupText(const Thin &o, int count, const std::string &copy);

} // namespace mlir::mp::test

#endif // MP_TEST_KERNELS_THINTEXT_H
