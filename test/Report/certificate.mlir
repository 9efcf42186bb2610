// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 certify=1 report=%t.json" -o %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80" -o %t.plain.mlir 2>&1 | FileCheck %s --check-prefix=PLAIN --implicit-check-not=certified
// Functions that a certificate counts as exact stay so in kernels.
// RUN: FileCheck %s --check-prefix=MARKED --input-file=%t.mlir
// RUN: not grep mp.certified %t.plain.mlir
// MARKED: func.func @dense({{.*}} attributes {mp.certified, 

// K = 8 factors within 2 and within 1: 16 (2u + u^2) with u = 2^-8 is 0.125; the sum adds little. The weights are constants:
// that mp rounds them counts, 0.999 to bf16 by 2^-10 or so: the bound allows 2u.
// CHECK: error of the results in norm, estimated: 0.0044
// CHECK: error of result 0 of @dense, certified: at most 0.125 of values within 16, for arguments as stated or within 1
// CHECK: error of result 0 of @constant, certified: at most 0.0313 of values within 8, for arguments as stated or within 1
// CHECK: error of result 0 of @lost, certified: no bound, lost at math.log at {{.*}}certificate.mlir:[[@LINE+31]]

// JSON: "certificates": [
// JSON: "assumed": true
// JSON: "assumed_range": 1
// JSON: "bound": 0.12
// JSON: "function": "dense"
// PLAIN: error of the results in norm, estimated: 0.0044

func.func @dense(%x: tensor<4x8xf32> {mp.range = [-2.0, 2.0]}, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

func.func @constant(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.999> : tensor<8x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

func.func @lost(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = math.log %0 : tensor<4x2xf32>
  %2 = math.tanh %0 : tensor<4x2xf32>
  %3 = arith.addf %1, %2 : tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}
