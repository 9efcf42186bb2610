// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms that few programs have: 24 bits, selections, packing, exclusive signs, directed roundings
// of bf16 and pairs of f32.

#include "InstructionForms.h"

#include <bit>
#include <cfenv>
#include <cmath>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

TEST_F(InstructionForms, Products24) {
  auto low = [](auto v) {
    return std::is_signed_v<decltype(v)> ? int64_t(int32_t(uint32_t(v) << 8) >> 8)
                                         : int64_t(uint32_t(v) & 0xffffff);
  };
  auto both = [&](auto zero) {
    using T = decltype(zero);
    typed<T>("mad24.lo", 3,
             [&](T a, T b, T c) { return T(uint32_t(low(a) * low(b)) + uint32_t(c)); });
    typed<T>("mad24.hi", 3,
             [&](T a, T b, T c) { return T(uint32_t(low(a) * low(b) >> 16) + uint32_t(c)); });
  };
  both(uint32_t()), both(int32_t());
  typed<int32_t>("mad24.hi.sat", 3, [&](int32_t a, int32_t b, int32_t c) {
    return int32_t(
        std::clamp<int64_t>(int64_t(int32_t(low(a) * low(b) >> 16)) + c, INT32_MIN, INT32_MAX));
  });
}

TEST_F(InstructionForms, NotNegative) {
  typed<int32_t>("min.relu", 2,
                 [](int32_t a, int32_t b, int32_t) { return std::max(0, std::min(a, b)); });
  typed<int32_t>("max.relu", 2,
                 [](int32_t a, int32_t b, int32_t) { return std::max(0, std::max(a, b)); });
  for (bool max : {false, true})
    check<uint32_t>(max ? "max.relu.s16x2" : "min.relu.s16x2", "%wd, %wa, %wb",
                    [=](uint64_t a, uint64_t b, uint64_t) {
                      auto one = [=](int16_t x, int16_t y) {
                        return uint32_t(std::max<int>(0, max ? std::max(x, y) : std::min(x, y)));
                      };
                      return one(int16_t(a >> 16), int16_t(b >> 16)) << 16 |
                             one(int16_t(a), int16_t(b));
                    });
}

TEST_F(InstructionForms, TablesThatTest) {
  // d|p, with p = (d != 0) and or or q.
  for (bool both : {false, true})
    for (unsigned table : {0x80u, 0x96u})
      check<uint32_t>(
          std::string("{ .reg .pred p, q; setp.gt.u32 q, %wa, %wb; lop3.") + (both ? "and" : "or") +
              ".b32 %wd|p, %wa, %wb, %wc, " + std::to_string(table) +
              ", q; selp.u32 %wc, 1, 0, p; add.u32 %wd, %wd, %wc; } mov.u32",
          "%wd, %wd", [=](uint64_t a, uint64_t b, uint64_t c) {
            uint32_t d = 0;
            for (unsigned i = 0; i < 32; ++i)
              d |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
            const bool q = uint32_t(a) > uint32_t(b);
            return uint32_t(d + (both ? d != 0 && q : d != 0 || q));
          });
}

TEST_F(InstructionForms, NthSetBit) {
  corners = {0, 1, 2, 3, 5, 7, 31, 32, 0x80000001, 0xf0f0, 0xffffffff, 0xfffffffe, 0xfffffffb};
  check<uint32_t>("fns.b32", "%wd, %wa, %wb, %wc", [](uint64_t a, uint64_t b, uint64_t c) {
    const uint32_t mask = uint32_t(a), base = uint32_t(b);
    const int32_t n = int32_t(c);
    if (base > 31)
      return ~0u;
    if (n == 0)
      return mask >> base & 1 ? base : ~0u;
    int seen = 0;
    for (int at = int(base); at >= 0 && at < 32; at += n > 0 ? 1 : -1)
      if ((mask >> at & 1) && ++seen == std::abs(n))
        return uint32_t(at);
    return ~0u;
  });
}

TEST_F(InstructionForms, SelectionsByFlushedSigns) {
  for (uint64_t v : {0x80000001ull, 0x807fffffull, 0x80800000ull, 0x7fc00000ull})
    corners.push_back(v);
  for (bool flush : {false, true})
    check<uint32_t>(flush ? "slct.ftz.b32.f32" : "slct.b32.f32", "%wd, %wa, %wb, %wc",
                    [=](uint64_t a, uint64_t b, uint64_t c) {
                      float f = std::bit_cast<float>(uint32_t(c));
                      if (flush && std::fpclassify(f) == FP_SUBNORMAL)
                        f = 0;
                      return uint32_t(f >= 0 ? a : b);
                    });
}

TEST_F(InstructionForms, Packing) {
  auto one = [](int32_t v, int64_t least, int64_t most, unsigned bits) {
    return uint32_t(std::clamp<int64_t>(v, least, most)) & ((1u << bits) - 1);
  };
  for (unsigned bits : {2u, 4u, 8u, 16u})
    for (bool isSigned : {false, true}) {
      const int64_t least = isSigned ? -(1 << (bits - 1)) : 0,
                    most = isSigned ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
      const std::string type = (isSigned ? "s" : "u") + std::to_string(bits);
      check<uint32_t>("cvt.pack.sat." + type + ".s32" + (bits < 16 ? ".b32" : ""),
                      bits < 16 ? "%wd, %wa, %wb, %wc" : "%wd, %wa, %wb",
                      [=](uint64_t a, uint64_t b, uint64_t c) {
                        const uint32_t pair = one(int32_t(a), least, most, bits) << bits |
                                              one(int32_t(b), least, most, bits);
                        return bits < 16 ? pair | uint32_t(c) << (2 * bits) : pair;
                      });
    }
}

namespace {
class FloatForms : public InstructionForms {
protected:
  FloatForms() {
    corners.clear();
    for (uint64_t v : {0x0000, 0x8000, 0x0001, 0x8001, 0x3c00, 0x3f80, 0xbf80, 0x3f81, 0x4049,
                       0xc2f7, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc1, 0x0080, 0x0123})
      corners.push_back(v << 16 | v);
  }
};
} // namespace

TEST_F(FloatForms, ExclusiveSigns) {
  auto want = [](bool max, bool nan, double a, double b) {
    const bool sign = std::signbit(a) != std::signbit(b);
    if (std::isnan(a) || std::isnan(b)) {
      if (nan || (std::isnan(a) && std::isnan(b)))
        return double(NAN);
      return std::copysign(std::isnan(a) ? b : a, sign ? -1.0 : 1.0);
    }
    const double r =
        max ? std::max(std::fabs(a), std::fabs(b)) : std::min(std::fabs(a), std::fabs(b));
    return sign ? -r : r;
  };
  for (bool max : {false, true})
    for (bool nan : {false, true}) {
      const std::string op =
          std::string(max ? "max" : "min") + (nan ? ".NaN" : "") + ".xorsign.abs.";
      check<uint32_t>(op + "f32", "%wd, %wa, %wb", [&](uint64_t a, uint64_t b, uint64_t) {
        const double r =
            want(max, nan, std::bit_cast<float>(uint32_t(a)), std::bit_cast<float>(uint32_t(b)));
        return std::isnan(r) ? 0x7fffffffu : std::bit_cast<uint32_t>(float(r));
      });
      for (Kind k : {Kind::F16, Kind::BF16})
        check<uint32_t>(op + nameOf(k) + "x2", "%wd, %wa, %wb",
                        [&](uint64_t a, uint64_t b, uint64_t) {
                          auto half = [&](unsigned at) {
                            return uint32_t(roundTo(k, want(max, nan, decode(k, a >> at & 0xffff),
                                                            decode(k, b >> at & 0xffff))));
                          };
                          return half(16) << 16 | half(0);
                        });
    }
}

TEST_F(FloatForms, DirectedRoundingsOfBF16) {
  const std::pair<const char *, llvm::APFloat::roundingMode> modes[] = {
      {"rz", llvm::APFloat::rmTowardZero},
      {"rm", llvm::APFloat::rmTowardNegative},
      {"rp", llvm::APFloat::rmTowardPositive}};
  for (auto [name, mode] : modes)
    for (bool relu : {false, true}) {
      // Exact in quad but for sums of very different magnitude, whose rounding in the same
      // direction changes nothing.
      auto one = [=, mode = mode](uint64_t a, uint64_t b, uint64_t c, unsigned at) -> uint32_t {
        auto wide = [&](uint64_t v) {
          llvm::APFloat x(llvm::APFloat::BFloat(), llvm::APInt(16, v >> at & 0xffff));
          bool loses;
          x.convert(llvm::APFloat::IEEEquad(), llvm::APFloat::rmNearestTiesToEven, &loses);
          return x;
        };
        llvm::APFloat r = wide(a);
        r.fusedMultiplyAdd(wide(b), wide(c), mode);
        bool loses;
        r.convert(llvm::APFloat::BFloat(), mode, &loses);
        if (r.isNaN())
          return 0x7fff;
        return relu && r.isNegative() ? 0 : uint32_t(r.bitcastToAPInt().getZExtValue());
      };
      const std::string form = std::string("fma.") + name + (relu ? ".relu" : "");
      check<uint16_t>(form + ".bf16", "%hd, %ha, %hb, %hc",
                      [&](uint64_t a, uint64_t b, uint64_t c) { return one(a, b, c, 0); });
      check<uint32_t>(form + ".bf16x2", "%wd, %wa, %wb, %wc",
                      [&](uint64_t a, uint64_t b, uint64_t c) {
                        return one(a, b, c, 16) << 16 | one(a, b, c, 0);
                      });
    }
}

TEST_F(FloatForms, DirectedRoundingsOfPairs) {
  target = "sm_120";
  const std::pair<const char *, int> modes[] = {
      {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}, {"rn", FE_TONEAREST}};
  for (auto [name, mode] : modes)
    for (const char *op : {"add", "mul", "fma"})
      check<uint64_t>(
          std::string(
              "mov.b64 %la, {%wa, %wb}; mov.b64 %lb, {%wb, %wc}; mov.b64 %lc, {%wc, %wa}; ") +
              op + "." + name + ".f32x2",
          std::string("%ld, %la, %lb") + (*op == 'f' ? ", %lc" : ""),
          [=, mode = mode](uint64_t a, uint64_t b, uint64_t c) {
            auto one = [&](uint64_t x, uint64_t y, uint64_t z) -> uint64_t {
              volatile float p = std::bit_cast<float>(uint32_t(x)),
                             q = std::bit_cast<float>(uint32_t(y)),
                             s = std::bit_cast<float>(uint32_t(z)), r;
              std::fesetround(mode);
              r = *op == 'a' ? p + q : *op == 'm' ? p * q : std::fma(float(p), float(q), float(s));
              std::fesetround(FE_TONEAREST);
              const float result = r;
              return result != result ? 0x7fffffff : std::bit_cast<uint32_t>(result);
            };
            return one(b, c, a) << 32 | one(a, b, c);
          });
}
