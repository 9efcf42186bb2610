// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on f16, f16x2, bf16 and bf16x2. Sums and products of two values are exact in f64 or
// rounded there to odd, so one rounding follows. NaN results are canonical (0x7fff).

#include "Arithmetic.h"
#include "Half.h"
#include "llvm/ADT/APFloat.h"

using namespace mpcore::emulator;

/// Rounds to odd, so that rounding to 16 bits to nearest is the only rounding: 24 >= 11 + 2.
static float roundToOdd(double v) {
  float f = float(v);
  if (double(f) == v || !std::isfinite(f))
    return f;
  uint32_t bits = std::bit_cast<uint32_t>(f);
  // Toward zero, then odd: f is at most half an ulp off, so fix the direction.
  if (std::fabs(double(f)) > std::fabs(v))
    --bits;
  return std::bit_cast<float>(bits | 1);
}

namespace {
struct F16 {
  static double widen(uint16_t v) { return widenF16(v); }
  static uint16_t narrow(double v) { return narrowF16(roundToOdd(v)); }
  static uint16_t flush(uint16_t v) { return (v & 0x7c00) ? v : v & 0x8000; }
  static constexpr uint16_t one = 0x3c00, infinity = 0x7c00;
};
struct BF16 {
  static double widen(uint16_t v) { return widenBF16(v); }
  static uint16_t narrow(double v) { return narrowBF16(roundToOdd(v)); }
  static uint16_t flush(uint16_t v) { return v; }
  static constexpr uint16_t one = 0x3f80, infinity = 0x7f80;
};

enum class HalfOp : uint8_t { Add, Sub, Mul, Fma, Min, Max, Neg, Abs };
constexpr uint32_t kHalfFtz = 1, kHalfSat = 2, kHalfRelu = 4, kHalfNaN = 8, kHalfXorSign = 16;
} // namespace

template <class H> static uint16_t finish(uint16_t r, uint32_t flags) {
  bool isNan = (r & 0x7fff) > H::infinity;
  if (flags & kHalfFtz)
    r = H::flush(r);
  if (flags & kHalfSat)
    return isNan || r >> 15 ? 0 : r > H::one ? H::one : r;
  if (flags & kHalfRelu)
    return isNan ? 0x7fff : r >> 15 ? 0 : r;
  return r;
}

template <class H, HalfOp Op>
static uint16_t compute(uint16_t x, uint16_t y, uint16_t z, uint32_t flags) {
  if (Op == HalfOp::Neg)
    return (flags & kHalfFtz ? H::flush(x) : x) ^ 0x8000;
  if (Op == HalfOp::Abs)
    return (flags & kHalfFtz ? H::flush(x) : x) & 0x7fff;
  if (flags & kHalfFtz)
    x = H::flush(x), y = H::flush(y), z = H::flush(z);
  const uint16_t sign = flags & kHalfXorSign ? (x ^ y) & 0x8000 : 0;
  if (flags & kHalfXorSign)
    x &= 0x7fff, y &= 0x7fff;
  double a = H::widen(x), b = H::widen(y);
  if (Op == HalfOp::Min || Op == HalfOp::Max) {
    uint16_t r;
    if (a != a || b != b)
      r = flags & kHalfNaN || (a != a && b != b) ? 0x7fff : a != a ? y : x;
    else if (a == 0 && b == 0)
      r = (x >> 15 != 0) == (Op == HalfOp::Max) ? y : x;
    else
      r = (a < b) != (Op == HalfOp::Max) ? x : y;
    r = finish<H>(r, flags);
    return (r & 0x7fff) > H::infinity ? r : r ^ sign;
  }
  double r = Op == HalfOp::Add   ? mulAddOdd(a, 1.0, b)
             : Op == HalfOp::Sub ? mulAddOdd(a, 1.0, -b)
             : Op == HalfOp::Mul ? a * b
                                 : mulAddOdd(a, b, H::widen(z));
  return finish<H>(H::narrow(r), flags);
}

template <class H, HalfOp Op, bool Pair> static Step execHalf(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b),
                 *c = w.lanes<uint32_t>(i.c);
  const uint32_t flags = i.flags;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    uint32_t r = compute<H, Op>(uint16_t(a[l]), uint16_t(b[l]), uint16_t(c[l]), flags);
    if (Pair)
      r |= uint32_t(compute<H, Op>(a[l] >> 16, b[l] >> 16, c[l] >> 16, flags)) << 16;
    d[l] = r;
  }
  return Step::Next;
}

// fma of bf16 with a directed rounding, which the nearest value of f64 in that direction leaves
// right.
static uint16_t directedFma(Rounding rounding, uint16_t x, uint16_t y, uint16_t z, uint32_t flags) {
  const double r =
      roundedOp(FloatOp::Fma, rounding, BF16::widen(x), BF16::widen(y), BF16::widen(z));
  if (r != r)
    return 0x7fff;
  llvm::APFloat narrow(r);
  bool loses;
  narrow.convert(llvm::APFloat::BFloat(), apMode(rounding), &loses);
  return finish<BF16>(uint16_t(narrow.bitcastToAPInt().getZExtValue()), flags);
}
static Step execDirectedFma(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b),
                 *c = w.lanes<uint32_t>(i.c);
  const auto rounding = Rounding(i.size);
  forLanes(w.exec, [&](unsigned l) {
    uint32_t r = directedFma(rounding, uint16_t(a[l]), uint16_t(b[l]), uint16_t(c[l]), i.flags);
    if (i.count == 2)
      r |= uint32_t(directedFma(rounding, a[l] >> 16, b[l] >> 16, c[l] >> 16, i.flags)) << 16;
    d[l] = r;
  });
  return Step::Next;
}

template <HalfOp Op> static void choose(Decoder &d, Type t, unsigned sources, uint32_t flags) {
  if (!d.expectOps(sources + 1))
    return;
  d.out->dst = d.dst(0, t);
  d.out->a = d.src(1, t);
  // Absent sources read the first: their value is not used.
  d.out->b = sources > 1 ? d.src(2, t) : d.out->a;
  d.out->c = sources > 2 ? d.src(3, t) : d.out->a;
  d.out->flags = flags;
  d.out->fn = t == Type::F16     ? execHalf<F16, Op, false>
              : t == Type::F16x2 ? execHalf<F16, Op, true>
              : t == Type::BF16  ? execHalf<BF16, Op, false>
                                 : execHalf<BF16, Op, true>;
}

bool mpcore::emulator::decodeHalfAddSubMul(Decoder &d, FloatOp op, Type t) {
  d.takeType();
  uint32_t flags = (d.take("ftz") ? kHalfFtz : 0) | (d.take("sat") ? kHalfSat : 0);
  d.take("rn");
  if (op == FloatOp::Add)
    choose<HalfOp::Add>(d, t, 2, flags);
  else if (op == FloatOp::Sub)
    choose<HalfOp::Sub>(d, t, 2, flags);
  else
    choose<HalfOp::Mul>(d, t, 2, flags);
  return true;
}

bool mpcore::emulator::decodeHalfFma(Decoder &d, Type t) {
  d.takeType();
  bool present;
  const Rounding rounding = takeRounding(d, Rounding::Nearest, present);
  uint32_t flags = (d.take("ftz") ? kHalfFtz : 0) | (d.take("sat") ? kHalfSat : 0) |
                   (d.take("relu") ? kHalfRelu : 0);
  choose<HalfOp::Fma>(d, t, 3, flags);
  if (rounding != Rounding::Nearest && !d.failed()) {
    d.out->size = uint8_t(rounding);
    d.out->count = t == Type::BF16x2 ? 2 : 1;
    d.out->fn = execDirectedFma;
  }
  return true;
}

bool mpcore::emulator::decodeHalfMinMax(Decoder &d, bool max, Type t) {
  d.takeType();
  uint32_t flags = (d.take("ftz") ? kHalfFtz : 0) | (d.take("NaN") ? kHalfNaN : 0) |
                   (d.take("xorsign") && d.take("abs") ? kHalfXorSign : 0);
  if (max)
    choose<HalfOp::Max>(d, t, 2, flags);
  else
    choose<HalfOp::Min>(d, t, 2, flags);
  return true;
}

bool mpcore::emulator::decodeHalfSign(Decoder &d, bool abs, Type t) {
  d.takeType();
  uint32_t flags = d.take("ftz") ? kHalfFtz : 0;
  if (abs)
    choose<HalfOp::Abs>(d, t, 1, flags);
  else
    choose<HalfOp::Neg>(d, t, 1, flags);
  return true;
}
