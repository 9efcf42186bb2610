// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the tables of mma.sync's forms and the checks of modifiers against them.

#include "MmaForms.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

static bool isQuadPair(const MatrixOp &op) { return op.a == Element::F16 && op.m == 8; }

static bool isDenseShape(const MatrixOp &op, const MmaModifiers &mods) {
  const unsigned m = op.m, k = op.k;
  switch (op.a) {
  case Element::F16: return (m == 8 && k == 4) || (m == 16 && (k == 8 || k == 16));
  case Element::BF16: return m == 16 && (k == 8 || k == 16);
  case Element::TF32: return m == 16 && (k == 4 || k == 8);
  case Element::E4M3:
  case Element::E5M2:
  case Element::E3M2:
  case Element::E2M3:
  case Element::PaddedE2M1: {
    const bool fp8 = op.a <= Element::E5M2 && op.b <= Element::E5M2;
    return m == 16 && (k == 32 || (k == 16 && fp8 && !mods.blockScale));
  }
  case Element::E2M1: return m == 16 && k == 64;
  case Element::S8:
  case Element::U8: return (m == 8 && k == 16) || (m == 16 && (k == 16 || k == 32));
  case Element::S4:
  case Element::U4: return (m == 8 && k == 32) || (m == 16 && (k == 32 || k == 64));
  case Element::B1: return (m == 8 && k == 128) || (m == 16 && (k == 128 || k == 256));
  case Element::F64: return (m == 8 && k == 4) || (m == 16 && (k == 4 || k == 8 || k == 16));
  default: return false;
  }
}

static bool isSparseShape(const MatrixOp &op) {
  if (op.m != 16)
    return false;
  switch (op.a) {
  case Element::F16:
  case Element::BF16: return op.k == 16 || op.k == 32;
  case Element::TF32: return op.k == 8 || op.k == 16;
  case Element::S8:
  case Element::U8: return op.k == 32 || op.k == 64;
  case Element::S4:
  case Element::U4: return op.k == 64 || op.k == 128;
  case Element::E2M1: return op.k == 128;
  default: return isByteFloat(op.a) && op.k == 64;
  }
}

// Types of B beside A's own.
static bool mayMeet(Element a, Element b) {
  if (a == b)
    return true;
  if (isByteFloat(a))
    return isByteFloat(b);
  return isIntElement(a) && isIntElement(b) && elementBits(a) == elementBits(b);
}

static bool areAccumulators(const MatrixOp &op, const MmaModifiers &mods) {
  if (isIntElement(op.a))
    return op.c == Element::S32 && op.d == Element::S32;
  if (op.a == Element::F64)
    return op.c == Element::F64 && op.d == Element::F64;
  const bool wide = op.c == Element::F32 && op.d == Element::F32,
             narrow = op.c == Element::F16 && op.d == Element::F16;
  if (isQuadPair(op))
    return wide || narrow || (op.c == Element::F16 && op.d == Element::F32);
  if (mods.blockScale || op.a == Element::BF16 || op.a == Element::TF32)
    return wide;
  // Sparse fp8 into f16 came with ordered metadata only.
  return wide || (narrow && (op.a == Element::F16 || !mods.sparse || op.orderedMetadata));
}

bool mpcore::emulator::isMmaForm(const MatrixOp &op, const MmaModifiers &mods) {
  const bool b1 = op.a == Element::B1, small = op.a >= Element::E3M2 && op.a <= Element::E2M1;
  const bool smallB = op.b >= Element::E3M2 && op.b <= Element::E2M1;
  if (op.n != 8 || !mayMeet(op.a, op.b) || !areAccumulators(op, mods))
    return false;
  if (mods.sparse ? !isSparseShape(op) : !isDenseShape(op, mods))
    return false;
  if ((!op.rowA || !op.colB) && !isQuadPair(op))
    return false;
  if (op.satfinite && (!isIntElement(op.a) || b1))
    return false;
  if (b1 != mods.popc || (b1 ? mods.bitXor == op.bitAnd : mods.bitXor || op.bitAnd))
    return false;
  if (mods.rounds && op.a != Element::F64)
    return false;
  if (mods.kind.empty())
    return !mods.blockScale && !small && !smallB;
  if (mods.sparse && !op.orderedMetadata)
    return false;
  if (mods.kind == "f8f6f4")
    return !mods.blockScale && isByteFloat(op.a);
  return mods.blockScale && (mods.kind == "mxf8f6f4" ? isByteFloat(op.a) : op.a == Element::E2M1);
}

void mpcore::emulator::checkMmaTarget(Decoder &d, const MatrixOp &op, const MmaModifiers &mods) {
  unsigned least = 80;
  if (!mods.kind.empty()) // of fp8 alone sm_100 emulates it
    least = mods.kind == "f8f6f4" && op.a <= Element::E5M2 && op.b <= Element::E5M2 ? 100 : 120;
  else if (isByteFloat(op.a))
    least = 89;
  else if (op.a == Element::F64)
    least = op.m == 8 ? 80 : 90;
  else if (isQuadPair(op))
    least = 70;
  else if (!mods.sparse &&
           ((op.a == Element::F16 && op.k == 8) ||
            (isIntElement(op.a) && op.m == 8 && !(op.a == Element::B1 && op.bitAnd))))
    least = 75;
  d.requireTarget(least, ~0u, least >= 100);
}

const Reg *mpcore::emulator::decodeRegisters(Decoder &d, unsigned at, unsigned count, Type type,
                                             bool isResult, llvm::StringRef wanted) {
  auto parts = d.elements(d.op(at));
  if (parts.size() != count) {
    d.fail("operand " + Twine(at + 1) + " has " + Twine(parts.size()) + " registers, " + wanted +
           " " + Twine(count));
    return nullptr;
  }
  llvm::SmallVector<Reg, 128> regs;
  for (const syntax::Operand &part : parts)
    regs.push_back(isResult ? d.dst(part, type) : d.src(part, type));
  return d.keepList(regs);
}

void mpcore::emulator::countMmaRegisters(MatrixOp &op) {
  auto count = [](unsigned elements, Element e) {
    return uint8_t(elements * elementBits(e) / (e == Element::F64 ? 2048 : 1024));
  };
  if (isQuadPair(op)) {
    // Four products, so that each lane has its part of one.
    op.aCount = op.bCount = 2;
    op.cCount = op.c == Element::F16 ? 4 : 8;
    op.dCount = op.d == Element::F16 ? 4 : 8;
    return;
  }
  op.aCount = count(op.m * op.storedK(), op.a);
  op.bCount = count(op.n * op.k, op.b);
  op.cCount = count(op.m * op.n, op.c);
  op.dCount = count(op.m * op.n, op.d);
}
