// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of fragments beside the formulas of the PTX ISA manual 9.0, "Matrix Fragments for
// mma", "ldmatrix", "stmatrix" and "wgmma". The formulas are written as the manual has them, with
// groupID = laneid >> 2 and threadID_in_group = laneid % 4.

#include "mp/Layouts/Fragments.h"

#include "gtest/gtest.h"

#include <functional>
#include <set>

using namespace mpcore::layouts;

namespace {

struct Position {
  unsigned row, column;
};
using Formula = std::function<Position(unsigned lane, unsigned i)>;

unsigned group(unsigned lane) { return lane >> 2; }
unsigned inGroup(unsigned lane) { return lane % 4; }

/// True if every place has one owner, by enumeration.
bool isBijection(const LinearLayout &layout) {
  const unsigned registers = layout.inputBits(Dim::Register), lanes = layout.inputBits(Dim::Lane);
  std::set<std::array<uint32_t, 3>> places;
  for (uint32_t lane = 0; lane < 1u << lanes; ++lane)
    for (uint32_t i = 0; i < 1u << registers; ++i) {
      const Point p = layout.apply({{Dim::Register, i}, {Dim::Lane, lane}});
      places.insert({p[Dim::Matrix], p[Dim::Row], p[Dim::Column]});
    }
  return registers + lanes == layout.outputBits() && places.size() == 1u << (registers + lanes);
}

void expectFormula(const LinearLayout &layout, unsigned elements, const Formula &formula) {
  ASSERT_EQ(1u << layout.inputBits(Dim::Register), elements);
  ASSERT_EQ(layout.inputBits(Dim::Lane), 5u);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < elements; ++i) {
      Position expected = formula(lane, i);
      EXPECT_EQ(layout.apply({{Dim::Register, i}, {Dim::Lane, lane}}),
                (Point{{Dim::Row, expected.row}, {Dim::Column, expected.column}}))
          << "lane " << lane << " element " << i;
    }
  EXPECT_TRUE(isBijection(layout));
}

Position accumulator(unsigned lane, unsigned i) {
  return {group(lane) + (i < 2 ? 0 : 8), inGroup(lane) * 2 + (i & 1)};
}

TEST(FragmentTable, M16N8K8) {
  // .f16 and .bf16: A
  expectFormula(mmaA(16, 8, 16), 4, [](unsigned lane, unsigned i) -> Position {
    return {group(lane) + (i < 2 ? 0 : 8), inGroup(lane) * 2 + (i & 1)};
  });
  expectFormula(mmaB(8, 16), 2, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) * 2 + i, group(lane)};
  });
  // .tf32
  expectFormula(mmaA(16, 8, 32), 4, [](unsigned lane, unsigned i) -> Position {
    return {group(lane) + (i == 0 || i == 2 ? 0 : 8), inGroup(lane) + (i < 2 ? 0 : 4)};
  });
  expectFormula(mmaB(8, 32), 2, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) + (i == 0 ? 0 : 4), group(lane)};
  });
  expectFormula(mmaC(16), 4, accumulator);
}

TEST(FragmentTable, M16N8K4) {
  expectFormula(mmaA(16, 4, 32), 2, [](unsigned lane, unsigned i) -> Position {
    return {group(lane) + (i == 0 ? 0 : 8), inGroup(lane)};
  });
  expectFormula(mmaB(4, 32), 1,
                [](unsigned lane, unsigned) -> Position { return {inGroup(lane), group(lane)}; });
}

TEST(FragmentTable, M16N8K16) {
  // .f16 and .bf16
  expectFormula(mmaA(16, 16, 16), 8, [](unsigned lane, unsigned i) -> Position {
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return {group(lane) + (upper ? 0 : 8), inGroup(lane) * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  });
  expectFormula(mmaB(16, 16), 4, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) * 2 + (i & 1) + (i >= 2 ? 8 : 0), group(lane)};
  });
  // .s8, .u8, .e4m3, .e5m2
  expectFormula(mmaA(16, 16, 8), 8, [](unsigned lane, unsigned i) -> Position {
    return {group(lane) + (i < 4 ? 0 : 8), inGroup(lane) * 4 + (i & 3)};
  });
  expectFormula(mmaB(16, 8), 4, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) * 4 + i, group(lane)};
  });
  expectFormula(mmaC(16), 4, accumulator);
}

TEST(FragmentTable, M16N8K32) {
  // .s8, .u8, .e4m3, .e5m2
  expectFormula(mmaA(16, 32, 8), 16, [](unsigned lane, unsigned i) -> Position {
    const bool upper = i < 4 || (i >= 8 && i < 12);
    return {group(lane) + (upper ? 0 : 8), inGroup(lane) * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  });
  expectFormula(mmaB(32, 8), 8, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) * 4 + (i & 3) + (i >= 4 ? 16 : 0), group(lane)};
  });
  // .s4, .u4
  expectFormula(mmaA(16, 32, 4), 16, [](unsigned lane, unsigned i) -> Position {
    return {group(lane) + (i < 8 ? 0 : 8), inGroup(lane) * 8 + (i & 7)};
  });
  expectFormula(mmaB(32, 4), 8, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) * 8 + (i & 7), group(lane)};
  });
  expectFormula(mmaC(16), 4, accumulator);
}

TEST(FragmentTable, M16N8K64) {
  // .s4, .u4, .e2m1
  expectFormula(mmaA(16, 64, 4), 32, [](unsigned lane, unsigned i) -> Position {
    const bool upper = i < 8 || (i >= 16 && i < 24);
    return {group(lane) + (upper ? 0 : 8), inGroup(lane) * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
  });
  expectFormula(mmaB(64, 4), 16, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) * 8 + (i & 7) + (i >= 8 ? 32 : 0), group(lane)};
  });
}

TEST(FragmentTable, BinaryOperands) {
  // .b1 of m16n8k256: A has rows of 32 bits in a register, four registers.
  expectFormula(mmaA(16, 256, 1), 128, [](unsigned lane, unsigned i) -> Position {
    const bool upper = i < 32 || (i >= 64 && i < 96);
    return {group(lane) + (upper ? 0 : 8), inGroup(lane) * 32 + (i & 31) + (i >= 64 ? 128 : 0)};
  });
  expectFormula(mmaB(256, 1), 64, [](unsigned lane, unsigned i) -> Position {
    return {inGroup(lane) * 32 + (i & 31) + (i >= 32 ? 128 : 0), group(lane)};
  });
}

TEST(FragmentTable, M8N8Shapes) {
  // .s8 of m8n8k16 and .s4 of m8n8k32
  expectFormula(mmaA(8, 16, 8), 4, [](unsigned lane, unsigned i) -> Position {
    return {group(lane), inGroup(lane) * 4 + i};
  });
  expectFormula(mmaA(8, 32, 4), 8, [](unsigned lane, unsigned i) -> Position {
    return {group(lane), inGroup(lane) * 8 + i};
  });
  // .f64 of m8n8k4
  expectFormula(mmaA(8, 4, 64), 1,
                [](unsigned lane, unsigned) -> Position { return {group(lane), inGroup(lane)}; });
  expectFormula(mmaB(4, 64), 1,
                [](unsigned lane, unsigned) -> Position { return {inGroup(lane), group(lane)}; });
  expectFormula(mmaC(8), 2, [](unsigned lane, unsigned i) -> Position {
    return {group(lane), inGroup(lane) * 2 + (i & 1)};
  });
}

TEST(FragmentTable, F64OfSixteenRows) {
  // .f64 of m16n8k4, k8, k16: row = groupID where i % 2 == 0, else + 8; col = (i / 2) * 4 +
  // threadID_in_group
  for (unsigned k : {4u, 8u, 16u}) {
    expectFormula(mmaA(16, k, 64), k / 2, [](unsigned lane, unsigned i) -> Position {
      return {group(lane) + (i % 2 ? 8 : 0), i / 2 * 4 + inGroup(lane)};
    });
    expectFormula(mmaB(k, 64), k / 4, [](unsigned lane, unsigned i) -> Position {
      return {inGroup(lane) + i * 4, group(lane)};
    });
  }
}

TEST(FragmentTable, Ldmatrix) {
  for (unsigned count : {1u, 2u, 4u})
    for (bool transposed : {false, true}) {
      LinearLayout layout = ldmatrix(count, transposed);
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t i = 0; i < 2 * count; ++i) {
          // Thread T holds elements 2 (T % 4) and the next of row T / 4 of each matrix.
          Point expected{{Dim::Matrix, i / 2},
                         {Dim::Row, group(lane)},
                         {Dim::Column, inGroup(lane) * 2 + i % 2}};
          if (transposed)
            std::swap(expected[Dim::Row], expected[Dim::Column]);
          EXPECT_EQ(layout.apply({{Dim::Register, i}, {Dim::Lane, lane}}), expected);
        }
      EXPECT_TRUE(isBijection(layout));
      LinearLayout pointers = ldmatrixPointers(count);
      for (uint32_t lane = 0; lane < 8 * count; ++lane)
        EXPECT_EQ(pointers.apply({{Dim::Lane, lane}}),
                  (Point{{Dim::Matrix, lane / 8}, {Dim::Row, lane % 8}}));
    }
}

TEST(FragmentTable, LdmatrixLoadsOperands) {
  // A of m16n8k16 is four matrices: two of rows, then two of columns; B of k16 is two of rows.
  LinearLayout tile = LinearLayout::identity(Dim::Matrix, 1, Dim::Row) *
                      LinearLayout::identity(Dim::Matrix, 1, Dim::Column);
  auto operand = [&](const LinearLayout &loaded) {
    Basis row = {Dim::Row, {}}, column = {Dim::Column, {}};
    for (unsigned bit = 0; bit < 3; ++bit) {
      row.images.push_back({{Dim::Row, 1u << bit}});
      column.images.push_back({{Dim::Column, 1u << bit}});
    }
    LinearLayout inMatrix({row, column});
    LinearLayout result = loaded.then(inMatrix * tile);
    return result;
  };
  EXPECT_EQ(operand(ldmatrix(4, false)), mmaA(16, 16, 16));
  // Read transposed, the same memory is held as A of a transposed matrix.
  EXPECT_NE(operand(ldmatrix(4, true)), mmaA(16, 16, 16));
}

TEST(FragmentTable, BytesTransposed) {
  // ldmatrix.m16n16.trans.b8: lanes hold four rows of one column, columns 8 apart in two registers.
  LinearLayout load = ldmatrixTransposedBytes(2);
  LinearLayout store = stmatrixTransposedBytes(4);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 16; ++i)
      EXPECT_EQ(load.apply({{Dim::Register, i}, {Dim::Lane, lane}}),
                (Point{{Dim::Matrix, i / 8},
                       {Dim::Row, 4 * inGroup(lane) + i % 4},
                       {Dim::Column, group(lane) + i / 4 % 2 * 8}}));
    for (uint32_t i = 0; i < 16; ++i)
      EXPECT_EQ(store.apply({{Dim::Register, i}, {Dim::Lane, lane}}),
                (Point{{Dim::Matrix, i / 4},
                       {Dim::Row, 2 * inGroup(lane) + i % 2},
                       {Dim::Column, group(lane) + i / 2 % 2 * 8}}));
  }
  EXPECT_TRUE(isBijection(load));
  EXPECT_TRUE(isBijection(store));
}

TEST(FragmentTable, WgmmaAccumulators) {
  for (unsigned n = 8; n <= 256; n += 8) {
    RepeatedLayout layout = wgmmaAccumulator(n);
    for (uint32_t warp = 0; warp < 4; ++warp)
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t i = 0; i < n / 2; ++i) {
          // row = 16 * warp + groupID + 8 where bit 1 of i is set; col = 8 * (i / 4) + ...
          const uint32_t row = 16 * warp + group(lane) + 8 * (i / 2 % 2),
                         column = 8 * (i / 4) + inGroup(lane) * 2 + i % 2;
          EXPECT_EQ(layout.apply({{Dim::Register, i}, {Dim::Lane, lane}, {Dim::Warp, warp}}),
                    (Point{{Dim::Row, row}, {Dim::Column, column}}));
        }
  }
}

TEST(FragmentTable, WgmmaOperandInRegisters) {
  EXPECT_EQ(wgmmaA(16, 16), mmaA(16, 16, 16) * LinearLayout::identity(Dim::Warp, 2, Dim::Row));
}

TEST(FragmentTable, SwizzleAtoms) {
  // Chunk c of 16 bytes in row r of 128 bytes goes to chunk c ^ (r & mask), mask 1, 3, 7.
  const std::pair<Swizzle, uint32_t> modes[] = {
      {Swizzle::None, 0}, {Swizzle::B32, 1}, {Swizzle::B64, 3}, {Swizzle::B128, 7}};
  for (auto [mode, mask] : modes) {
    LinearLayout layout = swizzle(mode, 11);
    for (uint32_t byte = 0; byte < 2048; ++byte) {
      const uint32_t row = byte / 128, chunk = byte / 16 % 8;
      EXPECT_EQ(layout.apply({{Dim::Byte, byte}})[Dim::Byte],
                row * 128 + (chunk ^ (row & mask)) * 16 + byte % 16);
    }
    EXPECT_EQ(layout.then(layout), LinearLayout::identity(Dim::Byte, 11, Dim::Byte));
  }
}

TEST(FragmentTable, SharedTiles) {
  // 64 rows of 64 bf16: a row is one span of 128 bytes.
  LinearLayout kMajor = sharedTile(6, 6, 16, Dim::Column, Swizzle::B128);
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t column = 0; column < 64; ++column)
      EXPECT_EQ(kMajor.apply({{Dim::Row, row}, {Dim::Column, column}})[Dim::Byte],
                row * 128 + ((column / 8) ^ (row % 8)) * 16 + column % 8 * 2);
  // 128 rows side by side in two spans of 64, 16 columns: the second span follows the first stripe.
  LinearLayout mnMajor = sharedTile(7, 4, 16, Dim::Row, Swizzle::B128);
  for (uint32_t row = 0; row < 128; ++row)
    for (uint32_t column = 0; column < 16; ++column)
      EXPECT_EQ(mnMajor.apply({{Dim::Row, row}, {Dim::Column, column}})[Dim::Byte],
                row / 64 * 16 * 128 + column * 128 + ((row % 64 / 8) ^ (column % 8)) * 16 +
                    row % 8 * 2);
}

} // namespace
