// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps (CUtensorMap, tiled and im2col mode) for kernels that copy tiles with
// cp.async.bulk.tensor. The 128 bytes that encode() returns are this emulator's own: the hardware's
// format is not public. Fields follow cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.

#ifndef MP_EMULATOR_TENSORMAP_H
#define MP_EMULATOR_TENSORMAP_H

#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <optional>

namespace mpcore::emulator {

struct TensorMap {
  enum class Type : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, TF32 };
  enum class Swizzle : uint8_t { None, B32, B64, B128 };

  Type type = Type::U8;
  uint8_t rank = 1;                            // 1 to 5
  uint64_t address = 0;                        // global, a multiple of 16
  std::array<uint64_t, 5> dims{1, 1, 1, 1, 1}; // elements, the fastest dimension first
  std::array<uint64_t, 4> strides{};          // bytes, of dimensions 1 to rank - 1, multiples of 16
  std::array<uint32_t, 5> box{1, 1, 1, 1, 1}; // elements, at most 256 each
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1}; // of tiles only 1 is supported
  Swizzle swizzle = Swizzle::None;
  bool nanFill = false; // what lies outside the tensor is NaN instead of zero

  // With im2col dimensions are channels, the 1 to 3 of an image and images; a copy takes `pixels`
  // pixels of `channels` channels. Pixels follow each other, elementStrides apart, inside a box
  // that begins `lower` behind the image's first and ends `upper` behind its last, and go on in the
  // next image; what is read lies the instruction's offsets further.
  bool im2col = false;
  std::array<int16_t, 3> lower{}, upper{};
  uint32_t channels = 1, pixels = 1; // at most 256 and 1024

  unsigned elementBytes() const;
  /// Elements that follow each other in a copy, and bytes of all of it.
  uint32_t rowElements() const { return im2col ? channels : box[0]; }
  uint64_t boxBytes() const;
  /// Checks every rule above, and that the box's rows are multiples of 16 bytes that fit the
  /// swizzle.
  llvm::Error verify() const;
  std::array<uint8_t, 128> encode() const;
  static std::optional<TensorMap> decode(const uint8_t *bytes);
};

/// The field of a tensor map that tensormap.replace changes.
enum class TensorMapField : uint8_t {
  Address,
  Rank,
  Box,
  Dim,
  Stride,
  ElementStride,
  ElementType,
  Interleave,
  Swizzle,
  Fill
};
/// Changes a field of an encoded map, numbered as PTX does; the map may be wrong until others
/// follow. Returns what is wrong, or null.
const char *replaceField(uint8_t *bytes, TensorMapField field, unsigned dim, uint64_t value);

/// Maps the plain shared memory address of a byte of a swizzled tile to where the byte lies.
uint32_t swizzled(TensorMap::Swizzle swizzle, uint32_t address);

} // namespace mpcore::emulator

#endif
