// Comparisons, extrema and norms in exporters' spellings are evidence for a factor in f16.
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s

// hardswish: x * clamp(x + 3, 0, 6) / 6, the clamp written as comparisons. x * (at most 6) / 6 is no larger than x.
// CHECK-LABEL: func.func @compared_clamp
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @compared_clamp(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %h = linalg.map ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) (%a: f32, %o: f32) {
    %s = arith.addf %a, %three : f32
    %c0 = arith.cmpf ult, %s, %zero : f32
    %s0 = arith.select %c0, %zero, %s : f32
    %c1 = arith.cmpf ugt, %s0, %six : f32
    %s1 = arith.select %c1, %six, %s0 : f32
    %p = arith.mulf %a, %s1 : f32
    %q = arith.divf %p, %six : f32
    linalg.yield %q : f32
  }
  %0 = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Bounded on one side only.
// CHECK-LABEL: func.func @compared_once
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @compared_once(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %c0 = arith.cmpf ugt, %x, %zero : tensor<4x4xf32>
  %s0 = arith.select %c0, %zero, %x : tensor<4x4xi1>, tensor<4x4xf32>
  %p = arith.mulf %x, %s0 : tensor<4x4xf32>
  %0 = linalg.matmul ins(%p, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Condition and choice in ops of their own, and whole tensors: a divisor of at least one.
// CHECK-LABEL: func.func @compared_elsewhere
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @compared_elsewhere(%x: tensor<4x4xf32>, %n: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = arith.cmpf ogt, %one, %n : tensor<4x4xf32>
  %d = arith.select %c, %one, %n : tensor<4x4xi1>, tensor<4x4xf32>
  %q = arith.divf %x, %d : tensor<4x4xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @compared_in_tosa
// CHECK: tosa.matmul {{.*}}compute = f16
func.func @compared_in_tosa(%x: tensor<1x4x4xf32>, %n: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = tosa.greater_equal %n, %two : (tensor<1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x4x4xi1>
  %d = tosa.select %c, %n, %two : (tensor<1x4x4xi1>, tensor<1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x4x4xf32>
  %r = tosa.reciprocal %d : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %q = tosa.mul %x, %r, %shift : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xi8>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %q, %w, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// -----

// The largest element and where it is, by comparison: no larger than the elements.
// CHECK-LABEL: func.func @largest_and_its_index
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @largest_and_its_index(%x: tensor<4x4x8xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4x4xf32>
  %ei = tensor.empty() : tensor<4x4xi64>
  %m = linalg.fill ins(%lowest : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = linalg.fill ins(%first : i64) outs(%ei : tensor<4x4xi64>) -> tensor<4x4xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x : tensor<4x4x8xf32>) outs(%m, %k : tensor<4x4xf32>, tensor<4x4xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %n = linalg.index 2 : index
    %n64 = arith.index_cast %n : index to i64
    %c = arith.cmpf ogt, %in, %out : f32
    %v = arith.select %c, %in, %out : f32
    %p = arith.select %c, %n64, %at : i64
    linalg.yield %v, %p : f32, i64
  } -> (tensor<4x4xf32>, tensor<4x4xi64>)
  %0 = linalg.matmul ins(%r#0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// out + out * x grows with every element.
// CHECK-LABEL: func.func @sum_of_itself
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @sum_of_itself(%x: tensor<4x4x8xf32> {mp.range = [0.0, 4.0]}, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x : tensor<4x4x8xf32>) outs(%one : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %out : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%r, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A sum that begins with something large is large.
// CHECK-LABEL: func.func @sum_onto_more
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @sum_onto_more(%x: tensor<4x4x8xf32> {mp.range = [0.0, 4.0]}, %y: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %large = math.exp %y : tensor<4x4xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<4x4x8xf32>) outs(%large : tensor<4x4xf32>) dimensions = [2]
  %0 = linalg.matmul ins(%r, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
