// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the tables of the PTX manual from bits of its formulas.

#include "mp/Layouts/Fragments.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace mpcore::layouts;
using llvm::Log2_32;

// Lanes are numbered 4 g + t: the manual's groupID g and threadID_in_group t.

/// `bits` bits of `from` that count `stride`, 2 stride, ... along `to`.
static void count(Basis &basis, unsigned bits, Dim to, unsigned stride) {
  for (unsigned bit = 0; bit < bits; ++bit)
    basis.images.push_back({{to, stride << bit}});
}

static unsigned elementsPerRegister(unsigned bits) { return bits >= 32 ? 1 : 32 / bits; }

LinearLayout mpcore::layouts::mmaA(unsigned m, unsigned k, unsigned bits) {
  const unsigned e = elementsPerRegister(bits);
  assert((m == 8 || m == 16) && llvm::isPowerOf2_32(k) && k >= 4 * e && "no such operand");
  Basis elements{Dim::Register, {}}, lanes{Dim::Lane, {}};
  count(elements, Log2_32(e), Dim::Column, 1);
  count(elements, Log2_32(m / 8), Dim::Row, 8);
  count(elements, Log2_32(k / (4 * e)), Dim::Column, 4 * e);
  count(lanes, 2, Dim::Column, e);
  count(lanes, 3, Dim::Row, 1);
  return LinearLayout({elements, lanes}, {{Dim::Row, Log2_32(m)}, {Dim::Column, Log2_32(k)}});
}

LinearLayout mpcore::layouts::mmaB(unsigned k, unsigned bits) {
  const unsigned e = elementsPerRegister(bits);
  assert(llvm::isPowerOf2_32(k) && k >= 4 * e && "no such operand");
  Basis elements{Dim::Register, {}}, lanes{Dim::Lane, {}};
  count(elements, Log2_32(e), Dim::Row, 1);
  count(elements, Log2_32(k / (4 * e)), Dim::Row, 4 * e);
  count(lanes, 2, Dim::Row, e);
  count(lanes, 3, Dim::Column, 1);
  return LinearLayout({elements, lanes}, {{Dim::Row, Log2_32(k)}, {Dim::Column, 3}});
}

LinearLayout mpcore::layouts::mmaC(unsigned m) {
  assert((m == 8 || m == 16) && "no such accumulator");
  Basis elements{Dim::Register, {}}, lanes{Dim::Lane, {}};
  count(elements, 1, Dim::Column, 1);
  count(elements, Log2_32(m / 8), Dim::Row, 8);
  count(lanes, 2, Dim::Column, 2);
  count(lanes, 3, Dim::Row, 1);
  return LinearLayout({elements, lanes}, {{Dim::Row, Log2_32(m)}, {Dim::Column, 3}});
}

LinearLayout mpcore::layouts::ldmatrix(unsigned count, bool transposed) {
  assert((count == 1 || count == 2 || count == 4) && "no such number of matrices");
  const Dim across = transposed ? Dim::Row : Dim::Column,
            down = transposed ? Dim::Column : Dim::Row;
  Basis elements{Dim::Register, {}}, lanes{Dim::Lane, {}};
  ::count(elements, 1, across, 1);
  ::count(elements, Log2_32(count), Dim::Matrix, 1);
  ::count(lanes, 2, across, 2);
  ::count(lanes, 3, down, 1);
  return LinearLayout({elements, lanes},
                      {{Dim::Matrix, Log2_32(count)}, {Dim::Row, 3}, {Dim::Column, 3}});
}

LinearLayout mpcore::layouts::ldmatrixPointers(unsigned count) {
  Basis lanes{Dim::Lane, {}};
  ::count(lanes, 3, Dim::Row, 1);
  ::count(lanes, Log2_32(count), Dim::Matrix, 1);
  return LinearLayout(lanes, {{Dim::Matrix, Log2_32(count)}, {Dim::Row, 3}});
}

LinearLayout mpcore::layouts::ldmatrixTransposedBytes(unsigned count) {
  assert((count == 1 || count == 2) && "no such number of matrices");
  Basis elements{Dim::Register, {}}, lanes{Dim::Lane, {}};
  ::count(elements, 2, Dim::Row, 1);
  ::count(elements, 1, Dim::Column, 8);
  ::count(elements, Log2_32(count), Dim::Matrix, 1);
  ::count(lanes, 2, Dim::Row, 4);
  ::count(lanes, 3, Dim::Column, 1);
  return LinearLayout({elements, lanes},
                      {{Dim::Matrix, Log2_32(count)}, {Dim::Row, 4}, {Dim::Column, 4}});
}

LinearLayout mpcore::layouts::stmatrixTransposedBytes(unsigned count) {
  assert((count == 1 || count == 2 || count == 4) && "no such number of matrices");
  Basis elements{Dim::Register, {}}, lanes{Dim::Lane, {}};
  ::count(elements, 1, Dim::Row, 1);
  ::count(elements, 1, Dim::Column, 8);
  ::count(elements, Log2_32(count), Dim::Matrix, 1);
  ::count(lanes, 2, Dim::Row, 2);
  ::count(lanes, 3, Dim::Column, 1);
  return LinearLayout({elements, lanes},
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
  Basis along{contiguous, {}}, across{other, {}};
  count(along, inSpan, Dim::Byte, 1u << element);
  count(across, acrossBits, Dim::Byte, 1u << (element + inSpan));
  count(along, alongBits - inSpan, Dim::Byte, 1u << (element + inSpan + acrossBits));
  const unsigned total = element + alongBits + acrossBits;
  LinearLayout plain({along, across}, {{Dim::Byte, total}});
  return plain.then(swizzle(mode, total));
}
