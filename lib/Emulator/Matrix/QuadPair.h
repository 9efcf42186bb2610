// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync.m8n8k4 of f16: four products at once, each of a quad pair, the lanes 4 q to 4 q + 3 and
// 4 q + 16 to 4 q + 19. With h = lane / 16 and t = lane % 4 (PTX ISA, "Matrix Fragments for
// mma.m8n8k4 with .f16")
//   A by rows: row t + 4 h, column i; by columns: row i + 4 h, column t
//   B by rows: row t, column i + 4 h; by columns: row i, column t + 4 h
//   C in f16: row t + 4 h, column i; in f32: row t % 2 + i / 2 % 2 * 2 + 4 h, column t / 2 * 2 + i
//   / 4 * 4 + i % 2

#ifndef MP_LIB_EMULATOR_MATRIX_QUADPAIR_H
#define MP_LIB_EMULATOR_MATRIX_QUADPAIR_H

#include "MatrixMath.h"

namespace mpcore::emulator {

Step execQuadPairs(Warp &warp, const Inst &inst);

} // namespace mpcore::emulator

#endif
