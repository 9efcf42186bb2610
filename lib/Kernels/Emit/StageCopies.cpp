// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the copies of a stage.

#include "StageCopies.h"

#include "../Plan/OperandSource.h"

using namespace mlir;
using namespace mlir::mp;

StageCopies::StageCopies(DeviceBuilder &device, const GemmPlan &plan) : d(device), plan(plan) {
  const auto &s = plan.schedule;
  const int depth = int(s.depth()), bytes = plan.elementBytes();
  auto add = [&](unsigned operand, const SharedTile &tile) {
    operands.push_back(std::make_unique<Operand>(d, tile, sourceOf(operand, tile), plan.threads()));
  };
  add(0, SharedTile(int(s.m), plan.sparse ? depth / 2 : depth, bytes, plan.stageA.alongK));
  add(1, SharedTile(int(s.n), depth, bytes, plan.stageB.alongK));
  if (plan.sparse)
    add(plan.sparse->operand, SharedTile(int(s.m) / 16, plan.sparse->wordsOf(depth), 4, true));
}

uint32_t StageCopies::bytes() const {
  uint32_t sum = 0;
  for (const auto &operand : operands)
    sum += operand->tile.bytes();
  return sum;
}

TileCopy::Source StageCopies::sourceOf(unsigned operand, const SharedTile &tile) {
  const StagingPlan &stage = operand == 1 ? plan.stageB : plan.stageA;
  ArrayRef<StridedLoop> outer = operand == 1 ? plan.n : plan.m, k = plan.k;
  if (plan.sparse && operand != 1) {
    k = operand == 0 ? plan.sparse->values : plan.sparse->words;
    outer = operand == 0 ? outer : ArrayRef(plan.sparse->tiles);
  }
  TileCopy::Source source{
      operand, outer, k, stage.vector, stage.asynchronous, int(plan.schedule.stages)};
  if (operand > 1)
    source.vector = 4; // 16 bytes of words
  if (linalg::GenericOp narrowing = stage.narrowing)
    source.narrow = [this, narrowing](Value element) {
      return narrowElement(d.b, narrowing, element);
    };
  source.rounding = stage.rounding;
  source.padded = plan.padded;
  source.splits = plan.schedule.splitK;
  const int64_t rows = tile.outer();
  // Metadata of zeros has no meaning; the last words are read again instead.
  source.zeroRows = operand <= 1 && rows <= 64 && knownExtent(outer).value_or(rows) < rows;
  return source;
}

void StageCopies::prepare(ArrayRef<Value> pointers, ArrayRef<Value> base,
                          const TilePosition &position, Value thread, ArrayRef<Value> paddedBatch,
                          const Steps &steps) {
  for (auto [i, operand] : llvm::enumerate(operands)) {
    const unsigned number = i == 2 ? plan.sparse->operand : unsigned(i);
    Value tile = i == 1 ? position.column : position.row;
    TileCopy::Share share;
    if (steps.begin) {
      const int64_t depth = operand->tile.k();
      share = {d.mul(d.widen(steps.begin), depth),
               d.min(d.mul(d.widen(steps.end), depth), extentOf(d, operand->all))};
    }
    operand->copy.prepare(pointers[number], base[number], d.mul(tile, int64_t(operand->outer)),
                          thread, paddedBatch, share);
  }
}

StageCopies::Pointers StageCopies::start() const {
  Pointers pointers;
  for (const auto &operand : operands)
    pointers.push_back(operand->copy.start());
  return pointers;
}

StageCopies::Pointers StageCopies::advance(const Pointers &running, int steps) {
  Pointers moved;
  for (auto [operand, pointer] : llvm::zip_equal(operands, running))
    moved.push_back(operand->copy.advance(pointer, steps));
  return moved;
}

StageCopies::Accesses StageCopies::list(Value stage, Value number, Value exists,
                                        const Pointers &running) {
  Accesses accesses;
  Value to = stage;
  for (auto [operand, pointer] : llvm::zip_equal(operands, running)) {
    TileCopy &copy = operand->copy;
    Value kStart = d.mul(d.widen(number), int64_t(operand->tile.k()));
    for (unsigned i = 0; i < copy.count(); ++i) {
      accesses.start.push_back(copy.issue(i, to, {pointer, kStart, exists}));
      accesses.put.push_back(copy.put(i, to));
    }
    to = d.add(to, int64_t(operand->tile.bytes()));
  }
  return accesses;
}
