// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir
// RUN: mp-run %t.mlir --entry=main --check-errors | FileCheck %s
// RUN: mp-run %t.mlir --entry=main --check-errors --numerics=sm_80 | FileCheck %s
// RUN: mp-run %t.mlir --entry=softmax --check-errors | FileCheck %s --check-prefix=SOFTMAX
// RUN: not mp-run %s --entry=main --check-errors --compare=f64 2>&1 | FileCheck %s --check-prefix=USE

// The product, the function of it, and the product after that: all bounded.
// CHECK: 3 values, 3 bounded, bounds 2^{{[2-9]\.[0-9]}} above what was seen on average; 0 outside
// USE: error: --check-errors is of one run on the CPU beside f64, without --device, --compare, --check-ranges and --steps
func.func @main(%x: tensor<16x32xf32>, %w: tensor<32x16xf32>, %v: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<16x16xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x16xf32>) outs(%i0 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = math.tanh %0 : tensor<16x16xf32>
  %e1 = tensor.empty() : tensor<16x8xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%i1 : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}

// Softmax spelled out keeps its bound: its sum is at least 1.
// SOFTMAX: values, {{[0-9]+}} bounded{{.*}}; 0 outside
func.func @softmax(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = linalg.fill ins(%low : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<4x8xf32>) outs(%l : tensor<4xf32>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %d = arith.subf %s, %mb : tensor<4x8xf32>
  %p = math.exp %d : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %tb = linalg.broadcast ins(%t : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %q = arith.divf %p, %tb : tensor<4x8xf32>
  return %q : tensor<4x8xf32>
}

// Both factors rounded to tf32: the reference multiplies them in f64 all the same.
// RUN: mp-run %s --entry=tf32 --check-errors | FileCheck %s --check-prefix=TF32
// RUN: mp-run %s --entry=tf32 --check-errors --numerics=sm_90 | FileCheck %s --check-prefix=TF32
// TF32: 1 values, 1 bounded, {{.*}}; 0 outside
func.func @tf32(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %r = mp.round tf32 %x : tensor<3x3xf32>
  %0 = linalg.matmul ins(%r, %r : tensor<3x3xf32>, tensor<3x3xf32>) outs(%i : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// Padding adds values that are exact, and what is never read has no say.
// RUN: mp-run %s --entry=padded --check-errors | FileCheck %s --check-prefix=PADDED
// PADDED: 1 values, 1 bounded, {{.*}}; 0 outside
func.func @padded(%x: tensor<3x3xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = tensor.pad %x low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x3xf32> to tensor<4x4xf32>
  %1 = linalg.exp ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
