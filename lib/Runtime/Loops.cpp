// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the loops of a contraction and builds the offset tables of its operands.

#include "Loops.h"

#include <utility>

using namespace mpcore::runtime;

namespace {

struct Loop {
  int64_t size, a, b, c;
};

} // namespace

/// Offsets of all index tuples of `loops`, the last loop fastest.
static std::vector<int64_t> offsets(const std::vector<Loop> &loops, int64_t Loop::*stride) {
  std::vector<int64_t> result = {0};
  for (const Loop &loop : loops) {
    std::vector<int64_t> next;
    next.reserve(result.size() * std::size_t(loop.size));
    for (int64_t base : result)
      for (int64_t i = 0; i < loop.size; ++i)
        next.push_back(base + i * (loop.*stride));
    result = std::move(next);
  }
  return result;
}

Product mpcore::runtime::classify(const int64_t *loops) {
  int64_t rank = *loops++;
  std::vector<Loop> batch, rows, columns, depth;
  for (int64_t i = 0; i < rank; ++i) {
    Loop loop{loops[i], loops[rank + i], loops[2 * rank + i], loops[3 * rank + i]};
    if (loop.size == 1)
      continue; // its strides say nothing
    if (loop.c == 0)
      depth.push_back(loop);
    else if (loop.a != 0 && loop.b != 0)
      batch.push_back(loop);
    else if (loop.b != 0)
      columns.push_back(loop);
    else
      rows.push_back(loop);
  }
  Product product;
  product.rowA = offsets(rows, &Loop::a);
  product.rowC = offsets(rows, &Loop::c);
  product.columnB = offsets(columns, &Loop::b);
  product.columnC = offsets(columns, &Loop::c);
  product.depthA = offsets(depth, &Loop::a);
  product.depthB = offsets(depth, &Loop::b);
  product.batchA = offsets(batch, &Loop::a);
  product.batchB = offsets(batch, &Loop::b);
  product.batchC = offsets(batch, &Loop::c);
  product.m = int64_t(product.rowA.size());
  product.n = int64_t(product.columnB.size());
  product.k = int64_t(product.depthA.size());
  product.batches = int64_t(product.batchA.size());
  return product;
}

void mpcore::runtime::transpose(Product &product) {
  std::swap(product.m, product.n);
  std::swap(product.rowA, product.columnB);
  std::swap(product.rowC, product.columnC);
  std::swap(product.depthA, product.depthB);
  std::swap(product.batchA, product.batchB);
}
