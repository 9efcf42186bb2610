// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads fragments of one product ahead of the instructions that multiply those before.

#include "AttentionProducts.h"

#include "../Build/Elements.h"
#include "mp/Kernels/MmaSelection.h"

using namespace mlir;
using namespace mlir::mp;

/// Before sm_80 products are of 8 elements, and of f16 alone.
static const MmaInstruction &instructionOf(const AttentionShape &s) {
  static constexpr MmaInstruction half{"f16", 16, 8, 16, 16}, brain{"bf16", 16, 8, 16, 16},
      shortHalf{"f16", 16, 8, 8, 16};
  return !s.hasAsyncCopies ? shortHalf : s.plan.element().isF16() ? half : brain;
}

AttentionProducts::AttentionProducts(KernelFunction &kernel, const AttentionShape &shape)
    : query(kernel, shape), key(kernel, shape, shape.plan.key, shape.plan.depth),
      value(kernel, shape, shape.plan.value, shape.plan.width), d(kernel.d), s(shape),
      mma(instructionOf(shape)) {}

void AttentionProducts::multiply(ArrayRef<Value> rows, ArrayRef<Value> columns,
                                 MutableArrayRef<Value> sums) {
  const unsigned parts = 16 / mma.k;
  for (unsigned part = 0; part < parts; ++part)
    multiplyAdd(d, mma, rows.slice(part * 4 / parts, 4 / parts),
                columns.slice(part * 2 / parts, 2 / parts), sums);
}

void AttentionProducts::setQuery(Value tile) {
  shared = tile;
  keptQuery.clear();
  if (s.keepsQuery)
    for (unsigned head = 0; head < s.depth(); head += 16)
      keptQuery.push_back(query.read(shared, 0, head));
}

SmallVector<Value> AttentionProducts::scores(Value stage, unsigned firstKey) {
  const unsigned keyTiles = s.atOnce / 8, headParts = s.depth() / 16;
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
                 MutableArrayRef(x).slice((row * keyTiles + tile) * 4, 4));
    here = next;
  }
  return x;
}

void AttentionProducts::addOutput(MutableArrayRef<Value> output, ArrayRef<Value> x, Value stage,
                                  unsigned firstKey) {
  const unsigned keyTiles = s.atOnce / 8, headTiles = s.width() / 8, halves = headTiles / 2;
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
    return value.read(stage, firstKey + number / halves * 16, number % halves * 16);
  };
  const unsigned count = keyTiles / 2 * halves;
  SmallVector<Value, 4> here = read(0), next;
  for (unsigned number = 0; number < count; ++number) {
    if (number + 1 < count)
      next = read(number + 1);
    for (unsigned row = 0; row < rowTiles(); ++row)
      for (unsigned half : {0, 1})
        multiply(probabilities[row * keyTiles / 2 + number / halves],
                 ArrayRef(here).slice(half * 2, 2),
                 output.slice((row * headTiles + number % halves * 2 + half) * 4, 4));
    here = next;
  }
}
