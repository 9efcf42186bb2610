// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the loads of a lane's rows and columns, and the products of all of them.

#include "ScalarProducts.h"

using namespace mlir;
using namespace mlir::mp;

/// Lanes side by side along rows. Those are bits 0 to 2 of a lane's number, so that the lanes of a
/// phase of an access to A differ in their rows and read the same columns of B.
static constexpr int kLanesM = 8, kLanesN = 4;
static constexpr int kRun = 4; ///< columns that are stored at once

/// Rows along k are read one by one: neighbouring lanes then have neighbouring rows, which the
/// tile's exchange of chunks puts into different banks. Across, a run of rows is one access.
static int rowRun(const SharedTile &tile, int count) {
  return tile.alongK() ? 1 : std::min(kRun, count);
}

ScalarProducts::ScalarProducts(DeviceBuilder &device, Type type, const SharedTile &a,
                               const SharedTile &b, int warpM, int warpN)
    : d(device), type(type),
      a{a, warpM / kLanesM, ::rowRun(a, warpM / kLanesM), kLanesM, 0, warpM, 0},
      b{b, warpN / kLanesN, kRun, kLanesN, 3, warpN, a.bytes()} {}

void ScalarProducts::prepare(Value lane, Value warpRow, Value warpColumn, Value) {
  prepare(a, lane, warpRow);
  prepare(b, lane, warpColumn);
}

void ScalarProducts::prepare(Operand &operand, Value lane, Value warp) {
  SmallVector<uint32_t> bytes(operand.firstBit, 0), places(operand.firstBit, 0);
  for (int i = 1; i < operand.lanes; i *= 2) {
    places.push_back(i * operand.run);
    bytes.push_back(operand.tile.place(places.back(), 0));
  }
  SmallVector<uint32_t> warpBytes;
  for (int first = operand.warpSize; first < operand.tile.outer(); first *= 2)
    warpBytes.push_back(operand.tile.place(first, 0));
  Value byte =
      d.b.createOrFold<arith::XOrIOp>(d.applyLinear(lane, bytes), d.applyLinear(warp, warpBytes));
  operand.laneByte = d.add(byte, int64_t(operand.base));
  operand.lanePlace = d.add(d.applyLinear(lane, places), d.mul(warp, int64_t(operand.warpSize)));
}

SmallVector<Value> ScalarProducts::placesOf(const Operand &operand) const {
  SmallVector<Value> places;
  for (int i = 0; i < operand.count; ++i)
    places.push_back(d.add(operand.lanePlace, int64_t(operand.place(i))));
  return places;
}

void ScalarProducts::read(Value stage, int part, Fragments &into, SmallVectorImpl<Work> &loads) {
  into.assign(fragmentRegisters(), Value());
  MutableArrayRef<Value> all(into);
  read(a, stage, part, all.take_front(a.count * kPartDepth), loads);
  read(b, stage, part, all.drop_front(a.count * kPartDepth), loads);
}

/// Element k of place i goes to k count + i.
void ScalarProducts::read(const Operand &operand, Value stage, int part,
                          MutableArrayRef<Value> into, SmallVectorImpl<Work> &loads) {
  Value base = d.add(stage, operand.laneByte);
  const unsigned bytes = operand.tile.elementBytes();
  auto load = [this, base, bytes, &operand, into](int i, int k, int part, int width, int stride) {
    const uint32_t offset = operand.tile.place(operand.place(i), part * kPartDepth + k);
    Value loaded = d.load(VectorType::get({width}, type),
                          d.sharedPointer(SharedTile::at(d, base, offset)), width * bytes);
    for (int e = 0; e < width; ++e)
      into[k * operand.count + i + e * stride] =
          LLVM::ExtractElementOp::create(d.b, loaded, d.i32(e));
  };
  if (operand.tile.alongK()) {
    for (int i = 0; i < operand.count; ++i)
      loads.push_back([=, count = operand.count] { load(i, 0, part, kPartDepth, count); });
    return;
  }
  for (int k = 0; k < kPartDepth; ++k)
    for (int i = 0; i < operand.count; i += operand.run)
      loads.push_back([=, run = operand.run] { load(i, k, part, run, 1); });
}

void ScalarProducts::multiply(ArrayRef<Value> fragments, int part, MutableArrayRef<Value> sums,
                              ArrayRef<Work> between) {
  const size_t products = size_t(accumulators()) * kPartDepth;
  size_t done = 0, number = 0;
  for (int k = 0; k < kPartDepth; ++k) {
    ArrayRef<Value> rows = fragments.slice(k * a.count, a.count);
    ArrayRef<Value> columns = fragments.slice(a.count * kPartDepth + k * b.count, b.count);
    for (int i = 0; i < a.count; ++i)
      for (int j = 0; j < b.count; ++j, ++number) {
        while (done < between.size() && number * between.size() >= done * products)
          between[done++]();
        Value &sum = sums[accumulator(i, j)];
        Value product = arith::MulFOp::create(d.b, rows[i], columns[j]);
        sum = arith::AddFOp::create(d.b, sum, product);
      }
  }
  for (; done < between.size(); ++done)
    between[done]();
}
