// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the range of tiles from the least and the largest index of the queries of a block.
//
// Probabilities beyond that range are zero in f32 beside a logit that exceeds theirs by 104. Minus
// infinity is below all; where the mask has a finite number, a block checks its rows' largest
// logits behind the loop and goes through all tiles if one of them is not that much larger.

#include "SeenTiles.h"

using namespace mlir;
using namespace mlir::mp;

/// False if the largest logit of a row shows that those that were not seen are nothing beside it.
Value SeenTiles::isUnclear(Value maximum) {
  // Beyond 2^-20 of its size a logit was rounded when its mask was scaled.
  const double least = bounds.hidden + std::max(128.0, -bounds.hidden * 0x1p-20);
  Value limit = arith::ConstantOp::create(d.b, d.b.getF32FloatAttr(float(least)));
  return arith::CmpFOp::create(d.b, arith::CmpFPredicate::ULE, maximum, limit);
}

SmallVector<Value> SeenTiles::goThrough(function_ref<Outcome(Value all)> go) {
  if (!bounds || std::isinf(bounds.hidden))
    return go({}).values;
  auto constant = [&](bool value) -> Value {
    return arith::ConstantOp::create(d.b, d.b.getBoolAttr(value));
  };
  // The types of results are known when the first region is.
  Value no = constant(false);
  OpBuilder::InsertPoint here = d.b.saveInsertionPoint();
  Region scratch;
  Block *first = d.b.createBlock(&scratch, {}, {d.b.getI1Type()}, {d.b.getLoc()});
  Value all = first->getArgument(0);
  Outcome outcome = go(all);
  Value unclear;
  for (Value maximum : outcome.maxima)
    unclear = d.logicalOr(unclear, isUnclear(maximum));
  Value again = anyThread(d, d.select(all, constant(false), unclear));
  scf::ConditionOp::create(d.b, again, outcome.values);
  d.b.restoreInsertionPoint(here);
  SmallVector<Type> types(ValueRange(outcome.values).getTypes());
  auto made = scf::WhileOp::create(d.b, types, ValueRange(no));
  made.getBefore().takeBody(scratch);
  d.b.createBlock(&made.getAfter(), {}, types, SmallVector<Location>(types.size(), d.b.getLoc()));
  scf::YieldOp::create(d.b, constant(true));
  d.b.setInsertionPointAfter(made);
  return llvm::to_vector_of<Value>(made.getResults());
}

/// The least and the largest index of the query among the rows of a block. Its loop may have others
/// inside (the heads of a group) and outside of it.
std::pair<Value, Value> SeenTiles::queries(Value firstRow, Value rows) {
  const size_t position = llvm::find(p.rows, bounds.query) - p.rows.begin();
  Value inner = k.extent(p, ArrayRef(p.rows).drop_front(position + 1));
  Value last = d.sub(d.min(d.add(firstRow, int64_t(s.queries)), rows), d.ix(1));
  Value from = d.div(firstRow, inner), to = d.div(last, inner);
  if (position == 0)
    return {from, to};
  Value size = k.extent(p, {bounds.query});
  Value isOneRun = d.equal(d.div(from, size), d.div(to, size));
  return {d.select(isOneRun, d.rem(from, size), d.ix(0)),
          d.select(isOneRun, d.rem(to, size), d.sub(size, d.ix(1)))};
}

/// x + by, at least zero.
Value SeenTiles::shifted(Value x, int64_t by) {
  if (by >= 0)
    return d.add(x, by);
  return d.select(d.less(x, d.ix(-by)), d.ix(0), d.sub(x, d.ix(-by)));
}

TileRange SeenTiles::shareOf(const TileRange &range, Value part, Value sharers) {
  Value count = d.sub(range.end, range.first);
  auto edge = [&](Value number) {
    return d.add(range.first, d.div(d.mul(number, count), sharers));
  };
  return {edge(part), edge(d.add(part, int64_t(1)))};
}

/// A share without tiles is at the first one, which exists.
TileRange SeenTiles::range(Value firstRow, Value rows, Value keys, Value all, Value part,
                           Value sharers) {
  Value count = tilesOf(d.add(keys, int64_t(s.keys) - 1));
  TileRange range = seenBy(firstRow, rows, keys, count);
  if (!part) {
    if (all && bounds)
      range = {d.select(all, d.i32(0), range.first), d.select(all, count, range.end)};
    return range;
  }
  if (!all) {
    range = shareOf(range, part, sharers);
  } else { // each block says for itself whether it needs all: shares are the same with and without
    const TileRange share = shareOf({d.i32(0), count}, part, sharers);
    auto within = [&](Value tile) {
      Value raised = d.b.createOrFold<arith::MaxUIOp>(tile, share.first);
      return d.min(raised, share.end);
    };
    range = {d.select(all, share.first, within(range.first)),
             d.select(all, share.end, within(range.end))};
  }
  Value isEmpty = d.equal(range.first, range.end);
  return {d.select(isEmpty, d.i32(0), range.first), d.select(isEmpty, d.i32(0), range.end)};
}

TileRange SeenTiles::seenBy(Value firstRow, Value rows, Value keys, Value count) {
  const int64_t tile = s.keys;
  TileRange range{d.i32(0), count};
  if (!bounds)
    return range;
  auto [least, largest] = queries(firstRow, rows);
  if (bounds.upper)
    range.end = tilesOf(d.add(d.min(shifted(d.add(largest, 1), *bounds.upper), keys), tile - 1));
  if (bounds.lower)
    range.first = d.min(tilesOf(shifted(least, *bounds.lower)), range.end);
  return range;
}
