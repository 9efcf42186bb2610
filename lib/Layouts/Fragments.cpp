// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the tables of the PTX manual from bits of its formulas.

#include "mp/Layouts/Fragments.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace mpcore::layouts;
using llvm::Log2_32;

// Lanes are numbered 4 g + t: the manual's groupID g and threadID_in_group t.

namespace {
/// Bits of a coordinate that count `stride`, 2 stride, ... along `to`.
struct Bits {
  unsigned bits;
  Dim to;
  unsigned stride;
};
} // namespace

static Basis basisOf(Dim from, llvm::ArrayRef<Bits> counted) {
  Basis basis{from, {}};
  for (const Bits &bits : counted)
    for (unsigned bit = 0; bit < bits.bits; ++bit)
      basis.images.push_back({{bits.to, bits.stride << bit}});
  return basis;
}

/// The elements that lanes hold, each in its registers.
static LinearLayout fragment(llvm::ArrayRef<Bits> elements, llvm::ArrayRef<Bits> lanes,
                             llvm::ArrayRef<Axis> outputs) {
  return LinearLayout({basisOf(Dim::Register, elements), basisOf(Dim::Lane, lanes)}, outputs);
}

static unsigned elementsPerRegister(unsigned bits) { return bits >= 32 ? 1 : 32 / bits; }

LinearLayout mpcore::layouts::mmaA(unsigned m, unsigned k, unsigned bits) {
  const unsigned e = elementsPerRegister(bits);
  assert((m == 8 || m == 16) && llvm::isPowerOf2_32(k) && k >= 4 * e && "no such operand");
  return fragment({{Log2_32(e), Dim::Column, 1},
                   {Log2_32(m / 8), Dim::Row, 8},
                   {Log2_32(k / (4 * e)), Dim::Column, 4 * e}},
                  {{2, Dim::Column, e}, {3, Dim::Row, 1}},
                  {{Dim::Row, Log2_32(m)}, {Dim::Column, Log2_32(k)}});
}

LinearLayout mpcore::layouts::mmaB(unsigned k, unsigned bits) {
  const unsigned e = elementsPerRegister(bits);
  assert(llvm::isPowerOf2_32(k) && k >= 4 * e && "no such operand");
  return fragment({{Log2_32(e), Dim::Row, 1}, {Log2_32(k / (4 * e)), Dim::Row, 4 * e}},
                  {{2, Dim::Row, e}, {3, Dim::Column, 1}},
                  {{Dim::Row, Log2_32(k)}, {Dim::Column, 3}});
}

LinearLayout mpcore::layouts::mmaC(unsigned m) {
  assert((m == 8 || m == 16) && "no such accumulator");
  return fragment({{1, Dim::Column, 1}, {Log2_32(m / 8), Dim::Row, 8}},
                  {{2, Dim::Column, 2}, {3, Dim::Row, 1}},
                  {{Dim::Row, Log2_32(m)}, {Dim::Column, 3}});
}

LinearLayout mpcore::layouts::ldmatrix(unsigned count, bool transposed) {
  assert((count == 1 || count == 2 || count == 4) && "no such number of matrices");
  const Dim across = transposed ? Dim::Row : Dim::Column,
            down = transposed ? Dim::Column : Dim::Row;
  return fragment({{1, across, 1}, {Log2_32(count), Dim::Matrix, 1}},
                  {{2, across, 2}, {3, down, 1}},
                  {{Dim::Matrix, Log2_32(count)}, {Dim::Row, 3}, {Dim::Column, 3}});
}

LinearLayout mpcore::layouts::ldmatrixPointers(unsigned count) {
  return LinearLayout(basisOf(Dim::Lane, {{3, Dim::Row, 1}, {Log2_32(count), Dim::Matrix, 1}}),
                      {{Dim::Matrix, Log2_32(count)}, {Dim::Row, 3}});
}

LinearLayout mpcore::layouts::ldmatrixTransposedBytes(unsigned count) {
  assert((count == 1 || count == 2) && "no such number of matrices");
  return fragment({{2, Dim::Row, 1}, {1, Dim::Column, 8}, {Log2_32(count), Dim::Matrix, 1}},
                  {{2, Dim::Row, 4}, {3, Dim::Column, 1}},
                  {{Dim::Matrix, Log2_32(count)}, {Dim::Row, 4}, {Dim::Column, 4}});
}

LinearLayout mpcore::layouts::stmatrixTransposedBytes(unsigned count) {
  assert((count == 1 || count == 2 || count == 4) && "no such number of matrices");
  return fragment({{1, Dim::Row, 1}, {1, Dim::Column, 8}, {Log2_32(count), Dim::Matrix, 1}},
                  {{2, Dim::Row, 2}, {3, Dim::Column, 1}},
                  {{Dim::Matrix, Log2_32(count)}, {Dim::Row, 3}, {Dim::Column, 4}});
}

/// The four warps of a warpgroup take 16 rows each.
static LinearLayout overWarps(const LinearLayout &sixteenRows) {
  return sixteenRows * LinearLayout::identity(Dim::Warp, 2, Dim::Row);
}

RepeatedLayout mpcore::layouts::wgmmaAccumulator(unsigned n) {
  assert(n % 8 == 0 && n >= 8 && n <= 256 && "no such accumulator");
  return {overWarps(mmaC(16)), {{Dim::Register, Dim::Column, n / 8}}};
}

LinearLayout mpcore::layouts::wgmmaA(unsigned k, unsigned bits) {
  return overWarps(mmaA(16, k, bits));
}

LinearLayout mpcore::layouts::swizzle(Swizzle mode, unsigned bits) {
  const unsigned exchanged = Log2_32(unsigned(mode)) - 4;
  Basis bytes{Dim::Byte, {}};
  for (unsigned bit = 0; bit < bits; ++bit) {
    uint32_t to = 1u << bit;
    if (bit >= 7 && bit < 7 + exchanged)
      to |= 1u << (bit - 3);
    bytes.images.push_back({{Dim::Byte, to}});
  }
  return LinearLayout(bytes, Axis{Dim::Byte, bits});
}

LinearLayout mpcore::layouts::sharedTile(unsigned rowBits, unsigned columnBits, unsigned bits,
                                         Dim contiguous, Swizzle mode) {
  assert((contiguous == Dim::Row || contiguous == Dim::Column) && bits >= 8 && "no such tile");
  const Dim other = contiguous == Dim::Row ? Dim::Column : Dim::Row;
  const unsigned alongBits = contiguous == Dim::Row ? rowBits : columnBits;
  const unsigned acrossBits = contiguous == Dim::Row ? columnBits : rowBits;
  const unsigned element = Log2_32(bits / 8), span = Log2_32(unsigned(mode));
  const unsigned inSpan = std::min(alongBits, span - element);
  const Basis along =
                  basisOf(contiguous,
                          {{inSpan, Dim::Byte, 1u << element},
                           {alongBits - inSpan, Dim::Byte, 1u << (element + inSpan + acrossBits)}}),
              across = basisOf(other, {{acrossBits, Dim::Byte, 1u << (element + inSpan)}});
  const unsigned total = element + alongBits + acrossBits;
  LinearLayout plain({along, across}, {{Dim::Byte, total}});
  return plain.then(swizzle(mode, total));
}
