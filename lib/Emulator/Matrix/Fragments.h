// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps the elements of a matrix operand to lanes and registers (PTX ISA, "Matrix Fragments for
// mma"). All mma.sync shapes but m8n8k4 of f16 (QuadPair.cpp) follow one rule: with g = lane / 4, t
// = lane % 4 and e elements per register,
//   A: register r holds row g + 8 (r % (m / 8)), columns 4 e (r / (m / 8)) + t e + i
//   B: register r holds rows 4 e r + t e + i of column g
//   C: register r holds row g + 8 (r / 2), column 2 t + r % 2 (two columns per register when packed
//   in 16 bits)
// The columns of a sparse A are those that are stored.

#ifndef MP_LIB_EMULATOR_MATRIX_FRAGMENTS_H
#define MP_LIB_EMULATOR_MATRIX_FRAGMENTS_H

#include "../State/Lanes.h"
#include "MatrixMath.h"

namespace mpcore::emulator {

/// fn(lane, index in register, row, column) for every element of register r of A.
template <class F> void forFragmentA(const MatrixOp &op, unsigned r, F &&fn) {
  const unsigned e = op.a == Element::F64 ? 1 : 32 / elementBits(op.a), bands = op.m / 8;
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned i = 0; i < e; ++i)
      fn(l, i, l / 4 + 8 * (r % bands), 4 * e * (r / bands) + l % 4 * e + i);
}
template <class F> void forFragmentB(const MatrixOp &op, unsigned r, F &&fn) {
  const unsigned e = op.b == Element::F64 ? 1 : 32 / elementBits(op.b);
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned i = 0; i < e; ++i)
      fn(l, i, 4 * e * r + l % 4 * e + i, l / 4);
}
template <class F> void forFragmentC(Element type, unsigned r, F &&fn) {
  if (type == Element::F16) {
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned i = 0; i < 2; ++i)
        fn(l, i, l / 4 + 8 * r, 2 * (l % 4) + i);
    return;
  }
  for (unsigned l = 0; l < kLanes; ++l)
    fn(l, 0u, l / 4 + 8 * (r / 2), 2 * (l % 4) + r % 2);
}

/// Fragments from registers into values, and back.
void gatherA(Warp &warp, const MatrixOp &op, MatrixValues &values);
void gatherB(Warp &warp, const MatrixOp &op, MatrixValues &values);
void gatherC(Warp &warp, const MatrixOp &op, MatrixValues &values);
void scatterD(Warp &warp, const MatrixOp &op, const MatrixValues &values);

} // namespace mpcore::emulator

#endif
