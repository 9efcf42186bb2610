// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits guarded stores of accumulators.

#include "EpilogueStore.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mp/Layouts/Fragments.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::layouts;

namespace {

class Stores {
public:
  Stores(DeviceBuilder &d, const ResultTile &result, Value pointer)
      : d(d), result(result), pointer(pointer) {}

  void storeRow(ArrayRef<std::pair<Value, ArrayRef<Value>>> pairs, Value row, Value base) {
    OpBuilder::InsertionGuard guard(d.b);
    enterIf(bound(row, result.m, result.tileM));
    Value rowOffset = d.add(base, offsetOf(d, 2, result.m, row));
    for (auto [column, pair] : pairs)
      result.paired ? storePair(pair, rowOffset, column) : storeSingly(pair, rowOffset, column);
  }

private:
  /// Tests whether a row or column is inside; null if it certainly is.
  Value bound(Value position, ArrayRef<StridedLoop> group, int tile) {
    return dividesExtent(group, tile) ? Value() : d.less(position, extentOf(d, group));
  }
  void enterIf(Value condition) {
    if (!condition)
      return;
    auto branch = scf::IfOp::create(d.b, condition, /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
  }
  Value sum(Value x, Value y) {
    if (isa<IntegerType>(getElementTypeOrSelf(x.getType())))
      return arith::AddIOp::create(d.b, x, y);
    return arith::AddFOp::create(d.b, x, y);
  }
  void store(Value value, Value rowOffset, Value column, unsigned alignment) {
    Value place = d.advance(pointer, d.add(rowOffset, offsetOf(d, 2, result.n, column)), 4);
    if (!result.fresh)
      value = sum(d.load(value.getType(), place, alignment), value);
    d.store(value, place, alignment);
  }
  void storePair(ArrayRef<Value> pair, Value rowOffset, Value column) {
    OpBuilder::InsertionGuard guard(d.b);
    enterIf(bound(column, result.n, result.tileN));
    Value both = LLVM::UndefOp::create(d.b, VectorType::get({2}, pair[0].getType()));
    for (int i = 0; i < 2; ++i)
      both = LLVM::InsertElementOp::create(d.b, both, pair[i], d.i32(i));
    store(both, rowOffset, column, 8);
  }
  void storeSingly(ArrayRef<Value> pair, Value rowOffset, Value column) {
    for (int i = 0; i < 2; ++i) {
      OpBuilder::InsertionGuard guard(d.b);
      Value here = d.add(column, int64_t(i));
      enterIf(bound(here, result.n, result.tileN));
      store(pair[i], rowOffset, here, 4);
    }
  }

  DeviceBuilder &d;
  const ResultTile &result;
  Value pointer;
};

} // namespace

void mlir::mp::storeAccumulators(DeviceBuilder &d, const ResultTile &result, ArrayRef<Value> sums,
                                 int warpM, int warpN, Value pointer, Value base, Value row,
                                 Value column, Value lane) {
  const LinearLayout fragment = mmaC(16);
  SmallVector<uint32_t> rows, columns;
  for (unsigned bit = 0; bit < 5; ++bit) {
    Point image = fragment.image(Dim::Lane, bit);
    rows.push_back(image[Dim::Row]);
    columns.push_back(image[Dim::Column]);
  }
  Value laneRow = d.add(row, d.widen(d.applyLinear(lane, rows)));
  Value laneColumn = d.add(column, d.widen(d.applyLinear(lane, columns)));
  Stores stores(d, result, pointer);
  const int tilesN = warpN / 8;
  for (int tileM = 0; tileM < warpM / 16; ++tileM)
    for (uint32_t first : {0, 2}) {
      SmallVector<std::pair<Value, ArrayRef<Value>>> pairs;
      for (int tileN = 0; tileN < tilesN; ++tileN)
        pairs.push_back({d.add(laneColumn, int64_t(tileN * 8)),
                         sums.slice((tileM * tilesN + tileN) * 4 + first, 2)});
      int64_t down = tileM * 16 + fragment.apply(Point{{Dim::Register, first}})[Dim::Row];
      stores.storeRow(pairs, d.add(laneRow, down), base);
    }
}
