// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A derivation does not hold of another graph: each edit breaks one hypothesis of a lemma and
// leaves all names as they are.

#include "ProofsFixture.h"
#include "mlir/Parser/Parser.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;
using namespace mlir::mp::test;

namespace {

struct Edit {
  const char *name, *from, *to;
};

const Edit kEdits[] = {
    {"maximum over columns", "outs(%m0 : tensor<8xf32>) dimensions = [1]",
     "outs(%m0 : tensor<8xf32>) dimensions = [0]"},
    {"maximum spread along columns",
     "%mb = linalg.broadcast ins(%m : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [1]",
     "%mb = linalg.broadcast ins(%m : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [0]"},
    {"maximum is minimum", "%r = arith.maximumf %a, %b", "%r = arith.minimumf %a, %b"},
    {"maximum of another", "%m = linalg.reduce ins(%x :", "%m = linalg.reduce ins(%y :"},
    {"maximum of another, subtracted", "arith.subf %x, %mb", "arith.subf %y, %mb"},
    {"difference reversed", "arith.subf %x, %mb", "arith.subf %mb, %x"},
    {"maximum starts from a number", "%lowest = arith.constant 0xFF800000 : f32",
     "%lowest = arith.constant 100.0 : f32"},
    {"sum starts below zero",
     "%zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : tensor<8xf32>\n  %ee",
     "%zero = arith.constant -5.0 : f32\n  %e = tensor.empty() : tensor<8xf32>\n  %ee"},
    {"sum over columns", "outs(%s0 : tensor<8xf32>) dimensions = [1]",
     "outs(%s0 : tensor<8xf32>) dimensions = [0]"},
    {"sum spread along columns",
     "%sb = linalg.broadcast ins(%s : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [1]",
     "%sb = linalg.broadcast ins(%s : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [0]"},
    {"quotient of another", "arith.divf %p, %sb", "arith.divf %d, %sb"},
    {"another function", "math.exp %d", "math.exp2 %x"},
    {"count too large", "dense<8.0> : tensor<8xf32>", "dense<1.0e9> : tensor<8xf32>"},
    {"count negative", "dense<8.0> : tensor<8xf32>", "dense<-8.0> : tensor<8xf32>"},
    {"epsilon negative", "dense<1.0e-5>", "dense<-1.0e-5>"},
    {"epsilon zero", "dense<1.0e-5>", "dense<0.0>"},
    {"square of another", "%sq = arith.mulf %x, %x", "%sq = arith.mulf %y, %y"},
    {"product for square", "%sq = arith.mulf %x, %x", "%sq = arith.mulf %x, %y"},
    {"norm of another", "%n = arith.mulf %x, %rb", "%n = arith.mulf %y, %rb"},
    {"statistic spread along columns",
     "%rb = linalg.broadcast ins(%root : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = "
     "[1]",
     "%rb = linalg.broadcast ins(%root : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = "
     "[0]"},
    {"root forgotten", "math.rsqrt %kept", "math.absf %kept"},
    {"loop grows", "%half = arith.constant dense<0.5>", "%half = arith.constant dense<4.0>"},
    {"loop unbounded", "math.tanh %h", "math.absf %h"},
    {"loop grows unbounded", "math.tanh %h", "arith.negf %v"},
    {"range wider", "[-3.0, 5.0]", "[-30.0, 5.0]"},
    {"sum of three", "arith.addf %x, %x", "arith.mulf %x, %x"},
    {"comparison reversed", "arith.cmpf ogt", "arith.cmpf olt"},
    {"comparison of another", "arith.cmpf ogt, %x, %high", "arith.cmpf ogt, %high, %high"},
    {"comparison of equality", "arith.cmpf olt", "arith.cmpf one"},
    {"clamped elsewhere", "dense<100.0>", "dense<1.0e6>"},
};

OwningOpRef<ModuleOp> edit(ProofsFixture &fixture, const Edit &edit) {
  std::string text = kProvedModule.str();
  size_t at = text.find(edit.from);
  EXPECT_NE(at, std::string::npos) << edit.name;
  if (at != std::string::npos)
    text.replace(at, StringRef(edit.from).size(), edit.to);
  return parseSourceString<ModuleOp>(text, &fixture.context);
}

TEST(DamagedGraph, IsRefused) {
  ProofsFixture fixture;
  OwningOpRef<ModuleOp> module = fixture.decide(kProvedModule);
  ASSERT_TRUE(module);
  Derivation derivation = deriveProofs(*module);
  for (const Edit &damage : kEdits) {
    OwningOpRef<ModuleOp> other = edit(fixture, damage);
    ASSERT_TRUE(other) << damage.name;
    CheckResult result = fixture.check(*other, derivation);
    EXPECT_FALSE(result.isConfirmed()) << damage.name;
    EXPECT_NE(fixture.errors.find("expected"), std::string::npos) << damage.name;
  }
}

} // namespace
