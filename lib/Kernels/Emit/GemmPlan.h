// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans a contraction kernel before it is written: how loops map to rows, columns and reduction,
// where operands are contiguous, how wide they can be loaded, which tile to take.

#ifndef MP_LIB_KERNELS_EMIT_GEMMPLAN_H
#define MP_LIB_KERNELS_EMIT_GEMMPLAN_H

#include "../Plan/Size.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Kernels/FragmentLayout.h"
#include "mp/Target/TargetModel.h"

namespace mlir::mp {

/// One loop: its size and the step of A, B and C per iteration, in elements.
struct GemmLoop {
  Size size;
  std::array<Size, 3> step = {Size::known(0), Size::known(0), Size::known(0)};
};

/// The way one operand's tile travels from global to shared memory.
struct StagingPlan {
  bool alongK = true;  ///< rows of shared memory run along k (else along m or n)
  unsigned vector = 1; ///< elements in one access
};

/// Block tile and the warps in it.
struct TileShape {
  int m, n, k;
  int warpsM, warpsN;

  int threads() const { return 32 * warpsM * warpsN; }
  int warpM() const { return m / warpsM; }
  int warpN() const { return n / warpsN; }
};

struct GemmPlan {
  const MmaInstruction *instruction;
  SmallVector<GemmLoop> batch, m, n, k; ///< outermost first; neighbours merged where possible
  std::array<Size, 3> offset;           ///< of element zero of A, B, C from the base
  TileShape tile;
  StagingPlan stageA, stageB;
  /// Products after which the sum moves to a second accumulator, which Tensor Cores with few
  /// accumulator bits need; 0: never. A multiple of the tile's k.
  int promoteEvery;
  bool fresh;       ///< C is written, not added to
  bool pairedStore; ///< two neighbouring columns of C are one aligned 8-byte access

  /// Product of the sizes; unknown if one is.
  static Size extent(ArrayRef<GemmLoop> loops);
  /// True if no loop of the result is known or suspected to be empty.
  static bool isCertainlyNonEmpty(const GemmPlan &plan);
  /// True if every offset and size fits 31 bits for certain.
  bool fitsInt32() const;
  /// A text that two plans share exactly when their kernels are the same.
  std::string key() const;
};

/// Plans `op`; builds host arithmetic for dynamic sizes with `builder`.
GemmPlan planGemm(OpBuilder &builder, linalg::GenericOp op, const Contraction &contraction,
                  const MmaInstruction &instruction, int promoteEvery, bool fresh);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_GEMMPLAN_H
