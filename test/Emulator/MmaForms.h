// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of mma.sync: where the manual's formulas place fragments, metadata and scales, seen
// from the lane, and a random tile for each.

#ifndef MP_TEST_EMULATOR_MMAFORMS_H
#define MP_TEST_EMULATOR_MMAFORMS_H

#include "MatrixSupport.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace mpcore::emulator::test {

struct Form {
  unsigned m, k;
  Kind a, b, c;
  std::string mods = "", tail = "", sparse = "";
  unsigned selector = 0;
  std::string scaleKind = ""; // of lib/Numerics
  unsigned scaleBlocks = 0, byteA = 0, threadA = 0, byteB = 0, threadB = 0;

  bool isSparse() const { return !sparse.empty(); }
  bool isOrdered() const { return sparse == ".sp::ordered_metadata"; }
  unsigned stored() const { return isSparse() ? k / 2 : k; }
  std::string opcode() const {
    return "mma" + sparse + ".sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) +
           ".row.col" + mods + "." + nameOf(c) + "." + nameOf(a) + "." + nameOf(b) + "." +
           nameOf(c) + tail;
  }
  std::string target() const {
    return mods.find("kind::") != std::string::npos ? "sm_120a" : "sm_90a";
  }
};

struct Spot {
  unsigned row, column;
};
inline unsigned perRegister(Kind k) { return k == Kind::F64 ? 1 : 32 / bitsOf(k); }
inline unsigned fragmentElements(Kind k, unsigned elements) { return std::max(1u, elements / 32); }

inline Spot placeA(const Form &f, unsigned lane, unsigned i) {
  const unsigned g = lane / 4, t = lane % 4, e = perRegister(f.a), j = i / e;
  if (f.m == 8)
    return {g, t * e + i % e + j * 4 * e};
  return {j % 2 == 0 ? g : g + 8, t * e + i % e +
                                      (j < 2   ? 0
                                       : j < 4 ? 4 * e
                                       : j < 6 ? 8 * e
                                               : 12 * e)};
}
inline Spot placeB(const Form &f, unsigned lane, unsigned i) {
  const unsigned g = lane / 4, t = lane % 4, e = perRegister(f.b);
  return {t * e + i % e + i / e * 4 * e, g};
}
inline Spot placeC(unsigned lane, unsigned i) {
  return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

/// Four bits of a lane's metadata: which group of which row they are for.
inline std::optional<Spot> metadataOf(const Form &f, unsigned lane, unsigned nibble) {
  const unsigned g = lane / 4, t = lane % 4, bits = bitsOf(f.a);
  const unsigned groups = f.k / (bits == 32 ? 2 : bits == 4 ? 8 : 4);
  if (groups == 4) // one lane of four
    return t == f.selector ? std::optional(Spot{g + nibble / 4 * 8, nibble % 4}) : std::nullopt;
  if (groups == 16) // all lanes
    return Spot{g + t % 2 * 8, nibble + t / 2 * 8};
  if (t / 2 != f.selector) // a pair of lanes
    return std::nullopt;
  return bits >= 16 ? Spot{g + nibble / 4 * 8, nibble % 4 + t % 2 * 4}
                    : Spot{g + t % 2 * 8, nibble};
}

inline std::vector<Form> allForms() {
  using enum Kind;
  std::vector<Form> forms;
  for (unsigned k : {8, 16})
    for (Kind c : {F32, F16})
      forms.push_back({16, k, F16, F16, c});
  forms.push_back({16, 8, BF16, BF16, F32});
  forms.push_back({16, 16, BF16, BF16, F32});
  forms.push_back({16, 4, TF32, TF32, F32});
  forms.push_back({16, 8, TF32, TF32, F32});
  const Kind fp8[] = {E4M3, E5M2}, bytes[] = {E4M3, E5M2, E3M2, E2M3, PaddedE2M1};
  for (Kind a : fp8)
    for (Kind b : fp8)
      for (unsigned k : {16, 32})
        for (Kind c : {F32, F16})
          forms.push_back({16, k, a, b, c});
  for (Kind a : bytes)
    for (Kind b : bytes)
      for (Kind c : {F32, F16})
        forms.push_back({16, 32, a, b, c, ".kind::f8f6f4"});
  for (const char *sat : {"", ".satfinite"}) {
    for (auto [m, k] : {std::pair{8, 16}, {16, 16}, {16, 32}})
      for (Kind a : {S8, U8})
        for (Kind b : {S8, U8})
          forms.push_back({unsigned(m), unsigned(k), a, b, S32, sat});
    for (auto [m, k] : {std::pair{8, 32}, {16, 32}, {16, 64}})
      for (Kind a : {S4, U4})
        for (Kind b : {S4, U4})
          forms.push_back({unsigned(m), unsigned(k), a, b, S32, sat});
  }
  for (auto [m, k] : {std::pair{8, 128}, {16, 128}, {16, 256}})
    for (const char *op : {".and.popc", ".xor.popc"})
      forms.push_back({unsigned(m), unsigned(k), B1, B1, S32, "", op});
  for (auto [m, k] : {std::pair{8, 4}, {16, 4}, {16, 8}, {16, 16}})
    for (const char *rounding : {"", ".rn"})
      forms.push_back({unsigned(m), unsigned(k), F64, F64, F64, rounding});
  // Sparse.
  auto sparse = [&](Form f, unsigned selectors, bool orderedOnly = false) {
    for (unsigned s = 0; s < selectors; ++s)
      for (const char *variant : {".sp", ".sp::ordered_metadata"}) {
        f.selector = s;
        f.sparse = variant;
        if (f.isOrdered() || !orderedOnly)
          forms.push_back(f);
      }
  };
  for (Kind c : {F32, F16}) {
    sparse({16, 16, F16, F16, c}, 4);
    sparse({16, 32, F16, F16, c}, 2);
  }
  sparse({16, 16, BF16, BF16, F32}, 4);
  sparse({16, 32, BF16, BF16, F32}, 2);
  sparse({16, 8, TF32, TF32, F32}, 4);
  sparse({16, 16, TF32, TF32, F32}, 2);
  for (Kind a : fp8)
    for (Kind b : fp8) {
      sparse({16, 64, a, b, F32}, 1);
      sparse({16, 64, a, b, F16}, 1, true);
    }
  for (Kind a : bytes)
    for (Kind b : bytes)
      for (Kind c : {F32, F16})
        sparse({16, 64, a, b, c, ".kind::f8f6f4"}, 1, true);
  for (const char *sat : {"", ".satfinite"})
    for (Kind a : {S8, U8})
      for (Kind b : {S8, U8}) {
        sparse({16, 32, a, b, S32, sat}, 2);
        sparse({16, 64, a, b, S32, sat}, 1);
        sparse({16, 64, a == S8 ? S4 : U4, b == S8 ? S4 : U4, S32, sat}, 2);
        sparse({16, 128, a == S8 ? S4 : U4, b == S8 ? S4 : U4, S32, sat}, 1);
      }
  // Block-scaled, dense and sparse, every selector of the scales.
  for (const char *variant : {"", ".sp::ordered_metadata"}) {
    const unsigned twice = *variant ? 2 : 1;
    auto scaled = [&](Form f, unsigned byte, unsigned thread) {
      f.sparse = variant;
      f.k *= twice;
      f.byteA = byte, f.byteB = (byte + f.scaleBlocks) % 4, f.threadA = thread % 2,
      f.threadB = thread;
      forms.push_back(f);
    };
    unsigned count = 0;
    for (Kind a : bytes)
      for (Kind b : bytes) {
        ++count;
        scaled({16, 32, a, b, F32,
                count % 2 ? ".kind::mxf8f6f4.block_scale"
                          : ".kind::mxf8f6f4.block_scale.scale_vec::1X",
                ".ue8m0", "", 0, "mxf8f6f4", 1},
               count % 4, count / 4 % 4);
      }
    for (unsigned thread = 0; thread < 4; ++thread) {
      for (unsigned byte : {0, 2})
        for (const char *mods : {".kind::mxf4.block_scale", ".kind::mxf4.block_scale.scale_vec::2X",
                                 ".kind::mxf4nvf4.block_scale.scale_vec::2X"})
          scaled({16, 64, E2M1, E2M1, F32, mods, ".ue8m0", "", 0, "mxf4", 2}, byte, thread);
      scaled({16, 64, E2M1, E2M1, F32, ".kind::mxf4nvf4.block_scale.scale_vec::4X", ".ue4m3", "", 0,
              "mxf4nvf4", 4},
             0, thread);
    }
  }
  return forms;
}

/// A form's operands: A as stored and where its elements stand, the rest dense.
struct Tile {
  std::vector<uint64_t> a, b, c; // bits
  std::vector<unsigned> place;   // of each stored element of A: its k
  std::vector<uint8_t> metadata; // four bits per row and group
  std::vector<uint8_t> scaleA, scaleB;

  enum Contents { SmallIntegers, RandomBits };
  Tile(const Form &f, Contents contents, std::mt19937 &rng) : place(f.m * f.stored()) {
    auto draw = [&](Kind k) -> uint64_t {
      if (contents == SmallIntegers && k != Kind::S32)
        return encode(k, k == Kind::B1 ? int(rng() & 1) : int(rng() % 5) - (isUnsigned(k) ? 0 : 2));
      for (;;) {
        uint64_t bits =
            (uint64_t(rng()) << 32 | rng()) & (bitsOf(k) == 64 ? ~0ull : (1ull << bitsOf(k)) - 1);
        if (k == Kind::PaddedE2M1)
          bits &= 0x3c;
        if (k == Kind::E3M2 || k == Kind::E2M3)
          bits &= 0x3f;
        if (k == Kind::TF32)
          bits &= ~0x1fffull;
        if (!isFloat(k) || std::isfinite(decode(k, bits)))
          return bits;
      }
    };
    a.resize(f.m * f.stored()), b.resize(f.k * 8), c.resize(f.m * 8);
    for (uint64_t &v : a)
      v = draw(f.a);
    for (uint64_t &v : b)
      v = draw(f.b);
    for (uint64_t &v : c)
      v = f.c == Kind::S32 ? uint32_t(rng() % 4 == 0 ? 0x7fffffff : rng())
                           : encode(f.c, int(rng() % 41) - 20);
    for (unsigned i = 0; i < place.size(); ++i)
      place[i] = i % f.stored();
    if (f.isSparse())
      sparsify(f, rng);
    for (auto [scales, count] : {std::pair{&scaleA, f.m}, {&scaleB, 8u}})
      for (unsigned i = 0; i < count * f.scaleBlocks; ++i)
        scales->push_back(contents == RandomBits
                              ? (f.scaleKind == "mxf4nvf4" ? rng() % 0x7f : 90 + rng() % 70)
                          : f.scaleKind == "mxf4nvf4"
                              ? std::array{0x30, 0x38, 0x3c, 0x40}[rng() % 4] // 1/2, 1, 3/2, 2
                              : 125 + rng() % 5);
  }

  void sparsify(const Form &f, std::mt19937 &rng) {
    const unsigned bits = bitsOf(f.a), unit = bits == 4 ? 2 : 1, width = bits == 32 ? 2 : 4 * unit,
                   groups = f.k / width;
    for (unsigned row = 0; row < f.m; ++row)
      for (unsigned group = 0; group < groups; ++group) {
        unsigned *to = &place[row * f.stored() + group * width / 2];
        if (bits == 32) {
          const unsigned which = rng() % 2;
          to[0] = group * width + which;
          metadata.push_back(which ? 0b1110 : 0b0100);
          continue;
        }
        unsigned first = rng() % 4, second = (first + 1 + rng() % 3) % 4;
        if (f.isOrdered() && first > second)
          std::swap(first, second);
        for (unsigned u = 0; u < unit; ++u) {
          to[u] = group * width + first * unit + u;
          to[unit + u] = group * width + second * unit + u;
        }
        metadata.push_back(uint8_t(first | second << 2));
      }
  }
};

inline std::vector<uint32_t> execute(const Form &f, const Tile &t, const std::string &chip,
                                     std::mt19937 &rng) {
  MatrixKernel kernel;
  kernel.wide = f.a == Kind::F64;
  auto count = [&](Kind k, unsigned elements) {
    return std::max(1u, elements / 32 / perRegister(k));
  };
  const unsigned nA = count(f.a, f.m * f.stored()), nB = count(f.b, f.k * 8),
                 nC = count(f.c, f.m * 8);
  kernel.inputs = {
      nA, nB, nC, f.isSparse() ? 1u : 0u, f.scaleBlocks ? 1u : 0u, f.scaleBlocks ? 1u : 0u};
  kernel.results = nC;
  kernel.instruction = f.opcode() + " " + registers("%d", nC) + ", " + registers("%a", nA) + ", " +
                       registers("%b", nB) + ", " + registers("%c", nC);
  if (f.isSparse())
    kernel.instruction += ", %e0, " + std::to_string(f.selector);
  if (f.scaleBlocks) {
    // One selector as a constant, the other in a register.
    kernel.instruction = "mov.u16 %h0, " + std::to_string(f.byteA) + "; mov.u16 %h1, " +
                         std::to_string(f.threadA) + ";\n" + kernel.instruction;
    kernel.instruction += ", %x0, {%h0, %h1}, %y0, {" + std::to_string(f.byteB) + ", " +
                          std::to_string(f.threadB) + "}";
  }
  kernel.instruction += ";";
  const unsigned width = kernel.wide ? 64 : 32;
  std::array<std::vector<uint32_t>, 6> files = {std::vector<uint32_t>(nA * width),
                                                std::vector<uint32_t>(nB * width),
                                                std::vector<uint32_t>(nC * width)};
  for (unsigned k = 3; k < 6; ++k) // what no lane should look at is garbage
    for (unsigned l = 0; l < 32; ++l)
      files[k].push_back(rng());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < fragmentElements(f.a, f.m * f.stored()); ++i) {
      auto [row, column] = placeA(f, lane, i);
      setElement(files[0], f.a, lane, i, t.a[row * f.stored() + column]);
    }
    for (unsigned i = 0; i < fragmentElements(f.b, f.k * 8); ++i) {
      auto [row, column] = placeB(f, lane, i);
      setElement(files[1], f.b, lane, i, t.b[row * 8 + column]);
    }
    for (unsigned i = 0; i < fragmentElements(f.c, f.m * 8); ++i) {
      auto [row, column] = placeC(lane, i);
      setElement(files[2], f.c, lane, i, t.c[row * 8 + column]);
    }
    for (unsigned nibble = 0; f.isSparse() && nibble < 8; ++nibble)
      if (auto spot = metadataOf(f, lane, nibble)) {
        const unsigned groups = unsigned(t.metadata.size()) / f.m;
        setElement(files[3], Kind::U4, lane, nibble, t.metadata[spot->row * groups + spot->column]);
      }
    for (unsigned s = 0; s < f.scaleBlocks; ++s) {
      // A: a pair of lanes has the rows g and g + 8; B: a lane has column g.
      if (lane % 4 / 2 == f.threadA)
        setElement(files[4], Kind::U8, lane, f.byteA + s,
                   t.scaleA[(lane / 4 + lane % 2 * 8) * f.scaleBlocks + s]);
      if (lane % 4 == f.threadB)
        setElement(files[5], Kind::U8, lane, f.byteB + s, t.scaleB[lane / 4 * f.scaleBlocks + s]);
    }
  }
  return kernel.run(files, f.target(), chip);
}

inline double scaleValue(const Form &f, uint8_t bits) {
  return f.scaleKind == "mxf4nvf4" ? decode(Kind::E4M3, bits) : std::ldexp(1.0, int(bits) - 127);
}

/// The product of the dense matrices, exactly.
inline double exact(const Form &f, const Tile &t, unsigned row, unsigned column) {
  std::vector<double> dense(f.k);
  for (unsigned s = 0; s < f.stored(); ++s)
    dense[t.place[row * f.stored() + s]] = decode(f.a, t.a[row * f.stored() + s]);
  double sum = decode(f.c, t.c[row * 8 + column]);
  for (unsigned k = 0; k < f.k; ++k) {
    const double x = dense[k], y = decode(f.b, t.b[k * 8 + column]);
    double scale = 1;
    if (f.scaleBlocks) {
      const unsigned block = k / (f.k / f.scaleBlocks);
      scale = scaleValue(f, t.scaleA[row * f.scaleBlocks + block]) *
              scaleValue(f, t.scaleB[column * f.scaleBlocks + block]);
    }
    sum += f.tail == ".xor.popc" ? x != y : x * y * scale;
  }
  return sum;
}

inline std::string chipOf(const Form &f, unsigned number) {
  if (f.target() == "sm_120a")
    return "sm_120a";
  const bool fp8 = f.a == Kind::E4M3 || f.a == Kind::E5M2;
  const char *chips[] = {fp8 ? "sm_89" : "sm_80", "sm_90a", "sm_120a"};
  return chips[number % 3];
}

} // namespace mpcore::emulator::test

#endif // MP_TEST_EMULATOR_MMAFORMS_H
