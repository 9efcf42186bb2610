// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles of one stage of a contraction kernel, one after the other, and the copies that fill
// them: of A, of B and, where A is sparse, of its metadata.

#ifndef MP_LIB_KERNELS_EMIT_STAGECOPIES_H
#define MP_LIB_KERNELS_EMIT_STAGECOPIES_H

#include "../Build/Raster.h"
#include "../Build/TileCopy.h"
#include "GemmPlan.h"

namespace mlir::mp {

class StageCopies {
public:
  StageCopies(DeviceBuilder &device, const GemmPlan &plan);

  const SharedTile &a() const { return operands[0]->tile; }
  const SharedTile &b() const { return operands[1]->tile; }
  /// The tile of metadata of a sparse A; null if A is dense.
  const SharedTile *metadata() const { return operands.size() > 2 ? &operands[2]->tile : nullptr; }
  uint32_t bytes() const;

  /// Steps of a block, the last excluded, where several share the sum; null where none do.
  struct Steps {
    Value begin, end;
  };
  /// Arithmetic that does not change from step to step; `base` of each operand in this batch.
  void prepare(ArrayRef<Value> pointers, ArrayRef<Value> base, const TilePosition &position,
               Value thread, ArrayRef<Value> paddedBatch, const Steps &steps);

  /// Pointers of a step, null where offsets along k are computed anew each step.
  using Pointers = SmallVector<Value, 3>;
  Pointers start() const;
  Pointers advance(const Pointers &running, int steps);

  /// The copies of one step, access by access.
  struct Accesses {
    SmallVector<Work> start, put;

    /// Share `part` of `parts` of a list.
    static ArrayRef<Work> share(ArrayRef<Work> list, int part, int parts) {
      const size_t each = llvm::divideCeil(list.size(), parts);
      return list.drop_front(std::min(list.size(), part * each)).take_front(each);
    }
  };
  /// Copies step `number` of the sum (i32), which is one if `exists`, to the stage at `stage`.
  Accesses list(Value stage, Value number, Value exists, const Pointers &running);

private:
  struct Operand {
    SharedTile tile;
    TileCopy copy;
    int outer;                 ///< rows or columns of a block's tile, as the operand counts them
    ArrayRef<StridedLoop> all; ///< loops of the sum
    Operand(DeviceBuilder &device, const SharedTile &shared, const TileCopy::Source &source,
            int threads)
        : tile(shared), copy(device, tile, source, threads), outer(tile.outer()), all(source.k) {}
  };
  TileCopy::Source sourceOf(unsigned operand, const SharedTile &tile);

  DeviceBuilder &d;
  const GemmPlan &plan;
  SmallVector<std::unique_ptr<Operand>, 3> operands;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_STAGECOPIES_H
