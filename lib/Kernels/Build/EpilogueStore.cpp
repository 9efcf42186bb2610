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

static unsigned storedBytes(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

std::pair<Value, Value> mlir::mp::placeOfLane(DeviceBuilder &device, Value lane) {
  const mpcore::layouts::LinearLayout fragment = mpcore::layouts::mmaC(16);
  SmallVector<uint32_t> rowImages, columnImages;
  for (unsigned bit = 0; bit < 5; ++bit) {
    mpcore::layouts::Point image = fragment.image(Dim::Lane, bit);
    rowImages.push_back(image[Dim::Row]);
    columnImages.push_back(image[Dim::Column]);
  }
  Value row = device.applyLinear(lane, rowImages);
  return {row, device.applyLinear(lane, columnImages)};
}

EpilogueStore::EpilogueStore(DeviceBuilder &device, const WarpTile &tile)
    : d(device), tile(tile), run(2) {
  auto [row, column] = placeOfLane(d, tile.lane);
  Value laneRow = d.add(tile.row, d.widen(row));
  Value laneColumn = d.add(tile.column, d.widen(column));
  for (int i = 0; i < tile.warpM / 8; ++i)
    addRow(d.add(laneRow, int64_t(8 * i)));
  for (int i = 0; i < tile.warpN / 4; ++i)
    addColumn(d.add(laneColumn, int64_t(8 * (i / 2) + i % 2)));
}

EpilogueStore::EpilogueStore(DeviceBuilder &device, const Tile &tile, Value row,
                             ArrayRef<Value> rows, Value column, ArrayRef<Value> columns)
    : d(device), tile(tile), run(4) {
  for (Value inTile : rows)
    addRow(d.add(row, d.widen(inTile)));
  for (Value inTile : columns)
    addColumn(d.add(column, d.widen(inTile)));
}

void EpilogueStore::addRow(Value position) {
  lineOfRow.push_back(line(position, tile.m, tile.tileM, /*alignment=*/1));
}

void EpilogueStore::addColumn(Value position) {
  const unsigned inRun = lineOfColumn.size() % run;
  lineOfColumn.push_back(line(position, tile.n, tile.tileN,
                              inRun == 0       ? run
                              : inRun % 2 == 0 ? 2
                                               : 1));
}

/// A position that is a multiple of `alignment` stays one when it is clamped, so that what is
/// accessed there at once is still aligned.
EpilogueStore::Line EpilogueStore::line(Value position, ArrayRef<StridedLoop> loops, int tile,
                                        int64_t alignment) {
  if (dividesExtent(loops, tile))
    return {position, position, Value(), Offsets()};
  Value extent = extentOf(d, loops);
  Value last = d.sub(extent, d.ix(1));
  if (alignment > 1)
    last = d.sub(last, d.rem(last, alignment));
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
  return d.advance(operand.pointer, d.add(operand.base, sum), storedBytes(operand.element));
}

SmallVector<Value> EpilogueStore::load(const ResultOperand &from, Point point) {
  Type memory = memoryType(d.b, from.element);
  const unsigned width = std::min(from.width, run);
  Value place = address(from, point.row, point.column / width * width);
  Type type = width == 1 ? memory : VectorType::get({int64_t(width)}, memory);
  Value loaded = d.load(type, place, width * storedBytes(from.element));
  if (width == 1)
    return {fromMemory(d, loaded, from.element)};
  SmallVector<Value> elements;
  for (unsigned i = 0; i < width; ++i)
    elements.push_back(
        fromMemory(d, LLVM::ExtractElementOp::create(d.b, loaded, d.i32(i)), from.element));
  return elements;
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
      for (unsigned column = 0; column < columns(); column += run)
        storeRun(operand, column, ArrayRef(values[result]).slice(column, run),
                 ArrayRef(places[result]).slice(column, run));
  }
}

void EpilogueStore::storeRun(const ResultOperand &to, unsigned column, ArrayRef<Value> values,
                             ArrayRef<Value> places) {
  const unsigned width = std::min(to.width, run);
  for (unsigned i = 0; i < run; i += width) {
    OpBuilder::InsertionGuard guard(d.b);
    enterIf(lineOfColumn[column + i].inside);
    d.store(packVector(d, values.slice(i, width)), places[i], width * storedBytes(to.element));
  }
}
