// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoded wgmma, and what executes it.

#ifndef MP_LIB_EMULATOR_MATRIX_WGMMA_H
#define MP_LIB_EMULATOR_MATRIX_WGMMA_H

#include "MatrixMath.h"

namespace mpcore::emulator {

struct WgmmaOp {
  MatrixOp op;
  Reg descA, descB, scaleD;
  bool aInRegisters = false, transA = false, transB = false;
};

Step execWgmma(Warp &warp, const Inst &inst);

} // namespace mpcore::emulator

#endif // MP_LIB_EMULATOR_MATRIX_WGMMA_H
