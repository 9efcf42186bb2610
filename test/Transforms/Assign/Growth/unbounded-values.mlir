// Values that f16 has no room for, or no resolution, are decided by range and class.
//
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=f16" | FileCheck %s
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=bf16" | FileCheck %s --check-prefix=BF16

// Squares, in either spelling, of values that may reach 300 and more.
// CHECK-LABEL: func.func @bounds_no_squares
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @bounds_no_squares(%x: tensor<4x4xf32>, %k: tensor<4x4xf32> {mp.range = [-200.0, 200.0]}, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %0 = arith.mulf %x, %x : tensor<4x4xf32>
  %1 = math.powf %x, %two : tensor<4x4xf32>
  %2 = arith.mulf %k, %k : tensor<4x4xf32>
  %3 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = linalg.matmul ins(%2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// x / (y + 1e-12) has no bound; x / (|y| + 1) has x's.
// CHECK-LABEL: func.func @weighs_denominators
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @weighs_denominators(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %tiny = arith.constant dense<1.0e-12> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %power = arith.constant dense<-1.77> : tensor<4x4xf32>
  %m = math.absf %y : tensor<4x4xf32>
  %a = arith.addf %m, %tiny : tensor<4x4xf32>
  %0 = arith.divf %x, %a : tensor<4x4xf32>
  %p = math.powf %a, %power : tensor<4x4xf32>
  %1 = arith.mulf %x, %p : tensor<4x4xf32>
  %b = arith.addf %m, %one : tensor<4x4xf32>
  %2 = arith.divf %x, %b : tensor<4x4xf32>
  %3 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = linalg.matmul ins(%2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Positions: the product that makes angles stays f32 in every format, the one beside it does not.
// CHECK-LABEL: func.func @keeps_angles
// CHECK: linalg.matmul {{.*}}compute = f32
// BF16: linalg.matmul {{.*}}compute = f32{{.*}}by = class "T, but its result is an angle"
// CHECK: math.sin {{.*}}compute = f32
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @keeps_angles(%p: tensor<4x1xi32>, %f: tensor<1x4xf32>, %x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %q = arith.sitofp %p : tensor<4x1xi32> to tensor<4x1xf32>
  %0 = linalg.matmul ins(%q, %f : tensor<4x1xf32>, tensor<1x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.sin %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Comparisons, steps and integers made of a product read its f32 result.
// CHECK-LABEL: func.func @compares_in_f32
// CHECK: linalg.matmul {{.*}}out = [f32]
// CHECK: arith.addf {{.*}}in = [f32, f32], compute = f32{{.*}}out = [f32]
// CHECK: arith.cmpf ogt{{.*}}in = [f32, f32]
// CHECK: math.floor {{.*}}in = [f32]
// CHECK: arith.fptosi {{.*}}in = [f32]
func.func @compares_in_f32(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xi1>, tensor<4x4xi32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.addf %0, %b : tensor<4x4xf32>
  %2 = arith.cmpf ogt, %1, %b : tensor<4x4xf32>
  %3 = math.floor %1 : tensor<4x4xf32>
  %4 = arith.fptosi %3 : tensor<4x4xf32> to tensor<4x4xi32>
  return %2, %4 : tensor<4x4xi1>, tensor<4x4xi32>
}

// -----

// Products over a dimension, and logarithms of small probabilities.
// CHECK-LABEL: func.func @keeps_products_and_logarithms
// CHECK: linalg.reduce {{.*}}compute = f32
// CHECK: math.log {{.*}}compute = f32
// CHECK: math.log1p {{.*}}compute = f32
func.func @keeps_products_and_logarithms(%x: tensor<4x4xf32>, %i: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg.reduce { arith.mulf } ins(%x : tensor<4x4xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
  %1 = math.log %0 : tensor<4xf32>
  %2 = math.log1p %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
