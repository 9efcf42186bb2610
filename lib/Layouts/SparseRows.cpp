// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores two of each four elements, and reads them back.

#include "mp/Layouts/SparseRows.h"

#include <algorithm>
#include <bit>
#include <cassert>

using namespace mpcore::layouts;

std::optional<StoredPair> mpcore::layouts::storedPair(unsigned nonZeros) {
  switch (nonZeros) {
  case 0b0011: return StoredPair{0, 1};
  case 0b0101: return StoredPair{0, 2};
  case 0b0110: return StoredPair{1, 2};
  case 0b0001:
  case 0b1001: return StoredPair{0, 3};
  case 0b0010:
  case 0b1010: return StoredPair{1, 3};
  case 0b0000:
  case 0b0100:
  case 0b1000:
  case 0b1100: return StoredPair{2, 3};
  default: return std::nullopt;
  }
}

/// Lanes 4 g + 2 F and the next, where F is the selector, hold four groups each of the row g,
/// below, and of the row g + 8, above, if elements have 16 bits. If they have 8 bits, lanes 4 g and
/// 4 g + 1 hold the first eight groups of these rows, the next two lanes the second eight.
MetadataPlace mpcore::layouts::metadataPlace(SparseShape shape, unsigned row, unsigned group) {
  const unsigned half = row / 8, quad = 4 * (row % 8);
  if (shape.sharesWords())
    return {quad + group / 4, 16 * half + 4 * (group % 4)};
  const unsigned instruction = group / 16;
  return {32 * instruction + quad + 2 * (group % 16 / 8) + half, 4 * (group % 8)};
}

static unsigned nonZerosOf(int64_t row, int64_t k, int64_t end, ElementReader element,
                           llvm::function_ref<bool(uint16_t)> isZero) {
  unsigned mask = 0;
  for (int64_t i = k; i < std::min(k + 4, end); ++i)
    mask |= unsigned(!isZero(element(row, i))) << (i - k);
  return mask;
}

std::optional<DenseGroup>
mpcore::layouts::findDenseGroup(int64_t rows, int64_t k, ElementReader element,
                                llvm::function_ref<bool(uint16_t)> isZero) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t first = 0; first < k; first += 4)
      if (unsigned mask = nonZerosOf(row, first, k, element, isZero); !storedPair(mask))
        return DenseGroup{row, first, unsigned(std::popcount(mask))};
  return std::nullopt;
}

SparseRows mpcore::layouts::compressRows(SparseShape shape, int64_t rows, int64_t k,
                                         ElementReader element,
                                         llvm::function_ref<bool(uint16_t)> isZero) {
  SparseRows made{shape, rows, k, {}, {}};
  made.values.assign(size_t(rows * made.stored()), 0);
  made.words.assign(size_t(made.tiles() * made.wordsPerTile()), 0);
  const int64_t perStep = shape.step() / 4;
  // Rows and products beyond the end have metadata, too: that of zeros.
  for (int64_t row = 0; row < made.tiles() * 16; ++row)
    for (int64_t group = 0; group < made.stepsOfWords() * perStep; ++group) {
      const bool exists = row < rows;
      const unsigned mask = exists ? nonZerosOf(row, 4 * group, k, element, isZero) : 0;
      std::optional<StoredPair> pair = storedPair(mask);
      assert(pair && "ask findDenseGroup first");
      int64_t to = row * made.stored() + 2 * group;
      for (unsigned place : {pair->first, pair->second}) {
        if (mask >> place & 1)
          made.values[to] = element(row, 4 * group + place);
        ++to;
      }
      const MetadataPlace at = metadataPlace(shape, unsigned(row % 16), unsigned(group % perStep));
      made.words[row / 16 * made.wordsPerTile() + group / perStep * shape.wordsPerStep() +
                 at.word] |= pair->bits() << at.shift;
    }
  return made;
}

std::vector<uint16_t> mpcore::layouts::expandRows(const SparseRows &sparse) {
  const SparseShape shape = sparse.shape;
  std::vector<uint16_t> rows(size_t(sparse.rows * sparse.k), 0);
  const int64_t perStep = shape.step() / 4;
  for (int64_t row = 0; row < sparse.rows; ++row)
    for (int64_t group = 0; group < sparse.steps() * perStep; ++group) {
      const MetadataPlace at = metadataPlace(shape, unsigned(row % 16), unsigned(group % perStep));
      const unsigned bits = sparse.words[row / 16 * sparse.wordsPerTile() +
                                         group / perStep * shape.wordsPerStep() + at.word] >>
                            at.shift;
      for (unsigned i = 0; i < 2; ++i)
        if (int64_t k = 4 * group + (bits >> (2 * i) & 3); k < sparse.k)
          rows[row * sparse.k + k] = sparse.values[row * sparse.stored() + 2 * group + i];
    }
  return rows;
}
