// Where the quick evidence of one function says no, the ranges of the whole module may prove that a value fits.

// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s
// RUN: mp-opt %s --mp-assign-precision="format=f16 policy=%S/Inputs/proved.json" | FileCheck %s --check-prefix=PROVED

// Rows of x have norms of at most 3 sqrt(8), those of the constant of 1, so that by Cauchy-Schwarz no product exceeds
// 8.5, and no exponential of one 4900. Eight products of at most 3 alone would let it reach e^24.
// CHECK-LABEL: func.func @norms
// CHECK: linalg.generic {{.*}}compute = f16{{.*}}by = class "T"
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f16{{.*}}by = class "T"
// PROVED-LABEL: func.func @norms
// PROVED: linalg.generic {{.*}}compute = f16
// PROVED: linalg.matmul {mp.precision = {{.*}}compute = f16
func.func @norms(%x: tensor<4x8xf32> {mp.range = [-3.0, 3.0]}, %w: tensor<2x4xf32> {mp.range = [-2.0, 2.0]}, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %v = arith.constant dense<[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, -0.8, 0.0, 0.0, 0.6, 0.0, 0.0]]> : tensor<2x8xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %v : tensor<4x8xf32>, tensor<2x8xf32>) outs(%z : tensor<4x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  %g = math.exp %h : tensor<4x2xf32>
  %o = linalg.matmul ins(%g, %w : tensor<4x2xf32>, tensor<2x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// What is not proved stays wide, by either.
// CHECK-LABEL: func.func @unbounded
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f32{{.*}}by = range "no evidence that an operand stays below 65504: 'math.exp' has no bound"
func.func @unbounded(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %g = math.exp %x : tensor<4x8xf32>
  %o = linalg.matmul ins(%g, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}
