// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of which at most two of each four neighbours are not zero, as sparse Tensor Core products
// (mma.sp) read them: the two of each four, and metadata of four bits that say which those are
// (PTX ISA 9.0, "Warp-level matrix instructions for sparse mma"). The order of the metadata is our
// own: that in which a warp's lanes give it to the instruction, so that each lane reads one word.

#ifndef MP_LAYOUTS_SPARSEROWS_H
#define MP_LAYOUTS_SPARSEROWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mpcore::layouts {

/// The two places of a group of four that are stored, ascending.
struct StoredPair {
  unsigned first, second;

  /// The four bits of metadata.
  unsigned bits() const { return second << 2 | first; }
  bool operator==(const StoredPair &) const = default;
};

/// The pair that holds every element of a group that is not zero: bit i of `nonZeros` says that
/// element i is not. Where one or none is, the other places are filled up by those that torch
/// fills (semi-structured conversions). Nullopt for three or four.
std::optional<StoredPair> storedPair(unsigned nonZeros);

/// Sparse products of 16 rows of A. An instruction multiplies `k` elements of each row, 32 of 16
/// bits or 64 of 8 bits, of which half are stored.
struct SparseShape {
  unsigned elementBits; ///< 8 or 16

  unsigned k() const { return 512 / elementBits; }
  /// Elements of a row in a step of a kernel: 128 bytes before half of them are left out. Rows are
  /// filled up with zeros to whole steps.
  unsigned step() const { return 1024 / elementBits; }
  /// Words of metadata of 16 rows in one step: one a lane, for each of its instructions of 8 bits,
  /// for both of 16 bits, whose selectors are 0 and 1.
  unsigned wordsPerStep() const { return elementBits == 16 ? 32 : 64; }
  bool sharesWords() const { return elementBits == 16; }
};

/// The place of the metadata of one group among the words of 16 rows in a step.
struct MetadataPlace {
  unsigned word, shift;
  bool operator==(const MetadataPlace &) const = default;
};
/// `row` of 16; `group` of the step / 4 groups of a step.
MetadataPlace metadataPlace(SparseShape shape, unsigned row, unsigned group);

struct SparseRows {
  SparseShape shape;
  int64_t rows, k;              ///< as they were
  std::vector<uint16_t> values; ///< [rows][stored()], patterns of the elements
  std::vector<uint32_t> words;  ///< [tiles()][wordsPerTile()]

  int64_t steps() const { return (k + shape.step() - 1) / shape.step(); }
  /// Elements of a row that are stored.
  int64_t stored() const { return steps() * shape.step() / 2; }
  /// Groups of 16 rows.
  int64_t tiles() const { return (rows + 15) / 16; }
  /// Metadata goes on to eights of steps, with that of zeros: warps that take one step of eight
  /// each find words that mean something, since 0 means nothing.
  int64_t stepsOfWords() const { return (steps() + 7) / 8 * 8; }
  int64_t wordsPerTile() const { return stepsOfWords() * shape.wordsPerStep(); }
};

/// A group of four from element `k` of `row` on with more than two that are not zero.
struct DenseGroup {
  int64_t row, k;
  unsigned nonZeros;
  bool operator==(const DenseGroup &) const = default;
};

/// Reads the pattern of an element.
using ElementReader = llvm::function_ref<uint16_t(int64_t row, int64_t k)>;

/// The first group, row after row, that cannot be stored. Zero is what `isZero` says.
std::optional<DenseGroup> findDenseGroup(int64_t rows, int64_t k, ElementReader element,
                                         llvm::function_ref<bool(uint16_t)> isZero);

/// Rows without such a group, stored.
SparseRows compressRows(SparseShape shape, int64_t rows, int64_t k, ElementReader element,
                        llvm::function_ref<bool(uint16_t)> isZero);

/// The rows again, [rows][k]; what was left out is the pattern 0. Reads values and metadata as the
/// instruction does.
std::vector<uint16_t> expandRows(const SparseRows &sparse);

} // namespace mpcore::layouts

#endif // MP_LAYOUTS_SPARSEROWS_H
