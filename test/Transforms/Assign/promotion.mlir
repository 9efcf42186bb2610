// RUN: split-file %s %t
// RUN: mp-opt %t/narrow.mlir --mp-mixed-precision="format=f16" -o %t/promoted.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: FileCheck %s --input-file=%t/promoted.mlir
// RUN: mp-opt %t/promoted.mlir --mp-check-erasure="original=%t/narrow.mlir" -o /dev/null
// RUN: not mp-opt %t/promoted.mlir --mp-check-erasure="original=%t/narrow.mlir promote=off" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: mp-opt %t/narrow.mlir --mp-mixed-precision="format=f16 promote=off table=false" -o %t/kept.mlir
// RUN: FileCheck %s --input-file=%t/kept.mlir --check-prefix=OFF
// RUN: mp-opt %t/kept.mlir --mp-check-erasure="original=%t/narrow.mlir promote=off" -o /dev/null
// RUN: not mp-opt %t/narrow.mlir --mp-mixed-precision="promote=maybe" 2>&1 | FileCheck %s --check-prefix=OPTION

// TABLE: 4 contractions narrow already;
// TABLE-NOT: left as found
// TABLE: 10 ops narrow already, widened to f32 inside (promotion)
// REFUSED: is a promotion, which 'promote=off' forbids
// OPTION: option 'promote' is 'maybe', expected on or off

// With promote=off nothing changes but the phase.
// OFF-NOT: mp.cast
// OFF-NOT: xf32

//--- narrow.mlir
// CHECK-LABEL: func.func @accumulates_contractions_in_f32
// CHECK: %[[M:.*]] = linalg.matmul ins(%{{.*}} : tensor<4x8xf16>, tensor<8x4xf16>) outs(%{{.*}} : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: mp.cast ieee %[[M]] {inserted} : tensor<4x4xf32> to tensor<4x4xf16>
func.func @accumulates_contractions_in_f32(%x: tensor<4x8xf16>, %w: tensor<8x4xf16>) -> tensor<4x4xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x4xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<4x4xf16>) -> tensor<4x4xf16>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x4xf16>) outs(%i : tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}

// The body of a generic one follows.
// CHECK-LABEL: func.func @widens_generic_bodies
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[C:.*]]: f32):
// CHECK: %[[AW:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK: arith.mulf %[[AW]], %{{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
#a = affine_map<(i,j,k)->(i,k)>
#b = affine_map<(i,j,k)->(j,k)>
#c = affine_map<(i,j,k)->(i,j)>
func.func @widens_generic_bodies(%x: tensor<4x8xbf16>, %w: tensor<4x8xbf16>, %init: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%init : tensor<4x4xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %m = arith.mulf %p, %q : bf16
    %s = arith.addf %o, %m : bf16
    linalg.yield %s : bf16
  } -> tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// CHECK-LABEL: func.func @computes_softmax_in_f32
// CHECK: %[[S:.*]] = linalg.softmax dimension(1) ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: mp.cast ieee %[[S]] {inserted} : tensor<4x8xf32> to tensor<4x8xf16>
func.func @computes_softmax_in_f32(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = tensor.empty() : tensor<4x8xf16>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf16>) -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// A value that only widened ops read is not rounded between them: exp, sum and quotient of a softmax in
// pieces.
// CHECK-LABEL: func.func @stays_wide_inside_a_softmax_in_pieces
// CHECK: tosa.sub {{.*}} -> tensor<4x8xf32>
// CHECK: %[[E:.*]] = tosa.exp {{.*}} -> tensor<4x8xf32>
// CHECK: %[[SUM:.*]] = tosa.reduce_sum %[[E]] {{.*}} -> tensor<4x1xf32>
// CHECK: %[[R:.*]] = tosa.reciprocal %[[SUM]] : (tensor<4x1xf32>) -> tensor<4x1xf32>
func.func @stays_wide_inside_a_softmax_in_pieces(%x: tensor<4x8xf16>, %max: tensor<4x1xf16>) -> tensor<4x1xf16> {
  %0 = tosa.sub %x, %max : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  %1 = tosa.exp %0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %2 = tosa.reduce_sum %1 {axis = 1 : i32} : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %3 = tosa.reciprocal %2 : (tensor<4x1xf16>) -> tensor<4x1xf16>
  return %3 : tensor<4x1xf16>
}

// CHECK-LABEL: func.func @widens_the_accumulator_of_convolutions
// CHECK: tosa.conv2d {{.*}}acc_type = f32{{.*}} -> tensor<1x4x4x8xf16>
func.func @widens_the_accumulator_of_convolutions(%x: tensor<1x4x4x8xf16>, %w: tensor<8x1x1x8xf16>, %b: tensor<8xf16>) -> tensor<1x4x4x8xf16> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf16>} : () -> tensor<1xf16>
  %0 = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f16, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x4x8xf16>, tensor<8x1x1x8xf16>, tensor<8xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x4x4x8xf16>
  return %0 : tensor<1x4x4x8xf16>
}

// Sums, products and moves by themselves stay as they are: one rounding either way.
// CHECK-LABEL: func.func @leaves_plain_arithmetic_alone
// CHECK-NEXT: arith.addf %{{.*}} : tensor<4xf16>
// CHECK-NEXT: arith.mulf %{{.*}} : tensor<4xf16>
// CHECK-NEXT: return
func.func @leaves_plain_arithmetic_alone(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = arith.addf %x, %x : tensor<4xf16>
  %1 = arith.mulf %0, %x : tensor<4xf16>
  return %1 : tensor<4xf16>
}

// Formats of eight bits are widened like those of sixteen: products accumulate in f32, softmax
// computes in it, and both are stored as they were.
// CHECK-LABEL: func.func @widens_inside_eight_bits
// CHECK: %[[M:.*]] = linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<8x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>) outs(%{{.*}} : tensor<8x8xf32>)
// CHECK: mp.cast ieee %[[M]] {inserted} : tensor<8x8xf32> to tensor<8x8xf8E4M3FN>
// CHECK: %[[S:.*]] = linalg.softmax {{.*}} -> tensor<8x8xf32>
// CHECK: mp.cast ieee %[[S]] {inserted} : tensor<8x8xf32> to tensor<8x8xf8E5M2>
// OFF-LABEL: func.func @widens_inside_eight_bits
// OFF: linalg.matmul {{.*}} -> tensor<8x8xf8E4M3FN>
// OFF: linalg.softmax {{.*}} -> tensor<8x8xf8E5M2>
func.func @widens_inside_eight_bits(%x: tensor<8x8xf8E4M3FN>, %y: tensor<8x8xf8E5M2>) -> (tensor<8x8xf8E4M3FN>, tensor<8x8xf8E5M2>) {
  %z = arith.constant dense<0.0> : tensor<8x8xf8E4M3FN>
  %0 = linalg.matmul ins(%x, %x : tensor<8x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>) outs(%z : tensor<8x8xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
  %e = tensor.empty() : tensor<8x8xf8E5M2>
  %1 = linalg.softmax dimension(1) ins(%y : tensor<8x8xf8E5M2>) outs(%e : tensor<8x8xf8E5M2>) -> tensor<8x8xf8E5M2>
  return %0, %1 : tensor<8x8xf8E4M3FN>, tensor<8x8xf8E5M2>
}
