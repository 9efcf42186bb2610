// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes in f32, which rounds twice to the right result for formats of at most 11 bits of
// significand.

#include "mp/Numerics/Arithmetic.h"

#include "llvm/ADT/bit.h"

#include <cassert>
#include <cmath>

using namespace mpcore::numerics;

static float apply(BinaryOp op, float a, float b) {
  switch (op) {
  case BinaryOp::Add: return a + b;
  case BinaryOp::Sub: return a - b;
  case BinaryOp::Mul: return a * b;
  case BinaryOp::Div: return a / b;
  case BinaryOp::Rem: return std::fmod(a, b);
  }
  return 0;
}

uint64_t mpcore::numerics::arithmetic(BinaryOp op, uint64_t a, uint64_t b, Format format,
                                      Overflow overflow) {
  assert(info(format).hasSign && info(format).precision <= 11 &&
         "not a format that f32 arithmetic rounds correctly");
  auto widen = [&](uint64_t bits) {
    return llvm::bit_cast<float>(uint32_t(convert(bits, format, Format::F32)));
  };
  float result = apply(op, widen(a), widen(b));
  return convert(llvm::bit_cast<uint32_t>(result), Format::F32, format, Rounding::RNE, overflow);
}
