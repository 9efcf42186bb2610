// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes mma.sync.m8n8k4 of f16, whose four products belong to quad pairs of lanes.

#include "QuadPair.h"
#include <cmath>

using namespace mpcore;
using namespace mpcore::emulator;

namespace {
/// fn(lane, element, row, column) for the elements a quad pair's lanes hold of an operand.
template <class F> void forLanesOf(unsigned pair, unsigned elements, F &&fn) {
  for (unsigned h = 0; h < 2; ++h)
    for (unsigned t = 0; t < 4; ++t)
      for (unsigned i = 0; i < elements; ++i)
        fn(16 * h + 4 * pair + t, i, h, t);
}

void placeC(Element type, unsigned i, unsigned h, unsigned t, unsigned &row, unsigned &column) {
  if (type == Element::F16)
    row = t + 4 * h, column = i;
  else
    row = t % 2 + i / 2 % 2 * 2 + 4 * h, column = t / 2 * 2 + i / 4 * 4 + i % 2;
}

float half(Warp &w, const Reg *regs, unsigned lane, unsigned i) {
  return widenF16(uint16_t(w.lanes<uint32_t>(regs[i / 2])[lane] >> (16 * (i % 2))));
}
} // namespace

static void gather(Warp &w, const MatrixOp &op, unsigned pair, MatrixValues &v) {
  forLanesOf(pair, 4, [&](unsigned l, unsigned i, unsigned h, unsigned t) {
    const unsigned row = (op.rowA ? t : i) + 4 * h, column = op.rowA ? i : t;
    v.a[row * 4 + column] = half(w, op.aRegs, l, i);
    const unsigned k = op.colB ? i : t, n = (op.colB ? t : i) + 4 * h;
    v.b[k * 8 + n] = half(w, op.bRegs, l, i);
  });
  forLanesOf(pair, 8, [&](unsigned l, unsigned i, unsigned h, unsigned t) {
    unsigned row, column;
    placeC(op.c, i, h, t, row, column);
    v.c[row * 8 + column] =
        op.c == Element::F16 ? half(w, op.cRegs, l, i) : w.lanes<float>(op.cRegs[i])[l];
  });
}

static void scatter(Warp &w, const MatrixOp &op, unsigned pair, const MatrixValues &v) {
  forLanesOf(pair, 8, [&](unsigned l, unsigned i, unsigned h, unsigned t) {
    unsigned row, column;
    placeC(op.d, i, h, t, row, column);
    const float value = v.c[row * 8 + column];
    if (op.d == Element::F32) {
      w.lanes<float>(op.dRegs[i])[l] = value;
      return;
    }
    uint32_t &word = w.lanes<uint32_t>(op.dRegs[i / 2])[l];
    const uint32_t bits = narrowF16(value);
    word = i % 2 ? (word & 0xffff) | bits << 16 : bits;
  });
}

// From sm_80 on the assembler expands the instruction into scalar f32 multiply-adds: ascending k,
// an f16 result rounded once.
static void multiplyByScalars(MatrixValues &v) {
  for (unsigned r = 0; r < 8; ++r)
    for (unsigned c = 0; c < 8; ++c)
      for (unsigned k = 0; k < 4; ++k)
        v.c[r * 8 + c] = std::fma(v.a[r * 4 + k], v.b[k * 8 + c], v.c[r * 8 + c]);
}

Step mpcore::emulator::execQuadPairs(Warp &w, const Inst &i) {
  const MatrixOp &op = *static_cast<const MatrixOp *>(i.aux);
  MatrixValues &v = matrixScratch();
  v.resize(op, op.m);
  const bool tensorCores =
      !w.launch->architecture || *w.launch->architecture < numerics::Architecture::SM80;
  // All are read before any is written: results may lie in the operands' registers.
  MatrixValues pairs[4];
  for (unsigned pair = 0; pair < 4; ++pair) {
    gather(w, op, pair, v);
    if (!tensorCores)
      multiplyByScalars(v);
    else if (!multiply(w, i, op, v, op.m))
      return Step::Fault;
    pairs[pair].c = v.c;
  }
  for (unsigned pair = 0; pair < 4; ++pair)
    scatter(w, op, pair, pairs[pair]);
  return Step::Next;
}
