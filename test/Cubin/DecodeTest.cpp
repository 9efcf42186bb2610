// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodings of ptxas 13.0 beside nvdisasm's text of them: both ways of reading an instruction must
// agree, and with what is written here.

#include "mp/Cubin/Instruction.h"

#include "gtest/gtest.h"

using namespace mpcore::cubin;

namespace {

struct Encoded {
  unsigned sm;
  uint64_t low, high;
  const char *text;
  Kind kind;
};

void expectSame(const Instruction &a, const Instruction &b, const char *text) {
  EXPECT_EQ(a.opcode, b.opcode) << text;
  EXPECT_EQ(a.kind, b.kind) << text;
  EXPECT_EQ(a.flow, b.flow) << text;
  EXPECT_EQ(a.guarded, b.guarded) << text;
  EXPECT_EQ(a.conditional, b.conditional) << text;
  EXPECT_EQ(a.bytes, b.bytes) << text;
  EXPECT_EQ(a.waits, b.waits) << text;
  EXPECT_EQ(a.isRegisterMove, b.isRegisterMove) << text;
  ASSERT_EQ(a.product.has_value(), b.product.has_value()) << text;
  if (a.product) {
    EXPECT_EQ(a.product->unit, b.product->unit) << text;
    EXPECT_EQ(a.product->m, b.product->m) << text;
    EXPECT_EQ(a.product->n, b.product->n) << text;
    EXPECT_EQ(a.product->k, b.product->k) << text;
    EXPECT_EQ(a.product->rate, b.product->rate) << text;
    EXPECT_EQ(a.product->elementBits, b.product->elementBits) << text;
    EXPECT_EQ(a.product->aInRegisters, b.product->aInRegisters) << text;
  }
}

const Encoded kEncoded[] = {
    {120, 0x000000888404723c, 0x00afe20000041804, "HMMA.16816.F32.BF16 R4, R132, R136, R4",
     Kind::Matrix},
    {100, 0x000000040408723c, 0x004fde0000081008, "HMMA.1688.F32.TF32 R8, R4, R4, R8",
     Kind::Matrix},
    {100, 0x000000040408723c, 0x000fe20000085008, "HMMA.1684.F32.TF32 R8, R4, R4, R8",
     Kind::Matrix},
    {100, 0x000010101008723c, 0x000fe60000045a04,
     "HMMA.SP.16832.F32.BF16 R8, R16, R16, R4, R16, 0x0", Kind::Matrix},
    {100, 0x000000080808723c, 0x000fd800000008ff, "HMMA.16816.F16 R8, R8, R8, RZ", Kind::Matrix},
    {75, 0x0000001c02047236, 0x000fe40000005404, "HMMA.884.F32.F32.STEP0 R4, R2.ROW, R28.COL, R4",
     Kind::Matrix},
    {100, 0x0000000808087237, 0x000ff00000405cff, "IMMA.16832.S8.S8 R8, R8.ROW, R8.COL, RZ",
     Kind::Matrix},
    {75, 0x0000000202027237, 0x021e260000005402, "IMMA.8816.S8.S8 R2, R2.ROW, R2.COL, R2",
     Kind::Matrix},
    {80, 0x0000000404087237, 0x008fe60000785404, "IMMA.16864.S4.S4 R8, R4.ROW, R4.COL, R4",
     Kind::Matrix},
    {80, 0x00000004041c723d, 0x000fe20000015404, "BMMA.168256.AND.POPC R28, R4.ROW, R4.COL, R4",
     Kind::Matrix},
    {90, 0x000000101018723f, 0x0042a20000003010, "DMMA.16x8x16 R24, R16, R16, R16", Kind::Matrix},
    {100, 0x000000141214723f, 0x008ee6000000000c, "DMMA.8x8x4 R20, R18, R20, R12", Kind::Matrix},
    {120, 0x000000040414727a, 0x004fde0000002c08, "QMMA.16832.F32.E4M3.E4M3 R20, R4, R4, R8",
     Kind::Matrix},
    {120, 0x000004040404727a, 0x000fe20000013408,
     "QMMA.SP.16864.F32.E4M3.E4M3 R4, R4, R4, R8, R4, 0x0", Kind::Matrix},
    {120, 0x705004040414747f, 0x010fde0000083e08,
     "OMMA.SF.16864.F32.E2M1.E2M1.E8 R20, R4, R4, R8, R4, R5, URZ", Kind::Matrix},
    {90, 0x43e00000081879f0, 0x000fe2000c7018ff,
     "HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8].tnspB, RZ, !UPT", Kind::Matrix},
    {90, 0x0040000424187df0, 0x000fe60008000818,
     "HGMMA.64x24x16.F32 R24, R36, gdesc[UR4], R24, gsb0", Kind::Matrix},
    {90, 0x07e00000081879f0, 0x000fe2000c7028ff,
     "HGMMA.64x256x8.F32.TF32 R24, gdesc[UR8], RZ, !UPT", Kind::Matrix},
    {90, 0x03e00000081879f3, 0x000fe2000c7008ff,
     "QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR8], RZ, !UPT", Kind::Matrix},
    {90, 0x02a00000041879f1, 0x000fe6000c0410ff,
     "IGMMA.64x96x32.S8.S8 R24, gdesc[UR4], RZ, !UPT, gsb0", Kind::Matrix},
    {90, 0x01a00000049879f2, 0x000fe20008014098,
     "BGMMA.64x192x256.AND.POPC R152, gdesc[UR4], R152, gsb0", Kind::Matrix},
    {100, 0x00ff0408070079ea, 0x0001d8000c000006,
     "UTCHMMA tmem[UR7], gdesc[UR8], tmem[UR6], tmem[UR4], idesc[UR5], !UP0", Kind::Matrix},
    {100, 0x00ff040a080075ea, 0x0001d8000c200306,
     "UTCQMMA.2CTA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], !UP0", Kind::Matrix},
    {100, 0x00ff040a080075ea, 0x0001d8000c200106,
     "UTCIMMA.2CTA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], !UP0", Kind::Matrix},
    {100, 0x800a0408060075ea, 0x0001d8000c00000b,
     "UTCOMMA.4X gdesc[UR6], gdesc[UR8], tmem[UR11], tmem[UR4], idesc[UR5], tmem[UR10], !UP0",
     Kind::Matrix},
    {90, 0x00000004100075b4, 0x0001e40008008000, "UTMALDG.2D [UR4], [UR16]", Kind::BulkLoad},
    {120, 0x000000050284783b, 0x000e680008000200, "LDSM.16.M88.4 R132, [R2+UR5]", Kind::MatrixLoad},
    {100, 0x00000004ff08783b, 0x008e680008004100, "LDSM.16.MT88.2 R8, [UR4]", Kind::MatrixLoad},
    {100, 0x0000000400007844, 0x0001e80000004200, "STSM.16.MT88.4 [R0], R4", Kind::MatrixStore},
    {120, 0x00000000cac57fae, 0x000fe2000b981a06,
     "LDGSTS.E.BYPASS.LTC128B.128 [R197], desc[UR6][R202.64]", Kind::AsyncCopy},
    {120, 0x00000000cac57fae, 0x000fe2000b981a06,
     "LDGSTS.E.BYPASS.LTC128B.128 [R197], desc[UR6][R202.64]", Kind::AsyncCopy},
    {90, 0x0000000402347981, 0x000ea8000c1e9d00, "LDG.E.128.CONSTANT R52, desc[UR4][R2.64]",
     Kind::GlobalLoad},
    {100, 0x0000000a0e0e7981, 0x000ee2000c1e1500, "LDG.E.U16 R14, desc[UR10][R14.64]",
     Kind::GlobalLoad},
    {100, 0xfe000004021c797e, 0x004ea80008121920, "LDG.E.ENL2.256 R32, R28, desc[UR4][R2.64]",
     Kind::GlobalLoad},
    {100, 0x0000001c04007986, 0x000fe8000c101b0a, "STG.E.64 desc[UR10][R4.64], R28",
     Kind::GlobalStore},
    {100, 0x00001004ff047984, 0x001e280008000c00, "LDS.128 R4, [UR4+0x10]", Kind::SharedLoad},
    {100, 0x00001c00ff007988, 0x000fe20008000004, "STS.U8 [UR4+0x1c], R0", Kind::SharedStore},
    {100, 0x0000000001027983, 0x0000a40000100800, "LDL R2, [R1]", Kind::Spill},
    {100, 0x0000100c01007387, 0x0017e20000100c00, "STL.128 [R1+0x10], R12", Kind::Spill},
    {80, 0x00000405ffff098c, 0x0001e80008000204, "@P0 ATOMS.ADD.S32 RZ, [UR4+0x4], R5",
     Kind::SharedAtomic},
    {90, 0x0000000000007b1d, 0x036fe20000010000, "BAR.SYNC.DEFER_BLOCKING 0x0", Kind::Sync},
    {100, 0x0041000000007b1d, 0x000ff00000002000, "BAR.ARV 0x1, 0x40", Kind::Sync},
    {90, 0x00000000000079c5, 0x000fe20000000000, "WARPGROUP.ARRIVE", Kind::Sync},
    {90, 0x00008000000079c5, 0x000fe40000010000, "WARPGROUP.DEPBAR.LE gsb0, 0x0", Kind::Sync},
    {90, 0x00002000ff0075a7, 0x000e640008000149,
     "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9+0x20], R0", Kind::Sync},
    {90, 0x00004002ffff79a7, 0x0001e20008000009, "SYNCS.ARRIVE.TRANS64 RZ, [UR9+0x40], R2",
     Kind::Sync},
    {120, 0x000080400000791a, 0x000fc80000000000, "DEPBAR.LE SB0, 0x1", Kind::Sync},
    {80, 0x00004000ff067424, 0x000fe200078e00ff, "IMAD.MOV.U32 R6, RZ, RZ, 0x4000", Kind::Move},
    {80, 0x000000ffffa97224, 0x000fe200000e0603, "IMAD.X R169, RZ, RZ, R3, P0", Kind::Integer},
    {100, 0x00000004ff077e24, 0x001fce000f8e00ff, "IMAD.U32 R7, RZ, RZ, UR4", Kind::Integer},
    {90, 0x0000010005027825, 0x001fc800078e0002, "IMAD.WIDE.U32 R2, R5, 0x100, R2", Kind::Integer},
    {90, 0x0000009800987308, 0x000fe20000000800, "MUFU.EX2 R152, R152", Kind::Special},
    {90, 0x000000980598723e, 0x000fc400000010ff, "F2FP.BF16.F32.PACK_AB R152, R5, R152",
     Kind::Conversion},
    {90, 0x0c201f0003027f89, 0x000e2400000e0000, "SHFL.BFLY PT, R2, R3, 0x1, 0x1f", Kind::Exchange},
    {90, 0x3e0293ee18987823, 0x100fe20000000006, "FFMA R152, R24, 0.12751743197441101074, R6.reuse",
     Kind::Float},
    {90, 0x0010000004047890, 0x000fc8000fffe13f, "UIADD3 UR4, -UR4, 0x100000, URZ", Kind::Integer},
    {90, 0x00000000020872ca, 0x000fce00000e0000, "R2UR UR8, R2", Kind::Move},
    {100, 0x00000004000479ee, 0x010e260008140000, "LDTM.x4 R4, tmem[UR4]", Kind::TensorMemory},
    {100, 0x000000060a0a7c36, 0x000fce0008000000, "VIADD R10, R10, UR6", Kind::Integer},
    {120, 0x00000006c8ca7235, 0x000fe400078e0200, "IADD.64 R202, R200, R6", Kind::Integer},
    {100, 0x00000001ff127431, 0x000fe400000001ff, "HFMA2 R18, -RZ, RZ, 0, 5.9604644775390625e-08",
     Kind::Float},
    {90, 0x000000000000194d, 0x000fea0003800000, "@P1 EXIT", Kind::Branch},
    {100, 0x0000000908407547, 0x000fea000b800000, "BRA.U !UP0, `(.L_x_6)", Kind::Branch},
    {90, 0x0000000000007918, 0x000fe20000000000, "NOP", Kind::Nop},
    {90, 0x00000a00ff017b82, 0x000fe20000000800, "LDC R1, c[0x0][0x28]", Kind::Constant},
    {100, 0x00000000020473c4, 0x000e30000000c200, "REDUX.SUM.S32 UR4, R2", Kind::Exchange},
    {120, 0x00000000fffff984, 0x000fe20000000800, "@!PT LDS RZ, [RZ]", Kind::Nop},
};

TEST(Decode, AgreesWithTheTextOfEachEncoding) {
  for (const Encoded &e : kEncoded) {
    const Instruction decoded = decode(e.low, e.high, 0, e.sm);
    std::optional<Instruction> parsed = parseInstruction(e.text, 0);
    ASSERT_TRUE(parsed) << e.text;
    expectSame(decoded, *parsed, e.text);
    EXPECT_EQ(decoded.kind, e.kind) << e.text;
  }
}

TEST(Decode, BranchesGoWhereTheyPoint) {
  // Backwards, on sm_80 and with the displacement of sm_90.
  EXPECT_EQ(decode(0xfffff1d000002947, 0x000fce000383ffff, 0x18d0, 80).target, 0xab0u);
  EXPECT_EQ(decode(0xfffffff000007947, 0x000fc0000383ffff, 0x2160, 80).target, 0x2160u);
  EXPECT_EQ(decode(0x00000000004c1947, 0x004ff00003800000, 0xb0, 90).target, 0x1f0u);
  EXPECT_EQ(decode(0x0000000400d40947, 0x000fea0003800000, 0x240, 90).target, 0x9a0u);
  EXPECT_EQ(decode(0xffffffe800fc0947, 0x000ff6000383ffff, 0x1f70, 120).target, 0xb70u);
  EXPECT_EQ(decode(0xfffffffc00fc7947, 0x000fc0000383ffff, 0x2800, 120).target, 0x2800u);
}

TEST(Decode, UnknownOpcodesAreOther) {
  const Instruction i = decode(0x71ff, 0x000fe20000000000, 16, 90);
  EXPECT_TRUE(i.opcode.empty());
  EXPECT_EQ(i.code, 0x1ff);
  EXPECT_EQ(i.kind, Kind::Other);
  EXPECT_EQ(i.flow, Flow::Next);
}

TEST(Decode, TextThatIsNoInstruction) {
  EXPECT_FALSE(parseInstruction("", 0));
  EXPECT_FALSE(parseInstruction("  ", 0));
  EXPECT_FALSE(parseInstruction("0x1234", 0));
  std::optional<Instruction> unknown = parseInstruction("FROBNICATE.X R1, R2", 0);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->opcode, "FROBNICATE");
  EXPECT_EQ(unknown->kind, Kind::Other);
}

TEST(Decode, AnyBitsGiveAnInstruction) {
  // Nothing that is read from a file may take the program down.
  uint64_t state = 1;
  auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  for (int k = 0; k < 200000; ++k) {
    const Instruction i = decode(next() ^ next() >> 31, next(), 64, k % 2 ? 90 : 75);
    EXPECT_LT(unsigned(i.kind), kKinds);
    EXPECT_EQ(i.product.has_value(), i.kind == Kind::Matrix || (i.kind == Kind::Nop && i.product));
  }
}

} // namespace
