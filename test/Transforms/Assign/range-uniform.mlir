// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TOSA's convolutions have bias and result in the format of their factors: these have to fit, too.

// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16 policy=%S/Inputs/proved.json" | FileCheck %s --check-prefixes=CHECK,PROVED
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s --check-prefixes=CHECK,ASSUMED

// CHECK-LABEL: @small
// CHECK: tosa.conv2d {{.*}}compute = f16{{.*}}evidence = stated
func.func @small(%x: tensor<1x4x4x2xf32> {mp.range = [-100.0, 100.0]}) -> tensor<1x4x4x2xf32> {
  %w = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

// Factors of 40000 and 2 fit f16, their products do not; that results stay small is the class assumption.
// CHECK-LABEL: @large_result
// PROVED: tosa.conv2d {{.*}}by = range "no evidence that its result stays below 65504: it may reach 1.6e+05"
// ASSUMED: tosa.conv2d {{.*}}compute = f16{{.*}}evidence = assumed
func.func @large_result(%x: tensor<1x4x4x2xf32> {mp.range = [-4.0e4, 4.0e4]}) -> tensor<1x4x4x2xf32> {
  %w = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

// A small bias may be lost beside its products, a large one may not overflow.
// CHECK-LABEL: @biases
// CHECK: tosa.conv2d {{.*}}compute = f16
// CHECK: tosa.conv2d {{.*}}by = range {{.*}}1e+05
func.func @biases(%x: tensor<1x4x4x2xf32> {mp.range = [-1.0, 1.0]}) -> (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) {
  %w = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %tiny = "tosa.const"() <{values = dense<1.0e-9> : tensor<2xf32>}> : () -> tensor<2xf32>
  %large = "tosa.const"() <{values = dense<1.0e5> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %tiny, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.conv2d %x, %w, %large, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0, %1 : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}
