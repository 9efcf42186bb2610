// RUN: mp-opt %s -split-input-file --mp-annotate-ranges | FileCheck %s

// A hand-checked product: eight products of [-2, 3] and 0.5.
// CHECK-LABEL: func.func @bounds_products
// CHECK: linalg.matmul {mp.facts = ["[-8.00{{[0-9]*}}, 12.00{{[0-9]*}}]{{.*}}(assumed)"]}
// CHECK: arith.maximumf %{{.*}} {mp.facts = ["[0, 12.00
// CHECK: arith.mulf %{{.*}} {mp.facts = ["[0, 144.0
func.func @bounds_products(%x: tensor<4x8xf32> {mp.range = [-2.0, 3.0]}) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4x2xf32>
  %w = arith.constant dense<0.5> : tensor<8x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = arith.maximumf %0, %zeros : tensor<4x2xf32>
  %2 = arith.mulf %1, %1 : tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// The maximum over the rows bounds the rows; that over the columns says nothing about them.
// CHECK-LABEL: func.func @relates_what_meets_only
// CHECK: arith.subf %{{.*}} {mp.facts = ["[-{{.*}}, 0]
// CHECK: arith.subf %{{.*}} {mp.facts = ["[-inf, inf]
#id = affine_map<(i,j)->(i,j)>
#row = affine_map<(i,j)->(i)>
func.func @relates_what_meets_only(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %ninf = arith.constant 0xFF800000 : f32
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%m0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %rows = linalg.broadcast ins(%max : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  %columns = linalg.broadcast ins(%max : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
  %0 = arith.subf %x, %rows : tensor<4x4xf32>
  %1 = arith.subf %x, %columns : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A sum in a loop of unknown length ends where f32 absorbs what is added, without iterating; a clamp
// in the loop keeps its bound.
// CHECK-LABEL: func.func @widens_loops
// CHECK: scf.for
// CHECK: {mp.facts = ["[0, 3.3895313892515355e+38]{{[^"]*}}", "[-1, 1]
func.func @widens_loops(%x: tensor<4xf32> {mp.range = [0.0, 1.0]}, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lo = arith.constant dense<-1.0> : tensor<4xf32>
  %hi = arith.constant dense<1.0> : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = arith.addf %a, %x : tensor<4xf32>
    %d = arith.subf %b, %s : tensor<4xf32>
    %l = arith.maximumf %d, %lo : tensor<4xf32>
    %c = arith.minimumf %l, %hi : tensor<4xf32>
    scf.yield %s, %c : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A private function sees what its callers pass.
// CHECK-LABEL: func.func private @square
// CHECK: arith.mulf %{{.*}} {mp.facts = ["[0, 9]
func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32> {mp.range = [0.0, 1.0]}, %y: tensor<4xf32> {mp.range = [-3.0, -2.0]}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @square(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @square(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @knows_nothing_of_unknown_ops
// CHECK: tosa.resize {{.*}}mp.facts = ["[-inf, inf] nan inf"]
func.func @knows_nothing_of_unknown_ops(%x: tensor<1x2x2x1xf32> {mp.range = [0.0, 1.0]}) -> tensor<1x?x?x1xf32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x2x2x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x?x?x1xf32>
  return %0 : tensor<1x?x?x1xf32>
}

// -----

// Every factor but constants stands twice: the sign is that of the constants. One that stands once may have any.
// CHECK-LABEL: func.func @signs_of_squares
// CHECK: arith.mulf %{{.*}}, %arg0 {mp.facts = ["[-inf, 0]
// CHECK: arith.mulf %{{.*}}, %arg0 {mp.facts = ["[-inf, 0]
// CHECK: math.exp %{{.*}} {mp.facts = ["[0, 1
// CHECK: arith.mulf %{{.*}}, %{{.*}} {mp.facts = ["[0, inf]
// CHECK: arith.mulf %{{.*}}, %arg1 {mp.facts = ["[-inf, inf]
func.func @signs_of_squares(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %half = arith.constant dense<-0.5> : tensor<4xf32>
  %0 = arith.negf %x : tensor<4xf32>
  %1 = arith.mulf %0, %x : tensor<4xf32>
  %2 = arith.mulf %half, %x : tensor<4xf32>
  %3 = arith.mulf %2, %x : tensor<4xf32>
  %4 = math.exp %3 : tensor<4xf32>
  %5 = arith.mulf %x, %y : tensor<4xf32>
  %6 = arith.mulf %y, %x : tensor<4xf32>
  %7 = arith.mulf %5, %6 : tensor<4xf32>
  %8 = arith.mulf %2, %y : tensor<4xf32>
  return %1, %4, %7, %8 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
