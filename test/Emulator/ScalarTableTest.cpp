// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator has exactly the scalar instructions that ptxas has, but for those that mp-run
// --refused-ptx prints.

#include "FormTable.h"
#include "mp/Emulator/Forms.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using llvm::StringRef;

namespace {
struct Operand {
  const char *type;
  unsigned bits;
};
const Operand types[] = {{"b8", 8},      {"b16", 16},   {"b32", 32}, {"b64", 64},   {"u8", 8},
                         {"u16", 16},    {"u32", 32},   {"u64", 64}, {"s8", 8},     {"s16", 16},
                         {"s32", 32},    {"s64", 64},   {"f16", 16}, {"f16x2", 32}, {"bf16", 16},
                         {"bf16x2", 32}, {"tf32", 32},  {"f32", 32}, {"f64", 64},   {"f32x2", 64},
                         {"u16x2", 32},  {"s16x2", 32}, {"pred", 1}, {"b128", 128}};
const Operand pairs[] = {
    {"e4m3x2", 16}, {"e5m2x2", 16}, {"e3m2x2", 16}, {"e2m3x2", 16}, {"ue8m0x2", 16}};

std::string reg(unsigned bits, char k) {
  return (bits == 1    ? "%p"
          : bits <= 16 ? "%h"
          : bits == 32 ? "%r"
          : bits == 64 ? "%l"
                       : "%q") +
         std::string(1, k);
}

/// `instruction` for each type: T is the type, @1 a register of its width, #1 one of twice the
/// width.
std::vector<std::string> typed(const std::string &instruction, char name = 'T', char mark = '@',
                               llvm::ArrayRef<Operand> all = types) {
  std::vector<std::string> forms;
  for (const Operand &t : all) {
    std::string text;
    for (size_t i = 0; i < instruction.size(); ++i) {
      const char c = instruction[i];
      if (c == name && i && instruction[i - 1] == '.')
        text += t.type;
      else if (c == mark)
        text += reg(t.bits, instruction[++i]);
      else if (c == '#' && mark == '@')
        text += reg(2 * std::max(t.bits, 8u), instruction[++i]);
      else
        text += c;
    }
    forms.push_back(text);
  }
  return forms;
}

/// Every combination of the brackets, on every type.
void add(std::vector<std::string> &forms, const std::string &pattern) {
  for (const std::string &form : typed(pattern))
    for (std::string &one : expandForms(form))
      forms.push_back(std::move(one));
}
/// The same with a second type U, whose registers are &1.
void add2(std::vector<std::string> &forms, const std::string &pattern,
          llvm::ArrayRef<Operand> first = types, llvm::ArrayRef<Operand> second = types) {
  for (const std::string &form : typed(pattern, 'U', '&', second))
    for (const std::string &both : typed(form, 'T', '@', first))
      for (std::string &one : expandForms(both))
        forms.push_back(std::move(one));
}

std::vector<std::string> arithmetic() {
  std::vector<std::string> f;
  const std::string round = "<|.rn|.rz|.rm|.rp|.rna|.rni|.approx|.full>";
  add(f, "<add|sub|mul|div|rem>" + round + "<|.ftz><|.sat>.T @0, @1, @2;");
  add(f, "<add|sub|addc|subc><|.cc><|.sat>.T @0, @1, @2;");
  add(f, "<min|max><|.rn><|.ftz><|.NaN><|.xorsign.abs|.abs|.relu|.sat>.T @0, @1, @2;");
  add(f, "<min|max><|.ftz><|.NaN><|.abs|.relu>.T @0, @1, @2, @3;");
  add(f, "<abs|neg|not|cnot|brev><|.ftz|.sat|.rn>.T @0, @1;");
  add(f, "<mul|mul24><.lo|.hi|.wide><|.sat|.cc>.T @0, @1, @2;");
  add(f, "<mul|mul24>.wide.T #0, @1, @2;");
  add(f, "<mad|mad24|madc><|.lo|.hi|.wide><|.sat|.cc>.T @0, @1, @2, @3;");
  add(f, "<mad|mad24>.wide.T #0, @1, @2, #3;");
  add(f, "<mad|fma>" + round + "<|.ftz><|.sat|.relu><|.oob>.T @0, @1, @2, @3;");
  add(f, "sad<|.sat>.T @0, @1, @2, @3;");
  add(f, "<rcp|sqrt|rsqrt|sin|cos|lg2|ex2|tanh>" + round + "<|.ftz|.sat>.T @0, @1;");
  add(f, "<copysign|and|or|xor>.T @0, @1, @2;");
  add(f, "testp.<finite|infinite|number|notanumber|normal|subnormal>.T %p0, @1;");
  add(f, "<shl|shr><|.wrap|.clamp>.T @0, @1, %r2;");
  add(f, "<popc|clz|bfind|bfind.shiftamt>.T %r0, @1;");
  add(f, "<bfe|shf.l.wrap>.T @0, @1, %r2, %r3;");
  add(f, "bfi.T @0, @1, @2, %r2, %r3;");
  add(f, "<bmsk<|.wrap|.clamp>|shl.wrap>.T @0, @1, @2;");
  add(f, "szext<|.wrap|.clamp>.T @0, @1, %r2;");
  add(f, "shf.<l|r><|.wrap|.clamp>.T @0, @1, @2, %r3;");
  add(f, "prmt.T<|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16> @0, @1, @2, @3;");
  add(f, "<lop3|fns>.T @0, @1, @2, @3;");
  add(f, "lop3.T @0, @1, @2, @3, 3;");
  for (const char *combine : {"and", "or", "xor"})
    add(f, std::string("lop3.") + combine + ".T @0|%p0, @1, @2, @3, 3, %p1;");
  add(f, "selp.T @0, @1, @2, %p1;");
  add(f, "mov.T @0, @1;");
  add2(f, "slct<|.ftz>.T.U @0, @1, @2, &3;");
  add2(f, "<dp4a|dp2a|dp2a.lo|dp2a.hi>.T.U %r0, @1, &2, %r3;");
  for (const std::string &form : expandForms("vabsdiff<2|4>.<u32|s32|u16>.<u32|s32|s8>.<u32|s32|"
                                             "b32><|.sat|.add|.min|.sat.add> %r0, %r1, %r2, %r3;"))
    f.push_back(form);
  add2(f, "<add|sub|mul><|.rn|.rz><|.ftz|.sat>.T.U @0, &1, @2;");
  add2(f, "fma<|.rn|.rm><|.ftz|.sat>.T.U @0, &1, &2, @3;");
  return f;
}

std::vector<std::string> comparisons() {
  std::vector<std::string> f;
  const std::string compare = "<eq|ne|lt|ge|lo|hs|equ|geu|num|nan|sat>";
  add(f, "setp." + compare + "<|.ftz>.T %p0, @1, @2;");
  for (const char *combine : {".and", ".or", ".xor", ".not"})
    add(f, "setp." + compare + combine + "<|.ftz>.T %p0, @1, @2, %p1;");
  for (const std::string &form : typed("setp.gt.T %p0|%p1, @1, @2;"))
    f.push_back(form);
  add2(f, "set.<eq|lt|hi|neu|nan><|.ftz>.T.U @0, &1, &2;");
  add2(f, "set.<ne|ls|num>.or<|.ftz>.T.U @0, &1, &2, %p1;");
  return f;
}

std::vector<std::string> conversions() {
  std::vector<std::string> f;
  const std::string how = "<|.rn|.rz|.rm|.rp|.rna|.rni|.rzi|.rmi|.rpi>";
  add2(f, "cvt" + how + "<|.ftz><|.sat>.T.U @0, &1;");
  add2(f, "cvt" + how + "<|.relu><|.satfinite>.T.U @0, &1;");
  const Operand narrow[] = {{"f16x2", 32}, {"bf16x2", 32}, {"f32", 32}, {"f16", 16}};
  add2(f, "cvt<|.rn|.rz|.rp|.rs><|.relu><|.satfinite|.sat>.T.U @0, &1;", pairs, narrow);
  add2(f, "cvt<|.rn|.rz|.rp><|.relu><|.satfinite|.sat>.T.U @0, &1;", narrow, pairs);
  const Operand single[] = {{"f32", 32}};
  add2(f, "cvt<|.rn|.rz|.rp><|.relu><|.satfinite|.sat>.T.U @0, &1, &2;", pairs, single);
  add2(f, "cvt<|.rn|.rz|.rp|.rna><|.relu><|.satfinite|.sat|.ftz>.T.U @0, &1, &2;", narrow, single);
  add2(f, "cvt.rs<|.relu><|.satfinite>.T.U @0, &1, &2, %r3;", narrow, single);
  for (const std::string &form : expandForms("cvt.rs<|.relu><|.satfinite>.<e4m3x4|e5m2x4|e2m1x4>."
                                             "f32 %r0, {%r1, %r2, %r3, %r4}, %r5;"))
    f.push_back(form);
  for (const std::string &form :
       expandForms("cvt.pack<|.sat>.<u2|s2|u4|s4|u8|s8|u16|s16|b16|u32>.<s32|u32|s16>< %r0, %r1, "
                   "%r2|.b32 %r0, %r1, %r2, %r3>;"))
    f.push_back(form);
  return f;
}

std::vector<std::string> others() {
  std::vector<std::string> f;
  for (const char *pattern :
       {"prefetch<|.global|.local|.shared|.const|.param><|.L1|.L2|.L2::evict_last|.L2::evict_"
        "normal|.L1::evict_last|.tensormap> [%l0];",
        "prefetchu<|.global>.<L1|L2> [%l0];",
        "applypriority<|.global|.local>.<L2::evict_normal|L2::evict_last> [%l0], <128|64>;",
        "discard<|.global>.L2 [%l0], 128;",
        "createpolicy.<fractional|range><|.global>.L2::<evict_last|evict_normal|evict_first|evict_"
        "unchanged><|.L2::evict_first|.L2::evict_unchanged|.L2::evict_normal>.b64 %l0;",
        "createpolicy.range<|.global>.L2::<evict_last|evict_first><|.L2::evict_first|.L2::evict_"
        "normal>.b64 %l0, [%l1], %r0, %r1;",
        "createpolicy.fractional.L2::<evict_last|evict_first>.b64 %l0, 0f3F800000;",
        "createpolicy.cvt.L2<|.b64> %l0, %l1;",
        "cvta<|.to>.<global|shared|shared::cta|shared::cluster|local|const|param|param::entry|"
        "generic>.<u64|b64> %l0, %l1;",
        "isspacep.<global|shared|shared::cta|shared::cluster|local|const|param|param::entry|"
        "generic> %p0, %l1;",
        "griddepcontrol.<launch_dependents|wait|sync>;",
        "nanosleep.<u32|b32|s32> <%r0|20>;",
        "pmevent<|.mask> 3;",
        "activemask.<b32|u32> %r0;",
        "<exit|exit.uni|ret|ret.uni|trap|trap.uni>;",
        "shfl<|.sync>.<up|down|bfly|idx|xor>.<b32|u32|b64> %r0, %r1, <%r2|3>, 31, -1;",
        "vote<|.sync>.<all|any|uni|ballot>.<pred %p0|b32 %r0>, <%p1|!%p1>, -1;",
        "match.<all|any|uni>.sync.<b32 %r0, %r1|b64 %r0, %l1|u32 %r0, %r1>, -1;",
        "redux.sync.<add|min|max|and|or|xor|inc><|.abs|.NaN>.<u32|s32|b32|f32|u64> %r0, %r1, -1;",
        "elect.sync<|.b32> %r0;",
        "bar<|.cta>.<sync|arrive><|.aligned> <0|1|%r1><|, 32|, %r2>;",
        "barrier<|.cta>.<sync|arrive><|.aligned> <0|%r1><|, 32|, %r2>;",
        "<bar|bar.cta|barrier|barrier.cta>.red<|.aligned>.<popc.u32 %r0|and.pred %p0|or.pred "
        "%p0|xor.pred %p0|popc.pred %p0>, 1<|, 32>, <%p1|!%p1>;",
        "<bar|barrier>.warp.<sync|arrive> <%r0|-1>;"})
    for (std::string &form : expandForms(pattern))
      f.push_back(std::move(form));
  for (const char *form :
       {"elect.sync %r0|%p0, -1;", "elect.sync _|%p0, %r1;", "match.all.sync.b32 %r0|%p0, %r1, -1;",
        "match.any.sync.b32 %r0|%p0, %r1, -1;", "shfl.sync.up.b32 %r0|%p0, %r1, 1, 0, -1;"})
    f.push_back(form);
  return f;
}

/// On sm_90a all of them, elsewhere those that some target has.
void everywhere(const std::vector<std::string> &forms, size_t least) {
  // For pairs of halves ptxas also takes one predicate, which the manual does not have.
  const RefusedForms refused = {{"setp", "two predicates are needed"}};
  expectPtxasForms(forms, "sm_90a", least, refused);
  std::vector<std::string> some;
  for (const std::string &form : forms)
    if (findForm(StringRef(form).take_until([](char c) { return c == ' ' || c == ';'; })))
      some.push_back(form);
  for (const char *target :
       {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_120", "sm_120a"}) {
    SCOPED_TRACE(target);
    expectPtxasForms(some, target, least / 2, refused);
  }
}
} // namespace

TEST(ScalarTable, ArithmeticIsPtxas) { everywhere(arithmetic(), 450); }
TEST(ScalarTable, ComparisonsIsPtxas) { everywhere(comparisons(), 400); }
TEST(ScalarTable, ConversionsIsPtxas) { everywhere(conversions(), 500); }
TEST(ScalarTable, OthersIsPtxas) { everywhere(others(), 100); }

TEST(ScalarTable, ModifiersHaveNoOrder) {
  expectPtxasForms({"add.ftz.rn.f32 %r0, %r1, %r2;", "add.f32.sat.rz %r0, %r1, %r2;",
                    "setp.f32.ftz.or.lt %p0, %r1, %r2, %p1;", "cvt.f32.s32.rn %r0, %r1;",
                    "cvt.satfinite.relu.rn.e4m3x2.f32 %h0, %r1, %r2;",
                    "shf.l.b32.wrap %r0, %r1, %r2, %r3;", "cvt.f32.rn.s32 %r0, %r1;"},
                   "sm_90a", 7);
}
