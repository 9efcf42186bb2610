// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of a reshaped tensor: behind a reshape an index is a quotient and a remainder, and the
// checker finds the element of the group that they are. It confirms norms whose statistics are
// reshaped back, and refuses the same derivation where another element is meant.

#include "ProofsFixture.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;
using namespace mlir::mp::test;

namespace {

/// (x - mean x) rsqrt(var x + e) over two groups of 12, in TOSA. `of` is what is grouped; `turn`
/// is what the factor is read through.
std::string groupNorm(const char *of = "%x", const char *factor = "%factor") {
  std::string text = R"(
func.func @main(%x: tensor<2x6x4xf32>, %y: tensor<2x6x4xf32>, %w: tensor<2x4x3xf32> {mp.range = [-1.0, 1.0]}) -> tensor<2x6x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %inverse = "tosa.const"() <{values = dense<0.083333333> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %grouped = tosa.const_shape {values = dense<[2, 2, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %times = tosa.const_shape {values = dense<[1, 1, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %whole = tosa.const_shape {values = dense<[2, 6, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %groups = tosa.reshape OF, %grouped : (tensor<2x6x4xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %sum = tosa.reduce_sum %groups {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %means = tosa.tile %mean, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %meant = tosa.reshape %means, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %centred = tosa.sub %x, %meant : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %apart = tosa.sub %groups, %mean : (tensor<2x2x12xf32>, tensor<2x2x1xf32>) -> tensor<2x2x12xf32>
  %squares = tosa.mul %apart, %apart, %shift : (tensor<2x2x12xf32>, tensor<2x2x12xf32>, tensor<1xi8>) -> tensor<2x2x12xf32>
  %added = tosa.reduce_sum %squares {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %variance = tosa.mul %added, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %more = tosa.add %variance, %epsilon : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
  %root = tosa.rsqrt %more : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  %roots = tosa.tile %root, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %factor = tosa.reshape %roots, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %turned = tosa.reverse %factor {axis = 1 : i32} : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %norm = tosa.mul %centred, FACTOR, %shift : (tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<1xi8>) -> tensor<2x6x4xf32>
  %r = tosa.matmul %norm, %w, %zero, %zero : (tensor<2x6x4xf32>, tensor<2x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x3xf32>
  return %r : tensor<2x6x3xf32>
}
)";
  text.replace(text.find("OF,"), 2, of);
  return text.replace(text.find("FACTOR"), 6, factor);
}

TEST(Reshapes, OfGroupsAreFollowed) {
  ProofsFixture fixture;
  OwningOpRef<ModuleOp> module = fixture.decide(groupNorm());
  ASSERT_TRUE(module);
  Derivation derivation = deriveProofs(*module);
  CheckResult result = fixture.check(*module, derivation);
  EXPECT_TRUE(result.isConfirmed()) << fixture.errors;
  EXPECT_EQ(result.conclusions, 2u) << "the norm is proved to fit, and the weights";
  // Statistics of another tensor, and a factor that is read in another group.
  for (const std::string &text : {groupNorm("%y"), groupNorm("%x", "%turned")}) {
    OwningOpRef<ModuleOp> other = fixture.decide(text);
    ASSERT_TRUE(other);
    EXPECT_FALSE(fixture.check(*other, derivation).isConfirmed()) << text;
    EXPECT_EQ(fixture.check(*other, deriveProofs(*other)).conclusions, 0u)
        << "nothing is proved of it";
  }
}

} // namespace
