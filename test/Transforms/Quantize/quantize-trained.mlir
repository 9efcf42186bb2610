// RUN: mp-opt %s --mp-quantize-trained --remarks-filter=mp 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-quantize-trained -o %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure=original=%s -o /dev/null
// Damage is found: sums that f32 rounds, codes by another step, codes that something else reads.
// RUN: sed '/@too_long/,/^}/{s/to tensor<2x2048xf32>/to tensor<2x2048xi8>/;s/to tensor<2048x3xf32>/to tensor<2048x3xi8>/;s/: tensor<2x2048xf32> by/: tensor<2x2048xi8> by/;s/with tensor<2048x3xf32>/with tensor<2048x3xi8>/}' %s > %t.long.mlir
// RUN: not mp-opt %t.long.mlir --mp-check-erasure=original=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: sed 's/codes %%arg0 by %%arg2 to i8 : tensor<2x8xf32>/codes %%arg0 by %%arg3 to i8 : tensor<2x8xf32>/' %t.mlir > %t.step.mlir
// RUN: not mp-opt %t.step.mlir --mp-check-erasure=original=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: sed 's/to i4 : tensor<8x3xf32>, tensor<f32>/to i5 : tensor<8x3xf32>, tensor<f32>/' %t.mlir > %t.format.mlir
// RUN: not mp-opt %t.format.mlir --mp-check-erasure=original=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMAT

// The zero point of another tensor, one that is not subtracted, bytes without a sign.
// RUN: sed '/@zero_point/,/^}/s/fptosi %%arg3/fptosi %%arg4/' %t.mlir > %t.zero.mlir
// RUN: not mp-opt %t.zero.mlir --mp-check-erasure=original=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: sed '/@zero_point/,/^}/s/arith.subi/arith.addi/' %t.mlir > %t.added.mlir
// RUN: not mp-opt %t.added.mlir --mp-check-erasure=original=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: sed '/@zero_point/,/^}/s/arith.extsi %%in : i8/arith.extui %%in : i8/' %t.mlir > %t.sign.mlir
// RUN: not mp-opt %t.sign.mlir --mp-check-erasure=original=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS

// NUMBERS: is read by 'linalg.generic', which is no sum of products of two codes
// LONG: is read by a sum of 2048 products that f32 may round, as it may reach 33032192
// STEP: operand #1 is not the original's
// FORMAT: has 'format' = i5, the original has i4

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK: Remark="mp.scaled_matmul sums stored codes"
// CHECK: Reason="sums of 2048 products may reach {{.*}}, and f32 holds integers to 2^24
// CHECK: Reason="codes of ui8 do not fit i8: ui7 or i8 would"

// CHECK-LABEL: func.func @bytes
// CHECK: %[[Q:.*]] = mp.fake_quantize codes %{{.*}} to i8 : tensor<2x8xf32>, tensor<f32> to tensor<2x8xi8>
// CHECK: %[[R:.*]] = mp.fake_quantize codes %{{.*}} to i4 : tensor<8x3xf32>, tensor<f32> to tensor<8x3xi8>
// CHECK: mp.scaled_matmul %[[Q]] by(%{{.*}}) with %[[R]]
func.func @bytes(%x: tensor<2x8xf32>, %w: tensor<8x3xf32>, %s: tensor<f32>, %t: tensor<f32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %q = mp.fake_quantize codes %x by %s to i8 : tensor<2x8xf32>, tensor<f32> to tensor<2x8xf32>
  %r = mp.fake_quantize codes %w by %t to i4 : tensor<8x3xf32>, tensor<f32> to tensor<8x3xf32>
  %0 = mp.scaled_matmul %q by(%s) with %r by(%t) onto %init maps [#a, #b, #c] : tensor<2x8xf32> by(tensor<f32>) with tensor<8x3xf32> by(tensor<f32>) to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @too_long
// CHECK: tensor<2x2048xf32>, tensor<f32> to tensor<2x2048xf32>
func.func @too_long(%x: tensor<2x2048xf32>, %w: tensor<2048x3xf32>, %s: tensor<f32>, %t: tensor<f32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %q = mp.fake_quantize codes %x by %s to i8 : tensor<2x2048xf32>, tensor<f32> to tensor<2x2048xf32>
  %r = mp.fake_quantize codes %w by %t to i8 : tensor<2048x3xf32>, tensor<f32> to tensor<2048x3xf32>
  %0 = mp.scaled_matmul %q by(%s) with %r by(%t) onto %init maps [#a, #b, #c] : tensor<2x2048xf32> by(tensor<f32>) with tensor<2048x3xf32> by(tensor<f32>) to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @blocks_are_short_enough
// CHECK: tensor<2x2048xf32>, tensor<f32> to tensor<2x2048xi8>
func.func @blocks_are_short_enough(%x: tensor<2x2048xf32>, %w: tensor<2048x3xf32>, %s: tensor<f32>, %t: tensor<2x1xf32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %q = mp.fake_quantize codes %x by %s to i8 : tensor<2x2048xf32>, tensor<f32> to tensor<2x2048xf32>
  %r = mp.fake_quantize codes %w by %t to i8 : tensor<2048x3xf32>, tensor<2x1xf32> to tensor<2048x3xf32>
  %0 = mp.scaled_matmul %q by(%s) with %r by(%t) onto %init maps [#a, #b, #c] : tensor<2x2048xf32> by(tensor<f32>) with tensor<2048x3xf32> by(tensor<2x1xf32>) to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unsigned_bytes
// CHECK: to ui8 : tensor<2x8xf32>, tensor<f32> to tensor<2x8xf32>
func.func @unsigned_bytes(%x: tensor<2x8xf32>, %w: tensor<8x3xf32>, %s: tensor<f32>, %t: tensor<1x3xf32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %q = mp.fake_quantize codes %x by %s to ui8 : tensor<2x8xf32>, tensor<f32> to tensor<2x8xf32>
  %r = mp.fake_quantize codes %w by %t to i4 : tensor<8x3xf32>, tensor<1x3xf32> to tensor<8x3xf32>
  %0 = mp.scaled_matmul %q by(%s) with %r by(%t) onto %init maps [#a, #b, #c] : tensor<2x8xf32> by(tensor<f32>) with tensor<8x3xf32> by(tensor<1x3xf32>) to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// The byte has the zero point in it, which comes off before products are summed.
// CHECK-LABEL: func.func @zero_point
// CHECK: %[[Q:.*]] = mp.fake_quantize codes %{{.*}} zero %arg3 : tensor<f32> to i8 : tensor<2x8xf32>, tensor<f32> to tensor<2x8xi8>
// CHECK: %[[Z:.*]] = arith.fptosi %arg3 : tensor<f32> to tensor<i32>
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %{{.*}}, %[[Z]] : tensor<2x8xi8>, tensor<8x3xi8>, tensor<i32>)
// CHECK: arith.subi
func.func @zero_point(%x: tensor<2x8xf32>, %w: tensor<8x3xf32>, %s: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>) -> tensor<2x3xf32> {
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%none : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = mp.fake_quantize codes %x by %s zero %z : tensor<f32> to i8 : tensor<2x8xf32>, tensor<f32> to tensor<2x8xf32>
  %r = mp.fake_quantize codes %w by %t to i4 : tensor<8x3xf32>, tensor<f32> to tensor<8x3xf32>
  %0 = linalg.matmul ins(%q, %r : tensor<2x8xf32>, tensor<8x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = mp.dequantize %0 by %s, %t : tensor<2x3xf32>, tensor<f32>, tensor<f32> to tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
