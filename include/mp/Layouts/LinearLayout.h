// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear maps over F2, the field of two elements, between the bits of coordinates: which register
// of which lane holds which row and column of a fragment, or at which byte of shared memory an
// element of a swizzled tile lies. Every layout whose sizes are powers of two and whose offsets
// are sums or exclusive ors of bits is such a map, so that composition and tiling are linear
// algebra on machine words.
//
// Source: Zhou et al., "Linear Layouts: Robust Code Generation of Efficient Tensor Computation
// Using F2", arXiv:2505.23819.

#ifndef MP_LAYOUTS_LINEARLAYOUT_H
#define MP_LAYOUTS_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace mpcore::layouts {

/// A coordinate counts one of these. `Register` counts the elements that one lane holds, in the
/// order in which the PTX manual numbers them (a0, a1, ...); 32/bits of them share a 32-bit
/// register. `Matrix` counts the 8x8 matrices of one ldmatrix or stmatrix.
enum class Dim : uint8_t { Register, Lane, Warp, Warpgroup, Matrix, Row, Column, Byte };
inline constexpr unsigned kDims = 8;

/// One coordinate for each dimension; those that nobody set are 0.
class Point {
public:
  Point() = default;
  Point(std::initializer_list<std::pair<Dim, uint32_t>> values) {
    for (auto [dim, value] : values)
      (*this)[dim] = value;
  }
  uint32_t &operator[](Dim dim) { return coordinates[unsigned(dim)]; }
  uint32_t operator[](Dim dim) const { return coordinates[unsigned(dim)]; }
  bool operator==(const Point &) const = default;

private:
  std::array<uint32_t, kDims> coordinates{};
};

/// A dimension whose coordinate has `bits` bits, so that it runs from 0 to 2^bits - 1.
struct Axis {
  Dim dim;
  unsigned bits;
  bool operator==(const Axis &) const = default;
};

/// The images of the bits of one input coordinate, from the lowest bit up.
struct Basis {
  Dim dim;
  llvm::SmallVector<Point, 8> images;
};

class LinearLayout {
public:
  /// Maps nothing to nothing; the neutral element of operator*.
  LinearLayout() = default;

  /// Builds the map that sends each input bit to its image. An output coordinate has as many bits
  /// as its largest image needs, and at least those of `outputs`. Each dimension may occur once
  /// among the inputs; images may not be wider than 64 bits in all.
  explicit LinearLayout(llvm::ArrayRef<Basis> bases, llvm::ArrayRef<Axis> outputs = {});

  /// Copies a coordinate of `bits` bits.
  static LinearLayout identity(Dim from, unsigned bits, Dim to);

  llvm::ArrayRef<Axis> inputs() const { return in; }
  llvm::ArrayRef<Axis> outputs() const { return out; }
  /// Bits of a coordinate; 0 where the layout does not have it.
  unsigned inputBits(Dim dim) const;
  unsigned outputBits(Dim dim) const;
  unsigned outputBits() const;

  /// The image of a point. Bits of `point` beyond the inputs of the layout are not allowed.
  Point apply(const Point &point) const;
  /// The image of bit `bit` of an input coordinate.
  Point image(Dim dim, unsigned bit) const;

  /// First this layout, then `next`: the outputs of this one must be inputs of `next`, with at
  /// most as many bits.
  LinearLayout then(const LinearLayout &next) const;

  /// The direct sum: the bits of `outer` go above those of this layout in every dimension that
  /// both have. Tiling an atom is atom * outer.
  LinearLayout operator*(const LinearLayout &outer) const;

  /// Equal maps between equal axes in equal order.
  bool operator==(const LinearLayout &) const = default;

private:
  uint64_t pack(llvm::ArrayRef<Axis> axes, const Point &point) const;
  Point unpack(llvm::ArrayRef<Axis> axes, uint64_t word) const;
  unsigned firstColumn(Dim dim) const;

  llvm::SmallVector<Axis, 4> in, out;
  /// The matrix by columns: the packed output of each input bit, inputs in the order of `in`.
  llvm::SmallVector<uint64_t, 16> columns;
};

/// An atom repeated along dimensions whose extents are no powers of two, as 64x24 accumulators are
/// three times 64x8: repetition number r of `from` (above the atom's bits of it) lies r times the
/// atom's extent further along `to`. Repetitions of one input dimension nest, the first innermost.
struct RepeatedLayout {
  struct Repetition {
    Dim from, to;
    uint32_t count;
  };
  LinearLayout atom;
  llvm::SmallVector<Repetition, 2> repetitions;

  Point apply(Point point) const;
};

} // namespace mpcore::layouts

#endif // MP_LAYOUTS_LINEARLAYOUT_H
