// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync: dense, sparse (.sp) and block-scaled forms, every shape and type.

#include "BlockScales.h"
#include "Fragments.h"
#include "MmaForms.h"
#include "QuadPair.h"
#include "Sparsity.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

static Step execMma(Warp &w, const Inst &i) {
  const MatrixOp &op = *static_cast<const MatrixOp *>(i.aux);
  if (w.exec != ~0u)
    return w.fault(FaultKind::Divergence, i,
                   "mma needs all 32 lanes; lanes 0x" + Twine::utohexstr(~w.exec) +
                       " are elsewhere",
                   std::countr_zero(~w.exec));
  if (op.a == Element::F16 && op.m == 8)
    return execQuadPairs(w, i);
  MatrixValues &v = matrixScratch();
  v.resize(op, op.m);
  gatherA(w, op, v);
  gatherB(w, op, v);
  gatherC(w, op, v);
  if (op.sparsity != Sparsity::None)
    if (auto bad = readMetadata(w.lanes<uint32_t>(op.metadata), op, 0, v))
      return badMetadata(w, i, op, *bad);
  if (op.scaleBlocks && !gatherScales(w, i, op, v))
    return Step::Fault;
  if (!multiply(w, i, op, v, op.m))
    return Step::Fault;
  scatterD(w, op, v);
  return Step::Next;
}

bool mpcore::emulator::takeShape(Decoder &d, uint16_t &m, uint16_t &n, uint16_t &k) {
  for (llvm::StringRef mod : d.restMods()) {
    llvm::StringRef rest = mod;
    unsigned long long a, b, c;
    if (rest.consume_front("m") && !llvm::consumeUnsignedInteger(rest, 10, a) &&
        rest.consume_front("n") && !llvm::consumeUnsignedInteger(rest, 10, b) &&
        rest.consume_front("k") && !llvm::consumeUnsignedInteger(rest, 10, c) && rest.empty()) {
      m = a, n = b, k = c;
      return d.take(mod);
    }
  }
  return d.fail("expected a shape among the modifiers, as .m16n8k16");
}

static llvm::StringRef takeKind(Decoder &d) {
  for (llvm::StringRef mod : d.restMods())
    if (mod.starts_with("kind::")) {
      d.take(mod);
      return mod.substr(6);
    }
  return "";
}

static bool takeLayout(Decoder &d, bool &row) {
  // Two layouts, A's before B's.
  for (llvm::StringRef mod : d.restMods())
    if (mod == "row" || mod == "col") {
      row = mod == "row";
      return d.take(mod);
    }
  return false;
}

static void decodeMma(Decoder &d) {
  MatrixOp op;
  MmaModifiers mods;
  op.orderedMetadata = d.take("sp::ordered_metadata");
  mods.sparse = op.orderedMetadata || d.take("sp");
  bool fine = d.take("sync") && d.take("aligned");
  if (!takeShape(d, op.m, op.n, op.k))
    return;
  bool rowB = false;
  fine = takeLayout(d, op.rowA) && takeLayout(d, rowB) && fine;
  op.colB = !rowB;
  op.satfinite = d.take("satfinite");
  mods.kind = takeKind(d);
  mods.blockScale = d.take("block_scale");
  mods.popc = d.take("popc"), mods.bitXor = d.take("xor");
  op.rounding = takeRounding(d, Rounding::Nearest, mods.rounds);
  op.bitAnd = d.take("and");
  Type td = d.takeType(), ta = d.takeType(), tb = d.takeType(), tc = d.takeType();
  Type scaleType = mods.blockScale ? d.takeType() : Type::None;
  if (d.failed() || !d.expectOps(4 + 2 * mods.sparse + 4 * mods.blockScale))
    return;
  fine &= elementOf(td, op.d) && elementOf(ta, op.a) && elementOf(tb, op.b) && elementOf(tc, op.c);
  if (mods.kind == "mxf4" || mods.kind == "mxf4nvf4")
    for (Element *e : {&op.a, &op.b})
      if (*e == Element::PaddedE2M1)
        *e = Element::E2M1;
  if (mods.sparse)
    op.sparsity = sparsityOf(op.a);
  if (!fine || !isMmaForm(op, mods) ||
      (mods.blockScale && !takeBlockScales(d, mods.kind, scaleType, op))) {
    d.unsupported();
    return;
  }
  checkMmaTarget(d, op, mods);
  countMmaRegisters(op);
  Type operand = op.a == Element::F64 ? Type::F64 : Type::B32;
  Type accumulator = op.d == Element::F64 ? Type::F64 : Type::B32;
  op.dRegs = decodeRegisters(d, 0, op.dCount, accumulator, true);
  op.aRegs = decodeRegisters(d, 1, op.aCount, operand, false);
  op.bRegs = decodeRegisters(d, 2, op.bCount, operand, false);
  op.cRegs = decodeRegisters(d, 3, op.cCount, accumulator, false);
  if (mods.sparse)
    decodeMetadata(d, 4, op);
  if (mods.blockScale)
    decodeBlockScales(d, mods.sparse ? 6 : 4, op);
  d.out->aux = d.program.keep(op);
  d.out->fn = execMma;
}

void mpcore::emulator::registerMatrixOps(OpTable &table) { table["mma"] = decodeMma; }
