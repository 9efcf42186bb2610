// A function of one value of which no more is known than the class assumption keeps that, or does not, whatever its
// parts by themselves would make of it: evidence for f16.
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s

// Softplus: the exponential counts where it is small.
// CHECK-LABEL: func.func @softplus
// CHECK: tosa.matmul {{.*}}compute = f16
func.func @softplus(%x: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %far = "tosa.const"() <{values = dense<20.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %e = tosa.exp %x : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %s = tosa.add %e, %one : (tensor<1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x4x4xf32>
  %l = tosa.log %s : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %c = tosa.greater %x, %far : (tensor<1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x4x4xi1>
  %y = tosa.select %c, %x, %l : (tensor<1x4x4xi1>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %y, %w, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// The exponential itself, where it is large. (Its logarithm is at most 89, or infinite in every format.)
// CHECK-LABEL: func.func @swapped
// CHECK: tosa.matmul {{.*}}compute = f32
func.func @swapped(%x: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %far = "tosa.const"() <{values = dense<20.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %e = tosa.exp %x : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %c = tosa.greater %x, %far : (tensor<1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x4x4xi1>
  %y = tosa.select %c, %e, %x : (tensor<1x4x4xi1>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %y, %w, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// -----

// (x + sqrt(x^2 + 4)) / 2, op by op as linalg on tensors, and in TOSA, whose products have a third operand.
// CHECK-LABEL: func.func @squareplus
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @squareplus(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %four = arith.constant dense<4.0> : tensor<4x4xf32>
  %half = arith.constant dense<0.5> : tensor<4x4xf32>
  %q = arith.mulf %x, %x : tensor<4x4xf32>
  %p = arith.addf %q, %four : tensor<4x4xf32>
  %r = math.sqrt %p : tensor<4x4xf32>
  %s = arith.addf %x, %r : tensor<4x4xf32>
  %y = arith.mulf %s, %half : tensor<4x4xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @squareplus_tosa
// CHECK: tosa.matmul {{.*}}compute = f16
func.func @squareplus_tosa(%x: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %four = "tosa.const"() <{values = dense<4.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %q = tosa.mul %x, %x, %shift : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xi8>) -> tensor<1x4x4xf32>
  %p = tosa.add %q, %four : (tensor<1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x4x4xf32>
  %r = tosa.rsqrt %p : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %t = tosa.reciprocal %r : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %y = tosa.add %x, %t : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %y, %w, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// Two values, or twenty times the size: nothing keeps them.
// CHECK-LABEL: func.func @of_two
// CHECK: linalg.matmul {{.*}}compute = f32
func.func @of_two(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %q = arith.mulf %x, %z : tensor<4x4xf32>
  %r = math.sqrt %q : tensor<4x4xf32>
  %0 = linalg.matmul ins(%r, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @grows
// CHECK: linalg.matmul {{.*}}compute = f32
func.func @grows(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %four = arith.constant dense<4.0> : tensor<4x4xf32>
  %twenty = arith.constant dense<20.0> : tensor<4x4xf32>
  %q = arith.mulf %x, %x : tensor<4x4xf32>
  %p = arith.addf %q, %four : tensor<4x4xf32>
  %r = math.sqrt %p : tensor<4x4xf32>
  %y = arith.mulf %r, %twenty : tensor<4x4xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
