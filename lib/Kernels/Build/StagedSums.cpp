// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the stores of fragments and the loads of rows.

#include "StagedSums.h"

#include "Elements.h"
#include "EpilogueStore.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;

Value StagedSums::pointer(Value row, Value column) const {
  Value chunk = d.mul(d.rem(d.div(row, exchange.rows), exchange.chunks), exchange.words);
  Value exchanged = d.b.createOrFold<arith::XOrIOp>(column, chunk);
  return d.sharedPointer(d.add(base, d.mul(d.add(d.mul(row, n), exchanged), 4)));
}

void StagedSums::put(ArrayRef<Value> sums, int warpM, int warpN, Value warpRow, Value warpColumn,
                     Value lane, Value slice) const {
  auto [laneRow, laneColumn] = placeOfLane(d, lane);
  Value row = d.add(d.mul(warpRow, warpM), laneRow);
  Value column = d.add(d.mul(warpColumn, warpN), laneColumn);
  const int tiles = warpN / 8;
  if (slice) // its tile begins with rows behind those of the slices before; m is a multiple of 4
    row = d.add(row, d.mul(slice, m));
  for (int t = 0; t < tiles; ++t) {
    // Rows of a lane differ by multiples of 8, which exchange alike.
    Value first = pointer(row, d.add(column, int64_t(8) * t));
    for (int i = 0; i < warpM / 8; ++i) {
      const size_t sum = (size_t(i / 2) * tiles + t) * 4 + i % 2 * 2;
      d.store(packVector(d, sums.slice(sum, 2)), d.advanceBytes(first, int64_t(32) * i * n), 8);
    }
  }
}

SmallVector<Value> mlir::mp::addParts(DeviceBuilder &d, SmallVector<SmallVector<Value>> parts) {
  for (size_t distance = 1; distance < parts.size(); distance *= 2)
    for (size_t i = 0; i + distance < parts.size(); i += 2 * distance)
      for (auto [sum, other] : llvm::zip_equal(parts[i], parts[i + distance]))
        sum = isa<IntegerType>(sum.getType()) ? d.add(sum, other)
                                              : arith::AddFOp::create(d.b, sum, other).getResult();
  return parts.front();
}

/// The four sums at `pointer` of the first slice's tile.
SmallVector<Value> StagedSums::whole(Value pointer, Type type) const {
  SmallVector<SmallVector<Value>> parts;
  for (int slice = 0; slice < slices; ++slice) {
    Value loaded =
        d.load(VectorType::get({4}, type), d.advanceBytes(pointer, int64_t(4) * slice * m * n), 16);
    SmallVector<Value> &part = parts.emplace_back();
    for (int q = 0; q < 4; ++q)
      part.push_back(LLVM::ExtractElementOp::create(d.b, loaded, d.i32(q)));
  }
  return addParts(d, std::move(parts));
}

void StagedSums::enterBusy(Value thread) const {
  const int busy = rowsAtOnce(m, n, threads) * (n / 4);
  if (busy == threads)
    return;
  auto branch = scf::IfOp::create(d.b, d.less(thread, d.i32(busy)), /*withElseRegion=*/false);
  d.b.setInsertionPointToStart(branch.thenBlock());
}

void StagedSums::put(ArrayRef<Value> sums, ArrayRef<Value> rows, ArrayRef<Value> columns) const {
  for (Value row : rows)
    for (size_t j = 0; j < columns.size(); j += 4) {
      d.store(packVector(d, sums.take_front(4)), pointer(row, columns[j]), 16);
      sums = sums.drop_front(4);
    }
}

StagedSums::Turn StagedSums::get(Value number, Value thread, Type type) const {
  const int perRow = n / 4, atOnce = rowsAtOnce(m, n, threads);
  Turn turn;
  Value column = d.mul(d.rem(thread, perRow), 4);
  for (int64_t i = 0; i < 4; ++i)
    turn.columns.push_back(d.add(column, i));
  Value first = d.add(d.mul(number, int64_t(atOnce) * rowsOfTurn()), d.div(thread, perRow));
  for (int i = 0; i < rowsOfTurn(); ++i) {
    turn.rows.push_back(d.add(first, int64_t(atOnce) * i));
    turn.sums.push_back(whole(pointer(turn.rows.back(), column), type));
  }
  return turn;
}
