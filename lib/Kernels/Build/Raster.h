// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which blocks take tiles of the result.

#ifndef MP_LIB_KERNELS_BUILD_RASTER_H
#define MP_LIB_KERNELS_BUILD_RASTER_H

#include "DeviceBuilder.h"

namespace mlir::mp {

struct TilePosition {
  Value batch, row, column; ///< numbers of tiles
};

/// Tiles of a batch in groups of kRowsOfGroup rows of tiles, columns first within a group: blocks
/// that run at once read a square of operands rather than a strip, so that L2 serves more of them.
inline TilePosition rasterize(DeviceBuilder &d, Value block, Value rowTiles, Value columnTiles) {
  constexpr int64_t kRowsOfGroup = 8;
  Value perBatch = d.mul(rowTiles, columnTiles);
  Value inBatch = d.rem(block, perBatch);
  Value perGroup = d.mul(columnTiles, kRowsOfGroup);
  Value firstRow = d.mul(d.div(inBatch, perGroup), kRowsOfGroup);
  Value inGroup = d.rem(inBatch, perGroup);
  Value rows = d.min(d.sub(rowTiles, firstRow), d.ix(kRowsOfGroup)); // the last group has fewer
  return {d.div(block, perBatch), d.add(firstRow, d.rem(inGroup, rows)), d.div(inGroup, rows)};
}

/// Returns, of the values of several products, those of number `product`.
inline SmallVector<Value> chooseProduct(DeviceBuilder &d, Value product,
                                        ArrayRef<SmallVector<Value>> values) {
  SmallVector<Value> chosen = values.front();
  for (auto [number, other] : llvm::enumerate(values.drop_front())) {
    Value isOther = d.equal(product, d.ix(int64_t(number) + 1));
    for (auto [value, own] : llvm::zip_equal(chosen, other))
      value = d.select(isOther, own, value);
  }
  return chosen;
}

/// The product that a block of several works for, and which of its blocks it is: `counts` says how
/// many each has.
inline std::pair<Value, Value> findProduct(DeviceBuilder &d, Value block, ArrayRef<Value> counts) {
  Value product = d.ix(0), first = d.ix(0), end = d.ix(0);
  for (auto [number, count] : llvm::enumerate(counts.drop_back())) {
    end = d.add(end, count);
    Value isBehind = d.less(end, d.add(block, int64_t(1)));
    product = d.select(isBehind, d.ix(int64_t(number) + 1), product);
    first = d.select(isBehind, end, first);
  }
  return {product, d.sub(block, first)};
}

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_RASTER_H
