// Functions that call each other agree on formats; public signatures stay.
//
// RUN: mp-opt %s --split-input-file --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
// RUN: mp-sweep --run %s | %python %S/Inputs/errors.py f16=4e-3 bf16=2e-2 | FileCheck %s --check-prefix=SWEEP
// SWEEP: 0 above the limit, 0 not run

// Signatures of public functions stay, whoever calls them.
// CHECK-LABEL: func.func @keeps_public_signatures
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32>, %{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: call @layer({{.*}}) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func @layer
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32>, %{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @keeps_public_signatures(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = func.call @layer(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @layer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Two loops that call one private function agree on its types; a function that calls itself ends.
// CHECK-LABEL: func.func @agrees_on_shared_functions
// CHECK-COUNT-2: call @step
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @agrees_on_shared_functions(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4x4xf32>) {
    %2 = func.call @step(%a, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> (tensor<4x4xf32>) {
    %2 = func.call @step(%a, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @step(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.tanh %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
