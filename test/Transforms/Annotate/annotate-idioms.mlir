// RUN: mp-opt %s --split-input-file --mp-annotate-idioms | FileCheck %s
// RUN: mp-opt %s --split-input-file --mp-annotate-idioms --mp-annotate-idioms | FileCheck %s

// The parts of a softmax, and not the product that reads it.
// CHECK-LABEL: func.func @names_the_parts_of_a_softmax
// CHECK: tosa.reduce_max {{.*}}mp.idiom = ["softmax#0"]
// CHECK: tosa.sub {{.*}}mp.idiom = ["softmax#0"]
// CHECK: tosa.exp {{.*}}mp.idiom = ["softmax#0"]
// CHECK: tosa.reduce_sum {{.*}}mp.idiom = ["softmax#0"]
// CHECK: tosa.reciprocal {{.*}}mp.idiom = ["softmax#0"]
// CHECK: tosa.mul {{.*}}mp.idiom = ["softmax#0!"]
// CHECK: tosa.matmul
// CHECK-NOT: mp.idiom
// CHECK: return
func.func @names_the_parts_of_a_softmax(%x: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_max %x {axis = 2 : i32} : (tensor<1x4x4xf32>) -> tensor<1x4x1xf32>
  %1 = tosa.sub %x, %0 : (tensor<1x4x4xf32>, tensor<1x4x1xf32>) -> tensor<1x4x4xf32>
  %2 = tosa.exp %1 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %3 = tosa.reduce_sum %2 {axis = 2 : i32} : (tensor<1x4x4xf32>) -> tensor<1x4x1xf32>
  %4 = tosa.reciprocal %3 : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %5 = tosa.mul %2, %4, %shift : (tensor<1x4x4xf32>, tensor<1x4x1xf32>, tensor<1xi8>) -> tensor<1x4x4xf32>
  %6 = tosa.matmul %5, %x, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %6 : tensor<1x4x4xf32>
}

// -----

// The variance of a norm is part of the norm; a mean that is returned as well is the same mean.
// CHECK-LABEL: func.func @lists_the_largest_idiom
// CHECK: linalg.generic {{.*}}mp.idiom = ["rms_norm#0"]
// CHECK: linalg.generic {{.*}}mp.idiom = ["rms_norm#0!", "silu#1!"]
// CHECK-NOT: mp.idiom
// CHECK: return
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @lists_the_largest_idiom(%x: tensor<4x8xf32>, %i: tensor<4xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %p = arith.addf %m, %eps : f32
    %q = math.rsqrt %p : f32
    %y = arith.mulf %a, %q : f32
    %g = arith.negf %y : f32
    %h = math.exp %g : f32
    %k = arith.addf %h, %one : f32
    %l = arith.divf %y, %k : f32
    linalg.yield %l : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @wants_its_own_maximum
// CHECK-NOT: softmax
// CHECK: return
func.func @wants_its_own_maximum(%x: tensor<4x1xf32>, %y: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = tosa.exp %x : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = tosa.exp %y : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = tosa.reduce_sum %1 {axis = 0 : i32} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  %3 = tosa.reciprocal %2 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %4 = tosa.mul %0, %3, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  return %4 : tensor<4x1xf32>
}

// -----

// A variance of no elements would be NaN: where(n > 0, sum / n, nan), as jnp.var has it.
// CHECK-LABEL: func.func @sees_through_a_guard
// CHECK-COUNT-6: mp.idiom = ["rms_norm#0"]
// CHECK: mp.idiom = ["rms_norm#0!"]
func.func @sees_through_a_guard(%x: tensor<4x8xf32>, %any: tensor<4x1xi1>) -> tensor<4x8xf32> {
  %nan = "tosa.const"() <{values = dense<0x7FC00000> : tensor<4x1xf32>}> : () -> tensor<4x1xf32>
  %n = "tosa.const"() <{values = dense<1.250000e-01> : tensor<4x1xf32>}> : () -> tensor<4x1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<4x1xf32>}> : () -> tensor<4x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %x, %shift : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = tosa.mul %1, %n, %shift : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %3 = tosa.select %any, %2, %nan : (tensor<4x1xi1>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = tosa.add %3, %eps : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = tosa.rsqrt %4 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %6 = tosa.mul %x, %5, %shift : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}
