// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
// Arithmetic"). add, sub, mul, mad, div, abs, neg, min and max also have float forms, in Float.cpp
// and HalfArithmetic.cpp.

#include "Arithmetic.h"
#include <algorithm>

using namespace mpcore::emulator;

// The functor F for the integer type, or null.
template <auto F> static ExecFn binaryInt(Type t) {
  switch (t) {
  case Type::U16: return binary<uint16_t, uint16_t, uint16_t, F>;
  case Type::S16: return binary<int16_t, int16_t, int16_t, F>;
  case Type::U32: return binary<uint32_t, uint32_t, uint32_t, F>;
  case Type::S32: return binary<int32_t, int32_t, int32_t, F>;
  case Type::U64: return binary<uint64_t, uint64_t, uint64_t, F>;
  case Type::S64: return binary<int64_t, int64_t, int64_t, F>;
  default: return nullptr;
  }
}

template <auto F> static ExecFn unarySigned(Type t) {
  switch (t) {
  case Type::S16: return unary<int16_t, int16_t, F>;
  case Type::S32: return unary<int32_t, int32_t, F>;
  case Type::S64: return unary<int64_t, int64_t, F>;
  default: return nullptr;
  }
}

// Wrapping arithmetic without signed overflow in the host language.
template <class T> using Unsigned = std::make_unsigned_t<T>;
static constexpr auto wrapAdd = [](auto a, auto b) {
  using U = uint64_t;
  return decltype(a)(U(a) + U(b));
};
static constexpr auto wrapSub = [](auto a, auto b) {
  using U = uint64_t;
  return decltype(a)(U(a) - U(b));
};
static constexpr auto wrapMul = [](auto a, auto b) {
  using U = uint64_t;
  return decltype(a)(U(a) * U(b));
};
static constexpr auto mulHigh = [](auto a, auto b) {
  using T = decltype(a);
  using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return T((W(a) * W(b)) >> (8 * sizeof(T)));
};
static constexpr auto divide = [](auto a, auto b) {
  using T = decltype(a);
  if (b == 0)
    return T(~T(0)); // unspecified by the manual; what the hardware's expansion gives
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return T(0 - Unsigned<T>(a));
  return T(a / b);
};
static constexpr auto integerRemainder = [](auto a, auto b) {
  using T = decltype(a);
  if (b == 0)
    return a;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return T(0);
  return T(a % b);
};
static constexpr auto minimum = [](auto a, auto b) { return a < b ? a : b; };
static constexpr auto maximum = [](auto a, auto b) { return a > b ? a : b; };
template <auto F>
static constexpr auto notNegative = [](auto a, auto b) {
  auto r = F(a, b);
  return r < 0 ? decltype(r)(0) : r;
};
static constexpr auto negate = [](auto a) { return decltype(a)(0 - uint64_t(a)); };
static constexpr auto absolute = [](auto a) { return a < 0 ? decltype(a)(0 - uint64_t(a)) : a; };

static constexpr auto addSat = [](int32_t a, int32_t b) {
  return int32_t(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
};
static constexpr auto subSat = [](int32_t a, int32_t b) {
  return int32_t(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
};

// Two 16-bit integers in a register.
template <auto F, class T> static uint32_t pairwise(uint32_t a, uint32_t b) {
  uint16_t low = uint16_t(T(F(T(a), T(b)))), high = uint16_t(T(F(T(a >> 16), T(b >> 16))));
  return uint32_t(high) << 16 | low;
}
template <auto F> static ExecFn packedInt(Type t) {
  if (t == Type::U16x2)
    return binary<uint32_t, uint32_t, uint32_t,
                  [](uint32_t a, uint32_t b) { return pairwise<F, uint16_t>(a, b); }>;
  return binary<uint32_t, uint32_t, uint32_t,
                [](uint32_t a, uint32_t b) { return pairwise<F, int16_t>(a, b); }>;
}

static bool isPair16(Type t) { return t == Type::U16x2 || t == Type::S16x2; }

// Carry flags: a bit per lane. kCarryIn reads it, kCarryOut writes it.
static constexpr uint32_t kCarryIn = 1, kCarryOut = 2, kSubtract = 4, kHigh = 8;

/// Writes `sum(lane, carry in)`, of which the bit above T is the carry out.
template <class T, class Sum> static Step execCarry(Warp &w, const Inst &i, Sum sum) {
  T *d = w.lanes<T>(i.dst);
  uint32_t carry = w.carry;
  forLanes(w.exec, [&](unsigned l) {
    unsigned __int128 whole = sum(l, i.flags & kCarryIn ? w.carry >> l & 1 : 0);
    d[l] = T(whole);
    carry = (carry & ~(1u << l)) | (uint32_t(whole >> (8 * sizeof(T))) & 1) << l;
  });
  if (i.flags & kCarryOut)
    w.carry = carry;
  return Step::Next;
}

template <class T> static Step execCarryAdd(Warp &w, const Inst &i) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  return execCarry<T>(w, i, [&](unsigned l, unsigned in) {
    return i.flags & kSubtract ? (unsigned __int128)a[l] - b[l] - in
                               : (unsigned __int128)a[l] + b[l] + in;
  });
}

template <class T> static Step execCarryMad(Warp &w, const Inst &i) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b), *c = w.lanes<T>(i.c);
  return execCarry<T>(w, i, [&](unsigned l, unsigned in) {
    unsigned __int128 product;
    if (i.flags & kSubtract) // signed high part
      product =
          (unsigned __int128)((__int128)std::make_signed_t<T>(a[l]) * std::make_signed_t<T>(b[l]));
    else
      product = (unsigned __int128)a[l] * b[l];
    T part = i.flags & kHigh ? T(product >> (8 * sizeof(T))) : T(product);
    return (unsigned __int128)part + c[l] + in;
  });
}

static void decodeCarry(Decoder &d, Type t, uint32_t flags) {
  if (!d.operands(t, {t, t}))
    return;
  d.out->flags = flags;
  d.out->fn = bitWidth(t) == 32 ? execCarryAdd<uint32_t> : execCarryAdd<uint64_t>;
}

static void decodeAddSub(Decoder &d, bool subtract) {
  if (d.take("cc"))
    return decodeCarry(d, d.takeType(), kCarryOut | (subtract ? kSubtract : 0));
  if (decodeFloatAddSubMul(d, subtract ? FloatOp::Sub : FloatOp::Add))
    return;
  bool sat = d.take("sat");
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t, t}))
    return;
  if (sat)
    d.out->fn = subtract ? binary<int32_t, int32_t, int32_t, subSat>
                         : binary<int32_t, int32_t, int32_t, addSat>;
  else if (isPair16(t))
    d.out->fn = packedInt<wrapAdd>(t);
  else
    d.out->fn = subtract ? binaryInt<wrapSub>(t) : binaryInt<wrapAdd>(t);
}

static void decodeAdd(Decoder &d) { decodeAddSub(d, false); }
static void decodeSub(Decoder &d) { decodeAddSub(d, true); }

static void decodeAddc(Decoder &d) {
  decodeCarry(d, d.takeType(), kCarryIn | (d.take("cc") ? kCarryOut : 0));
}
static void decodeSubc(Decoder &d) {
  decodeCarry(d, d.takeType(), kCarryIn | kSubtract | (d.take("cc") ? kCarryOut : 0));
}

static Type widened(Type t) {
  switch (t) {
  case Type::U16: return Type::U32;
  case Type::S16: return Type::S32;
  case Type::U32: return Type::U64;
  case Type::S32: return Type::S64;
  default: return Type::None;
  }
}

template <class W, class T> static constexpr auto wideMul = [](T a, T b) { return W(W(a) * W(b)); };
template <class W, class T>
static constexpr auto wideMad =
    [](T a, T b, W c) { return W(uint64_t(W(a)) * uint64_t(W(b)) + uint64_t(c)); };

static void decodeMul(Decoder &d) {
  if (decodeFloatAddSubMul(d, FloatOp::Mul))
    return;
  const bool hi = d.take("hi"), lo = d.take("lo"), wide = d.take("wide");
  const Type t = d.takeType();
  if (!d.operands(wide ? widened(t) : t, {t, t}))
    return;
  if (lo)
    d.out->fn = binaryInt<wrapMul>(t);
  else if (hi)
    d.out->fn = binaryInt<mulHigh>(t);
  else if (t == Type::U16)
    d.out->fn = binary<uint32_t, uint16_t, uint16_t, wideMul<uint32_t, uint16_t>>;
  else if (t == Type::S16)
    d.out->fn = binary<int32_t, int16_t, int16_t, wideMul<int32_t, int16_t>>;
  else if (t == Type::U32)
    d.out->fn = binary<uint64_t, uint32_t, uint32_t, wideMul<uint64_t, uint32_t>>;
  else
    d.out->fn = binary<int64_t, int32_t, int32_t, wideMul<int64_t, int32_t>>;
}

static constexpr auto madLow = [](auto a, auto b, auto c) {
  return decltype(a)(uint64_t(a) * uint64_t(b) + uint64_t(c));
};
static constexpr auto madHigh = [](auto a, auto b, auto c) {
  return decltype(a)(uint64_t(mulHigh(a, b)) + uint64_t(c));
};
static constexpr auto madHighSat = [](int32_t a, int32_t b, int32_t c) {
  return addSat(mulHigh(a, b), c);
};

template <auto F> static ExecFn ternaryInt(Type t) {
  switch (t) {
  case Type::U16: return ternary<uint16_t, uint16_t, uint16_t, uint16_t, F>;
  case Type::S16: return ternary<int16_t, int16_t, int16_t, int16_t, F>;
  case Type::U32: return ternary<uint32_t, uint32_t, uint32_t, uint32_t, F>;
  case Type::S32: return ternary<int32_t, int32_t, int32_t, int32_t, F>;
  case Type::U64: return ternary<uint64_t, uint64_t, uint64_t, uint64_t, F>;
  case Type::S64: return ternary<int64_t, int64_t, int64_t, int64_t, F>;
  default: return nullptr;
  }
}

static void decodeMad(Decoder &d) {
  if (decodeFloatFma(d))
    return;
  const bool hi = d.take("hi"), lo = d.take("lo"), wide = d.take("wide"), sat = d.take("sat");
  const bool cc = d.take("cc");
  const Type t = d.takeType(), result = wide ? widened(t) : t;
  if (!d.operands(result, {t, t, result}))
    return;
  if (cc) {
    d.out->flags = kCarryOut | (hi ? kHigh : 0) | (isSigned(t) ? kSubtract : 0);
    d.out->fn = bitWidth(t) == 32 ? execCarryMad<uint32_t> : execCarryMad<uint64_t>;
  } else if (lo) {
    d.out->fn = ternaryInt<madLow>(t);
  } else if (hi) {
    d.out->fn =
        sat ? ternary<int32_t, int32_t, int32_t, int32_t, madHighSat> : ternaryInt<madHigh>(t);
  } else if (t == Type::U16) {
    d.out->fn = ternary<uint32_t, uint16_t, uint16_t, uint32_t, wideMad<uint32_t, uint16_t>>;
  } else if (t == Type::S16) {
    d.out->fn = ternary<int32_t, int16_t, int16_t, int32_t, wideMad<int32_t, int16_t>>;
  } else if (t == Type::U32) {
    d.out->fn = ternary<uint64_t, uint32_t, uint32_t, uint64_t, wideMad<uint64_t, uint32_t>>;
  } else {
    d.out->fn = ternary<int64_t, int32_t, int32_t, int64_t, wideMad<int64_t, int32_t>>;
  }
}

static void decodeMadc(Decoder &d) {
  const bool hi = d.take("hi"), cc = d.take("cc");
  const Type t = d.takeType();
  d.dropMods();
  if (!d.operands(t, {t, t, t}))
    return;
  d.out->flags = kCarryIn | (cc ? kCarryOut : 0) | (hi ? kHigh : 0) | (isSigned(t) ? kSubtract : 0);
  d.out->fn = bitWidth(t) == 32 ? execCarryMad<uint32_t> : execCarryMad<uint64_t>;
}

static void decodeDiv(Decoder &d) {
  if (decodeFloatDiv(d))
    return;
  Type t = d.takeType();
  if (!d.failed() && d.operands(t, {t, t}))
    d.out->fn = binaryInt<divide>(t);
}

static void decodeRem(Decoder &d) {
  Type t = d.takeType();
  if (!d.failed() && d.operands(t, {t, t}))
    d.out->fn = binaryInt<integerRemainder>(t);
}

static void decodeMinMax(Decoder &d, bool max) {
  if (decodeFloatMinMax(d, max))
    return;
  bool relu = d.take("relu");
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t, t}))
    return;
  if (relu && isPair16(t))
    d.out->fn = max ? packedInt<notNegative<maximum>>(t) : packedInt<notNegative<minimum>>(t);
  else if (relu)
    d.out->fn = max ? binaryInt<notNegative<maximum>>(t) : binaryInt<notNegative<minimum>>(t);
  else if (isPair16(t))
    d.out->fn = max ? packedInt<maximum>(t) : packedInt<minimum>(t);
  else
    d.out->fn = max ? binaryInt<maximum>(t) : binaryInt<minimum>(t);
}
static void decodeMin(Decoder &d) { decodeMinMax(d, false); }
static void decodeMax(Decoder &d) { decodeMinMax(d, true); }

static void decodeNegAbs(Decoder &d, bool abs) {
  if (decodeFloatSign(d, abs))
    return;
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t}))
    return;
  d.out->fn = abs ? unarySigned<absolute>(t) : unarySigned<negate>(t);
}
static void decodeNeg(Decoder &d) { decodeNegAbs(d, false); }
static void decodeAbs(Decoder &d) { decodeNegAbs(d, true); }

static constexpr auto sumAbs = [](auto a, auto b, auto c) {
  return decltype(a)(uint64_t(c) + (a < b ? uint64_t(b) - uint64_t(a) : uint64_t(a) - uint64_t(b)));
};

static void decodeSad(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t, t, t}))
    return;
  d.out->fn = ternaryInt<sumAbs>(t);
}

void mpcore::emulator::registerIntegerOps(OpTable &table) {
  table["add"] = decodeAdd;
  table["sub"] = decodeSub;
  table["addc"] = decodeAddc;
  table["subc"] = decodeSubc;
  table["mul"] = decodeMul;
  table["mad"] = decodeMad;
  table["madc"] = decodeMadc;
  table["div"] = decodeDiv;
  table["rem"] = decodeRem;
  table["min"] = decodeMin;
  table["max"] = decodeMax;
  table["neg"] = decodeNeg;
  table["abs"] = decodeAbs;
  table["sad"] = decodeSad;
}
