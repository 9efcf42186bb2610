// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the fragments of A, B and C from the lanes of a warp, and spreads D.

#include "Fragments.h"

using namespace mpcore::emulator;

/// Collects a factor of rows of `width` elements; `forFragment(register, fn)` visits its elements.
template <class ForFragment>
static void gatherFactor(Warp &w, Element element, llvm::ArrayRef<Reg> regs, unsigned width,
                         ForFragment forFragment, std::vector<float> &floats,
                         std::vector<int32_t> &ints, std::vector<double> &doubles) {
  const unsigned bits = elementBits(element);
  for (unsigned r = 0; r < regs.size(); ++r) {
    if (element == Element::F64) {
      const double *d = w.lanes<double>(regs[r]);
      forFragment(r, [&](unsigned l, unsigned, unsigned row, unsigned col) {
        doubles[row * width + col] = d[l];
      });
      continue;
    }
    const uint32_t *word = w.lanes<uint32_t>(regs[r]);
    if (isFloatElement(element))
      forFragment(r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        floats[row * width + col] = floatElement(element, cutElement(word[l], i, bits));
      });
    else
      forFragment(r, [&](unsigned l, unsigned i, unsigned row, unsigned col) {
        ints[row * width + col] = intElement(element, cutElement(word[l], i, bits));
      });
  }
}

void mpcore::emulator::gatherA(Warp &w, const MatrixOp &op, MatrixValues &v) {
  auto visit = [&](unsigned r, auto fn) { forFragmentA(op, r, fn); };
  gatherFactor(w, op.a, {op.aRegs, op.aCount}, op.storedK(), visit, v.a, v.ia, v.da);
}

void mpcore::emulator::gatherB(Warp &w, const MatrixOp &op, MatrixValues &v) {
  auto visit = [&](unsigned r, auto fn) { forFragmentB(op, r, fn); };
  gatherFactor(w, op.b, {op.bRegs, op.bCount}, op.n, visit, v.b, v.ib, v.db);
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
