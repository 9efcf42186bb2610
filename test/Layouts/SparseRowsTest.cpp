// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows with two of four elements: the codes of each pattern, where lanes find them beside the
// manual's formulas, and rows stored and read again.

#include "mp/Layouts/SparseRows.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <set>

using namespace mpcore::layouts;

namespace {

bool isZero(uint16_t pattern) { return pattern == 0; }

/// Rows of which each group of four has at most `most` elements that are not zero.
std::vector<uint16_t> drawRows(int64_t rows, int64_t k, unsigned most, std::mt19937 &rng) {
  std::vector<uint16_t> made(size_t(rows * k), 0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t first = 0; first < k; first += 4)
      for (unsigned i = 0, count = rng() % (most + 1); i < count; ++i)
        if (int64_t at = first + rng() % 4; at < k)
          made[row * k + at] = uint16_t(1 + rng() % 255);
  return made;
}

/// As torch's _semi_structured_conversions.py has the codes (metadata of f16, bits of a group).
TEST(SparseRows, CodesOfEachPattern) {
  const std::pair<unsigned, unsigned> codes[] = {
      {0b0011, 0b0100}, {0b0101, 0b1000}, {0b0110, 0b1001}, {0b1001, 0b1100},
      {0b1010, 0b1101}, {0b1100, 0b1110}, {0b0000, 0b1110}, {0b1000, 0b1110},
      {0b0100, 0b1110}, {0b0010, 0b1101}, {0b0001, 0b1100}};
  for (auto [nonZeros, code] : codes) {
    std::optional<StoredPair> pair = storedPair(nonZeros);
    ASSERT_TRUE(pair);
    EXPECT_EQ(pair->bits(), code) << nonZeros;
    EXPECT_EQ(nonZeros & ~(1u << pair->first | 1u << pair->second), 0u) << "nothing is left out";
  }
  for (unsigned nonZeros : {0b0111, 0b1011, 0b1101, 0b1110, 0b1111})
    EXPECT_FALSE(storedPair(nonZeros));
}

/// The row and the group, of one instruction, of four bits of a lane's word (PTX ISA, sparse mma).
/// m16n8k32 of 16 bits: two of four lanes, whose numbers the selector says, hold halves of two
/// rows.
std::optional<std::pair<unsigned, unsigned>> halfWordsOf(unsigned lane, unsigned nibble,
                                                         unsigned selector) {
  const unsigned g = lane / 4, t = lane % 4;
  if (t / 2 != selector)
    return std::nullopt;
  return std::pair(g + nibble / 4 * 8, nibble % 4 + t % 2 * 4);
}
/// m16n8k64 of 8 bits: each lane holds half of one row.
std::optional<std::pair<unsigned, unsigned>> wordsOf(unsigned lane, unsigned nibble, unsigned) {
  const unsigned g = lane / 4, t = lane % 4;
  return std::pair(g + t % 2 * 8, nibble + t / 2 * 8);
}

/// Each lane of an instruction finds the groups that the manual says it holds.
TEST(SparseRows, LanesHoldWhatTheManualSays) {
  auto check = [](SparseShape shape, auto manual) {
    const unsigned groups = shape.k() / 4;
    std::set<std::pair<unsigned, unsigned>> seen;
    for (unsigned instruction = 0; instruction < 2; ++instruction)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned nibble = 0; nibble < 8; ++nibble)
          if (auto place = manual(lane, nibble, instruction)) {
            auto [row, own] = *place;
            const unsigned group = instruction * groups + own,
                           firstWord = shape.sharesWords() ? 0 : 32 * instruction;
            EXPECT_EQ(metadataPlace(shape, row, group),
                      (MetadataPlace{firstWord + lane, 4 * nibble}));
            seen.insert({row, group});
          }
    EXPECT_EQ(seen.size(), 16u * shape.step() / 4) << "every group of a step has its place";
  };
  check({16}, halfWordsOf);
  check({8}, wordsOf);
}

TEST(SparseRows, StoredRowsAreReadAgain) {
  std::mt19937 rng(3);
  for (unsigned bits : {8u, 16u})
    for (auto [rows, k] : {std::pair{16, 128}, {1, 1}, {37, 45}, {16, 2}, {3, 260}, {64, 64}}) {
      const std::vector<uint16_t> dense = drawRows(rows, k, 2, rng);
      auto element = [&, k = k](int64_t row, int64_t i) { return dense[row * k + i]; };
      ASSERT_EQ(findDenseGroup(rows, k, element, isZero), std::nullopt);
      const SparseRows sparse = compressRows({bits}, rows, k, element, isZero);
      EXPECT_EQ(expandRows(sparse), dense) << rows << "x" << k << " of " << bits;
      EXPECT_EQ(sparse.values.size() * bits / 8, size_t(rows * sparse.steps() * 64));
    }
}

/// Values take half of their bytes, and an element a bit of metadata.
TEST(SparseRows, Bytes) {
  auto none = [](int64_t, int64_t) { return uint16_t(0); };
  const SparseRows halves = compressRows({16}, 64, 256, none, isZero);
  EXPECT_EQ(halves.values.size(), 64u * 128);
  EXPECT_EQ(halves.steps(), 4);
  EXPECT_EQ(halves.words.size() * 32, 2 * 64u * 256) << "eight steps, of which four are of zeros";
  EXPECT_TRUE(std::all_of(halves.words.begin(), halves.words.end(),
                          [](uint32_t word) { return word == 0xEEEEEEEE; }));
  const SparseRows bytes = compressRows({8}, 64, 1024, none, isZero);
  EXPECT_EQ(bytes.words.size() * 32, 64u * 1024);
}

TEST(SparseRows, FirstDenseGroup) {
  std::mt19937 rng(4);
  std::vector<uint16_t> dense = drawRows(20, 30, 2, rng);
  auto element = [&](int64_t row, int64_t i) { return dense[row * 30 + i]; };
  EXPECT_EQ(findDenseGroup(20, 30, element, isZero), std::nullopt);
  for (int64_t i : {24, 26, 27})
    dense[11 * 30 + i] = 7;
  dense[11 * 30 + 25] = 0;
  for (int64_t i : {0, 1, 2, 3})
    dense[12 * 30 + i] = 7; // a later one
  EXPECT_EQ(findDenseGroup(20, 30, element, isZero), (DenseGroup{11, 24, 3}));
  // The two elements behind the last whole group are both stored.
  std::fill(dense.begin(), dense.end(), 0);
  dense[28] = dense[29] = 9;
  EXPECT_EQ(findDenseGroup(20, 30, element, isZero), std::nullopt);
  EXPECT_EQ(expandRows(compressRows({16}, 20, 30, element, isZero)), dense);
}

} // namespace
