// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies atoms that are repeated any number of times.

#include "mp/Layouts/LinearLayout.h"

#include <cassert>

using namespace mpcore::layouts;

Point RepeatedLayout::apply(Point point) const {
  Point inner, rest = point, offset;
  for (unsigned d = 0; d < kDims; ++d) {
    const unsigned bits = atom.inputBits(Dim(d));
    inner[Dim(d)] = point[Dim(d)] & ((1u << bits) - 1);
    rest[Dim(d)] = point[Dim(d)] >> bits;
  }
  Point extent;
  for (unsigned d = 0; d < kDims; ++d)
    extent[Dim(d)] = 1u << atom.outputBits(Dim(d));
  for (const Repetition &r : repetitions) {
    offset[r.to] += rest[r.from] % r.count * extent[r.to];
    rest[r.from] /= r.count;
    extent[r.to] *= r.count;
  }
  assert(rest == Point() && "a coordinate is outside the layout");
  Point result = atom.apply(inner);
  for (unsigned d = 0; d < kDims; ++d)
    result[Dim(d)] += offset[Dim(d)];
  return result;
}
