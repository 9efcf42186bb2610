// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/Twine.h"
#include <cstring>

using namespace mp::emulator;
using llvm::Twine;

unsigned TensorMap::elementBytes() const {
  switch (type) {
  case Type::U8:
    return 1;
  case Type::U16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 8;
  default:
    return 4;
  }
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes();
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
      return bad("dimension " + Twine(d) + " has " + Twine(dims[d]) + " elements, 1 to 2^32 are allowed");
    if (box[d] == 0 || box[d] > 256)
      return bad("the box has " + Twine(box[d]) + " elements in dimension " + Twine(d) + ", 1 to 256 are allowed");
    if (elementStrides[d] != 1)
      return bad("element stride " + Twine(elementStrides[d]) + " is not supported: only 1");
    if (d && (strides[d - 1] % 16 || strides[d - 1] == 0 || strides[d - 1] >= uint64_t(1) << 40))
      return bad("stride " + Twine(strides[d - 1]) + " of dimension " + Twine(d) + " is no multiple of 16 below 2^40");
  }
  uint64_t row = uint64_t(box[0]) * elementBytes();
  if (row % 16)
    return bad("a row of the box has " + Twine(row) + " bytes, not a multiple of 16");
  const uint64_t span[] = {0, 32, 64, 128};
  if (swizzle != Swizzle::None && row > span[unsigned(swizzle)])
    return bad("a row of the box has " + Twine(row) + " bytes, the swizzle allows " + Twine(span[unsigned(swizzle)]));
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
  uint8_t pad[5];
  uint64_t strides[4];
};
static_assert(sizeof(Packed) <= 128);
} // namespace

std::array<uint8_t, 128> TensorMap::encode() const {
  Packed p = {};
  p.magic = kMagic;
  p.type = uint8_t(type), p.rank = rank, p.swizzle = uint8_t(swizzle), p.nanFill = nanFill;
  p.address = address;
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

uint32_t mp::emulator::swizzled(TensorMap::Swizzle swizzle, uint32_t address) {
  // Bits 4 and up of the address are exclusive-ored with bits 7 and up.
  const uint32_t mask[] = {0, 1, 3, 7};
  return address ^ (address >> 7 & mask[unsigned(swizzle)]) << 4;
}
