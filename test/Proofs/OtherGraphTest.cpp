// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker refuses of another graph what it confirms of the right one. The two differ in what
// the proof rests on: padding that a window may give, accumulators that grow, pieces beyond their
// threshold, positions that are not brought in range, functions with a pole, starts that are
// chosen, cases of a switch, weights that f16 makes zero.

#include "ProofsFixture.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;
using namespace mlir::mp::test;

namespace {

struct Case {
  const char *name;
  const char *arguments, *body; ///< the body gives %y, which a product reads
  const char *right, *wrong;    ///< in place of PART
};

const Case kCases[] = {
    {"windows", "%x: tensor<8x8xf32> {mp.range = [-2.0, 2.0]}", R"mlir(
  %lowest = arith.constant 0xFF800000 : f32
  %beyond = arith.constant PART : f32
  %p = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %beyond : f32
  } : tensor<8x8xf32> to tensor<8x9xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %w = tensor.empty() : tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j + k)>,
      affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<8x9xf32>, tensor<2xf32>) outs(%start : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.maximumf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>)mlir",
     "0xFF800000", "1.0e+30"},
    {"accumulators", "%x: tensor<8x8xf32>, %s: tensor<8x8xf32> {mp.range = [-2.0, 2.0]}", R"mlir(
  %least = arith.constant -100.0 : f32
  %most = arith.constant 100.0 : f32
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %next = arith.addf %a, %out : f32
    %above = arith.maxnumf %next, %least : f32
    %within = arith.minnumf %above, %most : f32
    linalg.yield PART : f32
  } -> tensor<8x8xf32>)mlir",
     "%within", "%next"},
    {"pieces", "%x: tensor<8x8xf32>", R"mlir(
  %threshold = arith.constant dense<PART> : tensor<8x8xf32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %size = math.absf %x : tensor<8x8xf32>
  %square = arith.mulf %x, %x : tensor<8x8xf32>
  %cube = arith.mulf %square, %x : tensor<8x8xf32>
  %inside = arith.cmpf ole, %size, %threshold : tensor<8x8xf32>
  %y = arith.select %inside, %cube, %one : tensor<8x8xi1>, tensor<8x8xf32>)mlir",
     "2.0", "200.0"},
    {"positions", "%x: tensor<8x8xf32>", R"mlir(
  %e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    %large = arith.constant 1000000 : i32
    %m = arith.muli %w, %large : i32
    %in = arith.constant PART : i32
    %r = arith.remui %m, %in : i32
    %f = arith.uitofp %r : i32 to f32
    linalg.yield %f : f32
  } -> tensor<8x8xf32>)mlir",
     "60000", "90000000"},
    {"chosen starts", "%x: tensor<8x8xf32> {mp.range = [-2.0, 2.0]}", R"mlir(
  %first = arith.constant PART : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%first : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %other = linalg.fill ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>,
      affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%start, %other : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32, %kept: f32):
    %larger = arith.cmpf ogt, %a, %out : f32
    %m = arith.select %larger, %a, %out : f32
    %k = arith.maximumf %kept, %m : f32
    linalg.yield %m, %k : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %ee = tensor.empty() : tensor<8x8xf32>
  %y = linalg.broadcast ins(%r#1 : tensor<8xf32>) outs(%ee : tensor<8x8xf32>) dimensions = [1])mlir",
     "-1.0e+38", "1.0e+38"},
    {"switches", "%x: tensor<8x8xf32>, %i: index", R"mlir(
  %y = scf.index_switch %i -> tensor<8x8xf32>
  case 1 {
    %a = math.tanh %x : tensor<8x8xf32>
    scf.yield %a : tensor<8x8xf32>
  }
  default {
    %a = math.PART %x : tensor<8x8xf32>
    scf.yield %a : tensor<8x8xf32>
  })mlir",
     "cos", "exp"},
    {"small weights", "%x: tensor<8x8xf32> {mp.range = [0.5, 2.0]}", R"mlir(
  %w = arith.constant dense<PART> : tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%start : tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = arith.constant dense<0.01> : tensor<8x8xf32>
  %y = arith.divf %c, %h : tensor<8x8xf32>)mlir",
     "1.0e-6", "1.0e-8"},
    {"functions", "%x: tensor<8x8xf32> {mp.range = [-2.0, 2.0]}",
     "  %y = math.PART %x : tensor<8x8xf32>", "atan", "tan"},
};

std::string graphOf(const Case &graph, StringRef part) {
  std::string text = ("func.func @main(" + StringRef(graph.arguments) +
                      ", %o: tensor<8x8xf32>) -> tensor<8x8xf32> {" + graph.body + R"mlir(
  %w0 = arith.constant dense<0.5> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%y, %w0 : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
})mlir")
                         .str();
  size_t at = text.find("PART");
  return text.replace(at, 4, part.str());
}

TEST(OtherGraph, IsRefused) {
  for (const Case &graph : kCases) {
    ProofsFixture fixture;
    OwningOpRef<ModuleOp> module = fixture.decide(graphOf(graph, graph.right));
    ASSERT_TRUE(module) << graph.name;
    Derivation derivation = deriveProofs(*module);
    CheckResult result = fixture.check(*module, derivation);
    EXPECT_TRUE(result.isConfirmed()) << graph.name << ": " << fixture.errors;
    EXPECT_GE(result.conclusions, 1u) << graph.name;
    OwningOpRef<ModuleOp> other = fixture.decide(graphOf(graph, graph.wrong));
    ASSERT_TRUE(other) << graph.name;
    EXPECT_FALSE(fixture.check(*other, derivation).isConfirmed()) << graph.name;
  }
}

} // namespace
