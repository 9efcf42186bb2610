// RUN: mp-opt %s --mp-inline-splats --canonicalize | FileCheck %s
// RUN: mp-run %s --entry=divides_by_a_number --input=4x8xf32=1568 | FileCheck %s --check-prefix=VALUES
// VALUES: min 2.0000{{.*}} max 2.0000{{.*}} mean 2.00001

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @divides_by_a_number(
// CHECK-DAG: %[[N:.*]] = arith.constant 7.840000e+02 : f32
// CHECK-DAG: %[[EPS:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>)
// CHECK: arith.divf %{{.*}}, %[[N]]
// CHECK: arith.addf %{{.*}}, %[[EPS]]
func.func @divides_by_a_number(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = arith.constant dense<784.0> : tensor<4x8xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<8xf32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel"]}
       ins(%x, %n, %eps : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A product with ones is still a product, whoever multiplies it.
// CHECK-LABEL: func.func @sums_by_a_product(
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<4x8xf32>, tensor<8xf32>)
func.func @sums_by_a_product(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
       ins(%x, %ones : tensor<4x8xf32>, tensor<8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// No scalar has a type with a sign; the program runs all the same.
// CHECK-LABEL: func.func @keeps_numbers_with_a_sign(
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<4xui16>, tensor<4xui16>)
func.func @keeps_numbers_with_a_sign(%x: tensor<4xui16>, %c: i1) -> tensor<4xui16> {
  %n = arith.constant dense<7> : tensor<4xui16>
  %empty = tensor.empty() : tensor<4xui16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%x, %n : tensor<4xui16>, tensor<4xui16>) outs(%empty : tensor<4xui16>) {
  ^bb0(%a: ui16, %b: ui16, %out: ui16):
    %1 = arith.select %c, %a, %b : ui16
    linalg.yield %1 : ui16
  } -> tensor<4xui16>
  return %0 : tensor<4xui16>
}
