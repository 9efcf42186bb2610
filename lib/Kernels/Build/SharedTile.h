// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The place of an operand's tile in shared memory, as a map linear over bits: rows of up to 128
// bytes whose 16-byte chunks are exchanged by an exclusive or, so that neither copies nor loads of
// fragments meet in a bank.

#ifndef MP_LIB_KERNELS_BUILD_SHAREDTILE_H
#define MP_LIB_KERNELS_BUILD_SHAREDTILE_H

#include "DeviceBuilder.h"
#include "mp/Layouts/LinearLayout.h"

namespace mlir::mp {

/// A tile of `outer` rows (of A) or columns (of B) and `k` products; both powers of two.
class SharedTile {
public:
  /// `alongK`: rows of shared memory run along k, in stripes of 64 or 128 bytes, `outer` rows of
  /// one stripe after each other; else along the outer dimension, in stripes of at most 128 bytes,
  /// k rows of one stripe after each other.
  SharedTile(int outer, int k, int elementBytes, bool alongK);

  /// Bits of a byte address that the exclusive or changes: the chunk in its 128 bytes.
  static constexpr uint32_t kChunkBits = 0x70;

  int outer() const { return outerSize; }
  int k() const { return kSize; }
  int elementBytes() const { return bytesPerElement; }
  bool alongK() const { return isAlongK; }
  uint32_t bytes() const { return uint32_t(outerSize) * kSize * bytesPerElement; }
  /// (Row = outer, Column = k) to Byte.
  const mpcore::layouts::LinearLayout &layout() const { return map; }
  uint32_t place(uint32_t outer, uint32_t k) const;

  /// The address of the element that lies `offset` (a value of `place`) from the one at `base`.
  /// Linear: the two are sums of different bits of outer and k, so that bits of the chunk are
  /// exclusive-ored, which is one instruction for many tiles, and all others added, which
  /// instructions do themselves.
  static Value at(DeviceBuilder &d, Value base, uint32_t offset) {
    return d.add(d.exclusiveOr(base, offset & kChunkBits), int64_t(offset & ~kChunkBits));
  }

private:
  int outerSize, kSize, bytesPerElement;
  bool isAlongK;
  mpcore::layouts::LinearLayout map;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_SHAREDTILE_H
