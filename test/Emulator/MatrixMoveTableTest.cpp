// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator has exactly the forms of ldmatrix, stmatrix, movmatrix and wmma that ptxas has.

#include "FormTable.h"
#include "mp/Emulator/Forms.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
std::vector<std::string> matrixMoves() {
  std::vector<std::string> forms;
  for (unsigned count : {1, 2, 4, 8})
    for (const char *op : {"ldmatrix", "stmatrix"}) {
      const std::string list = registers("%r", count),
                        operands = *op == 'l' ? list + ", [%l0]" : "[%l0], " + list;
      for (std::string &form : expandForms(std::string(op) +
                                           ".sync.aligned.<m8n8|m16n16|m8n16|m16n8>.<x1|x2|x4><|."
                                           "trans><|.shared|.shared::cta|.shared::cluster|.global>."
                                           "<b16|b8|b8x16.b6x16_p32|b8x16.b4x16_p64> " +
                                           operands + ";"))
        forms.push_back(std::move(form));
    }
  for (std::string &form :
       expand({"movmatrix.sync.aligned.<m8n8|m16n8><|.trans>.<b16|b8> %r0, %r1;",
               "ldmatrix.<sync|aligned>.m8n8.x1.shared.b16 {%r0}, [%r9];",
               "ldmatrix.sync.aligned.m8n8.<x1|x2>.shared.b16 <%r0|{%r0}>, [%r9];",
               "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], %r0;"}))
    forms.push_back(std::move(form));
  return forms;
}

struct Shape {
  unsigned m, n, k;
  std::string text() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};
const Shape shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8},
                        {8, 8, 32},   {8, 8, 128}, {8, 8, 4},   {16, 8, 16}};
const Kind operands[] = {Kind::F16, Kind::BF16, Kind::TF32, Kind::S8,  Kind::U8,
                         Kind::S4,  Kind::U4,   Kind::B1,   Kind::F64, Kind::E4M3};

/// The manual's table of registers: what a warp has for the elements, twice as many for operands of
/// f16.
std::string fragment(Kind kind, unsigned elements, bool isOperand, const char *prefix = "%r") {
  const unsigned count =
      kind == Kind::F64 ? elements / 32 : std::max(1u, elements * bitsOf(kind) / 1024);
  return registers(kind == Kind::F64   ? "%d"
                   : kind == Kind::F32 ? "%f"
                                       : prefix,
                   kind == Kind::F16 && isOperand ? 8 : count);
}

bool isK16(const Shape &s) { return s.k == 16 && s.m * s.n == 256; }

/// For f64 and accumulators ptxas takes shapes that the manual does not have, some of which break
/// it: they are not asked.
bool isAsked(const Shape &s, Kind kind, bool accumulator) {
  const bool f64 = s.k == 4 && s.m == 8, tf32 = s.k == 8, narrow = s.k == 32 || s.k == 128,
             none = s.m == 16 && s.n == 8;
  if (kind == Kind::F64 || f64)
    return (kind == Kind::F64 && f64) || none;
  return !accumulator || none || isK16(s) || (kind == Kind::F32 && tf32) ||
         (kind == Kind::S32 && narrow);
}

std::vector<std::string> wmmaMoves() {
  std::vector<std::string> forms;
  for (const Shape &s : shapes)
    for (char role : {'a', 'b', 'c', 'd'}) {
      const unsigned elements = role == 'a' ? s.m * s.k : role == 'b' ? s.n * s.k : s.m * s.n;
      std::vector<Kind> kinds(std::begin(operands), std::end(operands));
      kinds.insert(kinds.end(), {Kind::F32, Kind::S32});
      for (Kind kind : kinds) {
        if (!isAsked(s, kind, role >= 'c'))
          continue;
        const std::string regs = fragment(kind, elements, role < 'c'), type = nameOf(kind);
        const std::string tail =
            "<row|col>." + s.text() + "<|.global|.shared|.shared::cta|.const>." + type + " ";
        for (std::string &form :
             role == 'd' ? expandForms("wmma.store.d.sync.aligned." + tail + "[%l0], " + regs +
                                       "<|, %r99>;")
                         : expandForms(std::string("wmma.load.") + role + ".sync.aligned." + tail +
                                       regs + ", [%l0]<|, %r99>;"))
          forms.push_back(std::move(form));
      }
    }
  return forms;
}

std::vector<std::string> wmmaProducts() {
  std::vector<std::string> forms;
  using enum Kind;
  const std::pair<Kind, Kind> accumulators[] = {{F32, F32}, {F16, F16}, {F16, F32},
                                                {F32, F16}, {S32, S32}, {F64, F64}};
  for (const Shape &s : shapes)
    for (auto [a, b] : {std::pair{F16, F16},
                        {BF16, BF16},
                        {TF32, TF32},
                        {S8, S8},
                        {S8, U8},
                        {U8, U8},
                        {S4, S4},
                        {S4, U4},
                        {U4, U4},
                        {B1, B1},
                        {F64, F64},
                        {F16, BF16}})
      for (auto [c, d] : accumulators)
        for (bool named : {false, true}) { // f16 operands go without saying
          const bool fits = a == F64         ? s.k == 4
                            : a == TF32      ? s.k == 8
                            : bitsOf(a) == 4 ? s.k == 32
                            : a == B1        ? s.k == 128
                                             : isK16(s);
          if (!isAsked(s, a, false) || (!fits && (c != F32 || d != F32 || !named)))
            continue;
          const std::string types = std::string(".") + nameOf(d) +
                                    (named ? std::string(".") + nameOf(a) + "." + nameOf(b) : "") +
                                    "." + nameOf(c);
          const std::string regs =
              fragment(d, s.m * s.n, false) + ", " + fragment(a, s.m * s.k, true) + ", " +
              fragment(b, s.n * s.k, true) + ", " + fragment(c, s.m * s.n, false);
          for (std::string &form : expandForms(
                   std::string("wmma.mma") + (a == B1 ? "<|.xor.popc|.and.popc|.or.popc>" : "") +
                   ".sync.aligned.<row|col>.<row|col>." + s.text() +
                   (a == F64 || a == BF16 ? "<|.rn|.rz|.rm|.rp>" : "") + types +
                   (c == F32 ? "" : "<|.satfinite>") + " " + regs + ";"))
            forms.push_back(std::move(form));
        }
  return forms;
}
} // namespace

TEST(MatrixMoveTable, LdmatrixIsPtxas) { expectPtxasForms(matrixMoves(), "sm_120a", 30); }
TEST(MatrixMoveTable, WmmaMovesIsPtxas) { expectPtxasForms(wmmaMoves(), "sm_90a", 100); }
TEST(MatrixMoveTable, WmmaProductsIsPtxas) { expectPtxasForms(wmmaProducts(), "sm_90a", 100); }
