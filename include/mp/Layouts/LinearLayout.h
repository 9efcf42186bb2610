// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear maps over F2, the field of two elements, between the bits of coordinates: which register
// of which lane holds which row and column of a fragment, or at which byte of shared memory an
// element of a swizzled tile lies. Every layout whose sizes are powers of two and whose offsets
// are sums or exclusive ors of bits is such a map, so that composition, inversion and bank
// conflicts are linear algebra on machine words.
//
// Source: Zhou et al., "Linear Layouts: Robust Code Generation of Efficient Tensor Computation
// Using F2", arXiv:2505.23819.

#ifndef MP_LAYOUTS_LINEARLAYOUT_H
#define MP_LAYOUTS_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mpcore::layouts {

/// A coordinate counts one of these. `Register` counts the elements that one lane holds, in the
/// order in which the PTX manual numbers them (a0, a1, ...); 32/bits of them share a 32-bit
/// register. `Matrix` counts the 8x8 matrices of one ldmatrix or stmatrix.
enum class Dim : uint8_t { Register, Lane, Warp, Warpgroup, Matrix, Row, Column, Byte };
inline constexpr unsigned kDims = 8;
llvm::StringRef toString(Dim dim);

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
  /// Sends every value of a coordinate of `bits` bits to 0: all of them hold the same (broadcast).
  static LinearLayout broadcast(Dim from, unsigned bits);

  llvm::ArrayRef<Axis> inputs() const { return in; }
  llvm::ArrayRef<Axis> outputs() const { return out; }
  /// Bits of a coordinate; 0 where the layout does not have it.
  unsigned inputBits(Dim dim) const;
  unsigned outputBits(Dim dim) const;
  unsigned inputBits() const { return columns.size(); }
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

  /// The outer layout for which atom * outer is this layout; nothing if the atom does not tile it.
  std::optional<LinearLayout> divideBy(const LinearLayout &atom) const;

  /// Dimension of the image over F2: 2^rank different points are reached.
  unsigned rank() const;
  bool isInjective() const { return rank() == inputBits(); }
  bool isSurjective() const { return rank() == outputBits(); }
  /// A basis of the inputs that go to 0; adding one of them to an input changes nothing.
  llvm::SmallVector<Point, 4> kernel() const;

  /// The layout that undoes this one. Of inputs with the same image it picks one that is 0 in
  /// every bit that elimination leaves free; nothing if some output is never reached.
  std::optional<LinearLayout> rightInverse() const;
  /// Nothing unless the layout is a bijection.
  std::optional<LinearLayout> inverse() const;

  /// The largest power of two c for which inputs 0 ... c-1 of `dim` go to c consecutive values of
  /// output coordinate `to` (and 0 elsewhere), at every multiple of c: how many elements one
  /// vector access may move.
  unsigned contiguous(Dim dim, Dim to) const;

  /// Equal maps between equal axes in equal order.
  bool operator==(const LinearLayout &) const = default;

  /// One line for each input bit: "lane 4 -> row 1".
  void print(llvm::raw_ostream &os) const;
  std::string toString() const;

private:
  uint64_t pack(llvm::ArrayRef<Axis> axes, const Point &point) const;
  Point unpack(llvm::ArrayRef<Axis> axes, uint64_t word) const;
  unsigned firstColumn(Dim dim) const;

  llvm::SmallVector<Axis, 4> in, out;
  /// The matrix by columns: the packed output of each input bit, inputs in the order of `in`.
  llvm::SmallVector<uint64_t, 16> columns;
};

/// Dimension of the span of vectors over F2.
unsigned rankF2(llvm::ArrayRef<uint64_t> vectors);

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

  /// Values that an input coordinate takes.
  uint32_t inputExtent(Dim dim) const;
  uint32_t outputExtent(Dim dim) const;
  Point apply(Point point) const;
};

/// The cheapest means that moves values from the owners of one layout to those of another.
enum class Conversion : uint8_t { None, Registers, Shuffles, SharedMemory };
llvm::StringRef toString(Conversion conversion);

/// Tells how a fragment held as `from` comes to be held as `to`; both map registers, lanes, warps
/// and warpgroups to the same output coordinates, onto. None: already so. Registers: each lane
/// renames its own. Shuffles: values stay within warps. SharedMemory: warps exchange values.
Conversion conversionBetween(const LinearLayout &from, const LinearLayout &to);

} // namespace mpcore::layouts

#endif // MP_LAYOUTS_LINEARLAYOUT_H
