// RUN: mp-opt %s --convert-contractions-to-runtime | FileCheck %s

// CHECK: func.func private @mp_rt_contract(index, index, index, index, index)

// formats: f32 is 1, bf16 is 3: 3 + 256 * 3 + 65536 * 1.
// CHECK-LABEL: @narrow_operands_wide_sums
// CHECK: memref.alloca() : memref<13xindex>
// CHECK: %[[FORMATS:.*]] = arith.constant 66307 : index
// CHECK: call @mp_rt_contract({{.*}}, %[[FORMATS]])
// CHECK-NOT: linalg.matmul
func.func @narrow_operands_wide_sums(%a: memref<4x8xbf16>, %b: memref<8x5xbf16>, %c: memref<4x5xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xbf16>, memref<8x5xbf16>) outs(%c : memref<4x5xf32>)
  return
}

// CHECK-LABEL: @convolution
// CHECK: call @mp_rt_contract
// CHECK-NOT: linalg.conv
func.func @convolution(%x: memref<1x3x9x9xf32>, %w: memref<4x3x3x3xf32>, %y: memref<1x4x4x4xf32>) {
  linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
    ins(%x, %w : memref<1x3x9x9xf32>, memref<4x3x3x3xf32>) outs(%y : memref<1x4x4x4xf32>)
  return
}

// An f16 sum rounds at every step: the order written is kept.
// CHECK-LABEL: @narrow_sums_stay_loops
// CHECK: linalg.matmul
// CHECK-NOT: call
func.func @narrow_sums_stay_loops(%a: memref<4x8xf16>, %b: memref<8x5xf16>, %c: memref<4x5xf16>) {
  linalg.matmul ins(%a, %b : memref<4x8xf16>, memref<8x5xf16>) outs(%c : memref<4x5xf16>)
  return
}

// CHECK-LABEL: @other_bodies_stay_loops
// CHECK: linalg.generic
// CHECK-NOT: call
func.func @other_bodies_stay_loops(%a: memref<4x8xf32>, %b: memref<8xf32>, %c: memref<4xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a, %b : memref<4x8xf32>, memref<8xf32>) outs(%c : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A scalar is no factor with strides: y + s x stays a loop.
// CHECK-LABEL: @scaled_and_added
// CHECK: linalg.generic
// CHECK-NOT: call
func.func @scaled_and_added(%s: f32, %x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%s, %x : f32, memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
