// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of one warp-wide memory access whose addresses are a linear layout of the lane.
//
// Shared memory has 32 banks of 4 bytes. A warp's access of up to 4 bytes a lane is one phase of
// 32 lanes, of 8 bytes two of 16, of 16 bytes four of 8 (CUDA programming guide, compute
// capability 5.x and later). A phase takes as many cycles as the most different words that it wants
// of one bank. The words of a phase are the image of a linear map W and their banks the image of
// W's lowest five word bits B, so that each bank is asked for 2^(rank W - rank B) words.

#ifndef MP_LAYOUTS_ACCESS_H
#define MP_LAYOUTS_ACCESS_H

#include "mp/Layouts/LinearLayout.h"

namespace mpcore::layouts {

/// Cycles of shared memory for one access of 1, 2, 4, 8 or 16 bytes by each lane, at the byte that
/// `addresses` gives for the lane, which is a multiple of that size. Inputs other than the lane
/// are taken as 0. What is added to all addresses (a stage, a base) must be a multiple of 128.
unsigned wavefronts(const LinearLayout &addresses, unsigned bytesPerLane);

/// The least that any addresses need: one for each phase.
unsigned leastWavefronts(unsigned lanes, unsigned bytesPerLane);

/// Cycles of ldmatrix or stmatrix: `addresses` gives the first byte of the 16-byte row that each
/// lane points at, 8 lanes for a matrix.
unsigned matrixWavefronts(const LinearLayout &addresses);

/// Sectors of 32 bytes that one access to global memory touches, at addresses that follow from a
/// base aligned to 32 bytes.
unsigned sectors(const LinearLayout &addresses, unsigned bytesPerLane);

/// Bytes that one vector access of a lane may move at most 16 of, when registers of
/// `elementBits` bits go to `addresses`: a power of two, or 0 if elements are smaller than a byte
/// and do not fill one.
unsigned vectorBytes(const LinearLayout &addresses, unsigned elementBits);

} // namespace mpcore::layouts

#endif // MP_LAYOUTS_ACCESS_H
