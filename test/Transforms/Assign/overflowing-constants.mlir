// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowest finite number, which frameworks write for minus infinity: 0 times it is 0, but NaN once
// it was rounded to a narrower format. A factor that it may reach stays wide, in every format.

// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=tf32" | FileCheck %s --check-prefix=TF32

// CHECK-LABEL: @masked
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant {{.*}}, which is infinite in bf16, and zero times that NaN"
// F16: linalg.matmul {{.*}}by = range "no evidence
// TF32-LABEL: @masked
// TF32: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant {{.*}}, which is infinite in tf32
func.func @masked(%x: tensor<4x4xf32>, %m: tensor<4x4xi1>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// An infinity is one in every format: zero times it is NaN in f32, too.
// CHECK-LABEL: @masked_by_infinity
// BF16: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @masked_by_infinity(%x: tensor<4x4xf32>, %m: tensor<4x4xi1>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %lowest = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Softmax and clamps leave nothing of a mask.
// CHECK-LABEL: @masked_and_bounded
// BF16: linalg.matmul {{.*}}in = [bf16, bf16, f32]
// F16: linalg.matmul {{.*}}in = [f16, f16, f32]
func.func @masked_and_bounded(%x: tensor<4x4xf32>, %m: tensor<4x4xi1>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %low = arith.constant dense<-1.0e+2> : tensor<4x4xf32>
  %high = arith.constant dense<1.0e+2> : tensor<4x4xf32>
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %1 = arith.maximumf %0, %low : tensor<4x4xf32>
  %2 = arith.minimumf %1, %high : tensor<4x4xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Pooling by 3 with a border of 1: each window holds an element besides.
// CHECK-LABEL: @pooled
// BF16: linalg.conv_2d_nchw_fchw {{.*}}in = [bf16, bf16, f32]
// F16: linalg.conv_2d_nchw_fchw {{.*}}in = [f16, f16, f32]
func.func @pooled(%x: tensor<1x2x6x6xf32>, %w: tensor<2x2x1x1xf32>, %i: tensor<1x2x3x3xf32>, %p: tensor<3x3xf32>) -> tensor<1x2x3x3xf32> {
  %lowest = arith.constant -3.40282347E+38 : f32
  %0 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %lowest : f32
  } : tensor<1x2x6x6xf32> to tensor<1x2x8x8xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%i : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%0, %p : tensor<1x2x8x8xf32>, tensor<3x3xf32>) outs(%1 : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = linalg.conv_2d_nchw_fchw ins(%2, %w : tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) outs(%i : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %3 : tensor<1x2x3x3xf32>
}

// -----

// A border of 3 holds whole windows; so does a window whose steps are wider than the image.
// CHECK-LABEL: @pooled_padding
// BF16: linalg.conv_2d_nchw_fchw {{.*}}by = range "operand 0 may be the finite constant
// F16: linalg.conv_2d_nchw_fchw {{.*}}by = range "no evidence
func.func @pooled_padding(%x: tensor<1x2x6x6xf32>, %w: tensor<2x2x1x1xf32>, %i: tensor<1x2x4x4xf32>, %p: tensor<3x3xf32>) -> tensor<1x2x4x4xf32> {
  %lowest = arith.constant -3.40282347E+38 : f32
  %0 = tensor.pad %x low[0, 0, 3, 1] high[0, 0, 0, 2] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %lowest : f32
  } : tensor<1x2x6x6xf32> to tensor<1x2x9x9xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%i : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%0, %p : tensor<1x2x9x9xf32>, tensor<3x3xf32>) outs(%1 : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = linalg.conv_2d_nchw_fchw ins(%2, %w : tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) outs(%i : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: @dilated_past_the_image
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
func.func @dilated_past_the_image(%x: tensor<1xf32>, %w: tensor<2x2xf32>, %i: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %lowest = arith.constant -3.40282347E+38 : f32
  %0 = tensor.pad %x low[2] high[2] {
  ^bb0(%a: index):
    tensor.yield %lowest : f32
  } : tensor<1xf32> to tensor<5xf32>
  %e = tensor.empty() : tensor<2xf32>
  %p = tensor.empty() : tensor<2xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + 3 * k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
    ins(%0, %p : tensor<5xf32>, tensor<2xf32>) outs(%1 : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.maximumf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<2xf32>
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [1, 2] : tensor<2xf32> into tensor<1x2xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<1x2xf32>, tensor<2x2xf32>) outs(%i : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}

// -----

// The initial value of a maximum is the maximum of no elements.
// CHECK-LABEL: @maximum_of_some
// BF16: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @maximum_of_some(%x: tensor<1x4x8xf32>, %w: tensor<4x4xf32>, %i: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %lowest = arith.constant -3.40282347E+38 : f32
  %0 = linalg.fill ins(%lowest : f32) outs(%i : tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%x : tensor<1x4x8xf32>) outs(%0 : tensor<1x4xf32>) dimensions = [2]
  %2 = linalg.matmul ins(%1, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%i : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: @maximum_of_none
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
// F16: linalg.matmul {{.*}}by = range "no evidence
func.func @maximum_of_none(%x: tensor<1x4x?xf32>, %w: tensor<4x4xf32>, %i: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %lowest = arith.constant -3.40282347E+38 : f32
  %0 = linalg.fill ins(%lowest : f32) outs(%i : tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%x : tensor<1x4x?xf32>) outs(%0 : tensor<1x4xf32>) dimensions = [2]
  %2 = linalg.matmul ins(%1, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%i : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

// Through calls, both ways, and loops.
// CHECK-LABEL: @called
// CHECK: func.func private @product
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
func.func @called(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = func.call @mask() : () -> tensor<4x4xf32>
  %0 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x4xf32> {
    %2 = arith.addf %s, %m : tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  %1 = func.call @product(%0, %w, %i) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @mask() -> tensor<4x4xf32> {
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  return %lowest : tensor<4x4xf32>
}
func.func private @product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// An op that drops NaN gives the bound for it, and what a maximum begins with.
// CHECK-LABEL: @clamped_without_nan
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
// TF32-LABEL: @clamped_without_nan
// TF32: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
func.func @clamped_without_nan(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %0 = arith.maxnumf %x, %lowest : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @clamped_with_nan
// BF16: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @clamped_with_nan(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %0 = arith.maximumf %x, %lowest : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @pooled_without_nan
// BF16: tosa.matmul {{.*}}by = range "operand 0 may be the finite constant
func.func @pooled_without_nan(%x: tensor<1x4x4x2xf32>, %w: tensor<1x2x2xf32>) -> tensor<1x16x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[1, 16, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 1, 1>, nan_mode = IGNORE} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.reshape %0, %s : (tensor<1x4x4x2xf32>, !tosa.shape<3>) -> tensor<1x16x2xf32>
  %2 = tosa.matmul %1, %w, %z, %z : (tensor<1x16x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x2xf32>
  return %2 : tensor<1x16x2xf32>
}

// -----

// Integers whose bits are a number that bf16 rounds to infinity. Behind a choice they are seen, too.
// CHECK-LABEL: @masked_by_bits
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
// F16: linalg.matmul {{.*}}by = range "no evidence
// TF32-LABEL: @masked_by_bits
// TF32: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
func.func @masked_by_bits(%x: tensor<4x4xf32>, %m: tensor<4x4xi1>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %bits = arith.constant dense<-8388609> : tensor<4x4xi32>
  %b = arith.bitcast %x : tensor<4x4xf32> to tensor<4x4xi32>
  %0 = arith.select %m, %b, %bits : tensor<4x4xi1>, tensor<4x4xi32>
  %1 = arith.bitcast %0 : tensor<4x4xi32> to tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @masked_by_modest_bits
// BF16: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @masked_by_modest_bits(%x: tensor<4x4xf32>, %m: tensor<4x4xi1>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %bits = arith.constant dense<-1027080192> : tensor<4x4xi32>
  %b = arith.bitcast %x : tensor<4x4xf32> to tensor<4x4xi32>
  %0 = arith.select %m, %b, %bits : tensor<4x4xi1>, tensor<4x4xi32>
  %1 = arith.bitcast %0 : tensor<4x4xi32> to tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Calls hand integers on.
// CHECK-LABEL: @product_of_bits
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
func.func private @float(%b: tensor<4x4xi32>) -> tensor<4x4xf32> {
  %0 = arith.bitcast %b : tensor<4x4xi32> to tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @product_of_bits(%w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %bits = arith.constant dense<-8388609> : tensor<4x4xi32>
  %0 = func.call @float(%bits) : (tensor<4x4xi32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Each half of these integers is the largest float, then 1.
// CHECK-LABEL: @halves
// BF16: linalg.matmul {{.*}}by = range "operand 0 may be the finite constant
// BF16: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @halves(%w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %large = arith.constant dense<9187343237679939583> : vector<2xi64>
  %one = arith.constant dense<4575657222473777152> : vector<2xi64>
  %0 = vector.bitcast %large : vector<2xi64> to vector<4xf32>
  %1 = vector.bitcast %one : vector<2xi64> to vector<4xf32>
  %2 = vector.extract %0[0] : f32 from vector<4xf32>
  %3 = vector.extract %1[0] : f32 from vector<4xf32>
  %4 = tensor.splat %2 : tensor<4x4xf32>
  %5 = tensor.splat %3 : tensor<4x4xf32>
  %6 = linalg.matmul ins(%4, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = linalg.matmul ins(%5, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %6, %7 : tensor<4x4xf32>, tensor<4x4xf32>
}
