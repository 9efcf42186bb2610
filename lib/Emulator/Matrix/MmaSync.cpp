// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync, every dense shape and type.

#include "../Decode/Decoder.h"
#include "Fragments.h"
#include "llvm/ADT/Twine.h"

using namespace mp::emulator;
using llvm::Twine;

static inline uint32_t cut(uint32_t word, unsigned index, unsigned bits) {
  return bits == 32 ? word : word >> (index * bits) & ((1u << bits) - 1);
}

void mp::emulator::gatherA(Warp &w, const MatrixOp &op, MatrixValues &v) {
  const unsigned bits = elementBits(op.a);
  for (unsigned r = 0; r < op.aCount; ++r) {
    if (op.a == Element::F64) {
      const double *d = w.lanes<double>(op.aRegs[r]);
      forFragmentA(op, r, [&](unsigned l, unsigned, unsigned row, unsigned col) { v.da[row * op.k + col] = d[l]; });
      continue;
    }
    const uint32_t *word = w.lanes<uint32_t>(op.aRegs[r]);
    if (isFloatElement(op.a))
      forFragmentA(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.a[row * op.k + col] = floatElement(op.a, cut(word[l], i, bits));
      });
    else
      forFragmentA(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.ia[row * op.k + col] = intElement(op.a, cut(word[l], i, bits));
      });
  }
}

void mp::emulator::gatherB(Warp &w, const MatrixOp &op, MatrixValues &v) {
  const unsigned bits = elementBits(op.b);
  for (unsigned r = 0; r < op.bCount; ++r) {
    if (op.b == Element::F64) {
      const double *d = w.lanes<double>(op.bRegs[r]);
      forFragmentB(op, r, [&](unsigned l, unsigned, unsigned row, unsigned col) { v.db[row * op.n + col] = d[l]; });
      continue;
    }
    const uint32_t *word = w.lanes<uint32_t>(op.bRegs[r]);
    if (isFloatElement(op.b))
      forFragmentB(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.b[row * op.n + col] = floatElement(op.b, cut(word[l], i, bits));
      });
    else
      forFragmentB(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.ib[row * op.n + col] = intElement(op.b, cut(word[l], i, bits));
      });
  }
}

void mp::emulator::gatherC(Warp &w, const MatrixOp &op, MatrixValues &v) {
  for (unsigned r = 0; r < op.cCount; ++r)
    forFragmentC(op.c, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
      size_t at = size_t(row) * op.n + col;
      if (op.c == Element::F16)
        v.c[at] = widenF16(uint16_t(w.lanes<uint32_t>(op.cRegs[r])[l] >> (16 * i)));
      else if (op.c == Element::F32)
        v.c[at] = w.lanes<float>(op.cRegs[r])[l];
      else if (op.c == Element::F64)
        v.dc[at] = w.lanes<double>(op.cRegs[r])[l];
      else
        v.ic[at] = w.lanes<int32_t>(op.cRegs[r])[l];
    });
}

void mp::emulator::scatterD(Warp &w, const MatrixOp &op, const MatrixValues &v) {
  for (unsigned r = 0; r < op.dCount; ++r)
    forFragmentC(op.d, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
      size_t at = size_t(row) * op.n + col;
      if (op.d == Element::F16) {
        uint32_t &word = w.lanes<uint32_t>(op.dRegs[r])[l];
        uint32_t half = narrowF16(v.c[at]);
        word = i ? (word & 0xffff) | half << 16 : half;
      } else if (op.d == Element::F32) {
        w.lanes<float>(op.dRegs[r])[l] = v.c[at];
      } else if (op.d == Element::F64) {
        w.lanes<double>(op.dRegs[r])[l] = v.dc[at];
      } else {
        w.lanes<int32_t>(op.dRegs[r])[l] = v.ic[at];
      }
    });
}

static Step execMma(Warp &w, const Inst &i) {
  const MatrixOp &op = *static_cast<const MatrixOp *>(i.aux);
  if (w.exec != ~0u)
    return w.fault(FaultKind::Divergence, i, "mma needs all 32 lanes; lanes 0x" + Twine::utohexstr(~w.exec) + " are elsewhere",
                   std::countr_zero(~w.exec));
  MatrixValues &v = matrixScratch();
  v.resize(op, op.m);
  gatherA(w, op, v);
  gatherB(w, op, v);
  gatherC(w, op, v);
  if (!multiply(w, i, op, v, op.m))
    return Step::Fault;
  scatterD(w, op, v);
  return Step::Next;
}

// Shapes per operand type: the manual's table.
static bool shapeAllowed(Element e, unsigned m, unsigned n, unsigned k) {
  if (n != 8)
    return false;
  switch (e) {
  case Element::F16:
  case Element::BF16:
    return m == 16 && (k == 8 || k == 16);
  case Element::TF32:
    return m == 16 && (k == 4 || k == 8);
  case Element::E4M3:
  case Element::E5M2:
    return m == 16 && (k == 16 || k == 32);
  case Element::S8:
  case Element::U8:
    return (m == 8 && k == 16) || (m == 16 && (k == 16 || k == 32));
  case Element::S4:
  case Element::U4:
    return (m == 8 && k == 32) || (m == 16 && (k == 32 || k == 64));
  case Element::B1:
    return (m == 8 && k == 128) || (m == 16 && (k == 128 || k == 256));
  case Element::F64:
    return (m == 8 && k == 4) || (m == 16 && (k == 4 || k == 8 || k == 16));
  default:
    return false;
  }
}

bool mp::emulator::takeShape(Decoder &d, uint16_t &m, uint16_t &n, uint16_t &k) {
  for (llvm::StringRef mod : d.restMods()) {
    llvm::StringRef rest = mod;
    unsigned long long a, b, c;
    if (rest.consume_front("m") && !llvm::consumeUnsignedInteger(rest, 10, a) && rest.consume_front("n") &&
        !llvm::consumeUnsignedInteger(rest, 10, b) && rest.consume_front("k") &&
        !llvm::consumeUnsignedInteger(rest, 10, c) && rest.empty()) {
      m = a, n = b, k = c;
      return d.take(mod);
    }
  }
  return d.fail("a shape is missing");
}

static bool isInt(Element e) { return e >= Element::S8 && e <= Element::B1; }

static void decodeMma(Decoder &d) {
  MatrixOp op;
  bool fine = d.take("sync") && d.take("aligned");
  if (!takeShape(d, op.m, op.n, op.k))
    return;
  fine = d.take("row") && d.take("col") && fine;
  op.satfinite = d.take("satfinite");
  bool kind = d.take("kind::f8f6f4");
  bool popc = d.take("popc"), xorOp = d.take("xor"), rn = d.take("rn");
  op.bitAnd = d.take("and");
  Type td = d.takeType(), ta = d.takeType(), tb = d.takeType(), tc = d.takeType();
  if (d.failed() || !d.expectOps(4))
    return;
  fine &= elementOf(td, op.d) && elementOf(ta, op.a) && elementOf(tb, op.b) && elementOf(tc, op.c);
  fine = fine && shapeAllowed(op.a, op.m, op.n, op.k);
  bool fp8 = op.a == Element::E4M3 || op.a == Element::E5M2;
  auto sameClass = [&] {
    if (op.a == op.b)
      return true;
    if (fp8)
      return op.b == Element::E4M3 || op.b == Element::E5M2;
    return isInt(op.a) && isInt(op.b) && elementBits(op.a) == elementBits(op.b);
  };
  fine = fine && sameClass();
  bool intOp = isInt(op.a), b1 = op.a == Element::B1;
  fine = fine && (!op.satfinite || (intOp && !b1)) && b1 == popc && (b1 ? xorOp != op.bitAnd : !xorOp && !op.bitAnd);
  fine = fine && (!kind || fp8) && (!rn || op.a == Element::F64);
  if (intOp)
    fine = fine && op.c == Element::S32 && op.d == Element::S32;
  else if (op.a == Element::F64)
    fine = fine && op.c == Element::F64 && op.d == Element::F64;
  else
    fine = fine && op.c == op.d && (op.c == Element::F32 || (op.c == Element::F16 && (op.a == Element::F16 || fp8)));
  if (!fine) {
    d.unsupported();
    return;
  }
  Type operand = op.a == Element::F64 ? Type::F64 : Type::B32;
  Type accumulator = op.d == Element::F64 ? Type::F64 : Type::B32;
  const unsigned perLane = 32 * (op.a == Element::F64 ? 64 : 32);
  op.aCount = op.m * op.k * elementBits(op.a) / perLane;
  op.bCount = op.n * op.k * elementBits(op.b) / perLane;
  op.dCount = op.cCount = op.m * op.n / 32 / (op.d == Element::F16 ? 2 : 1);
  auto list = [&](unsigned at, unsigned count, Type type, bool result) -> const Reg * {
    auto parts = d.elements(d.op(at));
    if (parts.size() != count) {
      d.fail("operand " + Twine(at + 1) + " has " + Twine(parts.size()) + " registers, the shape needs " + Twine(count));
      return nullptr;
    }
    llvm::SmallVector<Reg, 16> regs;
    for (const syntax::Operand &p : parts)
      regs.push_back(result ? d.dst(p, type) : d.src(p, type));
    return d.keepList(regs);
  };
  op.dRegs = list(0, op.dCount, accumulator, true);
  op.aRegs = list(1, op.aCount, operand, false);
  op.bRegs = list(2, op.bCount, operand, false);
  op.cRegs = list(3, op.cCount, accumulator, false);
  d.out->aux = d.program.keep(op);
  d.out->fn = execMma;
}

void mp::emulator::registerMatrixOps(OpTable &table) { table["mma"] = decodeMma; }
