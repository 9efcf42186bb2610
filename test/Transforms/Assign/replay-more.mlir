// Decisions about signatures, private functions and graphs that are narrow already are replayed too.
// RUN: mp-opt %s --mp-mixed-precision="policy=%S/../Materialize/Inputs/narrow-parameters.json report=%t.json table=false" -o %t.first.mlir
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.json table=false" -o %t.second.mlir
// RUN: diff %t.first.mlir %t.second.mlir
// RUN: FileCheck %s --input-file=%t.second.mlir

// CHECK: func.func @weights(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xbf16> {mp.role = "parameter", mp.storage = bf16}
// CHECK: func.func @weights_convert_params
func.func @weights(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {mp.role = "parameter"}, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK: func.func private @product(%arg0: tensor<4x4xbf16>
func.func private @product(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @calls(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.addf %x, %x : tensor<4x4xf32>
  %1 = call @product(%0, %i) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @sums_wider
// CHECK: linalg.reduce {{.*}}outs(%{{.*}} : tensor<4xf32>)
func.func @sums_wider(%x: tensor<4x4xbf16>) -> tensor<4xbf16> {
  %c = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4xbf16>
  %z = linalg.fill ins(%c : bf16) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  %0 = linalg.reduce ins(%x : tensor<4x4xbf16>) outs(%z : tensor<4xbf16>) dimensions = [1]
    (%a: bf16, %b: bf16) {
      %s = arith.addf %a, %b : bf16
      linalg.yield %s : bf16
    }
  return %0 : tensor<4xbf16>
}
