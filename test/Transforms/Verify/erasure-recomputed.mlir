// An op that runs a second time on the same values stands for its first run, and nothing else does.

// RUN: split-file %s %t
// RUN: mp-opt %t/step.mlir --mp-recompute="max-memory=12480" --mp-check-erasure="original=%t/step.mlir" | FileCheck %s --check-prefix=FITS
// RUN: mp-opt %t/step.mlir --mp-recompute="max-memory=14464 narrow=bf16" --mp-check-erasure="original=%t/step.mlir" -o /dev/null
// RUN: mp-opt %t/step.mlir --mp-recompute="max-memory=12480" -o %t/fits.mlir
// RUN: mp-opt %t/fits.mlir --mp-check-erasure="original=%t/step.mlir" -o /dev/null

// FITS: linalg.matmul {{.*}}mp.recomputed

// From another value, by another op, without the mark, and where nothing was computed before.
// RUN: sed 's/math.tanh %arg0 {mp.recomputed}/math.tanh %arg1 {mp.recomputed}/' %t/twice.mlir > %t/value.mlir
// RUN: not mp-opt %t/value.mlir --mp-check-erasure="original=%t/once.mlir" 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: sed 's/math.tanh %arg0 {mp.recomputed}/math.sin %arg0 {mp.recomputed}/' %t/twice.mlir > %t/op.mlir
// RUN: not mp-opt %t/op.mlir --mp-check-erasure="original=%t/once.mlir" 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: sed 's/ {mp.recomputed}//' %t/twice.mlir > %t/mark.mlir
// RUN: not mp-opt %t/mark.mlir --mp-check-erasure="original=%t/once.mlir" 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: sed 's/math.tanh %arg0 {mp.recomputed}/math.tanh %arg0 fastmath<fast> {mp.recomputed}/' %t/twice.mlir > %t/flags.mlir
// RUN: not mp-opt %t/flags.mlir --mp-check-erasure="original=%t/once.mlir" 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: mp-opt %t/twice.mlir --mp-check-erasure="original=%t/once.mlir" -o /dev/null
// FOUND: stands where the original has 'arith.mulf'

//--- step.mlir
func.func @step(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = linalg.matmul ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%fill : tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = math.sin %a : tensor<32x32xf32>
  %c = math.cos %b : tensor<32x32xf32>
  %d = math.exp %c : tensor<32x32xf32>
  %e = arith.mulf %d, %b : tensor<32x32xf32>
  %f = arith.mulf %e, %a : tensor<32x32xf32>
  return %f : tensor<32x32xf32>
}

//--- once.mlir
func.func @step(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %a = math.tanh %arg0 : tensor<8xf32>
  %b = arith.mulf %a, %arg1 : tensor<8xf32>
  %c = arith.mulf %b, %a : tensor<8xf32>
  return %c : tensor<8xf32>
}

//--- twice.mlir
func.func @step(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %a = math.tanh %arg0 : tensor<8xf32>
  %b = arith.mulf %a, %arg1 : tensor<8xf32>
  %again = math.tanh %arg0 {mp.recomputed} : tensor<8xf32>
  %c = arith.mulf %b, %again : tensor<8xf32>
  return %c : tensor<8xf32>
}
