// RUN: mp-run %s --entry=main
// RUN: mp-run %s --entry=main --compare=f64
// RUN: mp-run %s --entry=main --device=emulator --chip=sm_80
// RUN: not mp-run %s --entry=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" | FileCheck %s --check-prefix=NARROW
// RUN: mp-run %s --entry=winograd_is_the_convolution

func.func @main() {
  %x = arith.constant dense<[[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [[6.0, 7.0], [8.0, 9.0], [10.0, 11.0]]]> : tensor<2x3x2xf32>
  %at = arith.constant dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi32>
  %0 = call @rows(%x, %at) : (tensor<2x3x2xf32>, tensor<3x2xi32>) -> tensor<3x3xf32>
  %1 = arith.constant dense<[[6.0, 8.0, 10.0], [1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]> : tensor<3x3xf32>
  check.expect_bits %0, %1 : tensor<3x3xf32>

  %xd = tensor.cast %x : tensor<2x3x2xf32> to tensor<?x?x2xf32>
  %atd = tensor.cast %at : tensor<3x2xi32> to tensor<?x2xi32>
  %2 = call @kept(%xd, %atd) : (tensor<?x?x2xf32>, tensor<?x2xi32>) -> tensor<?x1x?x1xf32>
  %3 = tensor.collapse_shape %2 [[0, 1], [2, 3]] : tensor<?x1x?x1xf32> into tensor<?x?xf32>
  %4 = tensor.cast %3 : tensor<?x?xf32> to tensor<3x3xf32>
  check.expect_bits %4, %1 : tensor<3x3xf32>

  // They go back to where they were taken from, negated; the rest stays. The tables themselves are
  // not written to.
  %n = arith.negf %1 : tensor<3x3xf32>
  %5 = call @back(%n, %x, %at) : (tensor<3x3xf32>, tensor<2x3x2xf32>, tensor<3x2xi32>) -> tensor<2x3x2xf32>
  %6 = arith.constant dense<[[[0.0, -1.0], [2.0, -3.0], [4.0, -5.0]], [[-6.0, -7.0], [-8.0, -9.0], [-10.0, -11.0]]]> : tensor<2x3x2xf32>
  check.expect_bits %5, %6 : tensor<2x3x2xf32>
  %7 = arith.negf %2 : tensor<?x1x?x1xf32>
  %8 = call @back_kept(%7, %xd, %atd) : (tensor<?x1x?x1xf32>, tensor<?x?x2xf32>, tensor<?x2xi32>) -> tensor<?x?x2xf32>
  %9 = tensor.cast %8 : tensor<?x?x2xf32> to tensor<2x3x2xf32>
  check.expect_bits %9, %6 : tensor<2x3x2xf32>
  return
}

// NARROW-LABEL: @rows
// NARROW: tensor.gather
func.func private @rows(%x: tensor<2x3x2xf32>, %at: tensor<3x2xi32>) -> tensor<3x3xf32> {
  %0 = tensor.gather %x[%at] gather_dims([0, 2]) : (tensor<2x3x2xf32>, tensor<3x2xi32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
func.func private @kept(%x: tensor<?x?x2xf32>, %at: tensor<?x2xi32>) -> tensor<?x1x?x1xf32> {
  %0 = tensor.gather %x[%at] gather_dims([0, 2]) unique : (tensor<?x?x2xf32>, tensor<?x2xi32>) -> tensor<?x1x?x1xf32>
  return %0 : tensor<?x1x?x1xf32>
}
func.func private @back(%u: tensor<3x3xf32>, %x: tensor<2x3x2xf32>, %at: tensor<3x2xi32>) -> tensor<2x3x2xf32> {
  %0 = tensor.scatter %u into %x[%at] scatter_dims([0, 2]) unique : (tensor<3x3xf32>, tensor<2x3x2xf32>, tensor<3x2xi32>) -> tensor<2x3x2xf32>
  return %0 : tensor<2x3x2xf32>
}
func.func private @back_kept(%u: tensor<?x1x?x1xf32>, %x: tensor<?x?x2xf32>, %at: tensor<?x2xi32>) -> tensor<?x?x2xf32> {
  %0 = tensor.scatter %u into %x[%at] scatter_dims([0, 2]) unique : (tensor<?x1x?x1xf32>, tensor<?x?x2xf32>, tensor<?x2xi32>) -> tensor<?x?x2xf32>
  return %0 : tensor<?x?x2xf32>
}

// OUTSIDE: index out of bounds in dimension 0 of a tensor.extract at {{.*}}gathers.mlir":[[#@LINE+3]]
func.func @outside(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %at = arith.constant dense<[[1], [2]]> : tensor<2x1xindex>
  %0 = tensor.gather %x[%at] gather_dims([0]) : (tensor<2x3xf32>, tensor<2x1xindex>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Products before and behind a gather are narrow.
// NARROW-LABEL: @product
// NARROW: linalg.matmul {{.*}}bf16
// NARROW: tensor.gather
// NARROW: linalg.matmul {{.*}}bf16
func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %at: tensor<2x1xindex>) -> tensor<2x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = tensor.gather %0[%at] gather_dims([0]) : (tensor<4x8xf32>, tensor<2x1xindex>) -> tensor<2x8xf32>
  %e2 = tensor.empty() : tensor<2x8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<2x8xf32>, tensor<8x8xf32>) outs(%z2 : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// A convolution as upstream's Winograd pattern writes it, beside the convolution itself.
func.func @winograd_is_the_convolution(%x: tensor<2x10x10x5xf32>, %w: tensor<3x3x3x5xf32>) {
  %0 = call @winograd(%x, %w) : (tensor<2x10x10x5xf32>, tensor<3x3x3x5xf32>) -> tensor<2x8x8x3xf32>
  %1 = call @direct(%x, %w) : (tensor<2x10x10x5xf32>, tensor<3x3x3x5xf32>) -> tensor<2x8x8x3xf32>
  check.expect_close %0, %1 abs 1.0e-6 : tensor<2x8x8x3xf32>
  return
}
func.func private @winograd(%x: tensor<2x10x10x5xf32>, %w: tensor<3x3x3x5xf32>) -> tensor<2x8x8x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<6x6x5x3xf32>
  %f = linalg.winograd_filter_transform fmr(F_4_3) ins(%w : tensor<3x3x3x5xf32>) outs(%e0 : tensor<6x6x5x3xf32>) -> tensor<6x6x5x3xf32>
  %e1 = tensor.empty() : tensor<6x6x2x2x2x5xf32>
  %d = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<2x10x10x5xf32>) outs(%e1 : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>
  %fc = tensor.collapse_shape %f [[0, 1], [2], [3]] : tensor<6x6x5x3xf32> into tensor<36x5x3xf32>
  %dc = tensor.collapse_shape %d [[0, 1], [2, 3, 4], [5]] : tensor<6x6x2x2x2x5xf32> into tensor<36x8x5xf32>
  %e2 = tensor.empty() : tensor<36x8x3xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<36x8x3xf32>) -> tensor<36x8x3xf32>
  %p = linalg.batch_matmul ins(%dc, %fc : tensor<36x8x5xf32>, tensor<36x5x3xf32>) outs(%z2 : tensor<36x8x3xf32>) -> tensor<36x8x3xf32>
  %pe = tensor.expand_shape %p [[0, 1], [2, 3, 4], [5]] output_shape [6, 6, 2, 2, 2, 3] : tensor<36x8x3xf32> into tensor<6x6x2x2x2x3xf32>
  %e3 = tensor.empty() : tensor<2x8x8x3xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x8x8x3xf32>) -> tensor<2x8x8x3xf32>
  %y = linalg.winograd_output_transform fmr(F_4_3) ins(%pe : tensor<6x6x2x2x2x3xf32>) outs(%z3 : tensor<2x8x8x3xf32>) -> tensor<2x8x8x3xf32>
  return %y : tensor<2x8x8x3xf32>
}
func.func private @direct(%x: tensor<2x10x10x5xf32>, %w: tensor<3x3x3x5xf32>) -> tensor<2x8x8x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x8x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x8x3xf32>) -> tensor<2x8x8x3xf32>
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<2x10x10x5xf32>, tensor<3x3x3x5xf32>) outs(%z : tensor<2x8x8x3xf32>) -> tensor<2x8x8x3xf32>
  return %0 : tensor<2x8x8x3xf32>
}
