// RUN: not mp-opt %s --mp-mixed-precision="policy=%S/Inputs/narrow-parameters.json table=false" -o /dev/null 2>&1 | FileCheck %s
// The function that converts parameters needs its name.
// CHECK: parameters-invalid.mlir:[[#@LINE+2]]:1: error: needs a function @layer_convert_params to convert its parameters, but the module has that name
// CHECK: parameters-invalid.mlir:[[#@LINE+5]]:1: note: it is here
func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x2xf32> {mp.role = "parameter"}, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
func.func private @layer_convert_params()
