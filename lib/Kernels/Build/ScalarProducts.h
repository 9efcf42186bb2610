// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of tiles on the scalar units: each thread has a block of sums in registers, and adds to
// each of them a product at a time, in ascending order, as a loop over the whole sum would.

#ifndef MP_LIB_KERNELS_BUILD_SCALARPRODUCTS_H
#define MP_LIB_KERNELS_BUILD_SCALARPRODUCTS_H

#include "SharedTile.h"
#include "TileProducts.h"

namespace mlir::mp {

/// A warp multiplies `warpM` rows of A by `warpN` columns of B, as 8 x 4 lanes. A multiplication
/// and an addition that rounds on its own: the bits of a loop.
class ScalarProducts : public TileProducts {
public:
  ScalarProducts(DeviceBuilder &device, Type type, const SharedTile &a, const SharedTile &b,
                 int warpM, int warpN);

  /// There are no slices: a sum is added up by one thread.
  void prepare(Value lane, Value warpRow, Value warpColumn, Value slice) override;
  int parts() const override { return a.tile.k() / kPartDepth; }
  /// The sum of row i and column j of a lane is at i columns + j.
  int accumulators() const override { return a.count * b.count; }
  Type accumulatorType() override { return type; }
  int fragmentRegisters() const override { return (a.count + b.count) * kPartDepth; }
  void read(Value stage, int part, Fragments &into, SmallVectorImpl<Work> &loads) override;
  void multiply(ArrayRef<Value> fragments, int part, MutableArrayRef<Value> sums,
                ArrayRef<Work> between) override;

  /// The lane's rows and columns in the block's tile; four columns at a time are neighbours.
  SmallVector<Value> rows() const { return placesOf(a); }
  SmallVector<Value> columns() const { return placesOf(b); }
  unsigned accumulator(unsigned row, unsigned column) const { return row * b.count + column; }
  /// Rows of a lane that lie together; lanes lie `rowRun()` rows apart.
  int rowRun() const { return a.run; }

private:
  /// Products of one part.
  static constexpr int kPartDepth = 2;

  struct Operand {
    const SharedTile &tile;
    int count;         ///< rows or columns of a lane
    int run;           ///< of which so many are neighbours
    int lanes;         ///< side by side
    unsigned firstBit; ///< of the lane's number
    int warpSize;      ///< rows or columns of a warp
    uint32_t base;     ///< of the tile in its stage, bytes
    Value laneByte = {}, lanePlace = {};

    /// Place `i` of a lane beyond its first.
    int place(int i) const { return i % run + i / run * run * lanes; }
  };

  void prepare(Operand &operand, Value lane, Value warp);
  SmallVector<Value> placesOf(const Operand &operand) const;
  void read(const Operand &operand, Value stage, int part, MutableArrayRef<Value> into,
            SmallVectorImpl<Work> &loads);

  DeviceBuilder &d;
  Type type;
  Operand a, b;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_SCALARPRODUCTS_H
