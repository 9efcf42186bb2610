// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits loads and guarded stores of a lane's part of a result.

#include "EpilogueStore.h"

#include "Elements.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mp/Layouts/Fragments.h"

using namespace mlir;
using namespace mlir::mp;
using mpcore::layouts::Dim;

static unsigned bytesOf(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

EpilogueStore::EpilogueStore(DeviceBuilder &device, const Tile &tile) : d(device), tile(tile) {
  const mpcore::layouts::LinearLayout fragment = mpcore::layouts::mmaC(16);
  SmallVector<uint32_t> rowImages, columnImages;
  for (unsigned bit = 0; bit < 5; ++bit) {
    mpcore::layouts::Point image = fragment.image(Dim::Lane, bit);
    rowImages.push_back(image[Dim::Row]);
    columnImages.push_back(image[Dim::Column]);
  }
  Value laneRow = d.add(tile.row, d.widen(d.applyLinear(tile.lane, rowImages)));
  Value laneColumn = d.add(tile.column, d.widen(d.applyLinear(tile.lane, columnImages)));
  for (unsigned i = 0; i < rows(); ++i)
    lineOfRow.push_back(line(d.add(laneRow, int64_t(8 * i)), tile.m, tile.tileM, /*even=*/false));
  for (unsigned i = 0; i < columns(); ++i)
    lineOfColumn.push_back(line(d.add(laneColumn, int64_t(8 * (i / 2) + i % 2)), tile.n, tile.tileN,
                                /*even=*/i % 2 == 0));
}

/// A position that is even stays even when it is clamped, so that a pair there is still aligned.
EpilogueStore::Line EpilogueStore::line(Value position, ArrayRef<StridedLoop> loops, int tile,
                                        bool even) {
  if (dividesExtent(loops, tile))
    return {position, position, Value(), Offsets()};
  Value extent = extentOf(d, loops);
  Value last = d.sub(extent, d.ix(1));
  if (even)
    last = d.sub(last, d.rem(last, 2));
  return {position, d.min(position, last), d.less(position, extent), Offsets()};
}

/// Positions beyond the end are clamped: what is read there is not stored, and what would be stored
/// there is not reached.
Value EpilogueStore::address(const ResultOperand &operand, unsigned row, unsigned column) {
  auto offset = [&](Line &line, ArrayRef<StridedLoop> loops) {
    Value &known = line.offsets[operand.operand];
    if (!known)
      known = offsetOf(d, operand.operand, loops, line.clamped);
    return known;
  };
  Value sum = d.add(offset(lineOfRow[row], tile.m), offset(lineOfColumn[column], tile.n));
  return d.advance(operand.pointer, d.add(operand.base, sum), bytesOf(operand.element));
}

std::pair<Value, Value> EpilogueStore::load(const ResultOperand &from, Point point) {
  Type memory = memoryType(d.b, from.element);
  const unsigned bytes = bytesOf(from.element);
  if (!from.paired) {
    Value one = d.load(memory, address(from, point.row, point.column), bytes);
    return {fromMemory(d, one, from.element), Value()};
  }
  Value both = d.load(VectorType::get({2}, memory), address(from, point.row, point.column / 2 * 2),
                      2 * bytes);
  auto part = [&](int i) {
    return fromMemory(d, LLVM::ExtractElementOp::create(d.b, both, d.i32(i)), from.element);
  };
  Value first = part(0);
  return {first, part(1)};
}

void EpilogueStore::enterIf(Value condition) {
  if (!condition)
    return;
  auto branch = scf::IfOp::create(d.b, condition, /*withElseRegion=*/false);
  d.b.setInsertionPointToStart(branch.thenBlock());
}

void EpilogueStore::store(ArrayRef<ResultOperand> to,
                          function_ref<Value(unsigned result, Point)> value) {
  for (unsigned row = 0; row < rows(); ++row) {
    // All elements first: a value that was computed under a condition could not be used again.
    SmallVector<SmallVector<Value>> values(to.size());
    for (unsigned column = 0; column < columns(); ++column)
      for (unsigned result = 0; result < to.size(); ++result)
        values[result].push_back(toMemory(d, value(result, {row, column})));
    SmallVector<SmallVector<Value>> places(to.size());
    for (unsigned column = 0; column < columns(); ++column)
      for (auto [result, operand] : llvm::enumerate(to))
        places[result].push_back(address(operand, row, column));
    OpBuilder::InsertionGuard guard(d.b);
    enterIf(lineOfRow[row].inside);
    for (auto [result, operand] : llvm::enumerate(to))
      for (unsigned column = 0; column < columns(); column += 2)
        storePair(operand, column, ArrayRef(values[result]).slice(column, 2),
                  ArrayRef(places[result]).slice(column, 2));
  }
}

void EpilogueStore::storePair(const ResultOperand &to, unsigned column, ArrayRef<Value> values,
                              ArrayRef<Value> places) {
  const unsigned bytes = bytesOf(to.element);
  if (to.paired) {
    OpBuilder::InsertionGuard guard(d.b);
    enterIf(lineOfColumn[column].inside);
    d.store(packVector(d, values), places[0], 2 * bytes);
    return;
  }
  for (unsigned i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(d.b);
    enterIf(lineOfColumn[column + i].inside);
    d.store(values[i], places[i], bytes);
  }
}
