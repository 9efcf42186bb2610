// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operand's tile on its way from global to shared memory, by cp.async or through registers.
// Elements that are wider in memory are narrowed in registers. Conditions are predicates: rows
// beyond the end read the last row, whose results nobody stores, or are zeros, products beyond the
// end of the sum are zeros, and what lies beyond the ends of a padded operand is its constant.

#ifndef MP_LIB_KERNELS_BUILD_TILECOPY_H
#define MP_LIB_KERNELS_BUILD_TILECOPY_H

#include "Padding.h"
#include "RoundTF32.h"
#include "SharedTile.h"
#include "StridedLoops.h"

#include <functional>

namespace mlir::mp {

/// Work that is placed between matrix products.
using Work = std::function<void()>;

class TileCopy {
public:
  struct Source {
    unsigned operand;            ///< 0: A, 1: B; the index of steps
    ArrayRef<StridedLoop> outer; ///< loops of rows (A) or columns (B)
    ArrayRef<StridedLoop> k;     ///< loops of the sum
    unsigned vector;             ///< elements in one access
    bool asynchronous;           ///< cp.async; accesses are then of 4, 8 or 16 bytes
    int stages;                  ///< of the ring: a shorter sum goes on with zeros, so that
                                 ///< each stage is written before fragments are read ahead
    /// Makes an element of the tile of an f32 in memory, and zero of zero; null: elements lie in
    /// memory as in the tile.
    std::function<Value(Value)> narrow = {};
    TF32Rounding rounding = TF32Rounding::None; ///< all that `narrow` does, if it is not None
    ArrayRef<PaddedDim> padded = {};            ///< of all operands
    unsigned splits = 1;                        ///< blocks that share the sum, a run of steps each
    bool zeroRows = false; ///< rows beyond the end are zeros: of few rows, those would be most
  };

  TileCopy(DeviceBuilder &device, const SharedTile &tile, const Source &source, int threads);

  /// Products of a block, where several share the sum; null where none do.
  struct Share {
    Value begin, end;
  };
  /// Arithmetic that does not change from step to step. `pointer + base` elements is the operand's
  /// first element of this batch; `outerStart` the block's first row or column; `paddedBatch` the
  /// index in each padded dimension that the batch gives.
  void prepare(Value pointer, Value base, Value outerStart, Value thread,
               ArrayRef<Value> paddedBatch = {}, const Share &share = {});

  /// Holds what the copy of one step needs; `kStart` is its first product, `running` the pointer
  /// that `prepare` and `advance` gave, null if offsets along k must be computed anew each step.
  struct Step {
    Value running;
    Value kStart;
    Value exists; ///< null: certainly
  };
  /// The pointer for the first step; null if it must be computed anew each step.
  Value start() const { return first; }
  /// The pointer `steps` steps on.
  Value advance(Value running, int steps);

  unsigned count() const { return accesses.size(); }
  /// The work of access `number`: starts its copy to the stage at `stage` (a 32-bit address) and
  /// `beyondStage` bytes, which instructions add themselves (multiples of 128), or loads to
  /// registers.
  Work issue(unsigned number, Value stage, const Step &step, uint32_t beyondStage = 0);
  /// The work that writes what access `number` loaded to registers; nothing for cp.async.
  Work put(unsigned number, Value stage, uint32_t beyondStage = 0);

private:
  struct Access {
    Value offset;              ///< bytes beyond `running`; null: computed anew each step
    int outer, k;              ///< within the tile, beside the thread's
    Value kLocal;              ///< within the tile; null for `threadK`
    uint32_t shared;           ///< a value of SharedTile::place
    Padding::Row row;          ///< where the operand is padded
    Value exists;              ///< of rows that are zeros beyond the end; null: certainly
    SmallVector<Value> loaded; ///< one, or pieces of at most 16 bytes that are to be narrowed
  };
  unsigned bytes() const { return source.vector * tile.elementBytes(); }
  /// Bytes of an element in global memory.
  int memoryBytes() const { return source.narrow ? 4 : tile.elementBytes(); }
  bool isLinearInK() const { return k.size() <= 1; }
  /// True if all accesses of a thread have the same products.
  bool sharesK() const { return accesses.front().k == accesses.back().k; }
  int64_t rowStep() const;
  int spacingOf(int perRow, int each) const;
  Value byteOffset(Value elements);
  Value clamped(Value position);
  Value outerOffset(Value position);
  Value address(const Access &access, const Step &step, Value k);
  Step existing(Step step);
  void copy(Value target, Value from, Value exists, Value inside);
  Value load(Value from, unsigned bytes, Value inside, Value otherwise);
  SmallVector<Value> loadAll(Value from, Value inside, Value otherwise);
  Value narrowed(ArrayRef<Value> pieces);
  void storeLoaded(Value loaded, Value target);
  void storeWords(ArrayRef<Value> words, Value target, Value exists);

  DeviceBuilder &d;
  const SharedTile &tile;
  Source source;
  SmallVector<StridedLoop> outer, k; ///< the source's, merged where the operand walks them as one
  Padding padding;
  int threads;
  uint32_t beyond = 0; ///< four bytes of what lies beyond the ends of what is padded
  int spacing = 0;     ///< rows from one access of a thread to the next; 0: as many as threads have
  SmallVector<Access> accesses;
  Value first, pointer, threadShared, threadOuter, kLimit;
  Value last;       ///< row or column that may be read; null: all of them
  Value active;     ///< null if every thread has something to copy
  bool endsInZeros; ///< a step may end within the tile, or the sum before the ring
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_TILECOPY_H
