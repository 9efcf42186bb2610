// A signature changes where the user asks for it.
//
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s

// A signature that the user asks for changes; one beside it does not.
// CHECK-LABEL: func.func @changes_signatures_on_request
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xbf16> {{.*}}) -> tensor<4x4xf32>
// CHECK: linalg.matmul ins(%{{.*}}, %[[W]] : tensor<4x4xbf16>, tensor<4x4xbf16>)
func.func @changes_signatures_on_request(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {mp.pin = bf16}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
