// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads fragments of one product ahead of the instructions that multiply those before.

#include "AttentionProducts.h"

#include "../Build/Elements.h"
#include "mp/Kernels/MmaSelection.h"

using namespace mlir;
using namespace mlir::mp;

/// Before sm_80 products are of 8 elements, and of f16 alone.
static const MmaInstruction &instructionOf(const AttentionShape &s, unsigned elements) {
  static constexpr MmaInstruction half{"f16", 16, 8, 16, 16}, brain{"bf16", 16, 8, 16, 16},
      shortHalf{"f16", 16, 8, 8, 16}, shortBrain{"bf16", 16, 8, 8, 16};
  if (elements == 8 || !s.hasAsyncCopies)
    return s.plan.element().isF16() ? shortHalf : shortBrain;
  return s.plan.element().isF16() ? half : brain;
}

AttentionProducts::AttentionProducts(KernelFunction &kernel, const AttentionShape &shape)
    : query(kernel, shape), key(kernel, shape, shape.plan.key, shape.plan.depth),
      value(kernel, shape, shape.plan.value, shape.plan.width), d(kernel.d), s(shape) {}

void AttentionProducts::multiply(ArrayRef<Value> rows, ArrayRef<Value> columns,
                                 MutableArrayRef<Value> sums, unsigned elements) {
  const MmaInstruction &mma = instructionOf(s, elements);
  const unsigned halves = unsigned(mma.k) / 8; // of two registers of rows, one of columns
  for (unsigned half = 0; half < elements / 8; half += halves)
    multiplyAdd(d, mma, rows.slice(half * 2, halves * 2), columns.slice(half, halves), sums);
}

void AttentionProducts::setQuery(Value tile) {
  shared = tile;
  keptQuery.clear();
  if (s.keepsQuery)
    for (unsigned head = 0; head < s.depth(); head += 16)
      keptQuery.push_back(query.read(shared, 0, head));
}

SmallVector<Value> AttentionProducts::scores(Value stage, unsigned firstKey) {
  const unsigned keyTiles = s.atOnce / 8, headParts = llvm::divideCeil(s.depth(), 16);
  SmallVector<Value> x(rowTiles() * keyTiles * 4, d.zero(d.b.getF32Type()));
  struct Part {
    SmallVector<SmallVector<Value, 4>> query, key;
  };
  auto read = [&](unsigned part) {
    Part made;
    for (unsigned row = 0; row < rowTiles(); ++row)
      made.query.push_back(s.keepsQuery ? keptQuery[part]
                                        : query.read(shared, row * 16, part * 16));
    for (unsigned tile = 0; tile < keyTiles; tile += 2)
      made.key.push_back(key.read(stage, firstKey + tile * 8, part * 16));
    return made;
  };
  Part here = read(0);
  for (unsigned part = 0; part < headParts; ++part) {
    Part next;
    if (part + 1 < headParts)
      next = read(part + 1);
    for (unsigned row = 0; row < rowTiles(); ++row)
      for (unsigned tile = 0; tile < keyTiles; ++tile)
        multiply(here.query[row], ArrayRef(here.key[tile / 2]).slice(tile % 2 * 2, 2),
                 MutableArrayRef(x).slice((row * keyTiles + tile) * 4, 4),
                 std::min<unsigned>(16, s.depth() - part * 16));
    here = next;
  }
  return x;
}

void AttentionProducts::addOutput(MutableArrayRef<Value> output, ArrayRef<Value> x, Value stage,
                                  unsigned firstKey) {
  const unsigned keyTiles = s.atOnce / 8, headTiles = s.width() / 8;
  const unsigned pairs = llvm::divideCeil(headTiles, 2);
  // Accumulators of two tiles of 8 keys are operand A of 16 keys.
  SmallVector<SmallVector<Value, 4>> probabilities;
  for (unsigned row = 0; row < rowTiles(); ++row)
    for (unsigned tile = 0; tile < keyTiles; tile += 2) {
      ArrayRef<Value> from = x.slice((row * keyTiles + tile) * 4, 8);
      SmallVector<Value, 4> &fragment = probabilities.emplace_back();
      for (unsigned i = 0; i < 8; i += 2)
        fragment.push_back(packNarrowed(d, from[i], from[i + 1], s.plan.element()));
    }
  stage = d.add(stage, int64_t(key.tile().bytes()));
  auto read = [&](unsigned number) {
    return value.read(stage, firstKey + number / pairs * 16, number % pairs * 16);
  };
  const unsigned count = keyTiles / 2 * pairs;
  SmallVector<Value, 4> here = read(0), next;
  for (unsigned number = 0; number < count; ++number) {
    if (number + 1 < count)
      next = read(number + 1);
    for (unsigned row = 0; row < rowTiles(); ++row)
      for (unsigned tile = number % pairs * 2, half = 0; half < 2 && tile < headTiles;
           ++tile, ++half)
        multiply(probabilities[row * keyTiles / 2 + number / pairs],
                 ArrayRef(here).slice(half * 2, 2), output.slice((row * headTiles + tile) * 4, 4));
    here = next;
  }
}
