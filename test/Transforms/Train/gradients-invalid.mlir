// Steps without the gradients that a pass needs.
// RUN: split-file %s %t
// RUN: not mp-opt %t/seed.mlir --mp-accumulate-gradients=steps=2 2> %t/said
// RUN: not mp-opt %t/seed.mlir --mp-clip-gradients=norm=1 2>> %t/said
// RUN: not mp-opt %t/seed.mlir --mp-insert-loss-scale 2>> %t/said
// RUN: not mp-opt %t/unscaled.mlir --mp-accumulate-gradients=steps=2 2>> %t/said
// RUN: not mp-opt %t/half.mlir --mp-clip-gradients=norm=1 2>> %t/said
// RUN: not mp-opt %t/half.mlir --mp-insert-loss-scale 2>> %t/said
// RUN: not mp-opt %t/both.mlir --mp-annotate-roles 2>> %t/said
// RUN: FileCheck %s < %t/said
// CHECK: seed.mlir:1:1: error: has a seed, but no gradient that the optimizer takes over
// CHECK: seed.mlir:1:1: error: has a seed, but no gradient that the optimizer takes over
// CHECK: seed.mlir:1:1: error: has a seed, but no gradient that the optimizer takes over
// CHECK: unscaled.mlir:2:10: error: takes a scale out that nothing has put in, expected mp.scale_loss before it
// CHECK: half.mlir:1:1: error: has a gradient of 'tensor<8x2xf16>', expected f32: clip before precision is assigned
// CHECK: half.mlir:4:8: error: the backward pass begins with a 'tensor<4x2xf16>', expected f32: scale the loss before precision is assigned
// CHECK: both.mlir:1:1: error: arguments #0 and #1 both name result #0 in 'mp.state'

//--- seed.mlir
func.func @main(%w: tensor<4x2xf32> {mp.state = 0}, %x: tensor<4x4xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %pz = arith.constant dense<0.0> : tensor<4x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x2xf32>) outs(%pz : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = arith.subf %p, %y {mp.role = "seed"} : tensor<4x2xf32>
  %n = arith.subf %w, %d : tensor<4x2xf32>
  return %n : tensor<4x2xf32>
}
//--- unscaled.mlir
func.func @main(%w: tensor<4xf32> {mp.role = "parameter", mp.state = 0}, %g: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %0:2 = mp.unscale %g by %s : tensor<4xf32>
  %1 = arith.subf %w, %0#0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
//--- half.mlir
func.func @main(%w: tensor<8x2xf16>, %x: tensor<4x8xf16>, %xt: tensor<8x4xf16>, %y: tensor<4x2xf16>) -> tensor<8x2xf16> {
  %pz = arith.constant dense<0.0> : tensor<4x2xf16>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x2xf16>) outs(%pz : tensor<4x2xf16>) -> tensor<4x2xf16>
  %d = arith.subf %p, %y {mp.role = "seed"} : tensor<4x2xf16>
  %gz = arith.constant dense<0.0> : tensor<8x2xf16>
  %g = linalg.matmul ins(%xt, %d : tensor<8x4xf16>, tensor<4x2xf16>) outs(%gz : tensor<8x2xf16>) -> tensor<8x2xf16>
  %n = arith.subf %w, %g : tensor<8x2xf16>
  return %n : tensor<8x2xf16>
}
//--- both.mlir
func.func @main(%w: tensor<8x2xf32> {mp.state = 0}, %v: tensor<8x2xf32> {mp.state = 0}, %x: tensor<4x8xf32>, %xt: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
  %pz = arith.constant dense<0.0> : tensor<4x2xf32>
  %gz = arith.constant dense<0.0> : tensor<8x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%pz : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = arith.subf %p, %y {mp.role = "seed"} : tensor<4x2xf32>
  %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%gz : tensor<8x2xf32>) -> tensor<8x2xf32>
  %n = arith.subf %w, %g : tensor<8x2xf32>
  return %n : tensor<8x2xf32>
}
