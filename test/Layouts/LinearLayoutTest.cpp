// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The laws of linear layouts, on random ones.

#include "mp/Layouts/LinearLayout.h"

#include "gtest/gtest.h"

#include <random>

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

TEST(LinearLayout, ProductTiles) {
  LinearLayout atom = LinearLayout::identity(Dim::Register, 1, Dim::Column) *
                      LinearLayout::identity(Dim::Lane, 3, Dim::Row);
  LinearLayout outer = LinearLayout::identity(Dim::Register, 2, Dim::Row) *
                       LinearLayout::identity(Dim::Warp, 1, Dim::Column);
  LinearLayout tiled = atom * outer;
  EXPECT_EQ(tiled.apply({{Dim::Register, 1}}), (Point{{Dim::Column, 1}}));
  EXPECT_EQ(tiled.apply({{Dim::Register, 2}}), (Point{{Dim::Row, 8}}));
  EXPECT_EQ(tiled.apply({{Dim::Warp, 1}}), (Point{{Dim::Column, 2}}));
}

TEST(RepeatedLayout, RepeatsAnAtomAnyNumberOfTimes) {
  RepeatedLayout layout{LinearLayout::identity(Dim::Register, 1, Dim::Column),
                        {{Dim::Register, Dim::Column, 3}, {Dim::Register, Dim::Row, 5}}};
  for (uint32_t r = 0; r < 30; ++r)
    EXPECT_EQ(layout.apply({{Dim::Register, r}}), (Point{{Dim::Column, r % 6}, {Dim::Row, r / 6}}));
}

} // namespace
