// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of the tiles in a stage, as a ring of stages asks for them, whichever unit computes
// them.

#ifndef MP_LIB_KERNELS_BUILD_TILEPRODUCTS_H
#define MP_LIB_KERNELS_BUILD_TILEPRODUCTS_H

#include "TileCopy.h"

namespace mlir::mp {

class TileProducts {
public:
  /// Registers of A, then of B, that one part multiplies.
  using Fragments = SmallVector<Value>;

  virtual ~TileProducts() = default;

  /// Arithmetic that does not change from stage to stage. The warp's rows of A and columns of B
  /// begin at `warpRow` and `warpColumn` times those of a warp. `slice`: of the sum; null if there
  /// is one.
  virtual void prepare(Value lane, Value warpRow, Value warpColumn, Value slice) = 0;

  /// Parts of a step: those products whose fragments are read at once.
  virtual int parts() const = 0;
  /// Accumulators of a lane.
  virtual int accumulators() const = 0;
  virtual Type accumulatorType() = 0;
  virtual int fragmentRegisters() const = 0;

  /// Lists the loads of the fragments of part `part` from the stage at `stage`; they fill `into`,
  /// which must outlive them.
  virtual void read(Value stage, int part, Fragments &into, SmallVectorImpl<Work> &loads) = 0;
  /// sums += A B of part `part`. `between` is done between the products, evenly.
  virtual void multiply(ArrayRef<Value> fragments, int part, MutableArrayRef<Value> sums,
                        ArrayRef<Work> between) = 0;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_TILEPRODUCTS_H
