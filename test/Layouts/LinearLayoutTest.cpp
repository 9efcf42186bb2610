// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The laws of linear layouts, on random ones.

#include "mp/Layouts/LinearLayout.h"

#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace mpcore::layouts;

namespace {

/// A layout with the given bits of register, lane and warp into rows and columns of 6 bits each.
LinearLayout randomLayout(std::mt19937 &rng, unsigned registers, unsigned lanes, unsigned warps) {
  llvm::SmallVector<Basis, 4> bases;
  for (auto [dim, bits] :
       {std::pair(Dim::Register, registers), {Dim::Lane, lanes}, {Dim::Warp, warps}}) {
    Basis basis{dim, {}};
    for (unsigned bit = 0; bit < bits; ++bit)
      basis.images.push_back({{Dim::Row, rng() % 64}, {Dim::Column, rng() % 64}});
    bases.push_back(basis);
  }
  return LinearLayout(bases, {{Dim::Row, 6}, {Dim::Column, 6}});
}

template <class F> void forInputs(const LinearLayout &layout, F &&fn) {
  for (uint32_t r = 0; r < 1u << layout.inputBits(Dim::Register); ++r)
    for (uint32_t l = 0; l < 1u << layout.inputBits(Dim::Lane); ++l)
      for (uint32_t w = 0; w < 1u << layout.inputBits(Dim::Warp); ++w)
        fn(Point{{Dim::Register, r}, {Dim::Lane, l}, {Dim::Warp, w}});
}

std::pair<uint32_t, uint32_t> place(const Point &p) { return {p[Dim::Row], p[Dim::Column]}; }

TEST(LinearLayout, IsLinear) {
  std::mt19937 rng(1);
  LinearLayout layout = randomLayout(rng, 3, 5, 2);
  for (int k = 0; k < 100; ++k) {
    Point a{{Dim::Register, rng() % 8}, {Dim::Lane, rng() % 32}, {Dim::Warp, rng() % 4}};
    Point b{{Dim::Register, rng() % 8}, {Dim::Lane, rng() % 32}, {Dim::Warp, rng() % 4}};
    Point sum;
    for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp})
      sum[dim] = a[dim] ^ b[dim];
    for (Dim dim : {Dim::Row, Dim::Column})
      EXPECT_EQ(layout.apply(sum)[dim], layout.apply(a)[dim] ^ layout.apply(b)[dim]);
  }
}

TEST(LinearLayout, RankCountsTheImage) {
  std::mt19937 rng(2);
  for (int k = 0; k < 30; ++k) {
    LinearLayout layout = randomLayout(rng, rng() % 4, rng() % 6, rng() % 3);
    std::set<std::pair<uint32_t, uint32_t>> image;
    forInputs(layout, [&](const Point &p) { image.insert(place(layout.apply(p))); });
    EXPECT_EQ(image.size(), size_t(1) << layout.rank());
  }
}

TEST(LinearLayout, KernelGoesToZeroAndHasTheMissingRank) {
  std::mt19937 rng(3);
  for (int k = 0; k < 30; ++k) {
    LinearLayout layout = randomLayout(rng, 3, 5, 3);
    auto kernel = layout.kernel();
    EXPECT_EQ(kernel.size() + layout.rank(), layout.inputBits());
    for (const Point &p : kernel) {
      EXPECT_NE(p, Point());
      EXPECT_EQ(layout.apply(p), Point());
    }
  }
}

TEST(LinearLayout, CompositionAppliesBoth) {
  std::mt19937 rng(4);
  LinearLayout first = randomLayout(rng, 3, 5, 1);
  Basis rows{Dim::Row, {}}, columns{Dim::Column, {}};
  for (unsigned bit = 0; bit < 6; ++bit) {
    rows.images.push_back({{Dim::Byte, uint32_t(rng() % 4096)}});
    columns.images.push_back({{Dim::Byte, uint32_t(rng() % 4096)}});
  }
  LinearLayout second({rows, columns}, Axis{Dim::Byte, 12});
  LinearLayout both = first.then(second);
  forInputs(first, [&](const Point &p) { EXPECT_EQ(both.apply(p), second.apply(first.apply(p))); });
}

TEST(LinearLayout, InverseUndoesABijection) {
  std::mt19937 rng(5);
  unsigned found = 0;
  for (int k = 0; k < 60; ++k) {
    LinearLayout layout = randomLayout(rng, 5, 5, 2); // 12 bits into 12
    auto inverse = layout.inverse();
    EXPECT_EQ(inverse.has_value(), layout.isInjective() && layout.isSurjective());
    if (!inverse)
      continue;
    ++found;
    LinearLayout same = layout.then(*inverse);
    forInputs(layout, [&](const Point &p) { EXPECT_EQ(same.apply(p), p); });
    EXPECT_EQ(*inverse->inverse(), layout);
  }
  EXPECT_GT(found, 5u); // about 0.29 of random square matrices are regular
}

TEST(LinearLayout, RightInversePicksOneOwnerOfEachPlace) {
  // Lanes 16 and up repeat what lanes 0 to 15 hold.
  LinearLayout layout = LinearLayout::identity(Dim::Register, 2, Dim::Column) *
                        LinearLayout::identity(Dim::Lane, 4, Dim::Row) *
                        LinearLayout::broadcast(Dim::Lane, 1);
  EXPECT_FALSE(layout.inverse());
  LinearLayout owner = *layout.rightInverse();
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 4; ++column) {
      Point p = owner.apply({{Dim::Row, row}, {Dim::Column, column}});
      EXPECT_EQ(p, (Point{{Dim::Lane, row}, {Dim::Register, column}}));
    }
  EXPECT_FALSE(LinearLayout(Basis{Dim::Lane, {Point{{Dim::Row, 2}}}}).rightInverse());
}

TEST(LinearLayout, ProductTilesAndDivisionFindsTheTiling) {
  LinearLayout atom = LinearLayout::identity(Dim::Register, 1, Dim::Column) *
                      LinearLayout::identity(Dim::Lane, 3, Dim::Row);
  LinearLayout outer = LinearLayout::identity(Dim::Register, 2, Dim::Row) *
                       LinearLayout::identity(Dim::Warp, 1, Dim::Column);
  LinearLayout tiled = atom * outer;
  EXPECT_EQ(tiled.apply({{Dim::Register, 1}}), (Point{{Dim::Column, 1}}));
  EXPECT_EQ(tiled.apply({{Dim::Register, 2}}), (Point{{Dim::Row, 8}}));
  EXPECT_EQ(tiled.apply({{Dim::Warp, 1}}), (Point{{Dim::Column, 2}}));
  auto quotient = tiled.divideBy(atom);
  ASSERT_TRUE(quotient);
  EXPECT_EQ(atom * *quotient, tiled);
  EXPECT_FALSE(outer.divideBy(atom));
  // The first register bit of another atom goes elsewhere.
  EXPECT_FALSE(tiled.divideBy(LinearLayout::identity(Dim::Register, 1, Dim::Row)));
}

TEST(LinearLayout, ContiguousStopsWhereOthersEnterTheVector) {
  LinearLayout rows = LinearLayout::identity(Dim::Register, 3, Dim::Column) *
                      LinearLayout::identity(Dim::Lane, 5, Dim::Column);
  EXPECT_EQ(rows.contiguous(Dim::Register, Dim::Column), 8u);
  // Registers run over columns 0 to 3, but lane 1 begins at column 2.
  LinearLayout overlapping({{Dim::Register, {Point{{Dim::Column, 1}}, Point{{Dim::Column, 2}}}},
                            {Dim::Lane, {Point{{Dim::Column, 2}}}}});
  EXPECT_EQ(overlapping.contiguous(Dim::Register, Dim::Column), 2u);
  LinearLayout strided(Basis{Dim::Register, {Point{{Dim::Column, 2}}}});
  EXPECT_EQ(strided.contiguous(Dim::Register, Dim::Column), 1u);
}

TEST(LinearLayout, PrintsABitALine) {
  LinearLayout layout(
      {{Dim::Register, {Point{{Dim::Row, 1}, {Dim::Column, 2}}}}, {Dim::Lane, {Point()}}});
  EXPECT_EQ(layout.toString(), "register 1 -> row 1, column 2\nlane 1 -> 0\n");
}

TEST(RepeatedLayout, RepeatsAnAtomAnyNumberOfTimes) {
  RepeatedLayout layout{LinearLayout::identity(Dim::Register, 1, Dim::Column),
                        {{Dim::Register, Dim::Column, 3}, {Dim::Register, Dim::Row, 5}}};
  EXPECT_EQ(layout.inputExtent(Dim::Register), 30u);
  EXPECT_EQ(layout.outputExtent(Dim::Column), 6u);
  EXPECT_EQ(layout.outputExtent(Dim::Row), 5u);
  for (uint32_t r = 0; r < 30; ++r)
    EXPECT_EQ(layout.apply({{Dim::Register, r}}), (Point{{Dim::Column, r % 6}, {Dim::Row, r / 6}}));
}

/// True if each owner's warp (and lane, unless those may differ) in `from` holds what the owner
/// needs in `to`, by enumeration.
bool heldByGroup(const LinearLayout &from, const LinearLayout &to, bool lanesMayDiffer) {
  bool held = true;
  forInputs(to, [&](const Point &wanted) {
    bool found = false;
    forInputs(from, [&](const Point &owner) {
      found |= place(from.apply(owner)) == place(to.apply(wanted)) &&
               owner[Dim::Warp] == wanted[Dim::Warp] &&
               (lanesMayDiffer || owner[Dim::Lane] == wanted[Dim::Lane]);
    });
    held &= found;
  });
  return held;
}

TEST(Conversion, IsTheCheapestThatEnumerationAllows) {
  std::mt19937 rng(6);
  std::set<Conversion> seen;
  // Small layouts: 2 registers, 4 lanes, 2 warps, of 16 places in all.
  auto draw = [&] {
    llvm::SmallVector<Basis, 3> bases = {{Dim::Register, {}}, {Dim::Lane, {}}, {Dim::Warp, {}}};
    const unsigned bits[] = {1, 2, 1};
    for (unsigned k = 0; k < 3; ++k)
      for (unsigned bit = 0; bit < bits[k]; ++bit)
        bases[k].images.push_back({{Dim::Row, rng() % 4}, {Dim::Column, rng() % 4}});
    return LinearLayout(bases, {{Dim::Row, 2}, {Dim::Column, 2}});
  };
  for (int k = 0; k < 4000; ++k) {
    LinearLayout from = draw(), to = draw();
    if (k % 3 == 0) // the same but for one bit, so that cheap conversions occur
      to = LinearLayout({{Dim::Register, {to.image(Dim::Register, 0)}},
                         {Dim::Lane, {from.image(Dim::Lane, k % 2), from.image(Dim::Lane, 1)}},
                         {Dim::Warp, {from.image(Dim::Warp, 0)}}},
                        {{Dim::Row, 2}, {Dim::Column, 2}});
    if (!from.isSurjective() || !to.isSurjective())
      continue;
    Conversion expected = from == to                     ? Conversion::None
                          : heldByGroup(from, to, false) ? Conversion::Registers
                          : heldByGroup(from, to, true)  ? Conversion::Shuffles
                                                         : Conversion::SharedMemory;
    EXPECT_EQ(conversionBetween(from, to), expected) << from.toString() << "to\n" << to.toString();
    seen.insert(expected);
  }
  EXPECT_GE(seen.size(), 3u);
  LinearLayout same = draw();
  EXPECT_EQ(conversionBetween(same, same), Conversion::None);
}

} // namespace
