// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt of pairs of fp6 (e3m2x2, e2m3x2), fp4 (e2m1x2) and scales (ue8m0x2), both ways. The first
// source goes to the upper half.

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include "Arithmetic.h"
#include "mp/Numerics/Cast.h"

using namespace mpcore;
using namespace mpcore::emulator;
using numerics::Format;

namespace {
struct SmallPair {
  Format from, to;
  numerics::Rounding rounding = numerics::Rounding::RNE;
  numerics::Overflow overflow = numerics::Overflow::IEEE;
  bool relu = false;
};

/// Bits that one of a pair takes in its register.
unsigned slotBits(Format format) {
  return format == Format::F4E2M1FN ? 4 : std::max(8u, numerics::info(format).bits);
}

Format formatOfPair(Type type) {
  switch (type) {
  case Type::E2M1x2: return Format::F4E2M1FN;
  case Type::E3M2x2: return Format::F6E3M2FN;
  case Type::E2M3x2: return Format::F6E2M3FN;
  case Type::UE8M0x2: return Format::F8E8M0FNU;
  case Type::F16x2: return Format::F16;
  case Type::BF16x2: return Format::BF16;
  case Type::F32: return Format::F32;
  default: llvm_unreachable("Forms.cpp lists no other pair");
  }
}

uint64_t convertOne(const SmallPair &p, uint64_t bits) {
  const numerics::Unpacked value = numerics::unpack(bits, p.from);
  if (p.relu && value.negative && value.kind != numerics::ValueClass::NaN)
    return 0;
  if (value.kind == numerics::ValueClass::NaN && p.to == Format::BF16)
    return 0x7fff;
  return numerics::convert(bits, p.from, p.to, p.rounding, p.overflow);
}
} // namespace

bool mpcore::emulator::isSmallPair(Type type) {
  return type >= Type::E2M1x2 && type <= Type::UE8M0x2;
}

static Step execSmallPair(Warp &w, const Inst &i) {
  const SmallPair &p = *static_cast<const SmallPair *>(i.aux);
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b);
  const unsigned from = slotBits(p.from), to = slotBits(p.to);
  const bool single = p.from == Format::F32;
  const uint64_t mask = (uint64_t(1) << from) - 1;
  forLanes(w.exec, [&](unsigned l) {
    const uint64_t low = single ? b[l] : a[l] & mask, high = single ? a[l] : a[l] >> from & mask;
    d[l] = uint32_t(convertOne(p, high) << to | convertOne(p, low));
  });
  return Step::Next;
}

void mpcore::emulator::decodeSmallConvert(Decoder &d, Type to, Type from, Rounding rounding,
                                          bool relu, bool satfinite) {
  const bool single = from == Type::F32;
  if (!d.expectOps(single ? 3 : 2))
    return;
  SmallPair p{formatOfPair(from), formatOfPair(to)};
  p.rounding = rounding == Rounding::Nearest ? numerics::Rounding::RNE
               : rounding == Rounding::Zero  ? numerics::Rounding::RZ
                                             : numerics::Rounding::RU;
  p.overflow = satfinite ? numerics::Overflow::Saturate : numerics::Overflow::IEEE;
  p.relu = relu;
  auto registerType = [](Type t) {
    return bitWidth(t) == 8 ? Type::B8 : bitWidth(t) == 16 ? Type::B16 : t;
  };
  d.out->dst = d.dst(0, registerType(to));
  d.out->a = d.src(1, registerType(from));
  d.out->b = single ? d.src(2, from) : d.out->a;
  d.out->aux = d.program.keep(p);
  d.out->fn = execSmallPair;
}
