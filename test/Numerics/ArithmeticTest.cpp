// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Arithmetic.h"

#include "gtest/gtest.h"

#include <random>

using namespace mpcore::numerics;
using llvm::APFloat;
using llvm::APInt;

namespace {

const BinaryOp ops[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem};

/// APFloat's own operation in the narrow format.
APFloat apfloat(BinaryOp op, APFloat a, const APFloat &b) {
  const auto rne = APFloat::rmNearestTiesToEven;
  switch (op) {
  case BinaryOp::Add: a.add(b, rne); break;
  case BinaryOp::Sub: a.subtract(b, rne); break;
  case BinaryOp::Mul: a.multiply(b, rne); break;
  case BinaryOp::Div: a.divide(b, rne); break;
  case BinaryOp::Rem: a.mod(b); break;
  }
  return a;
}

void check(BinaryOp op, uint64_t a, uint64_t b, const FormatInfo &f) {
  APFloat expected =
      apfloat(op, APFloat(*f.semantics, APInt(f.bits, a)), APFloat(*f.semantics, APInt(f.bits, b)));
  uint64_t actual = arithmetic(op, a, b, f.format);
  if (expected.isNaN())
    ASSERT_TRUE(isNaN(actual, f.format))
        << f.name.str() << " op " << int(op) << std::hex << " 0x" << a << " 0x" << b;
  else
    ASSERT_EQ(actual, expected.bitcastToAPInt().getZExtValue())
        << f.name.str() << " op " << int(op) << std::hex << " 0x" << a << " 0x" << b;
}

TEST(Arithmetic, EveryPairOfFP8PatternsLikeAPFloat) {
  for (Format format : allFormats()) {
    const FormatInfo &f = info(format);
    if (f.bits != 8 || !f.hasSign)
      continue;
    for (BinaryOp op : ops)
      for (uint64_t a = 0; a < 256; ++a)
        for (uint64_t b = 0; b < 256; ++b) {
          check(op, a, b, f);
          if (HasFatalFailure())
            return;
        }
  }
}

// Without NaN and infinity, division by zero has no answer to compare with.
TEST(Arithmetic, EveryPairOfF6AndF4PatternsLikeAPFloat) {
  for (Format format : {Format::F6E3M2FN, Format::F6E2M3FN, Format::F4E2M1FN}) {
    const FormatInfo &f = info(format);
    for (BinaryOp op : ops)
      for (uint64_t a = 0; a < (1u << f.bits); ++a)
        for (uint64_t b = 0; b < (1u << f.bits); ++b) {
          bool divides = op == BinaryOp::Div || op == BinaryOp::Rem;
          if (divides && (b & ~f.signBit) == 0)
            continue;
          check(op, a, b, f);
          if (HasFatalFailure())
            return;
        }
  }
}

TEST(Arithmetic, Sampled16BitPairsLikeAPFloat) {
  std::mt19937_64 random(1);
  for (Format format : {Format::F16, Format::BF16, Format::TF32})
    for (BinaryOp op : ops)
      for (int i = 0; i < 20000; ++i) {
        uint64_t mask = (uint64_t(1) << info(format).bits) - 1;
        uint64_t a = random() & mask, b = random() & mask;
        if (i % 2) // exponents close enough that both operands count
          b = (b & ~info(format).infinity) | (a & info(format).infinity);
        check(op, a, b, info(format));
        if (HasFatalFailure())
          return;
      }
}

} // namespace
