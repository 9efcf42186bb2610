// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodes, decodes and checks the 128 bytes of tensor maps, and maps coordinates to addresses.

#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cstring>

using namespace mpcore::emulator;
using llvm::Twine;

unsigned TensorMap::elementBytes() const {
  switch (type) {
  case Type::U8: return 1;
  case Type::U16:
  case Type::F16:
  case Type::BF16: return 2;
  case Type::U64:
  case Type::S64:
  case Type::F64: return 8;
  default: return 4;
  }
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes();
  if (im2col)
    return bytes * channels * pixels;
  for (unsigned d = 0; d < rank; ++d)
    bytes *= box[d];
  return bytes;
}

llvm::Error TensorMap::verify() const {
  auto bad = [](const Twine &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "tensor map: " + text);
  };
  if (type > Type::TF32 || swizzle > Swizzle::B128)
    return bad("unknown element type or swizzle");
  if (rank < 1 || rank > 5)
    return bad("rank " + Twine(unsigned(rank)) + " is not 1 to 5");
  if (address % 16)
    return bad("the address is no multiple of 16");
  for (unsigned d = 0; d < rank; ++d) {
    if (dims[d] == 0 || dims[d] > uint64_t(1) << 32)
      return bad("dimension " + Twine(d) + " has " + Twine(dims[d]) +
                 " elements, 1 to 2^32 are allowed");
    if (!im2col && (box[d] == 0 || box[d] > 256))
      return bad("the box has " + Twine(box[d]) + " elements in dimension " + Twine(d) +
                 ", 1 to 256 are allowed");
    if (elementStrides[d] == 0 || elementStrides[d] > 8 || (!im2col && elementStrides[d] != 1))
      return bad("element stride " + Twine(elementStrides[d]) +
                 " is not supported: only 1, with im2col 1 to 8");
    if (d && (strides[d - 1] % 16 || strides[d - 1] == 0 || strides[d - 1] >= uint64_t(1) << 40))
      return bad("stride " + Twine(strides[d - 1]) + " of dimension " + Twine(d) +
                 " is no multiple of 16 below 2^40");
  }
  if (im2col) {
    if (rank < 3)
      return bad("im2col needs rank 3 to 5, found " + Twine(unsigned(rank)));
    if (channels == 0 || channels > 256 || pixels == 0 || pixels > 1024)
      return bad(Twine(pixels) + " pixels of " + Twine(channels) +
                 " channels; 1 to 1024 of 1 to 256 are allowed");
    const int limit = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
    for (unsigned d = 0; d + 2 < rank; ++d) {
      for (int corner : {lower[d], upper[d]})
        if (corner < -limit || corner >= limit)
          return bad("corner " + Twine(corner) + " of rank " + Twine(unsigned(rank)) +
                     " is not in " + Twine(-limit) + " to " + Twine(limit - 1));
      if (int64_t(dims[d + 1]) + upper[d] <= lower[d])
        return bad("the corners leave no pixel in dimension " + Twine(d + 1));
    }
  }
  uint64_t row = uint64_t(rowElements()) * elementBytes();
  if (row % 16)
    return bad("a row of the box has " + Twine(row) + " bytes, not a multiple of 16");
  const uint64_t span[] = {0, 32, 64, 128};
  if (swizzle != Swizzle::None && row > span[unsigned(swizzle)])
    return bad("a row of the box has " + Twine(row) + " bytes, the swizzle allows " +
               Twine(span[unsigned(swizzle)]));
  return llvm::Error::success();
}

// Layout of the 128 bytes: magic, then the fields in order, little endian.
static constexpr uint32_t kMagic = 0x6d70544d;
namespace {
struct Packed {
  uint32_t magic;
  uint8_t type, rank, swizzle, nanFill;
  uint64_t address;
  uint32_t dimsLess1[5];
  uint16_t boxes[5];
  uint8_t elementStrides[5];
  uint8_t im2col, pad[4];
  uint64_t strides[4];
  int16_t lower[3], upper[3];
  uint16_t channels, pixels;
};
static_assert(sizeof(Packed) <= 128);
} // namespace

std::array<uint8_t, 128> TensorMap::encode() const {
  Packed p = {};
  p.magic = kMagic;
  p.type = uint8_t(type), p.rank = rank, p.swizzle = uint8_t(swizzle), p.nanFill = nanFill;
  p.address = address;
  p.im2col = im2col, p.channels = uint16_t(channels), p.pixels = uint16_t(pixels);
  llvm::copy(lower, p.lower), llvm::copy(upper, p.upper);
  for (unsigned d = 0; d < 5; ++d) {
    p.dimsLess1[d] = uint32_t(dims[d] - 1);
    p.boxes[d] = uint16_t(box[d]);
    p.elementStrides[d] = uint8_t(elementStrides[d]);
    if (d < 4)
      p.strides[d] = strides[d];
  }
  std::array<uint8_t, 128> bytes{};
  std::memcpy(bytes.data(), &p, sizeof(p));
  return bytes;
}

std::optional<TensorMap> TensorMap::decode(const uint8_t *bytes) {
  Packed p;
  std::memcpy(&p, bytes, sizeof(p));
  if (p.magic != kMagic)
    return std::nullopt;
  TensorMap m;
  m.type = Type(p.type), m.rank = p.rank, m.swizzle = Swizzle(p.swizzle), m.nanFill = p.nanFill;
  m.address = p.address;
  m.im2col = p.im2col, m.channels = p.channels, m.pixels = p.pixels;
  llvm::copy(p.lower, m.lower.begin()), llvm::copy(p.upper, m.upper.begin());
  for (unsigned d = 0; d < 5; ++d) {
    m.dims[d] = uint64_t(p.dimsLess1[d]) + 1;
    m.box[d] = p.boxes[d];
    m.elementStrides[d] = p.elementStrides[d];
    if (d < 4)
      m.strides[d] = p.strides[d];
  }
  if (llvm::Error e = m.verify()) {
    llvm::consumeError(std::move(e));
    return std::nullopt;
  }
  return m;
}

const char *mpcore::emulator::replaceField(uint8_t *bytes, TensorMapField field, unsigned dim,
                                           uint64_t value) {
  using Type = TensorMap::Type;
  // PTX counts two formats that flush subnormals, which no copy does.
  static constexpr Type types[] = {Type::U8,   Type::U16,  Type::U32, Type::S32, Type::U64,
                                   Type::S64,  Type::F16,  Type::F32, Type::F32, Type::F64,
                                   Type::BF16, Type::TF32, Type::TF32};
  Packed p;
  std::memcpy(&p, bytes, sizeof(p));
  // Zeros are a map that lacks everything, which programs fill field by field.
  const bool isEmpty = std::all_of(bytes, bytes + 128, [](uint8_t byte) { return byte == 0; });
  if (p.magic != kMagic && !isEmpty)
    return "there is no tensor map at this address";
  if (dim > 4)
    return "dimensions are numbered from 0 to 4";
  p.magic = kMagic;
  switch (field) {
  case TensorMapField::Address: p.address = value; break;
  case TensorMapField::Rank: // less 1
    p.rank = uint8_t(std::min<uint64_t>(value, 254) + 1);
    break;
  case TensorMapField::Box: p.boxes[dim] = uint16_t(std::min<uint64_t>(value, 0xffff)); break;
  case TensorMapField::Dim: p.dimsLess1[dim] = uint32_t(value - 1); break;
  case TensorMapField::Stride:
    if (dim == 4)
      return "strides are those of dimensions 1 to 4, numbered from 0";
    p.strides[dim] = value;
    break;
  case TensorMapField::ElementStride:
    p.elementStrides[dim] = uint8_t(std::min<uint64_t>(value, 255));
    break;
  case TensorMapField::ElementType:
    if (value >= std::size(types))
      return "elements of 4 or 6 bits are not supported";
    p.type = uint8_t(types[value]);
    break;
  case TensorMapField::Interleave:
    if (value)
      return "interleaved layouts are not supported";
    break;
  case TensorMapField::Swizzle:
    if (value > 3)
      return "a swizzle of 96 bytes is not supported";
    p.swizzle = uint8_t(value);
    break;
  case TensorMapField::Fill: p.nanFill = uint8_t(value); break;
  }
  std::memcpy(bytes, &p, sizeof(p));
  return nullptr;
}

uint32_t mpcore::emulator::swizzled(TensorMap::Swizzle swizzle, uint32_t address) {
  // Bits 4 and up of the address are exclusive-ored with bits 7 and up.
  const uint32_t mask[] = {0, 1, 3, 7};
  return address ^ (address >> 7 & mask[unsigned(swizzle)]) << 4;
}
