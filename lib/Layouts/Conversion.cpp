// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares what groups of owners hold in two layouts.

#include "mp/Layouts/LinearLayout.h"

#include "llvm/Support/ErrorHandling.h"

#include <cassert>

using namespace mpcore::layouts;

llvm::StringRef mpcore::layouts::toString(Conversion conversion) {
  switch (conversion) {
  case Conversion::None: return "none";
  case Conversion::Registers: return "registers";
  case Conversion::Shuffles: return "shuffles";
  case Conversion::SharedMemory: return "shared memory";
  }
  llvm_unreachable("unknown conversion");
}

static constexpr Dim kOwners[] = {Dim::Register, Dim::Lane, Dim::Warp, Dim::Warpgroup};

/// An output point as a word, with the axes of `layout`.
static uint64_t wordOf(const LinearLayout &layout, const Point &point) {
  uint64_t word = 0;
  unsigned at = 0;
  for (const Axis &axis : layout.outputs()) {
    word |= uint64_t(point[axis.dim]) << at;
    at += axis.bits;
  }
  return word;
}

/// True if each owner of a value of `to` shares the coordinates of its dimensions outside the first
/// `inner` of kOwners with an owner of that value in `from`. An owner's values are the image of the
/// outer coordinates plus the span of the inner ones, so the spans must be nested and the images of
/// each outer bit may differ by a vector of the larger span only.
static bool staysWithin(const LinearLayout &from, const LinearLayout &to, unsigned inner) {
  llvm::SmallVector<uint64_t, 16> span;
  for (Dim dim : llvm::ArrayRef(kOwners).take_front(inner))
    for (unsigned bit = 0; bit < from.inputBits(dim); ++bit)
      span.push_back(wordOf(from, from.image(dim, bit)));
  const unsigned reached = rankF2(span);
  for (Dim dim : llvm::ArrayRef(kOwners).take_front(inner))
    for (unsigned bit = 0; bit < to.inputBits(dim); ++bit)
      span.push_back(wordOf(from, to.image(dim, bit)));
  for (Dim dim : llvm::ArrayRef(kOwners).drop_front(inner)) {
    if (from.inputBits(dim) != to.inputBits(dim))
      return false;
    for (unsigned bit = 0; bit < from.inputBits(dim); ++bit)
      span.push_back(wordOf(from, from.image(dim, bit)) ^ wordOf(from, to.image(dim, bit)));
  }
  return rankF2(span) == reached;
}

Conversion mpcore::layouts::conversionBetween(const LinearLayout &from, const LinearLayout &to) {
  for (const Axis &axis : from.outputs())
    assert(to.outputBits(axis.dim) == axis.bits && "the layouts hold different tensors");
  bool same = true;
  for (Dim dim : kOwners) {
    same &= from.inputBits(dim) == to.inputBits(dim);
    for (unsigned bit = 0; same && bit < from.inputBits(dim); ++bit)
      same = from.image(dim, bit) == to.image(dim, bit);
  }
  if (same)
    return Conversion::None;
  if (staysWithin(from, to, 1))
    return Conversion::Registers;
  if (staysWithin(from, to, 2))
    return Conversion::Shuffles;
  return Conversion::SharedMemory;
}
