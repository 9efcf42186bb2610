// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of matrix instructions, apart from where their fragments lie: a thin layer over
// lib/Numerics.

#ifndef MP_LIB_EMULATOR_MATRIX_MATRIXMATH_H
#define MP_LIB_EMULATOR_MATRIX_MATRIXMATH_H

#include "../Scalar/Arithmetic.h"
#include "../Scalar/Fp8.h"
#include "../State/Warp.h"
#include "mp/Numerics/BlockScaled.h"

namespace mpcore::emulator {

/// The elements of an operand register. e3m2, e2m3 and PaddedE2M1 fill a byte each, the last in its
/// bits 2 to 5 (.kind::f8f6f4 and .kind::mxf8f6f4); E2M1 is packed.
enum class Element : uint8_t {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  E3M2,
  E2M3,
  PaddedE2M1,
  E2M1,
  S8,
  U8,
  S4,
  U4,
  B1,
  F64,
  F32,
  S32
};

unsigned elementBits(Element e);
inline bool isFloatElement(Element e) { return e <= Element::E2M1; }
inline bool isIntElement(Element e) { return e >= Element::S8 && e <= Element::B1; }
inline bool isByteFloat(Element e) { return e >= Element::E4M3 && e <= Element::PaddedE2M1; }
bool elementOf(Type type, Element &element);
numerics::Format formatOf(Element e);

/// Value of an element of 6 or 4 bits.
float smallFloat(Element e, uint32_t bits);

/// Value of an element as the Tensor Core takes it: tf32 without its low 13 bits.
inline float floatElement(Element e, uint32_t bits) {
  switch (e) {
  case Element::F16: return widenF16(uint16_t(bits));
  case Element::BF16: return widenBF16(uint16_t(bits));
  case Element::TF32: return std::bit_cast<float>(bits & ~0x1fffu);
  case Element::E4M3:
  case Element::E5M2: return widenFp8(uint8_t(bits), e == Element::E5M2);
  default: return smallFloat(e, bits);
  }
}
inline int32_t intElement(Element e, uint32_t bits) {
  switch (e) {
  case Element::S8: return int8_t(bits);
  case Element::U8: return uint8_t(bits);
  case Element::S4: return int32_t(bits << 28) >> 28;
  default: return int32_t(bits & (e == Element::U4 ? 15 : 1));
  }
}
/// Bits of element `index` of a word.
inline uint32_t cutElement(uint32_t word, unsigned index, unsigned bits) {
  return bits == 32 ? word : word >> (index * bits) & ((1u << bits) - 1);
}

/// The pattern of the elements of a sparse A that are stored.
enum class Sparsity : uint8_t {
  None,
  OneOfTwo,   ///< tf32
  TwoOfFour,  ///< 16 and 8 bits
  PairsOfFour ///< 4 bits: two of four neighbouring pairs
};

/// Operands of .block_scale beside the model: a word of scales per lane, and which byte of which
/// lane holds them.
struct ScaleOperand {
  Reg data, byte, thread;
};

struct MatrixOp {
  uint16_t m = 0, n = 0, k = 0;
  Element a = Element::F16, b = Element::F16, c = Element::F32, d = Element::F32;
  bool satfinite = false;                // integers
  Rounding rounding = Rounding::Nearest; // f64
  bool bitAnd = false;                   // b1: .and.popc, else .xor.popc
  bool wgmma = false;                    // route
  bool rowA = true, colB = true;         // memory layouts; of m8n8k4 in f16 those of the fragments
  bool negateA = false, negateB = false;
  const Reg *aRegs = nullptr, *bRegs = nullptr, *cRegs = nullptr, *dRegs = nullptr;
  uint8_t aCount = 0, bCount = 0, cCount = 0, dCount = 0;

  Sparsity sparsity = Sparsity::None;
  bool orderedMetadata = false;
  uint8_t selector = 0; // which lanes of four give the metadata
  Reg metadata;
  unsigned storedK() const { return sparsity == Sparsity::None ? k : k / 2; }

  uint8_t scaleBlocks = 0; // .scale_vec; 0 without scales
  numerics::BlockScaledModel scaled = {};
  ScaleOperand scaleA, scaleB;
};

/// A (m x stored k) and B (k x n), row-major; C and D (m x n).
struct MatrixValues {
  std::vector<float> a, b, c;          // float operands; f16 accumulators as f32
  std::vector<int32_t> ia, ib, ic;     // integer operands
  std::vector<double> da, db, dc;      // f64
  std::vector<uint16_t> row;           // sparse A: the row of B that each element meets
  std::vector<float> scalesA, scalesB; // block-scaled: a row's (column's) after the other's
  std::vector<float> selected;         // scratch of the products
  void resize(const MatrixOp &op, unsigned rows);
};

/// c = a * b + c over `rows` rows of A; false after a fault (no such Tensor Core).
bool multiply(Warp &warp, const Inst &inst, const MatrixOp &op, MatrixValues &values,
              unsigned rows);

/// The fault of a launch on a chip without the Tensor Core an instruction needs.
void noSuchTensorCore(Warp &warp, const Inst &inst, const llvm::Twine &what);

/// One scratch set per host thread.
MatrixValues &matrixScratch();

} // namespace mpcore::emulator

#endif
