// Private functions whose callers disagree are copied, for callers of one mind each.
//
// RUN: mp-opt %s --split-input-file --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-sweep --run %s | %python %S/Inputs/errors.py f16=4e-3 bf16=2e-2 | FileCheck %s --check-prefix=SWEEP
// SWEEP: 0 above the limit, 0 not run

// One call's result is read narrow, the other's is not.
// CHECK-LABEL: func.func private @product(
// CHECK-SAME: -> tensor<4x4xf16>
// CHECK-LABEL: func.func private @product_copy(
// CHECK-SAME: -> tensor<4x4xf32> attributes {mp.copy_of = "product"
// CHECK-LABEL: func.func @results_read_differently
// CHECK: %[[FIRST:.*]] = call @product(%{{.*}}, %[[W:.*]]) : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: call @product_copy(%[[FIRST]], %[[W]]) : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
func.func private @product(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @results_read_differently(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @product(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @product(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// An argument of a call counts as evidence, as it does where the function is written out: an
// exponential has none for f16.
// CHECK-LABEL: func.func private @product(
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-LABEL: func.func @handed_an_exponential
func.func private @product(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @handed_an_exponential(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = math.exp %x : tensor<4x4xf32>
  %0 = call @product(%e, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// If one call has evidence and another has not, each gets what its arguments allow, through
// functions between them, too.
// CHECK-LABEL: func.func private @outer(
// CHECK: call @product(
// CHECK-LABEL: func.func private @outer_copy(
// CHECK: call @product_copy(
// CHECK-LABEL: func.func private @product(
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-LABEL: func.func private @product_copy(
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xf16>, tensor<4x4xf16>)
// CHECK-LABEL: func.func @evidence_differs
// CHECK: call @outer(
// CHECK: call @outer_copy(
func.func private @outer(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @product(%a, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = arith.addf %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func private @product(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @evidence_differs(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = math.exp %x : tensor<4x4xf32>
  %0 = call @outer(%e, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @outer(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Callers of one mind share the function; of four minds, two get a copy and the rest the original.
// CHECK-LABEL: func.func private @both(
// CHECK-SAME: -> (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-LABEL: func.func private @both_copy(
// CHECK-LABEL: func.func private @both_copy_0(
// CHECK-NOT: func.func private
func.func private @both(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.addf %0, %a : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @four_minds(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0:2 = call @both(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %1:2 = call @both(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %2:2 = call @both(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %3:2 = call @both(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %a = linalg.matmul ins(%0#0, %0#1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%1#0, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%1#1 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.matmul ins(%2#1, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%2#0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = arith.addf %3#0, %3#1 : tensor<4x4xf32>
  return %a, %b, %c, %d : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
