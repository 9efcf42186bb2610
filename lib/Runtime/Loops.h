// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction as a batch of matrix products over offset tables: element (i, k)
// of A is a[rowA[i] + depthA[k]]. Convolutions have this form too, without
// copying the image.
#ifndef MP_LIB_RUNTIME_LOOPS_H
#define MP_LIB_RUNTIME_LOOPS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpcore::runtime {

struct Product {
  int64_t m = 1, n = 1, k = 1, batches = 1;
  std::vector<int64_t> rowA, depthA, depthB, columnB, rowC, columnC;
  std::vector<int64_t> batchA, batchB, batchC;
};

/// Sorts the loops into batch (used by A, B and C), rows (A and C, or C only),
/// columns (B and C) and depth (not C), each in the given order. m, n, k or
/// batches is 0 if a loop is empty.
Product classify(const int64_t *loops);

/// Exchanges the roles of A and B, rows and columns.
void transpose(Product &product);

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_LOOPS_H
