// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes bank conflicts, sectors and vector widths as ranks.

#include "mp/Layouts/Access.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace mpcore::layouts;

static constexpr unsigned kBankBits = 5, kSectorBits = 5;

/// Lanes that one phase serves, as a number of lane bits.
static unsigned phaseBits(unsigned bytesPerLane) {
  assert(llvm::isPowerOf2_32(bytesPerLane) && bytesPerLane <= 16 && "no such access");
  return bytesPerLane <= 4 ? 5 : bytesPerLane == 8 ? 4 : 3;
}

/// The bytes that vary over the lowest `laneBits` lane bits and inside each lane's access.
static llvm::SmallVector<uint64_t, 16> spanOf(const LinearLayout &addresses, unsigned laneBits,
                                              unsigned bytesPerLane) {
  llvm::SmallVector<uint64_t, 16> span;
  for (unsigned bit = 0; bit < std::min(laneBits, addresses.inputBits(Dim::Lane)); ++bit)
    span.push_back(addresses.image(Dim::Lane, bit)[Dim::Byte]);
  for (unsigned byte = 1; byte < bytesPerLane; byte *= 2)
    span.push_back(byte);
  return span;
}

unsigned mpcore::layouts::leastWavefronts(unsigned lanes, unsigned bytesPerLane) {
  const unsigned phase = 1u << phaseBits(bytesPerLane);
  return (lanes + phase - 1) / phase;
}

unsigned mpcore::layouts::wavefronts(const LinearLayout &addresses, unsigned bytesPerLane) {
  const unsigned laneBits = phaseBits(bytesPerLane);
  llvm::SmallVector<uint64_t, 16> words, banks;
  for (uint64_t byte : spanOf(addresses, laneBits, bytesPerLane)) {
    words.push_back(byte >> 2);
    banks.push_back(byte >> 2 & ((1u << kBankBits) - 1));
  }
  const unsigned lanes = 1u << addresses.inputBits(Dim::Lane);
  return leastWavefronts(lanes, bytesPerLane) << (rankF2(words) - rankF2(banks));
}

unsigned mpcore::layouts::matrixWavefronts(const LinearLayout &addresses) {
  return wavefronts(addresses, 16);
}

unsigned mpcore::layouts::sectors(const LinearLayout &addresses, unsigned bytesPerLane) {
  llvm::SmallVector<uint64_t, 16> sectors;
  for (uint64_t byte : spanOf(addresses, addresses.inputBits(Dim::Lane), bytesPerLane))
    sectors.push_back(byte >> kSectorBits);
  return 1u << rankF2(sectors);
}

unsigned mpcore::layouts::vectorBytes(const LinearLayout &addresses, unsigned elementBits) {
  // Elements count in units of their own size, addresses in bytes.
  assert(elementBits % 8 == 0 && "sub-byte elements are addressed by the byte that holds them");
  const unsigned elementBytes = elementBits / 8;
  unsigned bytes = elementBytes;
  for (unsigned bit = 0; bit < addresses.inputBits(Dim::Register) && bytes < 16; ++bit, bytes *= 2)
    if (addresses.image(Dim::Register, bit) != Point{{Dim::Byte, bytes}})
      break;
  // Every access must begin at a multiple of its size.
  for (const Axis &axis : addresses.inputs())
    for (unsigned bit = 0; bit < axis.bits; ++bit) {
      const uint32_t to = addresses.image(axis.dim, bit)[Dim::Byte];
      const bool inside = axis.dim == Dim::Register && (elementBytes << bit) < bytes;
      while (!inside && bytes > elementBytes && to & (bytes - 1))
        bytes /= 2;
    }
  return bytes;
}
