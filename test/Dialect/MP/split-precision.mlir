// Parts of values: text form, folds of constants, and what is refused.

// RUN: split-file %s %t
// RUN: mp-opt %t/text.mlir | mp-opt | FileCheck %t/text.mlir
// RUN: mp-opt %t/fold.mlir --canonicalize | FileCheck %t/fold.mlir
// RUN: mp-opt %t/invalid.mlir --split-input-file --verify-diagnostics

//--- text.mlir
// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.cast ieee %x : tensor<4xf32> to tensor<4xbf16>
  // CHECK: mp.split_residual bf16 of %{{.*}} after %{{.*}} {inserted} : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xbf16>
  %1 = mp.split_residual bf16 of %x after %0 {inserted} : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xbf16>
  // CHECK: mp.split_residual bf16 of %{{.*}} after %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %2 = mp.split_residual bf16 of %x after %0, %1 : (tensor<4xf32>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %3 = mp.round tf32 %x : tensor<4xf32>
  // CHECK: mp.split_residual tf32 of %{{.*}} after %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = mp.split_residual tf32 of %x after %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: mp.join_split %{{.*}}, %{{.*}} {inserted} : tensor<4xf32>
  %5 = mp.join_split %3, %4 {inserted} : tensor<4xf32>
  // CHECK: mp.join_split %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
  %6 = mp.join_split %3, %5, %init : tensor<4xf32>
  return %6 : tensor<4xf32>
}

//--- fold.mlir
// pi in f32 is 3.140625 + 9.6893310546875e-4 - 1.1920928955078125e-6: three parts of bf16 hold it.
// CHECK-LABEL: func.func @pi
// CHECK-DAG: dense<[3.140630e+00, 1.000000e+00]> : tensor<2xbf16>
// CHECK-DAG: dense<[9.689330e-04, 0.000000e+00]> : tensor<2xbf16>
// CHECK-DAG: dense<[-1.192090e-06, 0.000000e+00]> : tensor<2xbf16>
func.func @pi() -> (tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>) {
  %x = arith.constant dense<[3.14159274, 1.0]> : tensor<2xf32>
  %0 = mp.cast ieee %x : tensor<2xf32> to tensor<2xbf16>
  %1 = mp.split_residual bf16 of %x after %0 : (tensor<2xf32>, tensor<2xbf16>) -> tensor<2xbf16>
  %2 = mp.split_residual bf16 of %x after %0, %1 : (tensor<2xf32>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  return %0, %1, %2 : tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>
}

//--- invalid.mlir
func.func @result(%x: tensor<4xf32>, %w: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @+1 {{(C1) expects a result of 'bf16', found 'tensor<4xf16>'}}
  %0 = mp.split_residual bf16 of %x after %w : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

func.func @before(%x: tensor<4xf32>, %w: tensor<4xf16>) -> tensor<4xbf16> {
  // expected-error @+1 {{(C2) expects parts of type 'tensor<4xbf16>', found 'tensor<4xf16>'}}
  %0 = mp.split_residual bf16 of %x after %w : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C2) expects a part before this one: the first is made by 'mp.round tf32'}}
  %0 = "mp.split_residual"(%x) {format = tf32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @scheme(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expects 'mp.split' to be one of "bf16x3", "bf16x6", "bf16x9", "tf32x3", found "bf16x1"}}
  %0 = linalg.matmul {mp.split = "bf16x1"} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
