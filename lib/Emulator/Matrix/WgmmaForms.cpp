// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes wgmma: the forms that exist, their operands, and what orders them.

#include "../Transfer/Async.h"
#include "MmaForms.h"
#include "Sparsity.h"
#include "Wgmma.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

static Step execWgmmaFence(Warp &w, const Inst &) {
  w.wgmmaFenced = true;
  return Step::Next;
}

static Step execWgmmaCommit(Warp &w, const Inst &) {
  w.wgmmaGroups.push_back(std::move(w.wgmmaOpen));
  w.wgmmaOpen = AsyncGroup();
  return Step::Next;
}

static Step execWgmmaWait(Warp &w, const Inst &i) {
  while (w.wgmmaGroups.size() > size_t(i.imm)) {
    AsyncGroup &g = w.wgmmaGroups.front();
    if (w.block->shared.races.enabled() && !g.registers.empty())
      w.block->shared.races.learn(w.index, g.agent, g.clock);
    w.wgmmaGroups.erase(w.wgmmaGroups.begin());
  }
  return Step::Next;
}

static bool immediateSign(Decoder &d, unsigned at, bool &negative) {
  int64_t v = 0;
  if (!d.constant(d.op(at), v))
    return false;
  negative = v == -1;
  return v == 1 || v == -1 || d.fail("a factor's sign is 1 or -1, found " + Twine(v));
}

static bool isWgmmaForm(const MatrixOp &op, bool sparse, bool bitAnd) {
  auto is = [&](Element e) { return op.a == e && op.b == e; };
  auto isFp8 = [](Element e) { return e == Element::E4M3 || e == Element::E5M2; };
  auto isInt8 = [](Element e) { return e == Element::S8 || e == Element::U8; };
  const bool fp8 = isFp8(op.a) && isFp8(op.b), int8 = isInt8(op.a) && isInt8(op.b);
  const bool half = is(Element::F16) || is(Element::BF16), b1 = is(Element::B1);
  const unsigned depth = half                ? 16
                         : is(Element::TF32) ? 8
                         : fp8 || int8       ? 32
                         : b1 && !sparse     ? 256
                                             : 0;
  if (op.m != 64 || !depth || op.storedK() != depth || b1 != bitAnd || (op.satfinite && !int8))
    return false;
  const bool wide = int8 || b1;
  if (op.n < 8 || op.n > 256 || op.n % 8 || (wide && op.n != 8 && op.n != 24 && op.n % 16))
    return false;
  return wide ? op.d == Element::S32
              : op.d == Element::F32 || (op.d == Element::F16 && (is(Element::F16) || fp8));
}

/// Takes the modifiers; false, with the reason recorded, where no such form exists.
static bool decodeForm(Decoder &d, MatrixOp &op) {
  const bool sparse = d.take("sp");
  bool fine = d.take("sync") && d.take("aligned");
  if (!takeShape(d, op.m, op.n, op.k))
    return false;
  op.satfinite = d.take("satfinite");
  op.bitAnd = d.take("and") && d.take("popc");
  Type td = d.takeType(), ta = d.takeType(), tb = d.takeType();
  if (d.failed())
    return false;
  fine = fine && elementOf(td, op.d) && elementOf(ta, op.a) && elementOf(tb, op.b);
  op.c = op.d;
  if (sparse)
    op.sparsity = sparsityOf(op.a);
  if (fine && isWgmmaForm(op, sparse, op.bitAnd))
    return true;
  d.unsupported();
  return false;
}

static void decodeWgmmaMma(Decoder &d) {
  WgmmaOp x;
  MatrixOp &op = x.op;
  op.wgmma = true;
  if (!decodeForm(d, op))
    return;
  if (d.numOps() < 4) {
    d.expectOps(4);
    return;
  }
  const bool sparse = op.sparsity != Sparsity::None, ints = op.d == Element::S32;
  const bool half = op.a == Element::F16 || op.a == Element::BF16;
  x.aInRegisters = d.op(1).kind == syntax::Operand::Vector;
  // D, A, B, metadata and selector, scale-d, signs, transpositions.
  const unsigned scale = sparse ? 5 : 3, extra = ints ? 0 : half ? (x.aInRegisters ? 3 : 4) : 2;
  if (!d.expectOps(scale + 1 + extra))
    return;
  op.dCount = op.n / (op.d == Element::F16 ? 4 : 2);
  op.dRegs = decodeRegisters(d, 0, op.dCount, Type::B32, true);
  for (unsigned r = 0; op.dRegs && r < op.dCount; ++r)
    d.useAccumulator(op.dRegs[r]);
  if (x.aInRegisters)
    op.aRegs = decodeRegisters(d, 1, 4, Type::B32, false);
  else
    x.descA = d.src(1, Type::B64);
  x.descB = d.src(2, Type::B64);
  if (sparse)
    decodeMetadata(d, 3, op);
  x.scaleD = d.pred(d.op(scale));
  if (!ints) {
    immediateSign(d, scale + 1, op.negateA);
    immediateSign(d, scale + 2, op.negateB);
  }
  if (half) {
    int64_t ta = 0, tb = 0;
    if (!x.aInRegisters)
      d.constant(d.op(scale + 3), ta);
    d.constant(d.op(scale + (x.aInRegisters ? 3 : 4)), tb);
    x.transA = ta, x.transB = tb;
  }
  d.out->aux = d.program.keep(x);
  d.out->fn = execWgmma;
}

static void decodeWgmma(Decoder &d) {
  d.requireTarget(90, 90, /*specific=*/true);
  if (d.take("mma_async"))
    return decodeWgmmaMma(d);
  if (d.take("fence")) {
    if (d.take("sync") && d.take("aligned") && d.expectOps(0))
      d.out->fn = execWgmmaFence;
  } else if (d.take("commit_group")) {
    if (d.take("sync") && d.take("aligned") && d.expectOps(0))
      d.out->fn = execWgmmaCommit;
  } else if (d.take("wait_group")) {
    if (!d.take("sync") || !d.take("aligned") || !d.expectOps(1) ||
        !d.constant(d.op(0), d.out->imm))
      return;
    if (d.out->imm < 0)
      d.fail("groups that may be under way are 0 or more, found " + std::to_string(d.out->imm));
    d.out->fn = execWgmmaWait;
  }
}

void mpcore::emulator::registerWgmmaOps(OpTable &table) { table["wgmma"] = decodeWgmma; }
