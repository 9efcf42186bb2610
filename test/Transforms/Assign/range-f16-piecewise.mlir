// Functions put together of parts by comparisons are bounded where no part is: evidence for f16.
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s

// 1 / x beyond one, x up to there: at most one. As many ops as parts, as JAX prints erfc.
// CHECK-LABEL: func.func @apart
// CHECK: linalg.matmul {{.*}}compute = f16
#id = affine_map<(i, j) -> (i, j)>
func.func @apart(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %b = tensor.empty() : tensor<4x4xi1>
  %s = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %inverse = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %one, %a : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %small = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4x4xf32>) outs(%b : tensor<4x4xi1>) {
  ^bb0(%a: f32, %o: i1):
    %r = arith.cmpf olt, %a, %one : f32
    linalg.yield %r : i1
  } -> tensor<4x4xi1>
  %f = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%small, %t, %inverse : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%c: i1, %u: f32, %v: f32, %o: f32):
    %r = arith.select %c, %u, %v : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %y = arith.mulf %s, %f : tensor<4x4xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// In one body, and as TOSA.
// CHECK-LABEL: func.func @fused
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @fused(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.map ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) (%a: f32, %o: f32) {
    %t = math.absf %a : f32
    %inverse = arith.divf %one, %t : f32
    %small = arith.cmpf olt, %t, %one : f32
    %f = arith.select %small, %t, %inverse : f32
    %r = arith.mulf %a, %f : f32
    linalg.yield %r : f32
  }
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}compute = f16
func.func @tosa(%x: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %t = tosa.abs %x : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %inverse = tosa.reciprocal %t : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %small = tosa.greater %one, %t : (tensor<1x1x1xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xi1>
  %f = tosa.select %small, %t, %inverse : (tensor<1x4x4xi1>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %y = tosa.mul %x, %f, %shift : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xi8>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %y, %w, %zp, %zp : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// -----

// The other way round nothing bounds it.
// CHECK-LABEL: func.func @wrong_parts
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @wrong_parts(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.map ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) (%a: f32, %o: f32) {
    %t = math.absf %a : f32
    %inverse = arith.divf %one, %t : f32
    %small = arith.cmpf ogt, %t, %one : f32
    %f = arith.select %small, %t, %inverse : f32
    %r = arith.mulf %a, %f : f32
    linalg.yield %r : f32
  }
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Transposed, the parts are functions of different elements.
// CHECK-LABEL: func.func @other_elements
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @other_elements(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = math.absf %a : f32
    %u = math.absf %b : f32
    %inverse = arith.divf %one, %u : f32
    %small = arith.cmpf olt, %t, %one : f32
    %r = arith.select %small, %t, %inverse : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %y = arith.mulf %x, %f : tensor<4x4xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
