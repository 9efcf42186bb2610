// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operand's tile on its way: global memory, registers, padded shared memory, fragments.

#ifndef MP_LIB_KERNELS_EMIT_STAGING_H
#define MP_LIB_KERNELS_EMIT_STAGING_H

#include "GemmBuilder.h"

namespace mlir::mp {

class OperandStaging {
public:
  /// `operand`: A or B. `shared`: the start of its two buffers. `outerStart`: first row (A) or
  /// column (B) of the block's tile. `warpStart`: that of the warp inside the tile (i32).
  OperandStaging(GemmBuilder &device, const GemmPlan &plan, FragmentOperand operand);

  /// Bytes of one buffer, a multiple of 16.
  int64_t bufferBytes() const;

  /// Address arithmetic that does not change along the reduction.
  void prepare(Value global, Value shared, Value baseOffset, Value outerStart, Value thread,
               Value lane, Value warpStart);

  /// Reads the tile that starts at `kStart`; zeros beyond the ends.
  SmallVector<Value> load(Value kStart);
  /// Writes what `load` gave to buffer number `buffer` (i32, 0 or 1).
  void store(ArrayRef<Value> values, Value buffer);
  /// Fragments of all instruction tiles of the warp for k step `step`: [tile][register], i32 each.
  SmallVector<SmallVector<Value>> fragments(Value buffer, int step);

private:
  struct Access {
    Value outerOk;      ///< null if certainly inside
    Value outerOffset;  ///< elements from the operand's base
    Value kLocal;       ///< within the tile
    Value sharedOffset; ///< elements from the buffer's start
  };

  int outerSize() const { return isA ? plan.tile.m : plan.tile.n; }
  int warpSize() const { return isA ? plan.tile.warpM() : plan.tile.warpN(); }
  int instructionOuter() const { return isA ? plan.instruction->m : plan.instruction->n; }
  int outerOf(FragmentPosition p) const { return isA ? p.row : p.column; }
  int kOf(FragmentPosition p) const { return isA ? p.column : p.row; }
  int elementBytes() const { return plan.instruction->elementBits / 8; }
  ArrayRef<GemmLoop> outerLoops() const { return isA ? plan.m : plan.n; }
  int rowStride() const;
  /// Elements from the buffer's start to (outer, k).
  int64_t place(int outer, int k) const;
  bool usesLdmatrix() const { return stage.alongK || elementBytes() == 2; }
  int matricesPerLoad() const;
  void prepareFragments(Value lane, Value warpStart);
  Value bufferStart(Value buffer);
  SmallVector<Value> loadMatrices(Value start, int count);
  Value gatherRegister(Value start, int tile, int number, int k);

  GemmBuilder &d;
  const GemmPlan &plan;
  FragmentOperand operand;
  bool isA;
  StagingPlan stage;
  Value global, shared, laneOffset;
  SmallVector<Access> accesses;
  Value inTile; ///< null if every thread has something to load
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_STAGING_H
