// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rcp, sqrt, rsqrt, sin, cos, lg2, ex2 and tanh.

#include "Arithmetic.h"
#include "Half.h"
#include "Skew.h"
#include "mp/Emulator/Approximate.h"
#include "llvm/ADT/APFloat.h"

using namespace mpcore::emulator;
using llvm::APFloat;

std::atomic<int> mpcore::emulator::skewOfApproximations = 0;

SkewedApproximations::SkewedApproximations(Toward toward) {
  skewOfApproximations = toward == Toward::Infinity ? 1 : -1;
}
SkewedApproximations::~SkewedApproximations() { skewOfApproximations = 0; }

namespace {
enum class MathOp : uint8_t { Rcp, Sqrt, Rsqrt, Sin, Cos, Lg2, Ex2, Tanh };
constexpr uint32_t kMathFtz = 1, kMathApprox = 2;
} // namespace

static double evaluate(MathOp op, double x) {
  switch (op) {
  case MathOp::Rcp: return 1 / x;
  case MathOp::Sqrt: return std::sqrt(x);
  case MathOp::Rsqrt: return 1 / std::sqrt(x);
  case MathOp::Sin: return std::sin(x);
  case MathOp::Cos: return std::cos(x);
  case MathOp::Lg2: return std::log2(x);
  case MathOp::Ex2: return std::exp2(x);
  case MathOp::Tanh: return std::tanh(x);
  }
  return 0;
}

/// The relative bound in f32, by the table above; 0 where it is none.
static constexpr double relativeBound(MathOp op) {
  switch (op) {
  case MathOp::Rsqrt: return 0x1.12p-23;
  case MathOp::Ex2: return 0x1p-22;
  case MathOp::Tanh: return 0x1p-11;
  default: return 0;
  }
}

template <MathOp Op> static Step execF32(Warp &w, const Inst &i) {
  float *d = w.lanes<float>(i.dst);
  const float *a = w.lanes<float>(i.a);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    float x = i.flags & kMathFtz ? flush(a[l]) : a[l];
    // 1 / sqrt(-0) is -inf and sqrt(-0) is -0 on the host as in the manual.
    const double exact = evaluate(Op, x);
    float r = !(i.flags & kMathApprox) ? float(exact)
              : Op == MathOp::Rcp      ? approximatedWithin(exact, 1)
                                       : approximated(exact, relativeBound(Op));
    if (i.flags & kMathFtz)
      r = flush(r);
    d[l] = canonical(r);
  }
  return Step::Next;
}

template <MathOp Op> static Step execF64(Warp &w, const Inst &i) {
  double *d = w.lanes<double>(i.dst);
  const double *a = w.lanes<double>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[l] = evaluate(Op, a[l]); });
  return Step::Next;
}

// The reciprocals of f64 that libraries refine: the upper word only.
template <MathOp Op> static Step execF64Upper(Warp &w, const Inst &i) {
  double *d = w.lanes<double>(i.dst);
  const double *a = w.lanes<double>(i.a);
  auto flushed = [](double v) { return std::fabs(v) < 0x1p-1022 ? std::copysign(0.0, v) : v; };
  forLanes(w.exec, [&](unsigned l) {
    uint64_t bits = std::bit_cast<uint64_t>(flushed(evaluate(Op, flushed(a[l]))));
    d[l] = std::bit_cast<double>(bits & 0xffffffff00000000u);
  });
  return Step::Next;
}

template <MathOp Op, bool Bf, bool Pair> static Step execHalf(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a);
  auto one = [&](uint16_t x) -> uint32_t {
    double r = evaluate(Op, Bf ? widenBF16(x) : widenF16(x));
    uint16_t h = Bf ? narrowBF16(float(r)) : narrowF16(float(r));
    if ((i.flags & kMathFtz) && (h & (Bf ? 0x7f80 : 0x7c00)) == 0)
      h &= 0x8000;
    return h;
  };
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    d[l] = one(uint16_t(a[l])) | (Pair ? one(a[l] >> 16) << 16 : 0);
  }
  return Step::Next;
}

// rcp and sqrt with a directed rounding.
template <class T> static T directed(MathOp op, Rounding r, T x) {
  if (op == MathOp::Rcp) {
    APFloat one(T(1));
    one.divide(APFloat(x), r == Rounding::Zero   ? APFloat::rmTowardZero
                           : r == Rounding::Down ? APFloat::rmTowardNegative
                                                 : APFloat::rmTowardPositive);
    if constexpr (sizeof(T) == 4)
      return one.convertToFloat();
    else
      return one.convertToDouble();
  }
  T s = std::sqrt(x);
  if (!(s > 0) || std::isinf(s))
    return s;
  // s*s - x decides on which side of the root s lies.
  T error = std::fma(s, s, -x);
  if (r == Rounding::Up)
    return error < 0 ? std::nextafter(s, T(INFINITY)) : s;
  return error > 0 ? std::nextafter(s, T(0)) : s;
}

template <class T> static Step execDirected(Warp &w, const Inst &i) {
  auto *d = w.lanes<SlotOf<T>>(i.dst);
  auto *a = w.lanes<SlotOf<T>>(i.a);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    T x = fromSlot<T>(a[l]);
    if constexpr (sizeof(T) == 4)
      if (i.flags & kMathFtz)
        x = flush(x);
    T r = directed<T>(MathOp(i.count), Rounding(i.size), x);
    if constexpr (sizeof(T) == 4) {
      if (i.flags & kMathFtz)
        r = flush(r);
      if (r != r)
        r = std::bit_cast<float>(kCanonicalNaN);
    }
    d[l] = toSlot<T>(r);
  }
  return Step::Next;
}

static bool operands(Decoder &d, Type t) {
  if (d.failed() || !d.operands(t, {t}))
    return false;
  return true;
}

template <MathOp Op> static void decodeRoot(Decoder &d) { // rcp, sqrt, rsqrt
  Type t = d.takeType();
  bool present, ftz = d.take("ftz"), approx = d.take("approx");
  Rounding r = takeRounding(d, Rounding::Nearest, present);
  d.out->flags = (ftz ? kMathFtz : 0) | (approx ? kMathApprox : 0);
  if (!operands(d, t))
    return;
  if (r != Rounding::Nearest) {
    d.out->size = uint8_t(r);
    d.out->count = uint16_t(Op);
    d.out->fn = t == Type::F32 ? execDirected<float> : execDirected<double>;
  } else if (t == Type::F32) {
    // One f64 operation rounded to f32 is correctly rounded for rcp and sqrt.
    d.out->fn = execF32<Op>;
  } else {
    d.out->fn = ftz ? execF64Upper<Op> : execF64<Op>;
  }
}

template <MathOp Op> static void decodeApprox(Decoder &d) { // sin, cos, lg2, ex2, tanh
  Type t = d.takeType();
  bool approx = d.take("approx"), ftz = d.take("ftz");
  d.out->flags = (ftz ? kMathFtz : 0) | (approx ? kMathApprox : 0);
  if (!operands(d, t))
    return;
  if (t == Type::F32)
    d.out->fn = execF32<Op>;
  else if constexpr (Op == MathOp::Ex2 || Op == MathOp::Tanh)
    d.out->fn = t == Type::F16     ? execHalf<Op, false, false>
                : t == Type::F16x2 ? execHalf<Op, false, true>
                : t == Type::BF16  ? execHalf<Op, true, false>
                                   : execHalf<Op, true, true>;
}

void mpcore::emulator::registerMathOps(OpTable &table) {
  table["rcp"] = decodeRoot<MathOp::Rcp>;
  table["sqrt"] = decodeRoot<MathOp::Sqrt>;
  table["rsqrt"] = decodeRoot<MathOp::Rsqrt>;
  table["sin"] = decodeApprox<MathOp::Sin>;
  table["cos"] = decodeApprox<MathOp::Cos>;
  table["lg2"] = decodeApprox<MathOp::Lg2>;
  table["ex2"] = decodeApprox<MathOp::Ex2>;
  table["tanh"] = decodeApprox<MathOp::Tanh>;
}
