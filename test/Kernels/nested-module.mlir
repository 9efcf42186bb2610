// RUN: not mp-opt %s --mp-to-nvvm="target=sm_80" -o %t.mlir 2>&1 | FileCheck %s
// CHECK: error: lies within another module, expected functions in the outermost one alone

// Functions of a module within a module stayed on tensors, where what makes kernels crashed.
module {
  module @inner {
    func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xf32> {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
  }
}
