// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 and f64 arithmetic (PTX ISA, "Floating-Point Instructions"): round to nearest on the host's
// own arithmetic, the directed roundings by APFloat. f32 results that are NaN are the canonical
// 0x7fffffff.

#include "Arithmetic.h"
#include "Half.h"
#include "Skew.h"
#include "llvm/ADT/APFloat.h"

using namespace mpcore::emulator;
using llvm::APFloat;

Type mpcore::emulator::peekType(Decoder &d) {
  for (llvm::StringRef mod : d.restMods())
    if (auto type = parseType(mod))
      return *type;
  return Type::None;
}

Rounding mpcore::emulator::takeRounding(Decoder &d, Rounding fallback, bool &present) {
  present = true;
  if (d.take("rn"))
    return Rounding::Nearest;
  if (d.take("rz"))
    return Rounding::Zero;
  if (d.take("rm"))
    return Rounding::Down;
  if (d.take("rp"))
    return Rounding::Up;
  present = false;
  return fallback;
}

template <bool Ftz, bool Sat> static inline float finish(float r) {
  if constexpr (Ftz)
    r = flush(r);
  if constexpr (Sat)
    return r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f; // NaN becomes +0
  return canonical(r);
}

template <auto F, bool Ftz, bool Sat>
static constexpr auto f32Binary = [](float a, float b) {
  return Ftz ? finish<Ftz, Sat>(F(flush(a), flush(b))) : finish<Ftz, Sat>(F(a, b));
};
template <auto F> static ExecFn pickF32(bool ftz, bool sat) {
  using T = float;
  if (ftz)
    return sat ? binary<T, T, T, f32Binary<F, true, true>>
               : binary<T, T, T, f32Binary<F, true, false>>;
  return sat ? binary<T, T, T, f32Binary<F, false, true>>
             : binary<T, T, T, f32Binary<F, false, false>>;
}

static constexpr auto addOp = [](auto a, auto b) { return a + b; };
static constexpr auto subOp = [](auto a, auto b) { return a - b; };
static constexpr auto mulOp = [](auto a, auto b) { return a * b; };
static constexpr auto divOp = [](auto a, auto b) { return a / b; };

// Directed rounding, and everything else that need not be fast.
static constexpr uint32_t kFtz = 1u << 8, kSat = 1u << 9;

APFloat::roundingMode mpcore::emulator::apMode(Rounding r) {
  switch (r) {
  case Rounding::Nearest: return APFloat::rmNearestTiesToEven;
  case Rounding::Zero: return APFloat::rmTowardZero;
  case Rounding::Down: return APFloat::rmTowardNegative;
  case Rounding::Up: return APFloat::rmTowardPositive;
  }
  return APFloat::rmNearestTiesToEven;
}

template <class T> static T rounded(FloatOp op, APFloat::roundingMode mode, T a, T b, T c) {
  APFloat x(a), y(b), z(c);
  switch (op) {
  case FloatOp::Add: x.add(y, mode); break;
  case FloatOp::Sub: x.subtract(y, mode); break;
  case FloatOp::Mul: x.multiply(y, mode); break;
  case FloatOp::Div: x.divide(y, mode); break;
  case FloatOp::Fma: x.fusedMultiplyAdd(y, z, mode);
  }
  if constexpr (sizeof(T) == 4)
    return x.convertToFloat();
  else
    return x.convertToDouble();
}

float mpcore::emulator::roundedOp(FloatOp op, Rounding r, float a, float b, float c) {
  return rounded(op, apMode(r), a, b, c);
}
double mpcore::emulator::roundedOp(FloatOp op, Rounding r, double a, double b, double c) {
  return rounded(op, apMode(r), a, b, c);
}

template <class T> static Step execSlow(Warp &w, const Inst &i) {
  auto *d = w.lanes<SlotOf<T>>(i.dst);
  auto *a = w.lanes<SlotOf<T>>(i.a), *b = w.lanes<SlotOf<T>>(i.b), *c = w.lanes<SlotOf<T>>(i.c);
  const auto op = FloatOp(i.flags & 0xff);
  const auto mode = apMode(Rounding(i.size));
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    T x = fromSlot<T>(a[l]), y = fromSlot<T>(b[l]),
      z = op == FloatOp::Fma ? fromSlot<T>(c[l]) : T(0);
    if constexpr (sizeof(T) == 4) {
      if (i.flags & kFtz)
        x = flush(x), y = flush(y), z = flush(z);
      T r = rounded<T>(op, mode, x, y, z);
      if (i.flags & kFtz)
        r = flush(r);
      d[l] = toSlot<T>(i.flags & kSat ? finish<false, true>(r) : canonical(r));
    } else {
      d[l] = toSlot<T>(rounded<T>(op, mode, x, y, z));
    }
  }
  return Step::Next;
}

static void decodeSlow(Decoder &d, Type t, FloatOp op, Rounding r, bool ftz, bool sat) {
  d.out->size = uint8_t(r);
  d.out->flags = uint32_t(op) | (ftz ? kFtz : 0) | (sat ? kSat : 0);
  d.out->fn = t == Type::F32 ? execSlow<float> : execSlow<double>;
}

// add, sub and fma of f32 with 16-bit sources, which are widened first (sm_100 and later).
static Step execMixed(Warp &w, const Inst &i) {
  float *d = w.lanes<float>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b);
  const float *c = w.lanes<float>(i.c);
  const auto op = FloatOp(i.flags & 0xff);
  const auto mode = apMode(Rounding(i.size));
  auto widen = [&](uint32_t v) { return i.count ? widenBF16(uint16_t(v)) : widenF16(uint16_t(v)); };
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    float x = widen(a[l]), y = op == FloatOp::Fma ? widen(b[l]) : c[l],
          z = op == FloatOp::Fma ? c[l] : 0.0f;
    float r = rounded<float>(op, mode, x, y, z);
    d[l] = i.flags & kSat ? finish<false, true>(r) : canonical(r);
  }
  return Step::Next;
}

/// True when a second type follows, which makes the form mixed.
static bool decodeMixed(Decoder &d, FloatOp op, Rounding r, bool sat) {
  Type source = peekType(d);
  if (source == Type::None)
    return false;
  d.takeType();
  const unsigned sources = op == FloatOp::Fma ? 3 : 2;
  if (!d.expectOps(sources + 1))
    return true;
  d.out->dst = d.dst(0, Type::F32);
  d.out->a = d.out->b = d.src(1, source);
  if (op == FloatOp::Fma)
    d.out->b = d.src(2, source);
  d.out->c = d.src(sources, Type::F32);
  d.out->size = uint8_t(r);
  d.out->count = source == Type::BF16;
  d.out->flags = uint32_t(op) | (sat ? kSat : 0);
  d.out->fn = execMixed;
  return true;
}

bool mpcore::emulator::decodeFloatAddSubMul(Decoder &d, FloatOp op) {
  Type t = peekType(d);
  if (isHalf(t))
    return decodeHalfAddSubMul(d, op, t);
  if (t == Type::F32x2)
    return decodePackedF32AddSubMul(d, op);
  if (!isFloat32Or64(t))
    return false;
  d.takeType();
  bool present, ftz = d.take("ftz"), sat = d.take("sat");
  Rounding r = takeRounding(d, Rounding::Nearest, present);
  if (t == Type::F32 && decodeMixed(d, op, r, sat))
    return true;
  if (!d.operands(t, {t, t}))
    return true;
  if (r != Rounding::Nearest) {
    decodeSlow(d, t, op, r, ftz, sat);
    return true;
  }
  using D = double;
  switch (op) {
  case FloatOp::Add:
    d.out->fn = t == Type::F32 ? pickF32<addOp>(ftz, sat) : binary<D, D, D, addOp>;
    break;
  case FloatOp::Sub:
    d.out->fn = t == Type::F32 ? pickF32<subOp>(ftz, sat) : binary<D, D, D, subOp>;
    break;
  default: d.out->fn = t == Type::F32 ? pickF32<mulOp>(ftz, sat) : binary<D, D, D, mulOp>; break;
  }
  return true;
}

template <bool Ftz, bool Sat>
static constexpr auto f32Fma = [](float a, float b, float c) {
  if constexpr (Ftz)
    a = flush(a), b = flush(b), c = flush(c);
  return finish<Ftz, Sat>(float(mulAddOdd(a, b, c)));
};
template <bool Ftz, bool Sat>
static constexpr ExecFn softFma = ternary<float, float, float, float, f32Fma<Ftz, Sat>>;
static constexpr auto f64Fma = [](double a, double b, double c) { return std::fma(a, b, c); };

#if defined(__x86_64__)
// The host's own fused instruction, when it has one.
__attribute__((target("avx2,fma"))) static Step execHostFma(Warp &w, const Inst &i) {
  auto *d = w.lanes<float>(i.dst);
  auto *a = w.lanes<float>(i.a), *b = w.lanes<float>(i.b), *c = w.lanes<float>(i.c);
  auto *bits = w.lanes<uint32_t>(i.dst);
  if (w.exec == ~0u) {
    MP_LANE_LOOP
    for (unsigned l = 0; l < kLanes; ++l) {
      float r = __builtin_fmaf(a[l], b[l], c[l]);
      bits[l] = r != r ? kCanonicalNaN : std::bit_cast<uint32_t>(r);
    }
    return Step::Next;
  }
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    float r = __builtin_fmaf(a[l], b[l], c[l]);
    d[l] = canonical(r);
  }
  return Step::Next;
}
static bool hostHasFma() { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
#else
static Step execHostFma(Warp &w, const Inst &i) { return softFma<false, false>(w, i); }
static bool hostHasFma() { return false; }
#endif

bool mpcore::emulator::decodeFloatFma(Decoder &d) {
  Type t = peekType(d);
  if (isHalf(t))
    return decodeHalfFma(d, t);
  if (t == Type::F32x2)
    return decodePackedF32Fma(d);
  if (!isFloat32Or64(t))
    return false;
  d.takeType();
  bool present, ftz = d.take("ftz"), sat = d.take("sat");
  Rounding r = takeRounding(d, Rounding::Nearest, present);
  if (t == Type::F32 && decodeMixed(d, FloatOp::Fma, r, sat))
    return true;
  if (!d.operands(t, {t, t, t}))
    return true;
  if (r != Rounding::Nearest)
    decodeSlow(d, t, FloatOp::Fma, r, ftz, sat);
  else if (t == Type::F64)
    d.out->fn = ternary<double, double, double, double, f64Fma>;
  else if (ftz)
    d.out->fn = sat ? softFma<true, true> : softFma<true, false>;
  else if (sat)
    d.out->fn = softFma<false, true>;
  else
    d.out->fn = hostHasFma() ? execHostFma : softFma<false, false>;
  return true;
}

// Outside [2^-126, 2^126] the approximate division gives 0, or NaN for an infinite dividend.
static constexpr auto divApprox = [](float a, float b) {
  if (std::fabs(b) > 0x1p126f && std::fabs(b) < INFINITY)
    return std::isinf(a) || a != a ? NAN : std::copysign(0.0f, a) * std::copysign(1.0f, b);
  return a / b;
};

static constexpr auto divFull = [](float a, float b) {
  return approximatedWithin(double(a) / double(b), 2);
};

bool mpcore::emulator::decodeFloatDiv(Decoder &d) {
  Type t = peekType(d);
  if (!isFloat32Or64(t))
    return false;
  d.takeType();
  bool present, ftz = d.take("ftz"), approx = d.take("approx"), full = d.take("full");
  Rounding r = takeRounding(d, Rounding::Nearest, present);
  if (!d.operands(t, {t, t}))
    return true;
  if (r != Rounding::Nearest)
    decodeSlow(d, t, FloatOp::Div, r, ftz, false);
  else if (t == Type::F64)
    d.out->fn = binary<double, double, double, divOp>;
  else
    d.out->fn = approx ? pickF32<divApprox>(ftz, false)
                : full ? pickF32<divFull>(ftz, false)
                       : pickF32<divOp>(ftz, false);
  return true;
}

static void decodeFma(Decoder &d) { decodeFloatFma(d); }

void mpcore::emulator::registerFloatOps(OpTable &table) { table["fma"] = decodeFma; }
