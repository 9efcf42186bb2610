// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that look at signs and order of f32 and f64 and round nothing: min, max, abs, neg,
// copysign and testp.

#include "Arithmetic.h"
#include <cmath>

using namespace mpcore::emulator;

template <class T> static T minMax(T a, T b, bool max, bool nan) {
  if (a != a || b != b) {
    if (nan || (a != a && b != b))
      return sizeof(T) == 4 ? T(std::bit_cast<float>(kCanonicalNaN)) : T(NAN);
    return a != a ? b : a;
  }
  if (a == 0 && b == 0)
    return std::signbit(a) == max ? b : a;
  return (a < b) != max ? a : b;
}
/// .xorsign.abs: of the magnitudes, with the signs' exclusive or.
template <bool Max, bool Nan, bool Ftz>
static constexpr auto xorSignOp = [](float a, float b) {
  if constexpr (Ftz)
    a = flush(a), b = flush(b);
  float r = minMax<float>(std::fabs(a), std::fabs(b), Max, Nan);
  return r != r ? r : std::signbit(a) != std::signbit(b) ? -r : r;
};
template <bool Max, bool Nan, bool Ftz>
static constexpr ExecFn xorSign = binary<float, float, float, xorSignOp<Max, Nan, Ftz>>;
template <bool Max> static ExecFn pickXorSign(bool nan, bool ftz) {
  if (ftz)
    return nan ? xorSign<Max, true, true> : xorSign<Max, false, true>;
  return nan ? xorSign<Max, true, false> : xorSign<Max, false, false>;
}
template <class T, bool Max, bool Nan, bool Ftz>
static constexpr auto minMaxOp = [](T a, T b) {
  if constexpr (Ftz)
    a = flush(a), b = flush(b);
  return minMax<T>(a, b, Max, Nan);
};
/// min and max of three, sm_100 and up (PTX ISA 8.8).
template <bool Max, bool Nan, bool Ftz>
static constexpr auto minMax3Op = [](float a, float b, float c) {
  constexpr auto op = minMaxOp<float, Max, Nan, Ftz>;
  return op(op(a, b), c);
};
template <bool Max, bool Nan, bool Ftz>
static constexpr ExecFn minMax3 = ternary<float, float, float, float, minMax3Op<Max, Nan, Ftz>>;
template <bool Max> static ExecFn pickMinMax3(bool nan, bool ftz) {
  if (ftz)
    return nan ? minMax3<Max, true, true> : minMax3<Max, false, true>;
  return nan ? minMax3<Max, true, false> : minMax3<Max, false, false>;
}
template <class T, bool Max> static ExecFn pickMinMax(bool nan, bool ftz) {
  if constexpr (sizeof(T) == 4)
    if (ftz)
      return nan ? binary<T, T, T, minMaxOp<T, Max, true, true>>
                 : binary<T, T, T, minMaxOp<T, Max, false, true>>;
  return nan ? binary<T, T, T, minMaxOp<T, Max, true, false>>
             : binary<T, T, T, minMaxOp<T, Max, false, false>>;
}

bool mpcore::emulator::decodeFloatMinMax(Decoder &d, bool max) {
  Type t = peekType(d);
  if (isHalf(t))
    return decodeHalfMinMax(d, max, t);
  if (!isFloat32Or64(t))
    return false;
  d.takeType();
  bool ftz = d.take("ftz"), nan = d.take("NaN"), xorsign = d.take("xorsign") && d.take("abs");
  bool three = t == Type::F32 && d.numOps() == 4 && !xorsign;
  if (!(three ? d.operands(t, {t, t, t}) : d.operands(t, {t, t})) ||
      (three && !d.requireTarget(100, ~0u, false)))
    return true;
  if (xorsign)
    d.out->fn = max ? pickXorSign<true>(nan, ftz) : pickXorSign<false>(nan, ftz);
  else if (three)
    d.out->fn = max ? pickMinMax3<true>(nan, ftz) : pickMinMax3<false>(nan, ftz);
  else if (t == Type::F32)
    d.out->fn = max ? pickMinMax<float, true>(nan, ftz) : pickMinMax<float, false>(nan, ftz);
  else
    d.out->fn =
        max ? pickMinMax<double, true>(false, false) : pickMinMax<double, false>(false, false);
  return true;
}

bool mpcore::emulator::decodeFloatSign(Decoder &d, bool abs) {
  Type t = peekType(d);
  if (isHalf(t))
    return decodeHalfSign(d, abs, t);
  if (!isFloat32Or64(t))
    return false;
  d.takeType();
  bool ftz = d.take("ftz");
  if (!d.operands(t, {t}))
    return true;
  using F = float;
  using D = double;
  if (t == Type::F64)
    d.out->fn =
        abs ? unary<D, D, [](D a) { return std::fabs(a); }> : unary<D, D, [](D a) { return -a; }>;
  else if (ftz)
    d.out->fn = abs ? unary<F, F, [](F a) { return std::fabs(flush(a)); }>
                    : unary<F, F, [](F a) { return -flush(a); }>;
  else
    d.out->fn =
        abs ? unary<F, F, [](F a) { return std::fabs(a); }> : unary<F, F, [](F a) { return -a; }>;
  return true;
}

static void decodeCopysign(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t, t}))
    return;
  // The sign of a with the magnitude of b.
  if (t == Type::F32)
    d.out->fn = binary<float, float, float, [](float a, float b) { return std::copysign(b, a); }>;
  else if (t == Type::F64)
    d.out->fn =
        binary<double, double, double, [](double a, double b) { return std::copysign(b, a); }>;
}

template <class T, auto F> static Step execTest(Warp &w, const Inst &i) {
  auto *a = w.lanes<SlotOf<T>>(i.a);
  setPred(w, i.dst, laneMask([&](unsigned l) { return F(fromSlot<T>(a[l])); }));
  return Step::Next;
}
template <auto F> static ExecFn pickTest(Type t) {
  return t == Type::F32 ? execTest<float, F> : t == Type::F64 ? execTest<double, F> : nullptr;
}

static void decodeTestp(Decoder &d) {
  Type t = peekType(d);
  if (t != Type::None)
    d.takeType();
  d.out->fn = d.take("finite")       ? pickTest<[](auto a) { return std::isfinite(a); }>(t)
              : d.take("infinite")   ? pickTest<[](auto a) { return std::isinf(a); }>(t)
              : d.take("number")     ? pickTest<[](auto a) { return !std::isnan(a); }>(t)
              : d.take("notanumber") ? pickTest<[](auto a) { return std::isnan(a); }>(t)
              : d.take("normal")     ? pickTest<[](auto a) { return std::isnormal(a); }>(t)
              : d.take("subnormal")
                  ? pickTest<[](auto a) { return std::fpclassify(a) == FP_SUBNORMAL; }>(t)
                  : nullptr;
  if (!d.expectOps(2))
    return;
  d.out->dst = d.predDst(d.op(0));
  d.out->a = d.src(1, t);
}

void mpcore::emulator::registerFloatSignOps(OpTable &table) {
  table["copysign"] = decodeCopysign;
  table["testp"] = decodeTestp;
}
