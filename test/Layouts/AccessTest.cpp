// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bank conflicts and sectors by rank against counting them, and against known cases.

#include "mp/Layouts/Access.h"
#include "mp/Layouts/Fragments.h"

#include "gtest/gtest.h"

#include <map>
#include <random>
#include <set>

using namespace mpcore::layouts;

namespace {

/// Wavefronts by enumeration: for each phase the most different words wanted of one bank.
unsigned countedWavefronts(const LinearLayout &addresses, unsigned bytes) {
  const unsigned phase = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  unsigned total = 0;
  for (unsigned first = 0; first < 1u << addresses.inputBits(Dim::Lane); first += phase) {
    std::map<uint32_t, std::set<uint32_t>> banks;
    for (unsigned lane = first;
         lane < std::min(first + phase, 1u << addresses.inputBits(Dim::Lane)); ++lane) {
      const uint32_t at = addresses.apply({{Dim::Lane, lane}})[Dim::Byte];
      for (uint32_t word = at / 4; word <= (at + bytes - 1) / 4; ++word)
        banks[word % 32].insert(word);
    }
    size_t worst = 0;
    for (auto &[bank, words] : banks)
      worst = std::max(worst, words.size());
    total += worst;
  }
  return total;
}

unsigned countedSectors(const LinearLayout &addresses, unsigned bytes) {
  std::set<uint32_t> sectors;
  for (unsigned lane = 0; lane < 1u << addresses.inputBits(Dim::Lane); ++lane) {
    const uint32_t at = addresses.apply({{Dim::Lane, lane}})[Dim::Byte];
    for (uint32_t byte = at; byte < at + bytes; ++byte)
      sectors.insert(byte / 32);
  }
  return sectors.size();
}

TEST(Access, RanksEqualCounts) {
  std::mt19937 rng(1);
  for (unsigned bytes : {1u, 2u, 4u, 8u, 16u})
    for (int k = 0; k < 300; ++k) {
      Basis lanes{Dim::Lane, {}};
      for (unsigned bit = 0; bit < 5; ++bit)
        lanes.images.push_back({{Dim::Byte, uint32_t(rng() % 8192 / bytes * bytes)}});
      LinearLayout addresses(lanes, Axis{Dim::Byte, 13});
      EXPECT_EQ(wavefronts(addresses, bytes), countedWavefronts(addresses, bytes))
          << bytes << " bytes at\n"
          << addresses.toString();
      EXPECT_EQ(sectors(addresses, bytes), countedSectors(addresses, bytes));
    }
}

TEST(Access, KnownCases) {
  auto strided = [](unsigned bytes) {
    Basis lanes{Dim::Lane, {}};
    for (unsigned bit = 0; bit < 5; ++bit)
      lanes.images.push_back({{Dim::Byte, bytes << bit}});
    return LinearLayout(lanes);
  };
  EXPECT_EQ(wavefronts(strided(4), 4), 1u);
  EXPECT_EQ(wavefronts(strided(8), 4), 2u);
  EXPECT_EQ(wavefronts(strided(128), 4), 32u);
  EXPECT_EQ(wavefronts(strided(8), 8), 2u);
  EXPECT_EQ(wavefronts(strided(16), 16), 4u);
  EXPECT_EQ(wavefronts(strided(128), 16), 32u); // 8 lanes of one bank group in each of 4 phases
  EXPECT_EQ(wavefronts(LinearLayout::broadcast(Dim::Lane, 5), 4), 1u);
  EXPECT_EQ(sectors(strided(4), 4), 4u);
  EXPECT_EQ(sectors(strided(16), 16), 16u);
  EXPECT_EQ(sectors(strided(128), 4), 32u);
  EXPECT_EQ(sectors(strided(1), 1), 1u);
}

/// Rows of a tile that the lanes of one ldmatrix.x4 point at: 16 rows, then 16 bytes further.
LinearLayout pointersInto(const LinearLayout &tile) {
  Basis lanes{Dim::Lane, {}};
  for (unsigned bit = 0; bit < 4; ++bit)
    lanes.images.push_back({{Dim::Row, 1u << bit}});
  lanes.images.push_back({{Dim::Column, 8}});
  return LinearLayout(lanes, {{Dim::Row, tile.inputBits(Dim::Row)},
                              {Dim::Column, tile.inputBits(Dim::Column)}})
      .then(tile);
}

TEST(Access, SwizzlesRemoveTheConflictsOfMatrixRows) {
  // 64 columns of 16 bits are rows of 128 bytes: without a swizzle all 8 rows meet in 4 banks.
  EXPECT_EQ(matrixWavefronts(pointersInto(sharedTile(5, 6, 16, Dim::Column, Swizzle::B128))), 4u);
  Basis row{Dim::Row, {}}, column{Dim::Column, {}};
  for (unsigned bit = 0; bit < 5; ++bit)
    row.images.push_back({{Dim::Byte, 128u << bit}});
  for (unsigned bit = 0; bit < 6; ++bit)
    column.images.push_back({{Dim::Byte, 2u << bit}});
  EXPECT_EQ(matrixWavefronts(pointersInto(LinearLayout({row, column}))), 32u);
  // Narrower rows need narrower swizzles.
  EXPECT_EQ(matrixWavefronts(pointersInto(sharedTile(5, 5, 16, Dim::Column, Swizzle::B64))), 4u);
  EXPECT_EQ(matrixWavefronts(pointersInto(sharedTile(5, 4, 16, Dim::Column, Swizzle::B32))), 4u);
}

TEST(Access, VectorsOfAnAccumulator) {
  // Two columns of an accumulator lie side by side: 8 bytes of f32, 4 of f16.
  for (unsigned bits : {16u, 32u}) {
    Basis row{Dim::Row, {}}, column{Dim::Column, {}};
    for (unsigned bit = 0; bit < 4; ++bit)
      row.images.push_back({{Dim::Byte, 1024u << bit}});
    for (unsigned bit = 0; bit < 3; ++bit)
      column.images.push_back({{Dim::Byte, bits / 8 << bit}});
    LinearLayout addresses = mmaC(16).then(LinearLayout({row, column}));
    EXPECT_EQ(vectorBytes(addresses, bits), bits / 4);
  }
  // A copy in which each lane holds 8 elements of 16 bits in a row moves 16 bytes.
  LinearLayout copy({{Dim::Register,
                      {Point{{Dim::Byte, 2}}, Point{{Dim::Byte, 4}}, Point{{Dim::Byte, 8}},
                       Point{{Dim::Byte, 16}}}},
                     {Dim::Lane, {Point{{Dim::Byte, 32}}}}});
  EXPECT_EQ(vectorBytes(copy, 16), 16u);
  // A lane that begins 8 bytes further limits it.
  LinearLayout tight(
      {{Dim::Register, {Point{{Dim::Byte, 2}}, Point{{Dim::Byte, 4}}, Point{{Dim::Byte, 8}}}},
       {Dim::Lane, {Point{{Dim::Byte, 8}}}}});
  EXPECT_EQ(vectorBytes(tight, 16), 8u);
}

} // namespace
