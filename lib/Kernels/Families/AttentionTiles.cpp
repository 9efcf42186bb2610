// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays tiles of query, key and value out, copies them by cp.async where 4 bytes lie together, and
// reads fragments by ldmatrix.

#include "AttentionTiles.h"

using namespace mlir;
using namespace mlir::mp;

Size mlir::mp::stepAlong(KernelFunction &k, const LoopPlan &plan, BlockArgument argument,
                         unsigned loop) {
  for (auto [dimension, own] : llvm::enumerate(plan.dims.lookup(argument)))
    if (own == int(loop))
      return k.operands[argument.getArgNumber()].strides[dimension];
  return Size::known(0);
}

SmallVector<StridedLoop> mlir::mp::walk(KernelFunction &k, const LoopPlan &plan,
                                        BlockArgument argument, ArrayRef<unsigned> loops) {
  SmallVector<StridedLoop> made;
  for (unsigned loop : loops) {
    const StreamLoop &l = plan.loops[loop];
    StridedLoop strided;
    strided.size = ShapedType::isDynamic(l.size) ? k.operands[l.argument].sizes[l.dimension]
                                                 : Size::known(l.size);
    strided.step = {stepAlong(k, plan, argument, loop)};
    made.push_back(strided);
  }
  return made;
}

/// Elements of an access along the last of `loops`, at most 16 bytes of them; 1 if that loop's
/// elements do not lie together.
static unsigned vectorAlong(KernelFunction &k, const LoopPlan &plan, BlockArgument argument,
                            ArrayRef<StridedLoop> loops, unsigned loop) {
  if (loops.empty() || !loops.back().step[0].is(1))
    return 1;
  const KernelOperand &operand = k.operands[argument.getArgNumber()];
  unsigned width = operand.alignment(
      8, [&](unsigned dimension) { return plan.dims.lookup(argument)[dimension] == int(loop); });
  while (width > 1 && !loops.back().size.divides(width))
    width /= 2;
  return width;
}

static bool isAsynchronous(const AttentionShape &shape, unsigned vector) {
  return shape.hasAsyncCopies && vector >= 2;
}

/// Starts an access and, if it goes through registers, ends it.
static void listAccess(TileCopy &copy, unsigned number, Value stage, uint32_t beyond,
                       const TileCopy::Step &step, bool asynchronous, SmallVectorImpl<Work> &work) {
  Work start = copy.issue(number, stage, step, beyond);
  if (asynchronous) {
    work.push_back(start);
    return;
  }
  Work end = copy.put(number, stage, beyond);
  work.push_back([=] {
    start();
    end();
  });
}

KeyTiles::KeyTiles(KernelFunction &kernel, const AttentionShape &shape, BlockArgument argument,
                   unsigned head)
    : k(kernel), d(kernel.d), s(shape), argument(argument),
      heads(walk(k, s.plan, argument, {head})), keys(walk(k, s.plan, argument, s.plan.keys)),
      vector(vectorAlong(k, s.plan, argument, heads, head)),
      keysTogether(s.keys == 64 && vector == 1 && !keys.empty() && keys.back().step[0].is(1)),
      shared(int(AttentionShape::tileColumns(s.plan.loops[head].size)), int(s.keys), 2,
             keysTogether),
      copy(d, shared, source(), int(s.threads())) {}

TileCopy::Source KeyTiles::source() {
  if (keysTogether)
    vector = vectorAlong(k, s.plan, argument, keys, s.plan.keys.front());
  return {0, heads, keys, vector, isAsynchronous(s, vector), int(s.stages)};
}

void KeyTiles::prepare(Value base, Value thread, Value lane, bool sumsHead) {
  copy.prepare(k.operands[argument.getArgNumber()].pointer, base, d.ix(0), thread);
  // Lane 8q + r points at row r of matrix q; bit 0 of q is the other half of what is summed, bit 1
  // the next eight columns.
  SmallVector<uint32_t> images;
  for (uint32_t row : {1, 2, 4})
    images.push_back(keysTogether ? shared.place(row, 0) : shared.place(0, row));
  images.push_back(sumsHead ? shared.place(8, 0) : shared.place(0, 8));
  images.push_back(sumsHead ? shared.place(0, 8) : shared.place(8, 0));
  laneByte = d.applyLinear(lane, images);
  transposed = sumsHead == keysTogether;
}

void KeyTiles::list(Value stage, uint32_t beyond, Value running, Value number, Value count,
                    SmallVectorImpl<Work> &work) {
  TileCopy::Step step{running, d.mul(d.widen(number), int64_t(s.keys)), d.less(number, count)};
  for (unsigned i = 0; i < copy.count(); ++i)
    listAccess(copy, i, stage, beyond, step, isAsynchronous(s, vector), work);
}

SmallVector<Value, 4> KeyTiles::read(Value stage, unsigned key, unsigned head) {
  SmallVector<Value, 4> registers(4);
  Value address = SharedTile::at(d, d.add(stage, laneByte), shared.place(head, key));
  loadMatrices(d, address, transposed, registers);
  return registers;
}

QueryTile::QueryTile(KernelFunction &kernel, const AttentionShape &shape)
    : k(kernel), d(kernel.d), s(shape), rows(walk(k, s.plan, s.plan.query, s.plan.rows)),
      heads(walk(k, s.plan, s.plan.query, {s.plan.depth})),
      vector(vectorAlong(k, s.plan, s.plan.query, heads, s.plan.depth)),
      shared(int(s.queries), 64, 2, /*alongK=*/true), copy(d, shared, source(), int(s.threads())) {}

TileCopy::Source QueryTile::source() {
  return {0, rows, heads, vector, isAsynchronous(s, vector), int(panels())};
}

void QueryTile::prepare(Value base, Value firstRow, Value thread, Value lane, Value warp) {
  copy.prepare(k.operands[s.plan.query.getArgNumber()].pointer, base, firstRow, thread);
  SmallVector<uint32_t> images;
  for (uint32_t row : {1, 2, 4, 8})
    images.push_back(shared.place(row, 0));
  images.push_back(shared.place(0, 8));
  SmallVector<uint32_t> warps;
  for (unsigned first = s.rowsOfWarp(); first < s.queries; first *= 2)
    warps.push_back(shared.place(first, 0));
  laneByte =
      d.b.createOrFold<arith::XOrIOp>(d.applyLinear(lane, images), d.applyLinear(warp, warps));
}

void QueryTile::list(Value at, SmallVectorImpl<Work> &work) {
  for (unsigned panel = 0; panel < panels(); ++panel) {
    TileCopy::Step step{copy.advance(copy.start(), int(panel)), d.ix(64 * panel), {}};
    Value stage = d.add(at, int64_t(panel) * shared.bytes());
    for (unsigned i = 0; i < copy.count(); ++i)
      listAccess(copy, i, stage, 0, step, isAsynchronous(s, vector), work);
  }
}

SmallVector<Value, 4> QueryTile::read(Value at, unsigned row, unsigned head) {
  SmallVector<Value, 4> registers(4);
  const int64_t panel = int64_t(head / 64) * shared.bytes();
  Value address = SharedTile::at(d, d.add(at, laneByte), shared.place(row, head % 64));
  loadMatrices(d, d.add(address, panel), /*transposed=*/false, registers);
  return registers;
}
