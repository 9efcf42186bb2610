// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes over the columns of a row: all at once where they are held, else in loops whose last part
// is guarded.

#include "StreamColumns.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;

StreamColumns::StreamColumns(KernelFunction &kernel, const StreamShape &shape, StreamPart part,
                             StreamMemory &memory, Evaluate &evaluate)
    : k(kernel), d(kernel.d), s(shape), part(part), memory(memory), evaluate(evaluate) {
  threads.perRow = s.threadsPerRow;
  threads.rows = s.rowsPerBlock;
  threads.lanesAlongColumns = s.lanesAlongColumns;
}

void StreamColumns::begin() {
  placeThread();
  if (s.whole)
    holdRow();
}

void StreamColumns::placeThread() {
  Value thread = k.thread(), block = k.block();
  Value perRow = d.i32(s.threadsPerRow), rows = d.i32(s.rowsPerBlock);
  if (s.lanesAlongColumns) {
    threads.position = s.rowsPerBlock == 1 ? thread : d.rem(thread, perRow);
    threads.row = s.rowsPerBlock == 1 ? d.i32(0) : d.div(thread, perRow);
  } else {
    threads.row = d.rem(thread, rows);
    threads.position = d.div(thread, rows);
  }
  Value group = d.widen(block);
  tile = d.ix(0);
  if (s.tiled && s.columns != s.span()) {
    bool one = !ShapedType::isDynamic(s.columns) && s.columns <= s.span();
    if (!one) {
      Value tiles = tilesOf();
      tile = s.rows == 1 ? group : d.rem(group, tiles);
      group = s.rows == 1 ? d.ix(0) : d.div(group, tiles);
    }
  }
  if (part == StreamPart::Parts) {
    split = d.rem(group, d.ix(s.splits));
    group = d.div(group, d.ix(s.splits));
  }
  row = d.add(d.mul(group, d.ix(s.rowsPerBlock)), d.widen(threads.row));
  if (ShapedType::isDynamic(s.rows) ? s.rowsPerBlock > 1 : s.rows % s.rowsPerBlock != 0)
    rowInside = d.less(row, extent(s.plan.rows));
  memory.setRow(row, rowInside);
  start = d.mul(d.widen(threads.position), d.ix(s.vector));
}

Value StreamColumns::tilesOf() {
  if (!ShapedType::isDynamic(s.columns))
    return d.ix(llvm::divideCeil(s.columns, s.span()));
  return d.div(d.add(extent(s.plan.columns), d.ix(s.span() - 1)), d.ix(s.span()));
}

/// All chunks of the row (or of the block's tile of it), for good.
void StreamColumns::holdRow() {
  Value base = d.add(start, d.mul(tile, d.ix(s.span())));
  SmallVector<Chunk> chunks;
  for (unsigned i = 0; i < s.chunks; ++i) {
    Chunk chunk{int64_t(i) * step(), Value()};
    bool certain = !ShapedType::isDynamic(s.columns) &&
                   (s.tiled && s.columns > s.span() ? s.columns % s.span() == 0
                                                    : s.columns >= (i + 1) * step());
    if (!certain)
      chunk.inside = d.less(d.add(base, d.ix(chunk.ahead)), extent(s.plan.columns));
    chunks.push_back(chunk);
  }
  memory.setColumns(base, chunks);
}

StreamColumns::Values StreamColumns::pass(Values carried, function_ref<Values(Values)> body) {
  if (s.whole)
    return body(carried);
  auto least = [&](Value x, Value y) -> Value { return arith::MinSIOp::create(d.b, x, y); };
  Value all = extent(s.plan.columns);
  const int64_t full = step() * s.chunks;
  if (part == StreamPart::Parts) {
    // Each split has a multiple of what threads hold, the last one what is left.
    const int64_t piece = llvm::alignTo(llvm::divideCeil(s.columns, s.splits), full);
    Value from = d.mul(split, d.ix(piece)), to = least(d.add(from, d.ix(piece)), all);
    from = least(from, all);
    Value rest = d.rem(arith::SubIOp::create(d.b, to, from), d.ix(full));
    Value end = arith::SubIOp::create(d.b, to, rest);
    carried = loop(from, end, full, s.chunks, /*guarded=*/false, carried, body);
    return loop(end, to, step(), 1, /*guarded=*/true, carried, body);
  }
  const bool known = !ShapedType::isDynamic(s.columns);
  Value end = known ? d.ix(s.columns - s.columns % full)
                    : arith::SubIOp::create(d.b, all, d.rem(all, d.ix(full))).getResult();
  if (!known || s.columns >= full)
    carried = loop(d.ix(0), end, full, s.chunks, /*guarded=*/false, carried, body);
  if (!known || s.columns % full != 0)
    carried = loop(end, all, step(), 1, /*guarded=*/true, carried, body);
  return carried;
}

StreamColumns::Values StreamColumns::loop(Value from, Value to, int64_t by, unsigned chunks,
                                          bool guarded, Values carried,
                                          function_ref<Values(Values)> body) {
  auto loop = scf::ForOp::create(d.b, from, to, d.ix(by), carried);
  OpBuilder::InsertionGuard restore(d.b);
  evaluate.hoistBefore(loop);
  d.b.setInsertionPointToStart(loop.getBody());
  Value base = d.add(loop.getInductionVar(), start);
  SmallVector<Chunk> held;
  for (unsigned i = 0; i < chunks; ++i)
    held.push_back({int64_t(i) * step(), guarded ? d.less(base, extent(s.plan.columns)) : Value()});
  memory.setColumns(base, held);
  evaluate.forgetColumns();
  Values arguments(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  Values next = body(arguments);
  if (!carried.empty())
    scf::YieldOp::create(d.b, next);
  evaluate.forgetColumns();
  evaluate.hoistBefore(nullptr);
  return Values(loop.getResults().begin(), loop.getResults().end());
}
