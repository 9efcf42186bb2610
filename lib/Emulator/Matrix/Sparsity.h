// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured sparsity of A: which columns the stored elements have (PTX ISA, "Warp-level matrix
// instructions for sparse mma" and "Asynchronous warpgroup-level sparse"). A group of four metadata
// bits belongs to four neighbouring elements (eight of 4 bits, two of tf32); with g = lane / 4 and
// t = lane % 4
//   rows of 16 bits: lane t = selector holds the row g below and the row g + 8 above
//   rows of 32 bits, elements of 16 bits and tf32: lanes t = 2 selector + 0, 1 each half of both
//   rows in the same way rows of 32 bits, elements of 8 and 4 bits: lane t = 2 selector the row g,
//   the next one the row g + 8 rows of 64 bits: lanes t = 0, 1 the first half of both rows, t = 2,
//   3 the second

#ifndef MP_LIB_EMULATOR_MATRIX_SPARSITY_H
#define MP_LIB_EMULATOR_MATRIX_SPARSITY_H

#include "../Decode/Decoder.h"
#include "MatrixMath.h"

namespace mpcore::emulator {

/// Returns how the elements of A are stored when half of them are.
Sparsity sparsityOf(Element a);

/// Operands `at`, the words of metadata, and at + 1, the constant selector.
void decodeMetadata(Decoder &d, unsigned at, MatrixOp &op);

struct BadMetadata {
  unsigned lane, row, bits;
};

/// Columns of the stored elements of 16 rows, `firstRow` on, from the metadata words of a warp's
/// lanes. Metadata without meaning is returned: two elements in one place, or descending ones where
/// they must be ordered.
std::optional<BadMetadata> readMetadata(const uint32_t *words, const MatrixOp &op,
                                        unsigned firstRow, MatrixValues &values);

/// Faults on the metadata.
Step badMetadata(Warp &warp, const Inst &inst, const MatrixOp &op, const BadMetadata &bad);

} // namespace mpcore::emulator

#endif
