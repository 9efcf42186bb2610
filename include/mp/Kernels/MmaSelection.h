// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products that kernels use, of mma.sync and of the scalar units, and which of them a target
// runs for operands of given formats. lib/Layouts says which lane holds which element of their
// fragments.

#ifndef MP_KERNELS_MMASELECTION_H
#define MP_KERNELS_MMASELECTION_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Target/TargetModel.h"

namespace mlir::mp {

/// One mma.sync instruction, or the multiplication and addition of the scalar units. Accumulators
/// are f32 or i32, four a lane of mma.sync.
struct MmaInstruction {
  /// The format of both operands: f16, bf16, tf32, f8E4M3FN, f8E5M2, i8 or u8; of different ones
  /// A's and B's, as in i8_u8; f32 of the scalar units.
  llvm::StringRef format;
  int m, n, k;
  unsigned elementBits; ///< of A and B in registers and memory
  /// The LLVM intrinsic for what the NVVM dialect's op does not take; else empty.
  llvm::StringRef intrinsic = {};
  bool isSparse = false; ///< of each four elements of a row of A two are stored: mma.sp

  /// Returns the format of operand A (0) or B (1).
  llvm::StringRef operandFormat(unsigned operand) const;
  /// True for a multiplication and an addition of one element.
  bool isScalar() const { return m == 1; }
  bool isInteger() const { return operandFormat(0) == "i8" || operandFormat(0) == "u8"; }
  /// Elements of a row of A in registers.
  int storedK() const { return isSparse ? k / 2 : k; }
  /// 32-bit registers of A and B in a lane.
  int registersA() const { return m * storedK() * int(elementBits) / 1024; }
  int registersB() const { return k * n * int(elementBits) / 1024; }
};

/// The largest native instruction of `model` for `format`, spelled as MmaInstruction::format is,
/// every target's for f32; null if there is none.
const MmaInstruction *selectMmaInstruction(const target::TargetModel &model,
                                           llvm::StringRef format);

/// The instruction for the same products with a sparse A; null if `model` has none or none is
/// written.
const MmaInstruction *selectSparseInstruction(const target::TargetModel &model,
                                              llvm::StringRef format);

/// Products after which sums of this instruction should move to an accumulator of full precision;
/// 0 if they need not.
int promotionInterval(const target::TargetModel &model, const MmaInstruction &instruction);

} // namespace mlir::mp

#endif // MP_KERNELS_MMASELECTION_H
