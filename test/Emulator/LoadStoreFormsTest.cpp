// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld, st and mov, form by form: every space, type, vector and hint.

#include "InstructionForms.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

namespace {
struct MemoryType {
  const char *name;
  unsigned bits;
  bool isSigned;
};
const MemoryType memoryTypes[] = {{"b8", 8, false},   {"u8", 8, false},   {"s8", 8, true},
                                  {"b16", 16, false}, {"u16", 16, false}, {"s16", 16, true},
                                  {"b32", 32, false}, {"u32", 32, false}, {"s32", 32, true},
                                  {"f32", 32, false}, {"b64", 64, false}, {"u64", 64, false},
                                  {"s64", 64, true},  {"f64", 64, false}};

class LoadStoreForms : public InstructionForms {
protected:
  /// Declares memory of the space for each thread and leaves its address in `at`.
  static std::string place(const std::string &space) {
    if (space == "global" || space.empty())
      return "{ .reg .b64 at, t; mov.u64 at, room; mul.wide.u32 t, %tid, 64; add.u64 at, at, t; ";
    if (space == "local")
      return "{ .local .align 32 .b8 here[64]; .reg .b64 at; mov.u64 at, here; ";
    return "{ .shared .align 32 .b8 here[8192]; .reg .b64 at, t; .reg .b32 t32; mov.u64 at, here; "
           "mov.u32 t32, %tid.x; mul.wide.u32 t, t32, 64; add.u64 at, at, t; ";
  }
  static constexpr const char *room = ".global .align 32 .b8 room[8192];\n";
  static uint64_t extended(const MemoryType &t, uint64_t v) {
    if (t.bits == 64)
      return v;
    v &= (uint64_t(1) << t.bits) - 1;
    return t.isSigned && v >> (t.bits - 1) ? v | ~uint64_t(0) << t.bits : v;
  }
};
} // namespace

TEST_F(LoadStoreForms, EveryTypeInEverySpace) {
  for (const char *space : {"global", "shared", "local", ""})
    for (const MemoryType &t : memoryTypes) {
      const std::string s = *space ? std::string(".") + space : "",
                        type = std::string(".") + t.name;
      // A register may be wider than the type, of b-types and integers.
      std::vector<char> letters = t.bits == 64   ? std::vector<char>{'l'}
                                  : t.bits == 32 ? std::vector<char>{'w', 'l'}
                                                 : std::vector<char>{'h', 'w', 'l'};
      if (*t.name == 'f')
        letters.resize(1);
      for (char letter : letters) {
        const std::string r = std::string("%") + letter,
                          address = *space == 0 || *space == 'g' ? "[%la]" : "[%wb]";
        forms.push_back("ld" + s + type + " " + r + "d, " + (*space ? address : "[%la]") + ";");
        forms.push_back("st" + s + type + " " + (*space ? address : "[%la]") + ", " + r + "a;");
        const std::string text = place(space) + "st" + s + type + " [at], " + r + "a; ld" + s +
                                 type + " " + r + "d, [at]; }";
        V got = eval(text, letter, {corners}, room);
        ASSERT_EQ(got.size(), corners.size()) << text;
        for (size_t i = 0; i < got.size(); ++i) {
          const unsigned width = letter == 'h' ? 16 : letter == 'w' ? 32 : 64;
          const uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
          ASSERT_EQ(got[i], extended(t, corners[i]) & mask)
              << text << std::hex << " of " << corners[i];
        }
      }
    }
}

TEST_F(LoadStoreForms, VectorsKeepTheirOrder) {
  for (const char *space : {"global", "shared", "local"})
    for (unsigned n : {2, 4})
      for (const MemoryType &t : memoryTypes) {
        if (n * t.bits > 128 || *t.name == 'f')
          continue;
        const char letter = t.bits <= 16 ? 'h' : t.bits == 32 ? 'w' : 'l';
        const std::string r = std::string("%") + letter,
                          v = ".v" + std::to_string(n) + "." + t.name;
        // Elements are a, b, c and a again; they come back rotated, and are told apart by sums.
        const std::string names[] = {r + "a", r + "b", r + "c", r + "a"};
        std::string from = "{", to = "{";
        for (unsigned i = 0; i < n; ++i) {
          from += (i ? ", " : "") + names[i];
          to += (i ? ", e" : "e") + std::to_string(i);
        }
        const std::string s = std::string(".") + space, regType = t.bits <= 16   ? "b16"
                                                                  : t.bits == 32 ? "b32"
                                                                                 : "b64";
        forms.push_back("st" + s + v + " " + (*space == 'g' ? "[%la]" : "[%wb]") + ", " + from +
                        "};");
        for (unsigned which = 0; which < n; ++which) {
          const std::string text = place(space) + ".reg ." + regType + " e<4>; st" + s + v +
                                   " [at], " + from + "}; ld" + s + v + " " + to + "}, [at]; mov." +
                                   regType + " " + r + "d, e" + std::to_string(which) + "; }";
          V a, b, c;
          for (size_t i = 0; i < corners.size(); ++i)
            a.push_back(corners[i]), b.push_back(corners[(i + 5) % corners.size()]),
                c.push_back(corners[(i + 9) % corners.size()]);
          V got = eval(text, letter, {a, b, c}, room);
          ASSERT_EQ(got.size(), a.size()) << text;
          const V *sources[] = {&a, &b, &c, &a};
          const uint64_t mask = letter == 'h' ? 0xffff : letter == 'w' ? 0xffffffff : ~uint64_t(0);
          for (size_t i = 0; i < got.size(); ++i)
            ASSERT_EQ(got[i], extended(t, (*sources[which])[i]) & mask) << text;
        }
      }
}

TEST_F(LoadStoreForms, OrdersAndHintsChangeNoValue) {
  auto load = [&](const std::string &form) {
    forms.push_back("ld" + form + ".u32 %wd, [%la];");
    EXPECT_EQ(eval("st.global.b64 [%out], %la; ld" + form + ".u32 %wd, [%out];", 'w',
                   {V{0x100000007, 9}}),
              (V{7, 9}))
        << form;
  };
  auto store = [&](const std::string &form) {
    forms.push_back("st" + form + ".u32 [%la], %wa;");
    EXPECT_EQ(
        eval("st.global.b64 [%out], 0; st" + form + ".u32 [%out], %wa; ld.global.u32 %wd, [%out];",
             'w', {V{7, 9}}),
        (V{7, 9}))
        << form;
  };
  for (const char *cache :
       {".ca", ".cg", ".cs", ".lu", ".cv", ".nc", ".nc.L1::no_allocate", ".L1::evict_first",
        ".L1::evict_last", ".L1::evict_normal", ".L2::64B", ".L2::128B", ".L2::256B"})
    load(std::string(".global") + cache);
  for (const char *cache : {".wb", ".cg", ".cs", ".wt", ".L1::evict_first", ".L1::no_allocate"})
    store(std::string(".global") + cache);
  load(".volatile.global"), load(".weak.global"), load(".volatile");
  store(".volatile.global"), store(".weak.global"), store(".volatile");
  for (const char *scope : {"cta", "cluster", "gpu", "sys"}) {
    load(std::string(".relaxed.") + scope + ".global"),
        load(std::string(".acquire.") + scope + ".global");
    store(std::string(".relaxed.") + scope + ".global"),
        store(std::string(".release.") + scope + ".global");
  }
}

TEST_F(LoadStoreForms, MovesPackAndUnpack) {
  check<uint64_t>("mov.b64", "%ld, {%wa, %wb}",
                  [](uint64_t a, uint64_t b, uint64_t) { return b << 32 | uint32_t(a); });
  check<uint32_t>("mov.b32", "%wd, {%ha, %hb}",
                  [](uint64_t a, uint64_t b, uint64_t) { return uint32_t(b << 16) | uint16_t(a); });
  check<uint64_t>("mov.b64", "%ld, {%ha, %hb, %hc, %ha}", [](uint64_t a, uint64_t b, uint64_t c) {
    return uint64_t(uint16_t(a)) << 48 | uint64_t(uint16_t(c)) << 32 | uint64_t(uint16_t(b)) << 16 |
           uint16_t(a);
  });
  check<uint32_t>("mov.b64", "{%wd, %wc}, %la",
                  [](uint64_t a, uint64_t, uint64_t) { return uint32_t(a); });
  check<uint32_t>("mov.b64", "{%wc, %wd}, %la",
                  [](uint64_t a, uint64_t, uint64_t) { return uint32_t(a >> 32); });
  check<uint32_t>("mov.b64", "{_, %wd}, %la",
                  [](uint64_t a, uint64_t, uint64_t) { return uint32_t(a >> 32); });
  check<uint16_t>("mov.b32", "{%hc, %hd}, %wa",
                  [](uint64_t a, uint64_t, uint64_t) { return uint16_t(a >> 16); });
  check<uint16_t>("mov.b64", "{%ha, %hb, %hd, %hc}, %la",
                  [](uint64_t a, uint64_t, uint64_t) { return uint16_t(a >> 32); });
  for (const char *type : {"u32", "s32", "b32", "f32"})
    check<uint32_t>(std::string("mov.") + type, "%wd, %wa",
                    [](uint64_t a, uint64_t, uint64_t) { return uint32_t(a); });
  for (const char *type : {"u64", "s64", "b64", "f64"})
    check<uint64_t>(std::string("mov.") + type, "%ld, %la",
                    [](uint64_t a, uint64_t, uint64_t) { return a; });
  for (const char *type : {"u16", "s16", "b16"})
    check<uint16_t>(std::string("mov.") + type, "%hd, %ha",
                    [](uint64_t a, uint64_t, uint64_t) { return uint16_t(a); });
  check<uint32_t>("setp.gt.u32 %pd, %wa, %wb; { .reg .pred q; mov.pred q, %pd; selp.u32 %wd, 3, 4, "
                  "q; } mov.u32",
                  "%wd, %wd", [](uint64_t a, uint64_t b, uint64_t) {
                    return uint32_t(a) > uint32_t(b) ? 3 : 4;
                  });
}
