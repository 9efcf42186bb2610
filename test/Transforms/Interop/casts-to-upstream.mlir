// RUN: mp-opt %s --mp-casts-to-upstream | FileCheck %s
// RUN: mp-opt %s --mp-casts-to-upstream | mlir-opt
// RUN: mp-opt %s --mp-casts-to-upstream | mlir-opt --tosa-validate

// RUN: echo 'func.func @f(%%x: tensor<4xf80>) -> tensor<4xbf16> { %%0 = mp.cast saturate %%x : tensor<4xf80> to tensor<4xbf16> return %%0 : tensor<4xbf16> }' | not mp-opt --mp-casts-to-upstream 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: 'mp.cast' op cannot be said with upstream ops: expected formats of at most 64 bits

// CHECK-NOT: mp.
// CHECK-LABEL: func.func @plain
// CHECK: %[[N:.*]] = arith.truncf %arg0 : tensor<?xf32> to tensor<?xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[N]] : tensor<?xbf16> to tensor<?xf32>
// CHECK: %[[F:.*]] = arith.extf %[[N]] : tensor<?xbf16> to tensor<?xf32>
// CHECK: arith.truncf %[[F]] : tensor<?xf32> to tensor<?xf16>
func.func @plain(%x: tensor<?xf32> {mp.role = "parameter"}) -> (tensor<?xf32>, tensor<?xf16>) attributes {mp.phase = "optimized"} {
  %0 = mp.cast ieee %x {inserted} : tensor<?xf32> to tensor<?xbf16>
  %1 = mp.cast %0 {inserted} : tensor<?xbf16> to tensor<?xf32>
  %2 = mp.cast ieee %0 : tensor<?xbf16> to tensor<?xf16>
  return %1, %2 : tensor<?xf32>, tensor<?xf16>
}

// CHECK-LABEL: func.func @in_integers
// CHECK: linalg.generic
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: linalg.yield %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: linalg.yield %{{.*}} : f8E4M3FN
func.func @in_integers(%x: tensor<4x?xf32>) -> (tensor<4x?xf32>, tensor<4x?xf8E4M3FN>) {
  %0 = mp.round tf32 %x : tensor<4x?xf32>
  %1 = mp.cast saturate %x : tensor<4x?xf32> to tensor<4x?xf8E4M3FN>
  return %0, %1 : tensor<4x?xf32>, tensor<4x?xf8E4M3FN>
}

// CHECK-LABEL: func.func @stays_tosa
// CHECK: tosa.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
func.func @stays_tosa(%x: tensor<4xf32>) -> tensor<4xbf16> {
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = mp.cast ieee %0 {inserted} : tensor<4xf32> to tensor<4xbf16>
  return %1 : tensor<4xbf16>
}
