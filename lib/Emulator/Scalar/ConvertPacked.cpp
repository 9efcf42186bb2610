// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt with packed or special formats: two f32 to f16x2 or bf16x2, tf32, and fp8 (e4m3x2, e5m2x2)
// both ways.

#include "../Decode/Decoder.h"
#include "Arithmetic.h"
#include "Fp8.h"
#include <algorithm>

using namespace mpcore::emulator;

namespace {
enum : uint32_t {
  kPackRelu = 1,
  kPackSatFinite = 2,
  kPackZero = 4,
  kPackBF16 = 8,
  kPackE5M2 = 16,
  kPackAway = 32
};
}

static uint16_t narrow16(float v, uint32_t flags) {
  if (flags & kPackRelu)
    v = v < 0 || (v == 0 && std::signbit(v)) ? 0.0f : v;
  const bool bf = flags & kPackBF16;
  uint16_t r = bf ? narrowBF16(v) : narrowF16(v);
  if (flags & kPackZero && v == v && std::isfinite(v)) {
    // Toward zero: step back when rounding to nearest went outward.
    float back = bf ? widenBF16(r) : widenF16(r);
    if (std::fabs(back) > std::fabs(v))
      --r;
  }
  if (flags & kPackSatFinite && v == v && (r & 0x7fff) == (bf ? 0x7f80 : 0x7c00))
    --r;
  return r;
}

static Step execPair(Warp &w, const Inst &i) { // the first source goes to the upper half
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const float *a = w.lanes<float>(i.a), *b = w.lanes<float>(i.b);
  const uint32_t flags = i.flags;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    d[l] = uint32_t(narrow16(a[l], flags)) << 16 | narrow16(b[l], flags);
  }
  return Step::Next;
}

// tf32: 10 fraction bits in an f32 register; the rest of the bits are zero.
static uint32_t toTf32(float v, uint32_t flags) {
  uint32_t bits = std::bit_cast<uint32_t>(v), magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return 0x7fffffff;
  if (flags & kPackRelu && bits >> 31)
    return 0;
  if (magnitude == 0x7f800000)
    return flags & kPackSatFinite ? (bits & 0x80000000) | 0x7f7fe000 : bits;
  uint32_t r;
  if (flags & kPackZero)
    r = magnitude & ~0x1fffu;
  else if (flags & kPackAway)
    r = (magnitude + 0x1000) & ~0x1fffu;
  else
    r = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~0x1fffu;
  if (flags & kPackSatFinite && r >= 0x7f800000)
    r = 0x7f7fe000;
  return (bits & 0x80000000) | r;
}

static Step execTf32(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const float *a = w.lanes<float>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[l] = toTf32(a[l], i.flags); });
  return Step::Next;
}

static uint8_t narrow8(float v, uint32_t flags) {
  if (flags & kPackRelu)
    v = v < 0 || (v == 0 && std::signbit(v)) ? 0.0f : v;
  return narrowFp8(v, flags & kPackE5M2);
}

static Step execFp8FromF32(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const float *a = w.lanes<float>(i.a), *b = w.lanes<float>(i.b);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    d[l] = uint32_t(narrow8(a[l], i.flags)) << 8 | narrow8(b[l], i.flags);
  }
  return Step::Next;
}

static Step execFp8FromF16(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    d[l] = uint32_t(narrow8(widenF16(a[l] >> 16), i.flags)) << 8 |
           narrow8(widenF16(uint16_t(a[l])), i.flags);
  }
  return Step::Next;
}

static Step execF16FromFp8(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    auto one = [&](uint8_t v) -> uint32_t {
      float f = widenFp8(v, i.flags & kPackE5M2);
      if (i.flags & kPackRelu)
        f = f < 0 || (f == 0 && std::signbit(f)) ? 0.0f : f;
      return narrowF16(f);
    };
    d[l] = one(uint8_t(a[l] >> 8)) << 16 | one(uint8_t(a[l]));
  }
  return Step::Next;
}

void mpcore::emulator::decodePackedConvert(Decoder &d, Type to, Type from, bool rz, bool rna,
                                           bool relu, bool satfinite) {
  const bool fp8To = to == Type::E4M3x2 || to == Type::E5M2x2;
  const bool fp8From = from == Type::E4M3x2 || from == Type::E5M2x2;
  const bool two = from == Type::F32 && to != Type::TF32; // sources, a for the upper half
  if (!d.expectOps(two ? 3 : 2))
    return;
  d.out->flags = (relu ? kPackRelu : 0) | (satfinite ? kPackSatFinite : 0) | (rz ? kPackZero : 0) |
                 (rna ? kPackAway : 0) | (to == Type::BF16x2 ? kPackBF16 : 0) |
                 (to == Type::E5M2x2 || from == Type::E5M2x2 ? kPackE5M2 : 0);
  d.out->dst = d.dst(0, to == Type::TF32 ? Type::B32 : fp8To ? Type::B16 : to);
  d.out->a = d.src(1, fp8From ? Type::B16 : from);
  if (two)
    d.out->b = d.src(2, from);
  d.out->fn = to == Type::TF32 ? execTf32
              : fp8From        ? execF16FromFp8
              : !fp8To         ? execPair
              : two            ? execFp8FromF32
                               : execFp8FromF16;
}

// The results for a above b; narrower ones than 16 bits below what c holds.
static Step execConvertPack(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const int32_t *a = w.lanes<int32_t>(i.a), *b = w.lanes<int32_t>(i.b);
  const uint32_t *c = w.lanes<uint32_t>(i.c);
  const unsigned bits = i.size;
  const int32_t least = i.flags ? -(1 << (bits - 1)) : 0, most = least + (1 << bits) - 1;
  const uint32_t mask = (1u << bits) - 1;
  forLanes(w.exec, [&](unsigned l) {
    auto one = [&](int32_t v) { return uint32_t(std::clamp(v, least, most)) & mask; };
    d[l] = one(a[l]) << bits | one(b[l]) | (bits < 16 ? c[l] << (2 * bits) : 0);
  });
  return Step::Next;
}

void mpcore::emulator::decodePack(Decoder &d) {
  d.take("sat");
  // u2 and s2 are no types anywhere else.
  const bool signed2 = d.take("s2"), two = d.take("u2") || signed2;
  const Type to = two ? Type::None : d.takeType();
  d.takeType();
  d.out->size = two ? 2 : bitWidth(to);
  d.out->flags = signed2 || isSigned(to);
  const bool narrow = d.out->size < 16;
  if (narrow)
    d.takeType();
  if (d.failed() || !d.expectOps(narrow ? 4 : 3))
    return;
  d.out->dst = d.dst(0, Type::B32);
  d.out->a = d.src(1, Type::S32);
  d.out->b = d.src(2, Type::S32);
  d.out->c = narrow ? d.src(3, Type::B32) : d.out->b;
  d.out->fn = execConvertPack;
}
