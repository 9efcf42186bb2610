// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes, as data, which lane of a warp holds which element of a matrix fragment: a linear map
// over the bits of the lane and of the element's number in the lane. Checked against the formulas
// of the PTX ISA, "Matrix Fragments for mma.m16n8k*" in the unit tests.

#ifndef MP_KERNELS_FRAGMENTLAYOUT_H
#define MP_KERNELS_FRAGMENTLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// A place in a fragment. For A: row m, column k. For B: row k, column n. For C: row m, column n.
struct FragmentPosition {
  int row = 0, column = 0;
  bool operator==(const FragmentPosition &other) const {
    return row == other.row && column == other.column;
  }
};

/// position = sum of the places of the bits that are set.
struct FragmentLayout {
  llvm::SmallVector<FragmentPosition, 5> laneBits;
  llvm::SmallVector<FragmentPosition, 3> elementBits;

  unsigned elements() const { return 1u << elementBits.size(); }
  FragmentPosition position(unsigned lane, unsigned element) const;
};

enum class FragmentOperand { A, B, C };

/// One mma.sync instruction.
struct MmaInstruction {
  /// The format of both operands: f16, bf16, tf32, f8E4M3FN, f8E5M2, i8 or u8; of different ones
  /// A's and B's, as in i8_u8.
  llvm::StringRef format;
  int m, n, k;
  unsigned elementBits; ///< of A and B in registers and memory
  FragmentLayout a, b, c;
  /// The LLVM intrinsic for what the NVVM dialect's op does not take; else empty.
  llvm::StringRef intrinsic = {};

  /// Returns the format of operand A (0) or B (1).
  llvm::StringRef operandFormat(unsigned operand) const;
  bool isInteger() const { return operandFormat(0) == "i8" || operandFormat(0) == "u8"; }
  const FragmentLayout &layout(FragmentOperand operand) const;
  /// 32-bit registers of A or B in a lane.
  unsigned registers(FragmentOperand operand) const;
};

/// The instruction for `format`, spelled as MmaInstruction::format is, with the given k; null if
/// there is none.
const MmaInstruction *findMmaInstruction(llvm::StringRef format, int k);

/// All of them, for tests.
llvm::ArrayRef<MmaInstruction> allMmaInstructions();

} // namespace mlir::mp

#endif // MP_KERNELS_FRAGMENTLAYOUT_H
