// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names opcodes and sorts them by kind.

#include "Opcodes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <array>

using namespace mpcore::cubin;
using llvm::StringRef;

StringRef mpcore::cubin::toString(Kind kind) {
  static constexpr StringRef names[kKinds] = {
      "mma",   "tma_load", "tma_store", "tmem",  "ldgsts", "ldsm",  "stsm", "lds",    "sts",
      "atoms", "ldg",      "stg",       "spill", "atom",   "const", "sync", "branch", "nop",
      "shfl",  "mufu",     "conv",      "fp",    "move",   "int",   "other"};
  return names[unsigned(kind)];
}

namespace {
struct Row {
  Kind kind;
  StringRef words; ///< pairs of an operation in hexadecimal and its name; "-" where it is not known
};
} // namespace

// Those that mean different things on different architectures are in opcodeOf.
static constexpr Row kRows[] = {
    {Kind::Matrix, "037 IMMA 03c HMMA 03d BMMA 03f DMMA 07a QMMA 07f OMMA 1f0 HGMMA 1f1 IGMMA "
                   "1f2 BGMMA 1f3 QGMMA"},
    {Kind::BulkLoad, "1b4 UTMALDG 1b8 UTMAPF 1ba UBLKCP 1bc UBLKPF"},
    {Kind::BulkStore, "1b5 UTMASTG 1b6 UTMAREDG 1b7 UTMACMDFLUSH 1b9 UTMACCTL 1bb UBLKRED"},
    {Kind::TensorMemory, "1e3 UTCATOMSWS 1e6 UTCSHIFT 1e7 UTCCP 1ed STTM 1ee LDTM - LDT - STT"},
    {Kind::AsyncCopy, "1ae LDGSTS"},
    {Kind::MatrixLoad, "03b LDSM - ULDSM"},
    {Kind::MatrixStore, "044 STSM"},
    {Kind::SharedLoad, "184 LDS - ULDS"},
    {Kind::SharedStore, "188 STS"},
    {Kind::SharedAtomic, "18c ATOMS 18d ATOMS"},
    {Kind::GlobalLoad, "17e LDG 180 LD 181 LDG"},
    {Kind::GlobalStore, "17f STG 185 ST 186 STG"},
    {Kind::Spill, "183 LDL 187 STL"},
    {Kind::GlobalAtomic, "18a ATOM 18b ATOM 1a2 ATOM 1a3 ATOMG 1a6 REDG 1a8 ATOMG 1a9 ATOMG"},
    {Kind::Constant, "0b9 ULDC 182 LDC 1ac LDCU - UCLDC"},
    {Kind::Sync, "02d PREEXIT 02e ACQBULK 02f ELECT 04c UVIRTCOUNT 11a DEPBAR 11b ENDCOLLECTIVE "
                 "11c B2R 11d BAR 140 CCTL 148 WARPSYNC 15d NANOSLEEP 18f CCTL 192 MEMBAR "
                 "1a7 SYNCS 1af LDGDEPBAR 1b0 ARRIVES 1b1 SYNCS 1b2 SYNCS 1c5 WARPGROUP "
                 "1c6 FENCE 1c8 USETMAXREG 1e9 UTCBAR - R2B - CCTLL - UCGABAR_GET - WARPARRIVE "
                 "- WARPGROUPSET"},
    {Kind::Branch, "141 BSYNC 143 CALL 144 CALL 145 BSSY 146 YIELD 147 BRA 149 BRX 14d EXIT "
                   "150 RET 152 RPCMOV 153 RPCMOV 155 BMOV 156 BMOV 15c BPT - JMP - JMX - BRXU "
                   "- UBRA - UBRX - BREAK - KILL"},
    {Kind::Nop, "118 NOP"},
    {Kind::Exchange, "006 VOTE 086 VOTEU 0cc CREDUX 189 SHFL 1a1 MATCH 1c4 REDUX - UREDUX"},
    {Kind::Special, "108 MUFU"},
    {Kind::Conversion,
     "038 I2I 039 I2IP 03e F2FP 043 F2IP 045 I2FP 05e UI2FP 104 F2F 105 F2I 106 I2F "
     "107 FRND 110 F2F 111 F2I 112 I2F 113 FRND - UF2FP - UI2F - UF2F - UF2I"},
    {Kind::Float, "008 FSEL 009 FMNMX 00b FSETP 020 FMUL 021 FADD 023 FFMA 028 DMUL 029 DADD "
                  "02a DSETP 02b DFMA 030 HADD2 031 HFMA2 032 HMUL2 033 HSET2 034 HSETP2 "
                  "040 HMNMX2 049 FFMA2 04a FMUL2 04b FADD2 056 UFMUL 076 FMNMX3 102 FCHK - FSET "
                  "- FSWZADD - DMNMX - UFADD - UFFMA - UFSETP - UFSEL - UFMNMX - VHMNMX"},
    {Kind::Move, "002 MOV 003 P2R 005 CS2R 007 SEL 016 PRMT 03a MOVM 082 UMOV 083 UP2UR "
                 "084 UR2UP 087 USEL 096 UPRMT 0ca R2UR 0cb CS2UR 119 S2R 14e LEPC 1c2 R2UR "
                 "1c3 S2UR - MOV32I - R2P - UCS2R - B2UR"},
    {Kind::Integer, "00c ISETP 010 IADD3 011 LEA 012 LOP3 013 IABS 014 VABSDIFF 015 VABSDIFF4 "
                    "017 IMNMX 019 SHF 01a SGXT 01b BMSK 01c PLOP3 01f PLOP3 024 IMAD 025 IMAD "
                    "026 IDP 027 IMAD 046 VIADDMNMX 048 VIMNMX 08c UISETP 090 UIADD3 091 ULEA "
                    "092 ULOP3 097 UIADD3 099 USHF 09b UBMSK 0a4 UIMAD 0a5 UIMAD 0a6 UIMAD "
                    "0bd UFLO 0bf UPOPC 100 FLO 101 BREV 109 POPC - IADD - UIADD - XMAD - BFE "
                    "- BFI - ISCADD - LOP - SHL - SHR - IADD32I - LOP32I - UPLOP3 - PSETP - VSETP "
                    "- UIMNMX - UVIADD - UVIMNMX - UIABS - USGXT - UBREV - VIMNMX3 - VIADDMNMX3 "
                    "- UVIADDMNMX - IMNMX3"},
    {Kind::Other, "001 PMTRIG 1aa QSPC 1bd STAS 1ca UGETNEXTWORKID"},
};

namespace {
struct Tables {
  std::array<detail::Opcode, 512> byCode;
  llvm::StringMap<Kind> byName;
  Tables() {
    for (const Row &row : kRows) {
      llvm::SmallVector<StringRef, 64> words;
      llvm::SplitString(row.words, words);
      for (size_t k = 0; k + 1 < words.size(); k += 2) {
        unsigned code = 0;
        if (!words[k].getAsInteger(16, code))
          byCode[code] = {words[k + 1], row.kind};
        byName[words[k + 1]] = row.kind;
      }
    }
    for (StringRef name : {"VIADD", "IADD"})
      byName[name] = Kind::Integer;
    for (StringRef name : {"UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA"})
      byName[name] = Kind::Matrix;
    for (StringRef name : {"ERRBAR", "CGAERRBAR", "UCGABAR_ARV", "UCGABAR_WAIT"})
      byName[name] = Kind::Sync;
    for (StringRef name : {"RED", "REDG"})
      byName[name] = Kind::GlobalAtomic;
  }
};
} // namespace

static const Tables &tables() {
  static const Tables tables;
  return tables;
}

detail::Opcode detail::opcodeOf(unsigned code, unsigned sm) {
  const unsigned operation = code & 0x1ff, form = code >> 9;
  switch (operation) {
  case 0x035: // the second unit for packed halves of sm_80 and sm_90 gave way to plain addition
    return sm >= 100 ? Opcode{"IADD", Kind::Integer} : Opcode{"HFMA2", Kind::Float};
  case 0x036: // m8n8k4 of sm_70 and sm_75 in four steps
    return sm >= 80 ? Opcode{"VIADD", Kind::Integer} : Opcode{"HMMA", Kind::Matrix};
  case 0x18e: return {sm >= 90 ? "REDG" : "RED", Kind::GlobalAtomic};
  case 0x1ab: return {form == 2 ? "CGAERRBAR" : "ERRBAR", Kind::Sync};
  case 0x1c7: return {form == 4 ? "UCGABAR_ARV" : "UCGABAR_WAIT", Kind::Sync};
  case 0x1ea: return {"UTCHMMA", Kind::Matrix}; // which of four, the modifiers say
  default: return tables().byCode[operation];
  }
}

Kind detail::kindOf(StringRef name) {
  auto it = tables().byName.find(name);
  return it == tables().byName.end() ? Kind::Other : it->second;
}

void detail::describe(Instruction &i) {
  i.flow = llvm::StringSwitch<Flow>(i.opcode)
               .Cases({"BRA", "UBRA", "JMP"}, Flow::Branch)
               .Cases({"BRX", "BRXU", "JMX", "UBRX"}, Flow::IndirectBranch)
               .Cases({"EXIT", "RET"}, Flow::Exit)
               .Case("CALL", Flow::Call)
               .Default(Flow::Next);
  i.isUniform = i.opcode.starts_with("U") || i.opcode == "R2UR" || i.opcode == "S2UR";
}
