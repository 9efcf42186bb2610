// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the combinations of shape, types and modifiers that mma.sync has: the manual's tables, as
// ptxas 13 accepts them.

#ifndef MP_LIB_EMULATOR_MATRIX_MMAFORMS_H
#define MP_LIB_EMULATOR_MATRIX_MMAFORMS_H

#include "../Decode/Decoder.h"
#include "MatrixMath.h"

namespace mpcore::emulator {

/// The modifiers beside shape and types.
struct MmaModifiers {
  llvm::StringRef kind; // after kind::
  bool sparse = false, blockScale = false;
  bool popc = false, bitXor = false, rounds = false;
};

/// True when there is such an instruction. Block scales are not looked at (BlockScales.h).
bool isMmaForm(const MatrixOp &op, const MmaModifiers &mods);

/// Fails the decoder when the module's target has no such form.
void checkMmaTarget(Decoder &d, const MatrixOp &op, const MmaModifiers &mods);

/// Reads the `count` registers of the vector operand `at`; null, after an error that says with
/// `wanted` who asks for so many, where it has others.
const Reg *decodeRegisters(Decoder &d, unsigned at, unsigned count, Type type, bool isResult,
                           llvm::StringRef wanted = "the shape needs");

/// Registers per lane of each operand.
void countMmaRegisters(MatrixOp &op);

} // namespace mpcore::emulator

#endif
