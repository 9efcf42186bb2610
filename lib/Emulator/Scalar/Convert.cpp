// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt between integers, f16, bf16, f32 and f64, and the forms with packed results (f16x2, bf16x2,
// tf32, fp8).

#include "../Decode/Decoder.h"
#include "Arithmetic.h"
#include "Half.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>

using namespace mpcore::emulator;
using llvm::APFloat;

namespace {
enum class Round : uint8_t { None, Rn, Rz, Rm, Rp, Rni, Rzi, Rmi, Rpi, Rna };
enum : uint32_t {
  kCvtFtz = 1,
  kCvtSat = 2,
  kCvtRelu = 4,
  kCvtSatFinite = 8,
  kCvtWideSrc = 16,
  kCvtWideDst = 32
};
} // namespace

static APFloat::roundingMode apMode(Round r) {
  switch (r) {
  case Round::Rz:
  case Round::Rzi: return APFloat::rmTowardZero;
  case Round::Rm:
  case Round::Rmi: return APFloat::rmTowardNegative;
  case Round::Rp:
  case Round::Rpi: return APFloat::rmTowardPositive;
  case Round::Rna: return APFloat::rmNearestTiesToAway;
  default: return APFloat::rmNearestTiesToEven;
  }
}

static double toIntegral(double v, Round r) {
  switch (r) {
  case Round::Rz:
  case Round::Rzi: return std::trunc(v);
  case Round::Rm:
  case Round::Rmi: return std::floor(v);
  case Round::Rp:
  case Round::Rpi: return std::ceil(v);
  default: {
    double f = std::floor(v), diff = v - f; // exact for |v| < 2^52
    if (std::fabs(v) >= 0x1p52)
      return v;
    double r2 = diff > 0.5 || (diff == 0.5 && std::fmod(f, 2) != 0) ? f + 1 : f;
    return std::copysign(r2, v);
  }
  }
}

// Values in flight between the two formats of a conversion: floats as f64 (every narrower format
// embeds), integers as 64 bits.
static double readFloat(Type t, uint64_t bits) {
  switch (t) {
  case Type::F16: return widenF16(uint16_t(bits));
  case Type::BF16: return widenBF16(uint16_t(bits));
  case Type::F32: return std::bit_cast<float>(uint32_t(bits));
  default: return std::bit_cast<double>(bits);
  }
}

static uint64_t canonicalNan(Type t) { return t == Type::F32 ? kCanonicalNaN : 0x7fffu; }

static const llvm::fltSemantics &semantics(Type t) {
  return t == Type::F16    ? APFloat::IEEEhalf()
         : t == Type::BF16 ? APFloat::BFloat()
         : t == Type::F32  ? APFloat::IEEEsingle()
                           : APFloat::IEEEdouble();
}

static uint64_t writeFloat(Type t, double v, Round r) {
  if (t == Type::F64) // which keeps what a NaN holds, here as in nvcc's folding
    return std::bit_cast<uint64_t>(v);
  if (v != v)
    return canonicalNan(t);
  if (t == Type::F32 && (r == Round::None || r == Round::Rn))
    return std::bit_cast<uint32_t>(float(v));
  APFloat x(v);
  bool loses;
  x.convert(semantics(t), apMode(r), &loses);
  return x.bitcastToAPInt().getZExtValue();
}

static uint64_t integerToFloat(Type from, uint64_t bits, Type to, Round r) {
  unsigned width = bitWidth(from);
  bool sign = isSigned(from);
  int64_t value = int64_t(bits);
  if (width < 64)
    value = sign ? int64_t(bits << (64 - width)) >> (64 - width)
                 : int64_t(bits & ((uint64_t(1) << width) - 1));
  bool small =
      sign || width < 64 ? std::abs(double(value)) <= 0x1p53 : uint64_t(value) <= uint64_t(1) << 53;
  if (small)
    return writeFloat(to, double(value), r);
  APFloat x(semantics(to));
  x.convertFromAPInt(llvm::APInt(64, uint64_t(value)), sign, apMode(r));
  return x.bitcastToAPInt().getZExtValue();
}

static uint64_t floatToInteger(double v, Type to, Round r, bool from64) {
  unsigned width = bitWidth(to);
  // NaN: 0 below 64 bits of float source to 32 bits, the top bit alone for 64-bit results and f64
  // sources.
  if (v != v)
    return width == 64 || from64 ? uint64_t(1) << (width - 1) : 0;
  v = toIntegral(v, r);
  if (isSigned(to)) {
    double limit = std::ldexp(1.0, width - 1);
    if (v >= limit)
      return (uint64_t(1) << (width - 1)) - 1;
    if (v < -limit)
      return uint64_t(1) << (width - 1);
    return uint64_t(int64_t(v));
  }
  if (v <= 0)
    return 0;
  if (v >= std::ldexp(1.0, width))
    return ~uint64_t(0) >> (64 - width);
  return uint64_t(v);
}

static uint64_t integerToInteger(Type from, uint64_t bits, Type to, bool sat) {
  unsigned width = bitWidth(from), out = bitWidth(to);
  __int128 v = isSigned(from) ? __int128(int64_t(bits << (64 - width)) >> (64 - width))
               : width < 64   ? __int128(bits & ((uint64_t(1) << width) - 1))
                              : __int128(bits);
  if (sat) {
    __int128 low = isSigned(to) ? -(__int128(1) << (out - 1)) : 0;
    __int128 high = isSigned(to) ? (__int128(1) << (out - 1)) - 1 : (__int128(1) << out) - 1;
    v = std::clamp(v, low, high);
  }
  return uint64_t(v);
}

namespace {
struct Conversion {
  Type from, to;
  Round round;
  uint32_t flags;
};
} // namespace

static uint64_t convert(const Conversion &c, uint64_t bits) {
  bool fromFloat = isFloat(c.from), toFloat = isFloat(c.to);
  if (!fromFloat && !toFloat)
    return integerToInteger(c.from, bits, c.to, c.flags & kCvtSat);
  if (!fromFloat) {
    uint64_t r = integerToFloat(c.from, bits, c.to, c.round);
    if (c.flags & kCvtSat) {
      double v = readFloat(c.to, r);
      return writeFloat(c.to, v > 0 ? std::min(v, 1.0) : 0.0, Round::Rn);
    }
    return r;
  }
  double v = readFloat(c.from, bits);
  if ((c.flags & kCvtFtz) && c.from == Type::F32)
    v = flush(float(v));
  if (!toFloat)
    return floatToInteger(v, c.to, c.round, c.from == Type::F64);
  if (c.round >= Round::Rni && c.round <= Round::Rpi && v == v && std::isfinite(v)) {
    double whole = toIntegral(v, c.round);
    v = whole == 0 ? std::copysign(0.0, v) : whole;
  }
  if (c.flags & kCvtSat)
    v = v > 0 ? std::min(v, 1.0) : 0.0;
  if (c.flags & kCvtRelu)
    v = v < 0 || (v == 0 && std::signbit(v)) ? 0.0 : v;
  uint64_t r = writeFloat(c.to, v, c.round);
  if (c.flags & kCvtSatFinite && v == v) {
    uint64_t inf = c.to == Type::F16 ? 0x7c00 : 0x7f80;
    if ((r & 0x7fff) == inf)
      r -= 1;
  }
  if ((c.flags & kCvtFtz) && c.to == Type::F32)
    r = std::bit_cast<uint32_t>(flush(std::bit_cast<float>(uint32_t(r))));
  return r;
}

static Step execConvert(Warp &w, const Inst &i) {
  const Conversion &c = *static_cast<const Conversion *>(i.aux);
  const bool wideSrc = i.flags & kCvtWideSrc, wideDst = i.flags & kCvtWideDst;
  // A wider destination register takes the result extended by its own sign.
  const unsigned width = bitWidth(c.to);
  const bool extend = isSigned(c.to) && width < 64;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    uint64_t r = convert(c, wideSrc ? w.lanes<uint64_t>(i.a)[l] : w.lanes<uint32_t>(i.a)[l]);
    if (width < 64)
      r = extend ? uint64_t(int64_t(r << (64 - width)) >> (64 - width))
                 : r & ((uint64_t(1) << width) - 1);
    if (wideDst)
      w.lanes<uint64_t>(i.dst)[l] = r;
    else
      w.lanes<uint32_t>(i.dst)[l] = uint32_t(r);
  }
  return Step::Next;
}

static ExecFn fastConvert(const Conversion &c, bool wideSrc, bool wideDst) {
  if (c.flags & (kCvtSat | kCvtFtz | kCvtRelu | kCvtSatFinite))
    return nullptr;
  auto is = [&](Type to, Type from) { return c.to == to && c.from == from; };
  bool rn = c.round == Round::Rn || c.round == Round::None;
  if (wideDst && !wideSrc) {
    if (is(Type::U64, Type::U32) || is(Type::S64, Type::U32))
      return unary<uint64_t, uint32_t, [](uint32_t a) { return a; }>;
    if (is(Type::S64, Type::S32) || is(Type::U64, Type::S32))
      return unary<int64_t, int32_t, [](int32_t a) { return a; }>;
  }
  if (wideSrc && !wideDst && bitWidth(c.to) == 32 && bitWidth(c.from) == 64 && !isFloat(c.to) &&
      !isFloat(c.from))
    return unary<uint32_t, uint64_t, [](uint64_t a) { return uint32_t(a); }>;
  if (wideSrc || wideDst)
    return nullptr;
  if (is(Type::F32, Type::F16))
    return unary<float, uint16_t, [](uint16_t a) {
      float v = widenF16(a);
      return canonical(v);
    }>;
  if (is(Type::F32, Type::BF16))
    return unary<float, uint16_t, [](uint16_t a) {
      float v = widenBF16(a);
      return canonical(v);
    }>;
  if (is(Type::F16, Type::F32) && rn)
    return unary<uint16_t, float, [](float a) { return narrowF16(a); }>;
  if (is(Type::BF16, Type::F32) && rn)
    return unary<uint16_t, float, [](float a) { return narrowBF16(a); }>;
  if (is(Type::F32, Type::S32) && rn)
    return unary<float, int32_t, [](int32_t a) { return float(a); }>;
  return nullptr;
}

static Round takeRound(Decoder &d) {
  static const struct {
    const char *name;
    Round round;
  } names[] = {{"rn", Round::Rn},   {"rz", Round::Rz},   {"rm", Round::Rm},
               {"rp", Round::Rp},   {"rni", Round::Rni}, {"rzi", Round::Rzi},
               {"rmi", Round::Rmi}, {"rpi", Round::Rpi}, {"rna", Round::Rna}};
  for (auto &row : names)
    if (d.take(row.name))
      return row.round;
  return Round::None;
}

static bool isScalar(Type t) {
  return (t >= Type::U8 && t <= Type::S64) || t == Type::F16 || t == Type::BF16 || t == Type::F32 ||
         t == Type::F64;
}

static void decodeCvt(Decoder &d) {
  if (d.take("pack"))
    return decodePack(d);
  Round round = takeRound(d);
  bool ftz = d.take("ftz"), sat = d.take("sat"), relu = d.take("relu");
  bool satfinite = d.take("satfinite");
  Type to = d.takeType(), from = d.takeType();
  if (isSmallPair(to) || isSmallPair(from))
    return decodeSmallConvert(d, to, from,
                              round == Round::Rn   ? Rounding::Nearest
                              : round == Round::Rz ? Rounding::Zero
                                                   : Rounding::Up,
                              relu, satfinite);
  if (!isScalar(to) || !isScalar(from))
    return decodePackedConvert(d, to, from, round == Round::Rz, round == Round::Rna, relu,
                               satfinite);
  if (!d.expectOps(2))
    return;
  Conversion c{from, to, round, 0};
  c.flags = (ftz ? kCvtFtz : 0) | (sat ? kCvtSat : 0) | (relu ? kCvtRelu : 0) |
            (satfinite ? kCvtSatFinite : 0);
  d.out->dst = d.dst(0, to, /*relaxed=*/true);
  d.out->a = d.src(1, from, /*relaxed=*/true);
  unsigned srcBits = d.regBits(d.op(1));
  bool wideSrc = (srcBits ? srcBits : bitWidth(from)) == 64;
  bool wideDst = d.regBits(d.op(0)) == 64;
  d.out->flags = (wideSrc ? kCvtWideSrc : 0) | (wideDst ? kCvtWideDst : 0);
  d.out->aux = d.program.keep(c);
  ExecFn fast = fastConvert(c, wideSrc, wideDst);
  d.out->fn = fast ? fast : execConvert;
}

void mpcore::emulator::registerConvertOps(OpTable &table) { table["cvt"] = decodeCvt; }
