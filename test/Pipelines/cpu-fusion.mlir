// On the host, elementwise ops that one other reads share its loops; what sums keeps its own, in the order written, and the bits are the same.
// RUN: mp-opt %s --mp-to-cpu="fuse=true" | FileCheck %s
// RUN: mp-opt %s --mp-to-cpu | FileCheck %s --check-prefix=APART
// RUN: mp-run %s --entry=narrow --input="4xbf16=256 512 256 1" --input="4xbf16=1 1 1.5 1" --math=exact > %t.host
// RUN: mp-run %s --entry=narrow --input="4xbf16=256 512 256 1" --input="4xbf16=1 1 1.5 1" --device=emulator --chip=sm_80 > %t.kernel
// RUN: diff %t.host %t.kernel && FileCheck %s --check-prefix=BITS < %t.host

// CHECK-LABEL: llvm.func @chain
// CHECK-COUNT-1: llvm.call @loops
// CHECK-NOT: llvm.call @loops
// CHECK: llvm.func @_mlir_ciface_chain
// APART-LABEL: llvm.func @chain
// APART-COUNT-3: llvm.call @loops
// APART: llvm.func @_mlir_ciface_chain
func.func @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.exp ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %2 = arith.mulf %1, %y : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The products, zeros, and the sum.
// CHECK-LABEL: llvm.func @sum
// CHECK-COUNT-3: llvm.call @loops
// CHECK: llvm.func @_mlir_ciface_sum
func.func @sum(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %0 = arith.mulf %x, %y : tensor<4x8xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x8xf32>) outs(%c : tensor<4xf32>) dimensions = [1]
  return %1 : tensor<4xf32>
}

// Each op rounds to its format, fused or not: 256 + 1 is 256 in bf16, and 1 is lost twice.
// BITS: result 0: 4xbf16 = [1 1 54.5 7.375]
func.func @narrow(%big: tensor<4xbf16>, %one: tensor<4xbf16>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %0 = linalg.add ins(%big, %one : tensor<4xbf16>, tensor<4xbf16>) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  %1 = linalg.add ins(%0, %one : tensor<4xbf16>, tensor<4xbf16>) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  %2 = linalg.sub ins(%1, %big : tensor<4xbf16>, tensor<4xbf16>) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  %3 = linalg.exp ins(%2 : tensor<4xbf16>) outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  return %3 : tensor<4xbf16>
}
