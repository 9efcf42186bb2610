// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of matrix instructions, apart from where their fragments lie: a thin layer over lib/Numerics.

#ifndef MP_LIB_EMULATOR_MATRIX_MATRIXMATH_H
#define MP_LIB_EMULATOR_MATRIX_MATRIXMATH_H

#include "../Machine/Warp.h"
#include "../Scalar/Fp8.h"

namespace mp::emulator {

enum class Element : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4, B1, F64, F32, S32 };

unsigned elementBits(Element e);
inline bool isFloatElement(Element e) { return e <= Element::E5M2; }
bool elementOf(Type type, Element &element);

/// Value of an element as the Tensor Core takes it: tf32 without its low 13 bits.
inline float floatElement(Element e, uint32_t bits) {
  switch (e) {
  case Element::F16:
    return widenF16(uint16_t(bits));
  case Element::BF16:
    return widenBF16(uint16_t(bits));
  case Element::TF32:
    return std::bit_cast<float>(bits & ~0x1fffu);
  default:
    return widenFp8(uint8_t(bits), e == Element::E5M2);
  }
}
inline int32_t intElement(Element e, uint32_t bits) {
  switch (e) {
  case Element::S8:
    return int8_t(bits);
  case Element::U8:
    return uint8_t(bits);
  case Element::S4:
    return int32_t(bits << 28) >> 28;
  default:
    return int32_t(bits & (e == Element::U4 ? 15 : 1));
  }
}

struct MatrixOp {
  uint16_t m = 0, n = 0, k = 0;
  Element a = Element::F16, b = Element::F16, c = Element::F32, d = Element::F32;
  bool satfinite = false;  // integers
  bool bitAnd = false;     // b1: .and.popc, else .xor.popc
  bool wgmma = false;      // route
  bool rowA = true, colB = true; // wmma layouts (mma: always)
  bool negateA = false, negateB = false;
  const Reg *aRegs = nullptr, *bRegs = nullptr, *cRegs = nullptr, *dRegs = nullptr;
  uint8_t aCount = 0, bCount = 0, cCount = 0, dCount = 0;
};

/// A (m x k) and B (k x n), row-major; C and D (m x n).
struct MatrixValues {
  std::vector<float> a, b, c;       // float operands; f16 accumulators as f32
  std::vector<int32_t> ia, ib, ic;  // integer operands
  std::vector<double> da, db, dc;   // f64
  void resize(const MatrixOp &op, unsigned rows);
};

/// c = a * b + c over `rows` rows of A; false after a fault (no such Tensor Core).
bool multiply(Warp &warp, const Inst &inst, const MatrixOp &op, MatrixValues &values, unsigned rows);

/// One scratch set per host thread.
MatrixValues &matrixScratch();

} // namespace mp::emulator

#endif
