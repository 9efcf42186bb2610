// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scales of mma.sync.block_scale (PTX ISA, "Block Scaling"): one, two or four bytes for each row of
// A and column of B. With g = lane / 4, the lanes 4 g + 2 thread + 0, 1 hold those of the rows g
// and g + 8 of A, the lane 4 g + thread those of column g of B, from byte `byte` on.

#ifndef MP_LIB_EMULATOR_MATRIX_BLOCKSCALES_H
#define MP_LIB_EMULATOR_MATRIX_BLOCKSCALES_H

#include "../Decode/Decoder.h"
#include "MatrixMath.h"

namespace mpcore::emulator {

/// Takes .block_scale's vector size, kind and scale type; fills op.scaled and op.scaleBlocks. False
/// when there is no such form.
bool takeBlockScales(Decoder &d, llvm::StringRef kind, Type scaleType, MatrixOp &op);

/// Operands `at` to at + 3: scales of A, {byte, thread}, scales of B, {byte, thread}.
void decodeBlockScales(Decoder &d, unsigned at, MatrixOp &op);

/// False after a fault.
bool gatherScales(Warp &warp, const Inst &inst, const MatrixOp &op, MatrixValues &values);

} // namespace mpcore::emulator

#endif
