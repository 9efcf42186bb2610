// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions that would be narrow but for the range of an operand, and what scaling that operand costs.

#ifndef MP_LIB_TRANSFORMS_SCALE_UNPROVENRANGES_H
#define MP_LIB_TRANSFORMS_SCALE_UNPROVENRANGES_H

#include "../Assign/Decisions.h"

namespace mlir::mp {

/// A contraction that the range layer keeps wide.
struct UnprovenContraction {
  Operation *op;
  std::string why;
  /// Operands whose magnitude is known, or needs no scale: constants aside. The others are measured as they come.
  SmallVector<std::pair<OpOperand *, double>, 2> magnitudes;
  int64_t wide, scaled; ///< modelled picoseconds: in f32, and with scales
};

/// Those that pins and policy leave open, in the format of `settings`, in program order. `unscaled` is the magnitude of
/// which the scale is 1.
SmallVector<UnprovenContraction> findUnproven(FunctionDecisions &decisions, const AssignSettings &settings, double unscaled);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_UNPROVENRANGES_H
