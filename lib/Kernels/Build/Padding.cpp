// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the bits of taps, and the tests of them.

#include "Padding.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr int64_t kMostTaps = 32; // bits of a register

Padding::Padding(DeviceBuilder &device, unsigned operand, ArrayRef<PaddedDim> all,
                 ArrayRef<StridedLoop> outerLoops, ArrayRef<StridedLoop> sumLoops)
    : d(device), outer(outerLoops), k(sumLoops), tapStep(sumLoops.size(), 0) {
  for (auto [number, dim] : llvm::enumerate(all))
    if (dim.operand == operand)
      dims.push_back({unsigned(number), dim});
  for (size_t loop = k.size(); loop-- > 0;) {
    const bool moves = llvm::any_of(
        dims, [&](const auto &dim) { return !k[loop].step[dim.second.coordinate].is(0); });
    if (!moves)
      continue;
    tapStep[loop] = tapCount;
    tapCount *= k[loop].size.isKnown() ? std::min(k[loop].size.value, kMostTaps + 1) : 1;
    if (!k[loop].size.isKnown() || tapCount > kMostTaps) {
      tapCount = kMostTaps + 1;
      break;
    }
  }
}

/// The index of each loop of the sum; beyond its end the first one's runs on.
SmallVector<Value> Padding::split(Value flat) {
  SmallVector<Value> indices(k.size());
  for (size_t i = k.size(); i-- > 0;) {
    indices[i] = i == 0 ? flat : d.rem(flat, d.ix(k[i].size));
    flat = i == 0 ? flat : d.div(flat, d.ix(k[i].size));
  }
  return indices;
}

/// Negative indices are large ones.
Value Padding::isIn(unsigned dim, Value index) {
  return d.less(index, d.ix(dims[dim].second.size));
}

Padding::Row Padding::row(Value position, ArrayRef<Value> batch) {
  Row row;
  for (const auto &[number, dim] : dims) {
    Value start = d.add(offsetOf(d, dim.coordinate, outer, position), dim.start);
    row.starts.push_back(d.add(start, batch[number]));
  }
  if (tapCount > kMostTaps)
    return row;
  row.taps = d.i32(0);
  for (int64_t tap = 0; tap < tapCount; ++tap) {
    Value valid;
    for (unsigned dim = 0; dim < dims.size(); ++dim) {
      int64_t moved = 0;
      for (size_t loop = 0; loop < k.size(); ++loop)
        if (tapStep[loop])
          moved += tap / tapStep[loop] % k[loop].size.value *
                   k[loop].step[dims[dim].second.coordinate].value;
      valid = d.logicalAnd(valid, isIn(dim, d.add(row.starts[dim], moved)));
    }
    Value bit = d.select(valid, d.i32(int32_t(uint32_t(1) << tap)), d.i32(0));
    row.taps = d.b.createOrFold<arith::OrIOp>(row.taps, bit);
  }
  row.starts.clear();
  return row;
}

Value Padding::inside(const Row &row, Value flat) {
  SmallVector<Value> indices = split(flat);
  if (row.taps) {
    Value tap = d.ix(0);
    for (auto [index, step] : llvm::zip_equal(indices, tapStep))
      if (step)
        tap = d.add(tap, d.mul(index, step));
    // Beyond the end of the sum there may be no such bit.
    tap = d.narrow(d.min(tap, d.ix(kMostTaps - 1)));
    Value bits = d.b.createOrFold<arith::ShRUIOp>(row.taps, tap);
    return d.equal(d.b.createOrFold<arith::AndIOp>(bits, d.i32(1)), d.i32(1));
  }
  Value valid;
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    Value at = row.starts[dim];
    for (auto [index, loop] : llvm::zip_equal(indices, k))
      if (const Size &step = loop.step[dims[dim].second.coordinate]; !step.is(0))
        at = d.add(at, d.mul(index, d.ix(step)));
    valid = d.logicalAnd(valid, isIn(dim, at));
  }
  return valid;
}
