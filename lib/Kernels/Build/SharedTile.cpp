// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the linear map of a tile in shared memory, for the way its fragments are loaded.

#include "SharedTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::mp;
using namespace mpcore::layouts;

static uint32_t log2(int value) { return llvm::Log2_32(uint32_t(value)); }

/// The image of bit `bit` of k where rows run along the outer dimension: its row, and the chunks
/// that it exchanges. The eight threads of one phase of an access differ in
/// - ldmatrix.trans of 16-bit elements: bits 0 to 2 of k;
/// - 4-byte loads of a fragment: bits 0 and 1 of k, and bit 2 of the outer position;
/// - byte loads of a fragment: bits 2 and 3 of k.
/// Rows of less than 128 bytes already put the lowest of these into different banks.
static uint32_t imageOfK(unsigned bit, uint32_t rowBytes, int elementBytes) {
  uint32_t rowsPerLine = log2(int(128 / rowBytes));
  uint32_t first = elementBytes == 1 ? std::max(2u, rowsPerLine) : rowsPerLine;
  uint32_t chunk = bit < first ? 0 : (elementBytes == 4 ? 32u : 16u) << (bit - first);
  return rowBytes << bit | (chunk & SharedTile::kChunkBits);
}

SharedTile::SharedTile(int outer, int k, int elementBytes, bool alongK)
    : outerSize(outer), kSize(k), bytesPerElement(elementBytes), isAlongK(alongK) {
  Basis rows{Dim::Row, {}}, columns{Dim::Column, {}};
  auto push = [](Basis &basis, uint32_t byte) { basis.images.push_back(Point{{Dim::Byte, byte}}); };
  if (alongK) {
    const uint32_t rowBytes = std::min(128u, uint32_t(k * elementBytes));
    assert(rowBytes >= 64 && "one row or two fill all banks");
    const uint32_t inLine = log2(int(128 / rowBytes)), chunkBits = log2(int(rowBytes / 16));
    for (unsigned bit = 0; bit < log2(outer); ++bit)
      push(rows, (rowBytes << bit) |
                     (bit >= inLine && bit - inLine < chunkBits ? 16u << (bit - inLine) : 0));
    for (unsigned bit = 0; bit < log2(k); ++bit) {
      uint32_t byte = uint32_t(elementBytes) << bit;
      push(columns, byte < rowBytes ? byte : byte * uint32_t(outer));
    }
  } else {
    uint32_t rowBytes = std::min(128u, uint32_t(outer * elementBytes));
    for (unsigned bit = 0; bit < log2(outer); ++bit) {
      uint32_t byte = uint32_t(elementBytes) << bit;
      push(rows, byte < rowBytes ? byte : byte / rowBytes * rowBytes * uint32_t(k));
    }
    for (unsigned bit = 0; bit < log2(k); ++bit)
      push(columns, imageOfK(bit, rowBytes, elementBytes));
  }
  map = LinearLayout({rows, columns});
}

uint32_t SharedTile::place(uint32_t outer, uint32_t k) const {
  return map.apply(Point{{Dim::Row, outer}, {Dim::Column, k}})[Dim::Byte];
}
