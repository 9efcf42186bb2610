// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// add, sub, mul and fma of .f32x2 (sm_100 and later): two f32 in a 64-bit register, to nearest.

#include "Arithmetic.h"
#include <cmath>

using namespace mp::emulator;

namespace {

constexpr uint32_t kFtz = 1;

enum class PackedOp : uint8_t { Add, Sub, Mul, Fma };

float flushed(float v) {
  uint32_t bits = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}

template <PackedOp Op> uint32_t compute(uint32_t x, uint32_t y, uint32_t z, bool ftz) {
  float a = std::bit_cast<float>(x), b = std::bit_cast<float>(y), c = std::bit_cast<float>(z);
  if (ftz) {
    a = flushed(a);
    b = flushed(b);
    c = flushed(c);
  }
  float r = Op == PackedOp::Add ? a + b : Op == PackedOp::Sub ? a - b : Op == PackedOp::Mul ? a * b : std::fma(a, b, c);
  if (r != r)
    return 0x7fffffff;
  return std::bit_cast<uint32_t>(ftz ? flushed(r) : r);
}

template <PackedOp Op> Step execPacked(Warp &w, const Inst &i) {
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  const uint64_t *a = w.lanes<uint64_t>(i.a), *b = w.lanes<uint64_t>(i.b);
  const uint64_t *c = Op == PackedOp::Fma ? w.lanes<uint64_t>(i.c) : a;
  const bool ftz = i.flags & kFtz;
  forLanes(w.exec, [&](unsigned l) {
    uint64_t low = compute<Op>(uint32_t(a[l]), uint32_t(b[l]), uint32_t(c[l]), ftz);
    uint64_t high = compute<Op>(uint32_t(a[l] >> 32), uint32_t(b[l] >> 32), uint32_t(c[l] >> 32), ftz);
    d[l] = high << 32 | low;
  });
  return Step::Next;
}

/// Modifiers and operands; false with a failure recorded.
bool decode(Decoder &d, unsigned sources) {
  d.takeType();
  bool present, ftz = d.take("ftz");
  // The directed roundings are left out: nothing here emits them.
  if (takeRounding(d, Rounding::Nearest, present) != Rounding::Nearest) {
    d.unsupported();
    return false;
  }
  if (d.failed() || !d.expectOps(1 + sources))
    return false;
  d.out->flags = ftz ? kFtz : 0;
  d.out->dst = d.dst(0, Type::F32x2);
  d.out->a = d.src(1, Type::F32x2);
  d.out->b = d.src(2, Type::F32x2);
  if (sources == 3)
    d.out->c = d.src(3, Type::F32x2);
  return true;
}

} // namespace

bool mp::emulator::decodePackedF32AddSubMul(Decoder &d, FloatOp op) {
  if (decode(d, 2))
    d.out->fn = op == FloatOp::Add   ? execPacked<PackedOp::Add>
                : op == FloatOp::Sub ? execPacked<PackedOp::Sub>
                                     : execPacked<PackedOp::Mul>;
  return true;
}

bool mp::emulator::decodePackedF32Fma(Decoder &d) {
  if (decode(d, 3))
    d.out->fn = execPacked<PackedOp::Fma>;
  return true;
}
