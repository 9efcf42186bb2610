// A batch of any size is no obstacle: a linear layer whose loss is scaled, and its codes in fp8.

// RUN: mp-opt %s --mp-train-step="format=f16 initial-scale=256 table=false" -o %t.f16.mlir
// RUN: mp-run %t.f16.mlir --compare=%s --steps=4 --input=4x4xf32=uniform:1,-1,1 --input=8x4xf32=uniform:2,-1,1 --input=8x4xf32=uniform:3,-1,1 | FileCheck %s
// RUN: mp-opt %s --mp-train-step="format=e4m3 recipe=delayed target=sm_89 table=false" -o %t.fp8.mlir
// RUN: mp-run %t.fp8.mlir --compare=%s --steps=4 --input=4x4xf32=uniform:1,-1,1 --input=8x4xf32=uniform:2,-1,1 --input=8x4xf32=uniform:3,-1,1 | FileCheck %s
// CHECK: state after 4 steps: 0.0{{.*}} of how far the reference moved

func.func @main(%w: tensor<4x4xf32>, %x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<4x4xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %rate = arith.constant dense<0.01> : tensor<4x4xf32>
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %f0 = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %o = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%o : tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = arith.subf %p, %y : tensor<?x4xf32>
  %squares = arith.mulf %d, %d : tensor<?x4xf32>
  %loss = linalg.reduce { arith.addf } ins(%squares : tensor<?x4xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
  %t = tensor.empty(%n) : tensor<4x?xf32>
  %xt = linalg.transpose ins(%x : tensor<?x4xf32>) outs(%t : tensor<4x?xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%xt, %d : tensor<4x?xf32>, tensor<?x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = arith.mulf %g, %rate : tensor<4x4xf32>
  %nw = arith.subf %w, %s : tensor<4x4xf32>
  return %nw, %loss : tensor<4x4xf32>, tensor<f32>
}
