// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds, applies and composes layouts.

#include "mp/Layouts/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cassert>

using namespace mpcore::layouts;

static unsigned totalBits(llvm::ArrayRef<Axis> axes) {
  unsigned bits = 0;
  for (const Axis &axis : axes)
    bits += axis.bits;
  return bits;
}

static const Axis *findAxis(llvm::ArrayRef<Axis> axes, Dim dim) {
  const Axis *it = llvm::find_if(axes, [&](const Axis &axis) { return axis.dim == dim; });
  return it == axes.end() ? nullptr : it;
}

/// Makes room for `bits` bits of `dim`.
static void widen(llvm::SmallVectorImpl<Axis> &axes, Dim dim, unsigned bits) {
  if (const Axis *axis = findAxis(axes, dim))
    axes[axis - axes.begin()].bits = std::max(axis->bits, bits);
  else
    axes.push_back({dim, bits});
}

LinearLayout::LinearLayout(llvm::ArrayRef<Basis> bases, llvm::ArrayRef<Axis> outputs) {
  for (const Axis &axis : outputs)
    widen(out, axis.dim, axis.bits);
  for (const Basis &basis : bases) {
    assert(!findAxis(in, basis.dim) && "an input dimension occurs twice");
    in.push_back({basis.dim, unsigned(basis.images.size())});
    for (const Point &image : basis.images)
      for (unsigned d = 0; d < kDims; ++d)
        if (uint32_t value = image[Dim(d)])
          widen(out, Dim(d), llvm::bit_width(value));
  }
  assert(outputBits() <= 64 && "images are wider than a machine word");
  for (const Basis &basis : bases)
    for (const Point &image : basis.images)
      columns.push_back(pack(out, image));
}

LinearLayout LinearLayout::identity(Dim from, unsigned bits, Dim to) {
  Basis basis{from, {}};
  for (unsigned bit = 0; bit < bits; ++bit)
    basis.images.push_back({{to, 1u << bit}});
  return LinearLayout(basis, Axis{to, bits});
}

unsigned LinearLayout::inputBits(Dim dim) const {
  const Axis *axis = findAxis(in, dim);
  return axis ? axis->bits : 0;
}

unsigned LinearLayout::outputBits(Dim dim) const {
  const Axis *axis = findAxis(out, dim);
  return axis ? axis->bits : 0;
}

unsigned LinearLayout::outputBits() const { return totalBits(out); }

uint64_t LinearLayout::pack(llvm::ArrayRef<Axis> axes, const Point &point) const {
  uint64_t word = 0;
  unsigned at = 0;
  for (const Axis &axis : axes) {
    assert(uint64_t(point[axis.dim]) >> axis.bits == 0 && "a coordinate is outside the layout");
    word |= uint64_t(point[axis.dim]) << at;
    at += axis.bits;
  }
  return word;
}

Point LinearLayout::unpack(llvm::ArrayRef<Axis> axes, uint64_t word) const {
  Point point;
  for (const Axis &axis : axes) {
    point[axis.dim] = uint32_t(word & ((uint64_t(1) << axis.bits) - 1));
    word >>= axis.bits;
  }
  return point;
}

unsigned LinearLayout::firstColumn(Dim dim) const {
  unsigned first = 0;
  for (const Axis &axis : in) {
    if (axis.dim == dim)
      return first;
    first += axis.bits;
  }
  llvm_unreachable("the layout has no such input");
}

Point LinearLayout::apply(const Point &point) const {
  uint64_t result = 0, bits = pack(in, point);
  for (; bits; bits &= bits - 1)
    result ^= columns[llvm::countr_zero(bits)];
  return unpack(out, result);
}

Point LinearLayout::image(Dim dim, unsigned bit) const {
  assert(bit < inputBits(dim) && "the layout has no such input bit");
  return unpack(out, columns[firstColumn(dim) + bit]);
}

LinearLayout LinearLayout::then(const LinearLayout &next) const {
  LinearLayout result;
  result.in = in;
  result.out = next.out;
  for (uint64_t column : columns)
    result.columns.push_back(next.pack(next.out, next.apply(unpack(out, column))));
  return result;
}

LinearLayout LinearLayout::operator*(const LinearLayout &outer) const {
  llvm::SmallVector<Axis, 4> outputs(out);
  for (const Axis &axis : outer.out)
    widen(outputs, axis.dim, outputBits(axis.dim) + axis.bits);
  llvm::SmallVector<Basis, 4> bases;
  auto basisOf = [&](Dim dim) -> Basis & {
    Basis *it = llvm::find_if(bases, [&](const Basis &basis) { return basis.dim == dim; });
    return it == bases.end() ? bases.emplace_back(Basis{dim, {}}) : *it;
  };
  for (const Axis &axis : in)
    for (unsigned bit = 0; bit < axis.bits; ++bit)
      basisOf(axis.dim).images.push_back(image(axis.dim, bit));
  for (const Axis &axis : outer.in)
    for (unsigned bit = 0; bit < axis.bits; ++bit) {
      Point moved = outer.image(axis.dim, bit);
      for (const Axis &output : outer.out)
        moved[output.dim] <<= outputBits(output.dim);
      basisOf(axis.dim).images.push_back(moved);
    }
  return LinearLayout(bases, outputs);
}
