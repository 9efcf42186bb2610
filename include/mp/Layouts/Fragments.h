// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of the PTX ISA manual (9.0) that say which lane and register holds which element of a
// matrix operand, and at which byte of shared memory an element of a swizzled tile lies.
//
// All layouts map (register, lane[, warp]) to (row, column); registers count elements. Bits of an
// element are 1, 4, 8, 16, 32 or 64. Rows and columns are those of the mathematical matrices: A is
// M x K, B is K x N, C and D are M x N.

#ifndef MP_LAYOUTS_FRAGMENTS_H
#define MP_LAYOUTS_FRAGMENTS_H

#include "mp/Layouts/LinearLayout.h"

namespace mpcore::layouts {

/// Operand A of mma.sync, m rows (8 or 16) and k columns; all shapes but m8n8k4 of f16.
LinearLayout mmaA(unsigned m, unsigned k, unsigned bits);
/// Operand B of mma.sync of shape n8, k rows.
LinearLayout mmaB(unsigned k, unsigned bits);
/// C and D of mma.sync of shape n8, whatever their type: 16-bit elements lie two in a register.
LinearLayout mmaC(unsigned m);

/// Maps the results of ldmatrix.m8n8 of `count` (1, 2 or 4) matrices of 16-bit elements: (register,
/// lane) to (matrix, row, column). Registers 2j and 2j+1 are the two halves of result j. With
/// `transposed`, rows and columns are exchanged. stmatrix.m8n8 is the same map.
LinearLayout ldmatrix(unsigned count, bool transposed);
/// Maps a lane to the matrix and row that its address points at: lane to (matrix, row). Lanes
/// beyond 8 * count are not asked.
LinearLayout ldmatrixPointers(unsigned count);
/// ldmatrix.m16n16.trans.b8 of `count` (1 or 2) matrices: four elements in each of two registers.
LinearLayout ldmatrixTransposedBytes(unsigned count);
/// stmatrix.m16n8.trans.b8 of `count` (1, 2 or 4) matrices of 16 columns in memory: the register
/// element of a lane and the (row, column) of the 8 x 16 rows that memory holds.
LinearLayout stmatrixTransposedBytes(unsigned count);

/// The accumulator of wgmma m64nN, n a multiple of 8 up to 256: (register, lane, warp) to
/// (row, column), 64 x 8 atoms repeated along n.
RepeatedLayout wgmmaAccumulator(unsigned n);
/// A in registers for wgmma m64, k columns: (register, lane, warp) to (row, column).
LinearLayout wgmmaA(unsigned k, unsigned bits);

/// Swizzles of TMA and wgmma: 16-byte chunks are exchanged within spans of so many bytes.
enum class Swizzle : uint8_t { None = 16, B32 = 32, B64 = 64, B128 = 128 };

/// Maps the byte of a plain tile to its place in a swizzled one, addresses of `bits` bits: address
/// bits 4 and up are exclusive-ored with bits 7 and up. The tile begins at a multiple of 1024
/// bytes.
LinearLayout swizzle(Swizzle mode, unsigned bits);

/// A tile in shared memory as TMA writes it and wgmma reads it, with extents 2^rowBits and
/// 2^columnBits: (row, column) to byte. Elements along `contiguous` (Row or Column) lie side by
/// side in spans of the swizzle's size; spans of one stripe are stacked over the other dimension,
/// and stripes follow each other. 8 spans of 128 bytes are the 1024-byte swizzle atom.
LinearLayout sharedTile(unsigned rowBits, unsigned columnBits, unsigned bits, Dim contiguous,
                        Swizzle mode);

} // namespace mpcore::layouts

#endif // MP_LAYOUTS_FRAGMENTS_H
