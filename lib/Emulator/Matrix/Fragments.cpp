// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the fragments of A, B and C from the lanes of a warp, and spreads D.

#include "Fragments.h"

using namespace mpcore::emulator;

void mpcore::emulator::gatherA(Warp &w, const MatrixOp &op, MatrixValues &v) {
  const unsigned bits = elementBits(op.a);
  for (unsigned r = 0; r < op.aCount; ++r) {
    if (op.a == Element::F64) {
      const double *d = w.lanes<double>(op.aRegs[r]);
      forFragmentA(op, r, [&](unsigned l, unsigned, unsigned row, unsigned col) {
        v.da[row * op.storedK() + col] = d[l];
      });
      continue;
    }
    const uint32_t *word = w.lanes<uint32_t>(op.aRegs[r]);
    if (isFloatElement(op.a))
      forFragmentA(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.a[row * op.storedK() + col] = floatElement(op.a, cutElement(word[l], i, bits));
      });
    else
      forFragmentA(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.ia[row * op.storedK() + col] = intElement(op.a, cutElement(word[l], i, bits));
      });
  }
}

void mpcore::emulator::gatherB(Warp &w, const MatrixOp &op, MatrixValues &v) {
  const unsigned bits = elementBits(op.b);
  for (unsigned r = 0; r < op.bCount; ++r) {
    if (op.b == Element::F64) {
      const double *d = w.lanes<double>(op.bRegs[r]);
      forFragmentB(op, r, [&](unsigned l, unsigned, unsigned row, unsigned col) {
        v.db[row * op.n + col] = d[l];
      });
      continue;
    }
    const uint32_t *word = w.lanes<uint32_t>(op.bRegs[r]);
    if (isFloatElement(op.b))
      forFragmentB(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.b[row * op.n + col] = floatElement(op.b, cutElement(word[l], i, bits));
      });
    else
      forFragmentB(op, r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        v.ib[row * op.n + col] = intElement(op.b, cutElement(word[l], i, bits));
      });
  }
}

void mpcore::emulator::gatherC(Warp &w, const MatrixOp &op, MatrixValues &v) {
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

void mpcore::emulator::scatterD(Warp &w, const MatrixOp &op, const MatrixValues &v) {
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
