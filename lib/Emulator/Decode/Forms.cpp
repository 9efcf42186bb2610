// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every spelling of the scalar instructions, as ptxas 13.0 has them. Combinations that are not here
// do not exist.

#include "mp/Emulator/Forms.h"
#include "../Syntax/Type.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mpcore::emulator;
using llvm::StringRef;

namespace {
struct FormRow {
  unsigned least;
  const char *forms;
};
struct RefusedForm {
  StringRef forms, reason;
};
} // namespace

// Alternatives that recur, written as $name.
static const std::pair<StringRef, StringRef> alternatives[] = {
    {"$int", "u16|u32|u64|s16|s32|s64"},
    {"$words", "u32|u64|s32|s64"},
    {"$bits", "b16|b32|b64"},
    {"$half", "f16|f16x2"},
    {"$brain", "bf16|bf16x2"},
    {"$round", "rn|rz|rm|rp"},
    {"$directed", "rz|rm|rp"},
    {"$whole", "rni|rzi|rmi|rpi"},
    {"$combine", "|.and|.or|.xor"},
    {"$order", "eq|ne|lt|le|gt|ge"},
    {"$unsigned", "lo|ls|hi|hs"},
    {"$float", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
};

static const FormRow known[] = {
    // Integers.
    {0, "<add|sub|min|max|div|rem|sad>.<$int>"},
    {0, "<add|sub><.sat.s32|.cc.u32|.cc.s32|.cc.u64|.cc.s64>"},
    {0, "<addc|subc><|.cc>.<$words>"},
    {0, "<mul|mad>.<lo|hi>.<$int>"},
    {0, "<mul|mad>.wide.<u16|u32|s16|s32>"},
    {0, "mad.hi.sat.s32"},
    {0, "mad.<lo|hi>.cc.<$words>"},
    {0, "madc.<lo|hi><|.cc>.<$words>"},
    {0, "<mul24|mad24>.<lo|hi>.<u32|s32>"},
    {0, "mad24.hi.sat.s32"},
    {0, "<abs|neg>.<s16|s32|s64>"},
    {0, "<dp4a|dp2a.lo|dp2a.hi>.<u32|s32>.<u32|s32>"},
    {90, "<add|min|max>.<u16x2|s16x2>"},
    {90, "<min|max>.relu.<s32|s16x2>"},
    // Bits.
    {0, "<and|or|xor|not>.<pred|$bits>"},
    {0, "<cnot|shl>.<$bits>"},
    {0, "shr.<$bits|$int>"},
    {0, "<popc|clz|brev|bfi>.<b32|b64>"},
    {0, "<bfe|bfind|bfind.shiftamt>.<$words>"},
    {0, "<shf.l|shf.r|bmsk>.<wrap|clamp>.b32"},
    {0, "szext.<wrap|clamp>.<u32|s32>"},
    {0,
     "<lop3|lop3.and|lop3.or|fns|prmt|prmt.f4e|prmt.b4e|prmt.rc8|prmt.ecl|prmt.ecr|prmt.rc16>.b32"},
    {0, "selp.<$bits|$int|f32|f64>"},
    {0, "slct.<$bits|$int|f32|f64>.<s32|f32>"},
    {0, "slct.ftz.<$bits|$int|f32|f64>.f32"},
    // Floats.
    {0, "<add|sub|mul><|.rn><|.ftz><|.sat>.<f32|$half>"},
    {0, "<add|sub|mul>.<$directed><|.ftz><|.sat>.f32"},
    {0, "<add|sub|mul><|.rn|.rz|.rm|.rp>.f64"},
    {90, "<add|sub|mul><|.rn>.<$brain>"},
    {100, "<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz>.f32x2"},
    {100, "<add|sub><|.rn|.rz|.rm|.rp><|.sat>.f32.<f16|bf16>"},
    {0, "fma.rn<|.ftz><|.sat>.<f32|$half>"},
    {0, "<fma.rz|fma.rm|fma.rp|mad.rn|mad.rz|mad.rm|mad.rp><|.ftz><|.sat>.f32"},
    {0, "<fma|mad>.<$round>.f64"},
    {80, "fma.rn<|.ftz>.relu.<$half>"},
    {80, "fma.<$round><|.relu>.<$brain>"},
    {100, "fma.<$round><|.ftz>.f32x2"},
    {100, "fma.<$round><|.sat>.f32.<f16|bf16>"},
    {0, "<min|max>.<f32|ftz.f32|f64>"},
    {80, "<min|max>.<NaN.f32|ftz.NaN.f32|bf16|bf16x2|NaN.bf16|NaN.bf16x2>"},
    {80, "<min|max><|.ftz><|.NaN>.<$half>"},
    {86, "<min|max><|.ftz><|.NaN>.xorsign.abs.<f32|$half>"},
    {86, "<min|max><|.NaN>.xorsign.abs.<$brain>"},
    {0, "<abs|neg>.<f64|f32|ftz.f32|f16|ftz.f16|f16x2|ftz.f16x2>"},
    {80, "<abs|neg>.<$brain>"},
    {0, "div.<$round|approx|full><|.ftz>.f32"},
    {0, "<rcp|sqrt>.<$round|approx><|.ftz>.f32"},
    {0, "<div|rcp|sqrt>.<$round>.f64"},
    {0, "<rcp.approx.ftz|rsqrt.approx|rsqrt.approx.ftz>.f64"},
    {0, "<rsqrt|sin|cos|lg2|ex2>.approx<|.ftz>.f32"},
    {75, "<ex2|tanh>.approx.<$half>"},
    {75, "tanh.approx.f32"},
    {90, "<ex2.approx.ftz|tanh.approx>.<$brain>"},
    {0, "copysign.<f32|f64>"},
    {0, "<vabsdiff2|vabsdiff4>.<u32|s32>.<u32|s32>.<u32|s32><|.sat|.add>"},
    {0, "testp.<finite|infinite|number|notanumber|normal|subnormal>.<f32|f64>"},
    // Comparisons.
    {0, "setp.<eq|ne><$combine>.<$bits>"},
    {0, "setp.<$order><$combine>.<$int>"},
    {0, "setp.<$unsigned><$combine>.<u16|u32|u64>"},
    {0, "setp.<$float><$combine>.<f64|f32|ftz.f32|f16|ftz.f16|f16x2|ftz.f16x2>"},
    {90, "setp.<$float><$combine>.<$brain>"},
    {0, "set.<eq|ne><$combine>.<u32|s32|f32|f16>.<$bits>"},
    {0, "set.<$order><$combine>.<u32|s32|f32|f16>.<$int>"},
    {0, "set.<$unsigned><$combine>.<u32|s32|f32|f16>.<u16|u32|u64>"},
    {0, "set.<$float><$combine>.<u32.f64|s32.f64|f32.f64|f16.f64>"},
    {0, "set.<$float><$combine><|.ftz>.<u32.f32|s32.f32|f32.f32|f16.f32|u16.f16|s16.f16|u32.f16|"
        "s32.f16|f16.f16|u32.f16x2|s32.f16x2|f16x2.f16x2>"},
    {90, "set.<eq|ne><$combine>.bf16.<$bits>"},
    {90, "set.<$order><$combine>.bf16.<$int>"},
    {90, "set.<$unsigned><$combine>.bf16.<u16|u32|u64>"},
    {90, "set.<$float><$combine>.<bf16.f16|bf16.f32|bf16.f64|bf16.bf16|u16.bf16|s16.bf16|u32.bf16|"
         "s32.bf16|u32.bf16x2|s32.bf16x2|bf16x2.bf16x2>"},
    // Conversions.
    {0, "cvt.<u8|s8|$int>.<u8|s8|$int>"},
    {0, "cvt.sat.<u8.s8|u8.u16|u8.s16|u8.u32|u8.s32|u8.u64|u8.s64|s8.u8|s8.u16|s8.s16|s8.u32|s8."
        "s32|s8.u64|s8.s64>"},
    {0, "cvt.sat.<u16.s8|u16.s16|u16.u32|u16.s32|u16.u64|u16.s64|s16.u16|s16.u32|s16.s32|s16.u64|"
        "s16.s64>"},
    {0, "cvt.sat.<u32.s8|u32.s16|u32.s32|u32.u64|u32.s64|s32.u32|s32.u64|s32.s64|u64.s8|u64.s16|"
        "u64.s32|u64.s64|s64.u64>"},
    {0, "cvt.<$round><|.sat>.<f16|f64>.<u8|s8|$int>"},
    {0, "cvt.<$round><|.ftz><|.sat>.f32.<u8|s8|$int>"},
    {90, "cvt.<$round>.bf16.<$int>"},
    {0, "cvt.<$whole><|.sat>.<u8|s8|$int>.<f16|f64>"},
    {0, "cvt.<$whole><|.ftz><|.sat>.<u8|s8|$int>.f32"},
    {90, "cvt.<$whole>.<$int>.bf16"},
    {0, "cvt<|.sat|.rni|.rzi|.rmi|.rpi|.rni.sat|.rzi.sat|.rmi.sat|.rpi.sat>.<f16.f16|f64.f64>"},
    {0, "cvt<|.rni|.rzi|.rmi|.rpi><|.ftz><|.sat>.f32.f32"},
    {0, "cvt<|.sat>.f64.f16"},
    {0, "cvt<|.ftz><|.sat>.<f32.f16|f64.f32>"},
    {0, "cvt.<$round><|.ftz><|.sat>.<f16.f32|f32.f64>"},
    {0, "cvt.<$round><|.sat>.f16.f64"},
    {0, "cvt.<rn|rz>.satfinite.f16.f32"},
    {80, "cvt.<rn|rz>.relu<|.satfinite>.f16.f32"},
    {80, "cvt.<f32.bf16|rm.bf16.f32|rp.bf16.f32|rn.ftz.bf16.f32|rz.ftz.bf16.f32|rm.ftz.bf16.f32|rp."
         "ftz.bf16.f32>"},
    {80, "cvt.<rn|rz><|.relu><|.satfinite>.<bf16.f32|f16x2.f32|bf16x2.f32>"},
    {90, "cvt.<ftz.f32.bf16|f64.bf16|bf16.bf16|rni.bf16.bf16|rzi.bf16.bf16|rmi.bf16.bf16|rpi.bf16."
         "bf16>"},
    {90, "cvt.<$round>.<bf16.f16|bf16.f64|f16.bf16>"},
    {80, "cvt.rna<|.satfinite>.tf32.f32"},
    {90, "cvt.<rn|rz><|.relu>.tf32.f32"},
    {100, "cvt.<rn|rz>.satfinite<|.relu>.tf32.f32"},
    {89, "cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.<f32|f16x2>"},
    {89, "cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2>"},
    {0, "cvt.pack.sat.<u16|s16>.s32"},
    {0, "cvt.pack.sat.<u2|s2|u4|s4|u8|s8>.s32.b32"},
    // Moves, addresses, hints and exchanges.
    {0, "mov.<pred|$bits|b128|$int|f32|f64>"},
    {0, "<cvta|cvta.to>.<global|shared|shared::cta|local|const|param|param::entry>.u64"},
    {90, "<cvta|cvta.to>.shared::cluster.u64"},
    {0, "isspacep.<global|shared|shared::cta|local|const|param|param::entry>"},
    {90, "isspacep.shared::cluster"},
    {0, "<prefetch|prefetch.global|prefetch.local>.<L1|L2>"},
    {0, "prefetchu.L1"},
    {80, "<prefetch|prefetch.global>.L2::<evict_last|evict_normal>"},
    {80, "applypriority<|.global>.L2::evict_normal"},
    {90, "prefetch<|.const|.param>.tensormap"},
    {80, "createpolicy.<fractional|range|range.global>.L2::<evict_last|evict_normal|evict_first|"
         "evict_unchanged><|.L2::evict_first|.L2::evict_unchanged>.b64"},
    {80, "createpolicy.cvt.L2.b64"},
    {0, "shfl.sync.<up|down|bfly|idx>.b32"},
    {0, "vote.sync.<all.pred|any.pred|uni.pred|ballot.b32>"},
    {0, "match.<all|any>.sync.<b32|b64>"},
    {80, "redux.sync.<add|min|max>.<u32|s32>"},
    {80, "redux.sync.<and|or|xor>.b32"},
    {0, "activemask.b32"},
    {90, "elect.sync"},
    {90, "griddepcontrol.<launch_dependents|wait>"},
    {0, "<nanosleep.u32|pmevent|pmevent.mask|exit|trap|ret|ret.uni>"},
};

// Only for an architecture itself, as sm_120a.
static const FormRow specific[] = {
    {100, "cvt.rn.satfinite<|.relu>.<e2m1x2|e2m3x2|e3m2x2>.f32"},
    {100, "cvt.rn.satfinite<|.relu>.e2m1x2.f16x2"},
    {100, "cvt.rn<|.relu>.f16x2.<e2m1x2|e2m3x2|e3m2x2>"},
    {100, "cvt.<rz|rp><|.satfinite>.ue8m0x2.<f32|bf16x2>"},
    {100, "cvt.rn.bf16x2.ue8m0x2"},
};

// Forms that assemblers take beyond that. A star stands for whatever follows.
static const RefusedForm refused[] = {
    {"<addc|subc|madc.lo|madc.hi>.<u16|s16>", "carries of 16 bits are not in the manual"},
    {"<addc|subc|madc.hi>.sat.s32", "carries that saturate are not in the manual"},
    {"rcp.<$round>.ftz.f64", "f64 that flushes is not in the manual"},
    {"cvt.<$round><|.ftz>.f32.bf16", "rounding what is exact is not in the manual"},
    {"cvt.<$round>.f64.bf16", "rounding what is exact is not in the manual"},
    {"cvt.<bf16.f16|f16.bf16>", "the manual demands a rounding"},
    {"fma.rn<|.sat|.relu>.oob.<$half>", "which NaN is out of bounds is not known here"},
    {"fma.<$round><|.relu>.oob.<$brain>", "which NaN is out of bounds is not known here"},
    {"<min|max><|.ftz><|.NaN>.abs.f32", "of three operands, sm_100: not implemented"},
    {"cvt.rs<|.relu><|.satfinite>.<f16x2|bf16x2>.f32", "random bits, sm_100a: not implemented"},
    {"cvt.rs<|.relu>.satfinite.<e2m1x4|e2m3x4|e3m2x4|e4m3x4|e5m2x4>.f32",
     "random bits, sm_100a: not implemented"},
    {"redux.sync.<min|max><|.abs><|.NaN>.f32", "sm_100a: not implemented"},
    {"cvta<|.to>.<global|shared|shared::cta|shared::cluster|local|const|param|param::entry>.u32",
     "addresses have 64 bits"},
    {"tcgen05.*", "Tensor Cores of sm_100: not implemented"},
    {"<tex|tld4|txq|suld|sust|sured|suq|istypep>.*", "textures and surfaces are not implemented"},
    {"<vadd|vsub|vmin|vmax|vavrg|vset><|2|4>.*", "video instructions are not implemented"},
    {"<vabsdiff|vshl|vshr|vmad>.*", "video instructions are not implemented"},
    {"multimem.*", "memory of several GPUs is not implemented"},
    {"<alloca|stacksave|stackrestore>.*", "a stack that grows is not implemented"},
    {"<clusterlaunchcontrol|st.bulk>.*", "sm_100: not implemented"},
    {"<ld|st>.mmio*", "memory of devices is not implemented"},
    {"<discard|brkpt>*", "not implemented"},
};

std::vector<std::string> mpcore::emulator::expandForms(StringRef pattern) {
  const size_t close = pattern.find('>'), open = pattern.substr(0, close).rfind('<');
  if (close == StringRef::npos || open == StringRef::npos)
    return {pattern.str()};
  std::vector<std::string> all;
  llvm::SmallVector<StringRef> choices;
  pattern.slice(open + 1, close).split(choices, '|');
  for (StringRef choice : choices)
    llvm::append_range(
        all, expandForms((pattern.take_front(open) + choice + pattern.substr(close + 1)).str()));
  return all;
}

/// Without $names.
static std::string spellOut(StringRef row) {
  std::string pattern = row.str();
  for (auto [name, list] : alternatives)
    for (size_t at; (at = pattern.find(name)) != std::string::npos;)
      pattern.replace(at, name.size(), list.str());
  return pattern;
}
static std::vector<std::string> expandRow(StringRef row) { return expandForms(spellOut(row)); }

void mpcore::emulator::printRefusedForms(llvm::raw_ostream &os) {
  os << "| refused | why |\n|---|---|\n";
  for (const RefusedForm &row : refused) {
    os << "| `";
    for (char c : spellOut(row.forms))
      os << (c == '|' ? "\\|" : StringRef(&c, 1));
    os << "` | " << row.reason << " |\n";
  }
}

/// Types keep their order, and so do priorities of the cache; other modifiers have none.
static std::string keyOf(StringRef form) {
  llvm::SmallVector<StringRef, 8> words, types;
  form.split(words, '.');
  StringRef opcode = words.front();
  words.erase(words.begin());
  llvm::erase_if(words, [&](StringRef word) {
    const bool type = parseType(word).has_value() || word.starts_with("L2::");
    if (type)
      types.push_back(word);
    return type;
  });
  llvm::sort(words);
  return (opcode + "." + llvm::join(words, ".") + ":" + llvm::join(types, ".")).str();
}

namespace {
struct Forms {
  llvm::StringMap<KnownForm> forms;
  llvm::StringSet<> opcodes;
  std::vector<std::pair<std::string, StringRef>> prefixes; // refused as a whole

  Forms() {
    for (const FormRow &row : known)
      add(row, false);
    for (const FormRow &row : specific)
      add(row, true);
    for (const RefusedForm &row : refused)
      for (std::string &form : expandRow(row.forms)) {
        if (form.back() == '*')
          prefixes.push_back({form.substr(0, form.size() - 1), row.reason});
        else
          forms[keyOf(form)].refusedReason = row.reason;
      }
  }
  void add(const FormRow &row, bool isSpecific) {
    for (const std::string &form : expandRow(row.forms)) {
      forms[keyOf(form)] = {row.least, isSpecific, ""};
      opcodes.insert(StringRef(form).split('.').first);
    }
  }
};
} // namespace

static const Forms &all() {
  static const Forms forms;
  return forms;
}

const KnownForm *mpcore::emulator::findForm(StringRef form) {
  auto it = all().forms.find(keyOf(form));
  return it == all().forms.end() ? nullptr : &it->second;
}

bool mpcore::emulator::hasListedForms(StringRef opcode) { return all().opcodes.contains(opcode); }

StringRef mpcore::emulator::refusedFamily(StringRef form) {
  for (const auto &[prefix, reason] : all().prefixes)
    if (form.starts_with(prefix))
      return reason;
  return "";
}
