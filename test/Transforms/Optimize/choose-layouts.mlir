// Channels lie last where kernels of convolutions gain more by that than transpositions take, decided once for the graph.

// RUN: split-file %s %t
// RUN: mp-opt %t/chain.mlir --mp-choose-layouts --remarks-filter=mp -o %t/moved.mlir 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: FileCheck %s --check-prefix=MOVED < %t/moved.mlir
// RUN: mp-opt %t/moved.mlir --mp-check-erasure="original=%t/chain.mlir" -o /dev/null
// RUN: mp-opt %t/alone.mlir --mp-choose-layouts | FileCheck %s --check-prefix=ALONE
// RUN: mp-opt %t/last.mlir --mp-choose-layouts | FileCheck %s --check-prefix=LAST
// RUN: not mp-opt %t/alone.mlir --mp-choose-layouts=target=sm_1 2>&1 | FileCheck %s --check-prefix=TARGET

// The kernels are those that were priced: elements one by one, and 16 bytes at a time.
// RUN: mp-opt %t/chain.mlir --mp-to-nvvm="target=sm_80 emit=ptx dir=%t/before" --remarks-filter=mp-dispatches -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: mp-opt %t/moved.mlir --mp-to-nvvm="target=sm_80 emit=ptx dir=%t/after" --remarks-filter=mp-dispatches -o /dev/null 2>&1 | FileCheck %s --check-prefix=AFTER
// BEFORE-COUNT-3: copy=loads
// AFTER: matmul tile=
// AFTER-NOT: copy=loads

//--- chain.mlir
// SAYS: 3 of 3 convolutions channels last, 2 transpositions: modelled {{.*}} us on A100 SXM 40GB, {{.*}} us as they lie, optimal
// MOVED-LABEL: func.func @chain
// MOVED-SAME: mp.layout_plan = "3 of 3 convolutions channels last
// The cast of the argument writes what the transposition reads; weights are made by the compiler.
// MOVED: %[[X:.*]] = mp.cast
// MOVED: linalg.transpose ins({{.*}} : tensor<8x64x28x28xbf16>) {{.*}} permutation = [0, 2, 3, 1]  {mp.layout}
// MOVED: tensor.pad {{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// MOVED: linalg.generic {{.*}} ins({{.*}} : tensor<8x30x30x64xbf16>, tensor<64x3x3x64xbf16>)
// MOVED-SAME: mp.layout = array<i64: 0, 2, 3, 1, 5, 6, 4>
// MOVED: arith.maximumf {{.*}} : tensor<8x28x28x64xf32>
// MOVED-NOT: permutation = [0, 3, 1, 2]
// MOVED: linalg.generic {{.*}} outs({{.*}} : tensor<8x13x13x64xbf16>)
// MOVED: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]  {mp.layout}
// MOVED-NEXT: return
func.func @chain(%x: tensor<8x64x28x28xf32>) -> tensor<8x64x13x13xbf16> {
  %w = arith.constant dense<0.5> : tensor<64x64x3x3xbf16>
  %v = arith.constant dense<1.0> : tensor<64x64x3x3xbf16>
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF80 : bf16
  %n = mp.cast ieee %x {inserted} : tensor<8x64x28x28xf32> to tensor<8x64x28x28xbf16>
  %p = tensor.pad %n low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x64x28x28xbf16> to tensor<8x64x30x30xbf16>
  %e = tensor.empty() : tensor<8x64x28x28xf32>
  %f = linalg.fill ins(%none : f32) outs(%e : tensor<8x64x28x28xf32>) -> tensor<8x64x28x28xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<8x64x30x30xbf16>, tensor<64x64x3x3xbf16>) outs(%f : tensor<8x64x28x28xf32>) -> tensor<8x64x28x28xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x64x28x28xf32>
  %1 = arith.maximumf %0, %zeros : tensor<8x64x28x28xf32>
  %2 = mp.cast ieee %1 {inserted} : tensor<8x64x28x28xf32> to tensor<8x64x28x28xbf16>
  %p2 = tensor.pad %2 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x64x28x28xbf16> to tensor<8x64x30x30xbf16>
  %3 = linalg.conv_2d_nchw_fchw ins(%p2, %v : tensor<8x64x30x30xbf16>, tensor<64x64x3x3xbf16>) outs(%f : tensor<8x64x28x28xf32>) -> tensor<8x64x28x28xf32>
  %4 = arith.addf %3, %1 : tensor<8x64x28x28xf32>
  %5 = mp.cast ieee %4 {inserted} : tensor<8x64x28x28xf32> to tensor<8x64x28x28xbf16>
  %g = tensor.empty() : tensor<8x64x26x26xf32>
  %h = linalg.fill ins(%none : f32) outs(%g : tensor<8x64x26x26xf32>) -> tensor<8x64x26x26xf32>
  %6 = linalg.conv_2d_nchw_fchw ins(%5, %w : tensor<8x64x28x28xbf16>, tensor<64x64x3x3xbf16>) outs(%h : tensor<8x64x26x26xf32>) -> tensor<8x64x26x26xf32>
  %7 = mp.cast ieee %6 {inserted} : tensor<8x64x26x26xf32> to tensor<8x64x26x26xbf16>
  %window = tensor.empty() : tensor<2x2xbf16>
  %q = tensor.empty() : tensor<8x64x13x13xbf16>
  %r = linalg.fill ins(%lowest : bf16) outs(%q : tensor<8x64x13x13xbf16>) -> tensor<8x64x13x13xbf16>
  %8 = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} ins(%7, %window : tensor<8x64x26x26xbf16>, tensor<2x2xbf16>) outs(%r : tensor<8x64x13x13xbf16>) -> tensor<8x64x13x13xbf16>
  return %8 : tensor<8x64x13x13xbf16>
}

// One convolution gains less than two transpositions take.
//--- alone.mlir
// ALONE: mp.layout_plan = "0 of 1 convolutions channels last, 0 transpositions
// ALONE: linalg.conv_2d_nchw_fchw
// TARGET: sm_1
func.func @alone(%x: tensor<1x16x10x10xbf16>, %w: tensor<16x16x3x3xbf16>, %init: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x10x10xbf16>, tensor<16x16x3x3xbf16>) outs(%init : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}

// Channels that are last stay there.
//--- last.mlir
// LAST: mp.layout_plan = "0 of 2 convolutions channels last, 0 transpositions
// LAST: linalg.conv_2d_nhwc_hwcf
func.func @last(%x: tensor<8x30x30x64xbf16>, %w: tensor<3x3x64x64xbf16>, %init: tensor<8x28x28x64xf32>, %other: tensor<8x26x26x64xf32>) -> tensor<8x26x26x64xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<8x30x30x64xbf16>, tensor<3x3x64x64xbf16>) outs(%init : tensor<8x28x28x64xf32>) -> tensor<8x28x28x64xf32>
  %1 = mp.cast ieee %0 {inserted} : tensor<8x28x28x64xf32> to tensor<8x28x28x64xbf16>
  %2 = linalg.conv_2d_nhwc_hwcf ins(%1, %w : tensor<8x28x28x64xbf16>, tensor<3x3x64x64xbf16>) outs(%other : tensor<8x26x26x64xf32>) -> tensor<8x26x26x64xf32>
  return %2 : tensor<8x26x26x64xf32>
}
