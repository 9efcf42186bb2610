// Values carried by loops and branches have one format each.
//
// RUN: mp-opt %s --split-input-file --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
// RUN: mp-sweep --run %s | %python %S/Inputs/errors.py f16=4e-3 bf16=2e-2 | FileCheck %s --check-prefix=SWEEP
// SWEEP: 0 above the limit, 0 not run

// A weight used in a loop is cast before it, once.
// CHECK-LABEL: func.func @casts_invariants_outside
// CHECK: mp.cast ieee %arg1
// CHECK: scf.for
// CHECK-NOT: mp.cast ieee %arg1
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
func.func @casts_invariants_outside(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4x4xf32>) {
    %1 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = math.tanh %1 : tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// A sum carried beside a value that products read: the sum stays f32.
// CHECK-LABEL: func.func @keeps_carried_sums
// CHECK: scf.for {{.*}} -> (tensor<4x4xf32>, {{.*}}, f32)
// CHECK: arith.addf {{.*}} : tensor<4x4xf32>
// CHECK: scf.yield
func.func @keeps_carried_sums(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %t = arith.constant 10.25 : f32
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %a = %x, %s = %z) -> (tensor<4x4xf32>, tensor<4x4xf32>, f32) {
    %1 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = math.tanh %1 : tensor<4x4xf32>
    %3 = arith.addf %sum, %2 : tensor<4x4xf32>
    %4 = arith.addf %s, %t : f32
    scf.yield %3, %2, %4 : tensor<4x4xf32>, tensor<4x4xf32>, f32
  }
  return %0#0, %0#2 : tensor<4x4xf32>, f32
}

// -----

// Products before, inside, after and across a loop.
// CHECK-LABEL: func.func @narrows_everywhere
// CHECK-COUNT-3: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
func.func @narrows_everywhere(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> (tensor<4x4xf32>) {
    %2 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = math.tanh %2 : tensor<4x4xf32>
    scf.yield %3 : tensor<4x4xf32>
  }
  %4 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// The condition reads the carried value: comparisons see f32.
// CHECK-LABEL: func.func @compares_carried_values_in_f32
// CHECK: scf.while
// CHECK: arith.cmpf olt, {{.*}} : f32
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>) outs({{.*}} : tensor<4x4xf32>)
// CHECK: arith.addf {{.*}} : f32
func.func @compares_carried_values_in_f32(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %k0 = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %limit = arith.constant 3.0 : f32
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0:2 = scf.while (%a = %x, %k = %k0) : (tensor<4x4xf32>, f32) -> (tensor<4x4xf32>, f32) {
    %c = arith.cmpf olt, %k, %limit : f32
    scf.condition(%c) %a, %k : tensor<4x4xf32>, f32
  } do {
  ^bb0(%a: tensor<4x4xf32>, %k: f32):
    %1 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = math.tanh %1 : tensor<4x4xf32>
    %3 = arith.addf %k, %one : f32
    scf.yield %2, %3 : tensor<4x4xf32>, f32
  }
  return %0#0 : tensor<4x4xf32>
}

// -----

// A loop in a loop.
// CHECK-LABEL: func.func @narrows_nested_loops
// CHECK: scf.for
// CHECK: scf.for
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
func.func @narrows_nested_loops(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4x4xf32>) {
    %1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<4x4xf32>) {
      %2 = linalg.matmul ins(%b, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
      %3 = math.tanh %2 : tensor<4x4xf32>
      scf.yield %3 : tensor<4x4xf32>
    }
    scf.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// Branches that compute in different formats join in one; captured values and constants of a branch serve.
// CHECK-LABEL: func.func @joins_branches
// CHECK: scf.if {{.*}} -> (tensor<4x4x[[T:.*]]>)
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK: scf.yield {{.*}} : tensor<4x4x[[T]]>
// CHECK: math.exp {{.*}} : tensor<4x4xf32>
// CHECK: scf.yield {{.*}} : tensor<4x4x[[T]]>
func.func @joins_branches(%c: i1, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %h = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = scf.if %c -> (tensor<4x4xf32>) {
    %w = arith.constant dense<0.25> : tensor<4x4xf32>
    %1 = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    %2 = math.exp %h : tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// Loop bounds and sizes computed beside are integers and stay so.
// CHECK-LABEL: func.func @leaves_indices
// CHECK: tensor.dim
// CHECK: scf.for
func.func @leaves_indices(%x: tensor<4x?xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<4x?xf32>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x?xf32>) outs(%e : tensor<?x4xf32>) permutation = [1, 0]
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %zero) -> (tensor<4x4xf32>) {
    %1 = linalg.matmul ins(%x, %t : tensor<4x?xf32>, tensor<?x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
