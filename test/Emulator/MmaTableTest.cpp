// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator has exactly the matrix instructions that ptxas has: thousands of combinations of
// shape, types and modifiers, most of which do not exist, given to both.

#include "FormTable.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
struct Shape {
  unsigned m, n, k;
  std::string text() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};

std::string fragment(Kind kind, unsigned elements) {
  const unsigned count = std::max(1u, elements * bitsOf(kind) / (kind == Kind::F64 ? 2048 : 1024));
  return registers(kind == Kind::F64   ? "%d"
                   : kind == Kind::F32 ? "%f"
                                       : "%r",
                   std::min(count, 128u));
}

std::string accumulator(const Shape &s, Kind ab, Kind c) {
  if (s.m == 8 && s.k == 4 && ab == Kind::F16)
    return registers(c == Kind::F32 ? "%f" : "%r", c == Kind::F32 ? 8 : 4);
  return fragment(c, s.m * s.n);
}

std::string mma(const Shape &s, const std::string &sparse, const std::string &layout,
                const std::string &mods, Kind a, Kind b, Kind c, Kind d,
                const std::string &tail = "", const std::string &selector = "0",
                const std::string &scales = "") {
  const bool quadPairs = s.m == 8 && s.k == 4 && a == Kind::F16;
  std::string text =
      "mma" + sparse + ".sync.aligned." + s.text() + "." + layout + mods + "." + nameOf(d) + "." +
      nameOf(a) + "." + nameOf(b) + "." + nameOf(c) + tail + " " + accumulator(s, a, d) + ", " +
      (quadPairs
           ? "{%r0, %r1}, {%r2, %r3}"
           : fragment(a, s.m * s.k / (sparse.empty() ? 1 : 2)) + ", " + fragment(b, s.n * s.k)) +
      ", " + accumulator(s, a, c);
  if (!sparse.empty())
    text += ", %r9, " + selector;
  return text + scales + ";";
}

const Kind operandKinds[] = {Kind::F16,  Kind::BF16, Kind::TF32,       Kind::E4M3, Kind::E5M2,
                             Kind::E3M2, Kind::E2M3, Kind::PaddedE2M1, Kind::S8,   Kind::U8,
                             Kind::S4,   Kind::U4,   Kind::B1,         Kind::F64};

/// Same types, and one mixed pair for each.
std::vector<std::pair<Kind, Kind>> operandPairs() {
  std::vector<std::pair<Kind, Kind>> pairs;
  for (Kind k : operandKinds)
    pairs.push_back({k, k});
  using enum Kind;
  for (auto p : {std::pair{F16, BF16},
                 {BF16, F16},
                 {TF32, F16},
                 {E4M3, E5M2},
                 {E5M2, E3M2},
                 {E3M2, E4M3},
                 {E2M3, E3M2},
                 {PaddedE2M1, E4M3},
                 {E4M3, PaddedE2M1},
                 {E4M3, F16},
                 {S8, U8},
                 {U8, S8},
                 {S4, U4},
                 {U4, S4},
                 {S8, S4},
                 {B1, U4},
                 {E4M3, S8},
                 {F64, TF32}})
    pairs.push_back(p);
  return pairs;
}

std::vector<std::string> mmaForms() {
  std::vector<std::string> forms;
  std::vector<Shape> shapes;
  for (unsigned m : {8, 16})
    for (unsigned k : {4, 8, 16, 32, 64, 128, 256})
      shapes.push_back({m, 8, k});
  const std::pair<Kind, Kind> accumulators[] = {{Kind::F32, Kind::F32}, {Kind::F16, Kind::F16},
                                                {Kind::F16, Kind::F32}, {Kind::F32, Kind::F16},
                                                {Kind::S32, Kind::S32}, {Kind::F64, Kind::F64}};
  for (const Shape &s : shapes)
    for (auto [a, b] : operandPairs())
      for (auto [c, d] : accumulators)
        for (const char *sparse : {"", ".sp", ".sp::ordered_metadata"})
          for (const char *kind : {"", ".kind::f8f6f4"})
            for (const char *tail : {"", ".and.popc"})
              if (!*tail || a == Kind::B1)
                forms.push_back(mma(s, sparse, "row.col", kind, a, b, c, d, tail));
  // Modifiers, on a form of each type.
  using enum Kind;
  for (const char *layout : {"row.row", "col.row", "col.col"}) {
    forms.push_back(mma({8, 8, 4}, "", layout, "", F16, F16, F32, F32));
    forms.push_back(mma({8, 8, 4}, "", layout, "", F16, F16, F16, F16));
    forms.push_back(mma({16, 8, 16}, "", layout, "", F16, F16, F32, F32));
    forms.push_back(mma({16, 8, 32}, "", layout, "", S8, S8, S32, S32));
  }
  for (const char *sparse : {"", ".sp::ordered_metadata"}) {
    const unsigned twice = *sparse ? 2 : 1;
    forms.push_back(mma({16, 8, 16 * twice}, sparse, "row.col", ".satfinite", F16, F16, F32, F32));
    forms.push_back(mma({16, 8, 32 * twice}, sparse, "row.col", ".satfinite", S8, U8, S32, S32));
    forms.push_back(mma({16, 8, 64 * twice}, sparse, "row.col", ".satfinite", U4, U4, S32, S32));
    forms.push_back(
        mma({16, 8, 32 * twice}, sparse, "row.col", ".satfinite", E4M3, E4M3, F32, F32));
  }
  forms.push_back(mma({16, 8, 256}, "", "row.col", "", B1, B1, S32, S32, ".xor.popc"));
  forms.push_back(mma({8, 8, 128}, "", "row.col", "", B1, B1, S32, S32, ".xor.popc"));
  forms.push_back(mma({16, 8, 256}, "", "row.col", "", B1, B1, S32, S32, ".or.popc"));
  forms.push_back(mma({16, 8, 256}, "", "row.col", ".satfinite", B1, B1, S32, S32, ".xor.popc"));
  for (const char *rounding : {".rn", ".rz", ".rm", ".rp"}) {
    forms.push_back(mma({8, 8, 4}, "", "row.col", rounding, F64, F64, F64, F64));
    forms.push_back(mma({16, 8, 16}, "", "row.col", rounding, F64, F64, F64, F64));
    forms.push_back(mma({16, 8, 16}, "", "row.col", rounding, F16, F16, F32, F32));
  }
  // Selectors.
  for (const char *sparse : {".sp", ".sp::ordered_metadata"})
    for (unsigned k : {8, 16, 32, 64, 128})
      for (auto [a, b] : operandPairs())
        for (const char *selector : {"1", "2", "3", "4"})
          // For f16 k32, ptxas takes selectors that the manual does not have.
          if (a == b && a != B1 && a != F64 &&
              !(a == F16 && k == 32 && (*selector == '2' || *selector == '3')))
            forms.push_back(mma({16, 8, k}, sparse, "row.col", "", a, b, a >= S8 ? S32 : F32,
                                a >= S8 ? S32 : F32, "", selector));
  return forms;
}

std::vector<std::string> blockScaledForms() {
  std::vector<std::string> forms;
  const std::string none = ", %r10, {%h0, %h1}, %r11, {%h2, %h3}";
  for (const char *sparse : {"", ".sp", ".sp::ordered_metadata"})
    for (const char *kind : {"mxf8f6f4", "mxf4", "mxf4nvf4"})
      for (unsigned k : {32, 64, 128})
        for (const char *vectors : {"", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X"})
          for (const char *scale : {".ue8m0", ".ue4m3"})
            for (auto [a, b] : {std::pair{Kind::E4M3, Kind::E2M3},
                                {Kind::E2M1, Kind::E2M1},
                                {Kind::PaddedE2M1, Kind::PaddedE2M1},
                                {Kind::PaddedE2M1, Kind::E5M2},
                                {Kind::F16, Kind::F16}})
              for (Kind c : {Kind::F32, Kind::F16})
                forms.push_back(mma({16, 8, k}, sparse, "row.col",
                                    std::string(".kind::") + kind + ".block_scale" + vectors, a, b,
                                    c, c, scale, "0", none));
  return forms;
}

std::vector<std::string> wgmmaForms() {
  std::vector<std::string> forms;
  for (unsigned n : {8, 16, 24, 40, 64, 256})
    for (unsigned k : {8, 16, 32, 64, 256})
      for (auto [a, b] : operandPairs())
        for (Kind d : {Kind::F32, Kind::F16, Kind::S32})
          for (const char *sparse : {"", ".sp"})
            for (bool aInRegisters : {false, true}) {
              if ((n == 16 || n == 64) && aInRegisters)
                continue;
              std::string text = std::string("wgmma.mma_async") + sparse + ".sync.aligned." +
                                 Shape{64, n, k}.text() + "." + nameOf(d) + "." + nameOf(a) + "." +
                                 nameOf(b) + (a == Kind::B1 ? ".and.popc " : " ") +
                                 fragment(d, 16 * n) + ", " +
                                 (aInRegisters ? "{%r120, %r121, %r122, %r123}" : "%l0") +
                                 ", %l1, " + (*sparse ? "%r9, 0, " : "") + "%p0";
              if (d != Kind::S32)
                text += ", 1, -1";
              if (d != Kind::S32 && (a == Kind::F16 || a == Kind::BF16))
                text += aInRegisters ? ", 1" : ", 0, 1";
              forms.push_back(text + ";");
            }
  for (const char *groups : {"-1", "0", "3", "%r1"})
    forms.push_back(std::string("wgmma.wait_group.sync.aligned ") + groups + ";");
  return forms;
}
} // namespace

TEST(MmaTable, IsPtxas) { expectPtxasForms(mmaForms(), "sm_120a", 200); }
TEST(MmaTable, BlockScaledIsPtxas) { expectPtxasForms(blockScaledForms(), "sm_120a", 12); }
TEST(MmaTable, WgmmaIsPtxas) { expectPtxasForms(wgmmaForms(), "sm_90a", 200); }

TEST(MmaTable, OlderTargetsIsPtxas) {
  // A target refuses forms that it lacks and others have, one of each kind.
  using enum Kind;
  const std::vector<std::string> forms = {
      mma({8, 8, 4}, "", "row.col", "", F16, F16, F32, F32),
      mma({16, 8, 8}, "", "row.col", "", F16, F16, F32, F32),
      mma({16, 8, 16}, "", "row.col", "", F16, F16, F16, F16),
      mma({16, 8, 8}, "", "row.col", "", BF16, BF16, F32, F32),
      mma({16, 8, 4}, "", "row.col", "", TF32, TF32, F32, F32),
      mma({16, 8, 32}, "", "row.col", "", E4M3, E5M2, F32, F32),
      mma({16, 8, 32}, "", "row.col", ".kind::f8f6f4", E4M3, E5M2, F32, F32),
      mma({16, 8, 32}, "", "row.col", ".kind::f8f6f4", PaddedE2M1, E3M2, F32, F32),
      mma({8, 8, 16}, "", "row.col", ".satfinite", S8, S8, S32, S32),
      mma({16, 8, 16}, "", "row.col", "", U8, S8, S32, S32),
      mma({8, 8, 32}, "", "row.col", "", S4, S4, S32, S32),
      mma({16, 8, 64}, "", "row.col", "", S4, U4, S32, S32),
      mma({8, 8, 128}, "", "row.col", "", B1, B1, S32, S32, ".xor.popc"),
      mma({8, 8, 128}, "", "row.col", "", B1, B1, S32, S32, ".and.popc"),
      mma({16, 8, 256}, "", "row.col", "", B1, B1, S32, S32, ".xor.popc"),
      mma({8, 8, 4}, "", "row.col", "", F64, F64, F64, F64),
      mma({16, 8, 4}, "", "row.col", "", F64, F64, F64, F64),
      mma({16, 8, 16}, ".sp", "row.col", "", F16, F16, F32, F32),
      mma({16, 8, 64}, ".sp::ordered_metadata", "row.col", "", E4M3, E4M3, F32, F32),
      mma({16, 8, 64}, ".sp::ordered_metadata", "row.col", ".kind::f8f6f4", E4M3, E4M3, F32, F32),
      mma({16, 8, 64}, "", "row.col", ".kind::mxf4.block_scale", E2M1, E2M1, F32, F32, ".ue8m0",
          "0", ", %r10, {0, 0}, %r11, {0, 0}"),
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, %l0, %l1, %p0;",
      "wgmma.fence.sync.aligned;",
  };
  for (const char *target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a",
                             "sm_103a", "sm_110a", "sm_120", "sm_120a", "sm_121a"}) {
    SCOPED_TRACE(target);
    expectPtxasForms(forms, target, 2);
  }
}
