// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A square may be written as an integer power, as exporters of PyTorch write it: the checker reads
// it as the product that it is, and confirms norms of such.

#include "ProofsFixture.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;
using namespace mlir::mp::test;

namespace {

/// kProvedModule, the squares of its norm written as powers.
std::string withPower(StringRef base, int exponent) {
  std::string text = kProvedModule.str();
  StringRef square = "%sq = arith.mulf %x, %x : tensor<8x8xf32>";
  std::string power = ("%two = arith.constant dense<" + std::to_string(exponent) +
                       "> : tensor<8x8xi64>\n  %sq = math.fpowi " + base +
                       ", %two : tensor<8x8xf32>, tensor<8x8xi64>")
                          .str();
  return text.replace(text.find(square.str()), square.size(), power);
}

/// kProvedModule, its norm over a power of the mean in place of its root.
std::string overPower(double exponent) {
  std::string text = kProvedModule.str();
  StringRef root = "%root = math.rsqrt %kept : tensor<8xf32>";
  std::string power = llvm::formatv("%one = arith.constant dense<1.0> : tensor<8xf32>\n  "
                                    "%exponent = arith.constant dense<{0}> : tensor<8xf32>\n  "
                                    "%power = math.powf %kept, %exponent : tensor<8xf32>\n  "
                                    "%root = arith.divf %one, %power : tensor<8xf32>",
                                    exponent);
  return text.replace(text.find(root.str()), root.size(), power);
}

TEST(Powers, OfOneHalfAreRoots) {
  ProofsFixture fixture;
  OwningOpRef<ModuleOp> module = fixture.decide(overPower(0.5));
  ASSERT_TRUE(module);
  Derivation derivation = deriveProofs(*module);
  CheckResult result = fixture.check(*module, derivation);
  EXPECT_TRUE(result.isConfirmed()) << fixture.errors;
  EXPECT_EQ(result.conclusions, 5u);
  OwningOpRef<ModuleOp> other = fixture.decide(overPower(0.25));
  ASSERT_TRUE(other);
  EXPECT_FALSE(fixture.check(*other, derivation).isConfirmed());
}

TEST(Powers, OfTwoAreSquares) {
  ProofsFixture fixture;
  OwningOpRef<ModuleOp> module = fixture.decide(withPower("%x", 2));
  ASSERT_TRUE(module);
  Derivation derivation = deriveProofs(*module);
  CheckResult result = fixture.check(*module, derivation);
  EXPECT_TRUE(result.isConfirmed()) << fixture.errors;
  EXPECT_EQ(result.conclusions, 5u) << "as with a product";
  // The same derivation does not hold of other powers, nor of the square of another tensor.
  for (const std::string &text : {withPower("%x", 3), withPower("%x", 1), withPower("%y", 2)}) {
    OwningOpRef<ModuleOp> other = fixture.decide(text);
    ASSERT_TRUE(other);
    EXPECT_FALSE(fixture.check(*other, derivation).isConfirmed()) << text;
  }
}

} // namespace
