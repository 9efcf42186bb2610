// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// add, sub, mul and fma of .f32x2 (sm_100 and later): two f32 in a 64-bit register.

#include "Arithmetic.h"

using namespace mpcore::emulator;

namespace {

constexpr uint32_t kPackedFtz = 1;

template <FloatOp Op>
uint32_t compute(uint32_t x, uint32_t y, uint32_t z, bool ftz, Rounding rounding) {
  float a = std::bit_cast<float>(x), b = std::bit_cast<float>(y), c = std::bit_cast<float>(z);
  if (ftz) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
  }
  const float r = roundedOp(Op, rounding, a, b, c);
  if (r != r)
    return 0x7fffffff;
  return std::bit_cast<uint32_t>(ftz ? flush(r) : r);
}

template <FloatOp Op> Step execPacked(Warp &w, const Inst &i) {
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  const uint64_t *a = w.lanes<uint64_t>(i.a), *b = w.lanes<uint64_t>(i.b);
  const uint64_t *c = Op == FloatOp::Fma ? w.lanes<uint64_t>(i.c) : a;
  const bool ftz = i.flags & kPackedFtz;
  const auto rounding = Rounding(i.size);
  forLanes(w.exec, [&](unsigned l) {
    uint64_t low = compute<Op>(uint32_t(a[l]), uint32_t(b[l]), uint32_t(c[l]), ftz, rounding);
    uint64_t high = compute<Op>(uint32_t(a[l] >> 32), uint32_t(b[l] >> 32), uint32_t(c[l] >> 32),
                                ftz, rounding);
    d[l] = high << 32 | low;
  });
  return Step::Next;
}

/// Modifiers and operands; false with a failure recorded.
bool decode(Decoder &d, unsigned sources) {
  d.takeType();
  bool present, ftz = d.take("ftz");
  d.out->size = uint8_t(takeRounding(d, Rounding::Nearest, present));
  if (d.failed() || !d.expectOps(1 + sources))
    return false;
  d.out->flags = ftz ? kPackedFtz : 0;
  d.out->dst = d.dst(0, Type::F32x2);
  d.out->a = d.src(1, Type::F32x2);
  d.out->b = d.src(2, Type::F32x2);
  if (sources == 3)
    d.out->c = d.src(3, Type::F32x2);
  return true;
}

} // namespace

bool mpcore::emulator::decodePackedF32AddSubMul(Decoder &d, FloatOp op) {
  if (decode(d, 2))
    d.out->fn = op == FloatOp::Add   ? execPacked<FloatOp::Add>
                : op == FloatOp::Sub ? execPacked<FloatOp::Sub>
                                     : execPacked<FloatOp::Mul>;
  return true;
}

bool mpcore::emulator::decodePackedF32Fma(Decoder &d) {
  if (decode(d, 3))
    d.out->fn = execPacked<FloatOp::Fma>;
  return true;
}
