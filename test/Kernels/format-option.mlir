// From an f32 graph to Tensor Core kernels in one go.
// RUN: mp-opt %s --mp-to-nvvm="format=bf16 target=sm_80" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=TABLE < %t

// TABLE: bf16
// CHECK: gpu.launch_func @mp_kernels::@mma_bf16_{{[0-9x]+}}_0
func.func @mm(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
