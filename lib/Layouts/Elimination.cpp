// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gaussian elimination over F2 on matrices whose columns are machine words.

#include "mp/Layouts/LinearLayout.h"

#include "llvm/ADT/bit.h"

using namespace mpcore::layouts;

namespace {
/// Vectors whose highest bits differ, each with the combination of inputs that makes it.
struct Echelon {
  struct Vector {
    uint64_t value, inputs;
  };
  llvm::SmallVector<Vector, 16> vectors;

  /// Subtracts the vectors that lead in the bits of `v`, until none does.
  Vector reduce(Vector v) const {
    for (const Vector &other : vectors)
      if (v.value >> leading(other) & 1) {
        v.value ^= other.value;
        v.inputs ^= other.inputs;
      }
    return v;
  }
  /// Keeps leading bits out of all other vectors, so that the order of reduction does not matter.
  void insert(Vector v) {
    for (Vector &other : vectors)
      if (other.value >> leading(v) & 1) {
        other.value ^= v.value;
        other.inputs ^= v.inputs;
      }
    vectors.push_back(v);
  }
  static unsigned leading(const Vector &v) { return llvm::bit_width(v.value) - 1; }
};
} // namespace

/// Adds the columns to `echelon`; calls `onZero` with each combination of inputs that vanishes.
template <class F>
static void eliminate(llvm::ArrayRef<uint64_t> columns, Echelon &echelon, F &&onZero) {
  for (unsigned k = 0; k < columns.size(); ++k) {
    Echelon::Vector rest = echelon.reduce({columns[k], uint64_t(1) << k});
    if (rest.value)
      echelon.insert(rest);
    else
      onZero(rest.inputs);
  }
}

unsigned mpcore::layouts::rankF2(llvm::ArrayRef<uint64_t> vectors) {
  Echelon echelon;
  for (uint64_t v : vectors)
    if (Echelon::Vector rest = echelon.reduce({v, 0}); rest.value)
      echelon.insert(rest);
  return echelon.vectors.size();
}

unsigned LinearLayout::rank() const { return rankF2(columns); }

llvm::SmallVector<Point, 4> LinearLayout::kernel() const {
  llvm::SmallVector<Point, 4> result;
  Echelon echelon;
  eliminate(columns, echelon, [&](uint64_t inputs) { result.push_back(unpack(in, inputs)); });
  return result;
}

std::optional<LinearLayout> LinearLayout::rightInverse() const {
  Echelon echelon;
  eliminate(columns, echelon, [](uint64_t) {});
  LinearLayout result;
  result.in = out;
  result.out = in;
  for (unsigned bit = 0; bit < outputBits(); ++bit) {
    Echelon::Vector rest = echelon.reduce({uint64_t(1) << bit, 0});
    if (rest.value)
      return std::nullopt;
    result.columns.push_back(rest.inputs);
  }
  return result;
}

std::optional<LinearLayout> LinearLayout::inverse() const {
  return isInjective() ? rightInverse() : std::nullopt;
}
