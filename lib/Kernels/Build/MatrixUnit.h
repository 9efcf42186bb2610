// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix units as kernels use them: fragments of a stage's tiles, products of fragments into
// accumulators. mma.sync is the first; wgmma, whose operands stay in shared memory, fits the same
// calls (TileProducts).

#ifndef MP_LIB_KERNELS_BUILD_MATRIXUNIT_H
#define MP_LIB_KERNELS_BUILD_MATRIXUNIT_H

#include "SharedTile.h"
#include "TileProducts.h"
#include "mp/Kernels/MmaSelection.h"

namespace mlir::mp {

/// The metadata that a lane gives to a sparse instruction.
struct Metadata {
  Value word; ///< null: A is dense
  int selector = 0;
};
/// sums += rows columns, one instruction: a lane's registers of A and B, four of the sums.
void multiplyAdd(DeviceBuilder &d, const MmaInstruction &instruction, ArrayRef<Value> rows,
                 ArrayRef<Value> columns, MutableArrayRef<Value> sums, Metadata metadata = {});
/// ldmatrix of as many matrices of 8x8 16-bit elements as `into` has registers.
void loadMatrices(DeviceBuilder &d, Value address, bool transposed, MutableArrayRef<Value> into);

/// mma.sync: a warp multiplies `warpM` rows of A by `warpN` columns of B, in one of `slices` equal
/// slices of the tiles along k. `metadata` of a sparse A lies behind A and B: SparseRows::words of
/// each 16 rows.
class MmaSync : public TileProducts {
public:
  MmaSync(DeviceBuilder &device, const MmaInstruction &instruction, const SharedTile &a,
          const SharedTile &b, int warpM, int warpN, int slices = 1,
          const SharedTile *metadata = nullptr);

  void prepare(Value lane, Value warpRow, Value warpColumn, Value slice) override;

  /// One instruction's k each.
  int parts() const override { return b.tile.k() / slices / instruction.k; }
  int tilesM() const { return warpM / instruction.m; }
  int tilesN() const { return warpN / instruction.n; }
  /// Registers i of tile (m, n) are at ((m tilesN + n) 4 + i).
  int accumulators() const override { return tilesM() * tilesN() * 4; }
  Type accumulatorType() override;

  /// 32-bit registers of A, tile after tile, then of B, then of metadata.
  int fragmentRegisters() const override {
    return a.registers() + b.registers() + (metadata ? tilesM() : 0);
  }

  void read(Value stage, int part, Fragments &into, SmallVectorImpl<Work> &loads) override;
  void multiply(ArrayRef<Value> fragments, int part, MutableArrayRef<Value> sums,
                ArrayRef<Work> between) override;

private:
  struct Operand {
    const SharedTile &tile;
    mpcore::layouts::LinearLayout fragment; ///< (register, lane) to (outer, k) of one instruction
    int size;                               ///< along the outer dimension, of an instruction
    int k;                                  ///< elements of a row in an instruction
    int tiles;                              ///< instructions along it
    int registersPerTile;
    uint32_t base;  ///< of the tile in its stage, bytes
    Value laneByte; ///< of the lane's first element

    int registers() const { return tiles * registersPerTile; }
    uint32_t place(mpcore::layouts::Point point, int tile, int k) const;
  };

  bool usesLdmatrix(const Operand &operand) const {
    return operand.tile.alongK() || instruction.elementBits == 16;
  }
  int matricesPerLoad(const Operand &operand) const;
  void prepare(Operand &operand, Value lane, Value warp, int warpSize, Value slice);
  void read(Operand &operand, Value stage, int part, MutableArrayRef<Value> into,
            SmallVectorImpl<Work> &loads);
  Value gather(const Operand &operand, Value base, int tile, int number, int part);
  void prepareMetadata(Value lane, Value warpRow, Value slice);
  Value readMetadata(Value stage, int tile, int part);

  DeviceBuilder &d;
  const MmaInstruction &instruction;
  int warpM, warpN, slices;
  Operand a, b;
  const SharedTile *metadata;
  Value metadataByte; ///< of the lane's first word
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_MATRIXUNIT_H
