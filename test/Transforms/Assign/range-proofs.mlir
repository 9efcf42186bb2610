// If the quick evidence of one function says no, the ranges of the whole module may prove that a value fits.

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

// A value that is not proved stays wide, by either.
// CHECK-LABEL: func.func @unbounded
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f32{{.*}}by = range "no evidence that an operand stays below 65504: 'math.exp' has no bound"
func.func @unbounded(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %g = math.exp %x : tensor<4x8xf32>
  %o = linalg.matmul ins(%g, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// An RMS norm whose squares are powers and whose epsilon is f64, as torch prints them: rows have norms of at most sqrt(4), and so products with rows of a
// constant, and what is made of two of those.
// CHECK-LABEL: func.func @squares_as_powers
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f16
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f16
// A cube is no square.
// CHECK-LABEL: func.func @cubes
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f16
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f32{{.*}}no evidence
func.func @squares_as_powers(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %i: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %two = arith.constant 2 : i64
  %four = arith.constant 4.0 : f32
  %eps = arith.constant 1.0e-5 : f64
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %v = arith.constant dense<[[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.5], [0.5, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0]]> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %xx = linalg.map ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) (%a: f32, %o: f32) {
    %p = math.fpowi %a, %two : f32, i64
    linalg.yield %p : f32
  }
  %sum = linalg.reduce {arith.addf} ins(%xx : tensor<2x4xf32>) outs(%zero : tensor<2xf32>) dimensions = [1]
  %r = linalg.map ins(%sum : tensor<2xf32>) outs(%e1 : tensor<2xf32>) (%a: f32, %o: f32) {
    %m = arith.divf %a, %four : f32
    %eps32 = arith.truncf %eps : f64 to f32
    %s = arith.addf %m, %eps32 : f32
    %t = math.rsqrt %s : f32
    linalg.yield %t : f32
  }
  %rs = linalg.broadcast ins(%r : tensor<2xf32>) outs(%e : tensor<2x4xf32>) dimensions = [1]
  %y = arith.mulf %x, %rs : tensor<2x4xf32>
  %z = arith.constant dense<0.0> : tensor<2x4xf32>
  %h = linalg.matmul ins(%y, %v : tensor<2x4xf32>, tensor<4x4xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  %hh = arith.mulf %h, %h : tensor<2x4xf32>
  %0 = linalg.matmul ins(%hh, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%i : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @cubes(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %i: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %three = arith.constant 3 : i64
  %h = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%i : tensor<2x4xf32>) -> tensor<2x4xf32>
  %hh = linalg.map ins(%h : tensor<2x4xf32>) outs(%i : tensor<2x4xf32>) (%a: f32, %o: f32) {
    %p = math.fpowi %a, %three : f32, i64
    linalg.yield %p : f32
  }
  %0 = linalg.matmul ins(%hh, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%i : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// TOSA divides by sums of exponentials through their inverses. No sum of such is less than a share of what its terms are at least,
// so that its inverse is finite. Of exponentials that may be zero nothing is known.
// PROVED-LABEL: func.func @weights
// PROVED: tosa.matmul {{.*}}compute = f16
// PROVED: tosa.matmul {{.*}}compute = f32
func.func @weights(%x: tensor<1x4x8xf32> {mp.range = [-60.0, 60.0]}, %y: tensor<1x4x8xf32> {mp.range = [-100.0, 60.0]}, %w: tensor<1x8x4xf32> {mp.range = [-2.0, 2.0]})
    -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>) {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %e = tosa.exp %x : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %p = tosa.mul %e, %r, %shift : (tensor<1x4x8xf32>, tensor<1x4x1xf32>, tensor<1xi8>) -> tensor<1x4x8xf32>
  %0 = tosa.matmul %p, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %f = tosa.exp %y : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %t = tosa.reduce_sum %f {axis = 2 : i32} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  %q = tosa.reciprocal %t : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %u = tosa.mul %f, %q, %shift : (tensor<1x4x8xf32>, tensor<1x4x1xf32>, tensor<1xi8>) -> tensor<1x4x8xf32>
  %1 = tosa.matmul %u, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0, %1 : tensor<1x4x4xf32>, tensor<1x4x4xf32>
}
