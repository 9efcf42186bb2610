// RUN: mp-opt %s --mp-select-contractions="target=sm_80" --remarks-filter=".*" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: mp-opt %s --mp-select-contractions="target=sm_75" | FileCheck %s --check-prefix=TURING
// RUN: not mp-opt %s --mp-select-contractions="target=sm_81" 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: {{.*}}sm_81

// CHECK-LABEL: func.func @named_matmul
// CHECK: linalg.generic
// CHECK-SAME: mpk.mma = "bf16"
// TURING-LABEL: func.func @named_matmul
// TURING-NOT: mpk.mma
// TURING: return
func.func @named_matmul(%a: tensor<64x32xbf16>, %b: tensor<32x48xbf16>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x32xbf16>, tensor<32x48xbf16>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// A sum that starts from zeros does not need the zeros.
// CHECK-LABEL: func.func @from_zero
// CHECK: %[[EMPTY:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<4x64x48xf32>) attrs = {mpk.fresh, mpk.mma = "f16"}
// TURING-LABEL: func.func @from_zero
// TURING: mpk.mma = "f16"
func.func @from_zero(%a: tensor<4x64x32xf16>, %b: tensor<4x32x48xf16>) -> tensor<4x64x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x64x48xf32>) -> tensor<4x64x48xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<4x64x32xf16>, tensor<4x32x48xf16>) outs(%f : tensor<4x64x48xf32>) -> tensor<4x64x48xf32>
  return %0 : tensor<4x64x48xf32>
}

// CHECK-LABEL: func.func @rounded_to_tf32
// CHECK: mpk.mma = "tf32"
func.func @rounded_to_tf32(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %ra = mp.round tf32 %a : tensor<64x32xf32>
  %rb = mp.round tf32 %b : tensor<32x48xf32>
  %0 = linalg.matmul ins(%ra, %rb : tensor<64x32xf32>, tensor<32x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// f32 operands that nobody rounded would be cut by the Tensor Cores: not ours to do (scalar-contractions.mlir has what is).
// CHECK-LABEL: func.func @plain_f32
// CHECK-NOT: mpk.mma
// CHECK: return
// REMARK: contraction runs on the scalar units: {{.*}}its f32 sums start from a tensor
func.func @plain_f32(%a: tensor<64x33xf32>, %b: tensor<33x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x33xf32>, tensor<33x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// CHECK-LABEL: func.func @narrow_accumulator
// CHECK-NOT: mpk.mma
// CHECK: return
// REMARK: it accumulates in f16
func.func @narrow_accumulator(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf16>) -> tensor<64x48xf16> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%c : tensor<64x48xf16>) -> tensor<64x48xf16>
  return %0 : tensor<64x48xf16>
}

// CHECK-LABEL: func.func @convolution
// CHECK: mpk.mma = "bf16"
func.func @convolution(%x: tensor<1x18x18x16xbf16>, %w: tensor<3x3x16x32xbf16>, %c: tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x18x18x16xbf16>, tensor<3x3x16x32xbf16>) outs(%c : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %0 : tensor<1x16x16x32xf32>
}

// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: mpk.mma
// CHECK: return
// REMARK: it has a single row or column and a short sum
func.func @depthwise(%x: tensor<1x18x18x16xbf16>, %w: tensor<3x3x16xbf16>, %c: tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<1x18x18x16xbf16>, tensor<3x3x16xbf16>) outs(%c : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %0 : tensor<1x16x16x16xf32>
}

// Constants count by their values: 0.5 is a tf32 value, 0.1 is not.
// CHECK-LABEL: func.func @constant_operands
// CHECK: mpk.mma = "tf32"
// CHECK: mpk.mma = "f32"
// CHECK: return
func.func @constant_operands(%a: tensor<64x32xf32>, %c: tensor<64x48xf32>) -> (tensor<64x48xf32>, tensor<64x48xf32>) {
  %r = mp.round tf32 %a : tensor<64x32xf32>
  %b = arith.constant dense<0.5> : tensor<32x48xf32>
  %d = arith.constant dense<0.1> : tensor<32x48xf32>
  %0 = linalg.matmul ins(%r, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %1 = linalg.matmul ins(%r, %d : tensor<64x32xf32>, tensor<32x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0, %1 : tensor<64x48xf32>, tensor<64x48xf32>
}

// A zero point of one operand is taken out: Tensor Cores multiply, and 5 times the sums of the other comes off behind.
// CHECK-LABEL: func.func @zero_point
// CHECK: %[[PRODUCTS:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<1x8x8x32xi8>, tensor<16x1x1x32xi8>) {{.*}} attrs = {mpk.fresh, mpk.mma = "i8"}
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg1 : tensor<16x1x1x32xi8>)
// CHECK: linalg.generic {{.*}} ins(%[[PRODUCTS]], %arg2, %[[SUMS]] :
// CHECK: %[[FIVE:.*]] = arith.constant 5 : i32
// CHECK: arith.muli %{{.*}}, %[[FIVE]]
// CHECK: arith.subi
// TURING-LABEL: func.func @zero_point
// TURING-NOT: mpk.mma
// TURING: return
func.func @zero_point(%x: tensor<1x8x8x32xi8>, %w: tensor<16x1x1x32xi8>, %c: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %z = arith.constant 5 : i32
  %n = arith.constant 0 : i32
  %0 = linalg.conv_2d_nhwc_fhwc_q ins(%x, %w, %z, %n : tensor<1x8x8x32xi8>, tensor<16x1x1x32xi8>, i32, i32) outs(%c : tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32>
  return %0 : tensor<1x8x8x16xi32>
}

// The sums of (a - 5)(b - 3) are those of ab - 5 (b - 3) - 3 a, where a window slides along the image.
// CHECK-LABEL: func.func @zero_points_of_both
// CHECK: %[[PRODUCTS:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<1x8x8x32xi8>, tensor<16x3x3x32xi8>) {{.*}} attrs = {mpk.fresh, mpk.mma = "i8"}
// CHECK: %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<16x3x3x32xi8>)
// CHECK: %[[THREE:.*]] = arith.constant 3 : i32
// CHECK: arith.subi %{{.*}}, %[[THREE]]
// CHECK: %[[WINDOW:.*]] = tensor.empty() : tensor<3x3xi32>
// CHECK: %[[IMAGE:.*]] = linalg.generic {{.*}} ins(%arg0, %[[WINDOW]] : tensor<1x8x8x32xi8>, tensor<3x3xi32>)
// CHECK: linalg.generic {{.*}} ins(%[[PRODUCTS]], %arg2, %[[WEIGHTS]], %[[IMAGE]] :
func.func @zero_points_of_both(%x: tensor<1x8x8x32xi8>, %w: tensor<16x3x3x32xi8>, %c: tensor<1x6x6x16xi32>) -> tensor<1x6x6x16xi32> {
  %five = arith.constant 5 : i32
  %three = arith.constant 3 : i32
  %0 = linalg.conv_2d_nhwc_fhwc_q ins(%x, %w, %five, %three : tensor<1x8x8x32xi8>, tensor<16x3x3x32xi8>, i32, i32) outs(%c : tensor<1x6x6x16xi32>) -> tensor<1x6x6x16xi32>
  return %0 : tensor<1x6x6x16xi32>
}

// CHECK-LABEL: func.func @zero_point_of_the_run
// CHECK: mpk.mma = "i8"
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<32x16xi8>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg2, %[[SUMS]], %arg3 : tensor<24x16xi32>, tensor<24x16xi32>, tensor<16xi32>, i32)
func.func @zero_point_of_the_run(%x: tensor<24x32xi8>, %w: tensor<32x16xi8>, %c: tensor<24x16xi32>, %z: i32) -> tensor<24x16xi32> {
  %n = arith.constant 0 : i32
  %0 = linalg.quantized_matmul ins(%x, %w, %z, %n : tensor<24x32xi8>, tensor<32x16xi8>, i32, i32) outs(%c : tensor<24x16xi32>) -> tensor<24x16xi32>
  return %0 : tensor<24x16xi32>
}

// Sums of constants are known: 5 (1 + 2) and 5 (3 - 4).
// CHECK-LABEL: func.func @zero_point_by_constants
// CHECK: mpk.mma = "i8"
// CHECK: %[[SUMS:.*]] = arith.constant dense<[15, -5]> : tensor<2xi32>
// CHECK-NOT: linalg.generic
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg1, %[[SUMS]] :
func.func @zero_point_by_constants(%x: tensor<24x2xi8>, %c: tensor<24x2xi32>) -> tensor<24x2xi32> {
  %w = arith.constant dense<[[1, 3], [2, -4]]> : tensor<2x2xi8>
  %z = arith.constant 5 : i32
  %n = arith.constant 0 : i32
  %0 = linalg.quantized_matmul ins(%x, %w, %z, %n : tensor<24x2xi8>, tensor<2x2xi8>, i32, i32) outs(%c : tensor<24x2xi32>) -> tensor<24x2xi32>
  return %0 : tensor<24x2xi32>
}

// The zero point stays in the one loop that there is, as no matrix unit would multiply.
// CHECK-LABEL: func.func @zero_point_that_stays
// CHECK-NOT: mpk.mma
// CHECK: arith.subi
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @zero_point_that_stays(%x: tensor<1x8x8x32xi8>, %w: tensor<3x3x32xi8>, %c: tensor<1x6x6x32xi32>) -> tensor<1x6x6x32xi32> {
  %z = arith.constant 5 : i32
  %n = arith.constant 0 : i32
  %0 = linalg.generic {indexing_maps = [affine_map<(n, y, x, c, r, s) -> (n, y + r, x + s, c)>, affine_map<(n, y, x, c, r, s) -> (r, s, c)>, affine_map<(n, y, x, c, r, s) -> (n, y, x, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x8x8x32xi8>, tensor<3x3x32xi8>) outs(%c : tensor<1x6x6x32xi32>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %1 = arith.extsi %a : i8 to i32
    %2 = arith.subi %1, %z : i32
    %3 = arith.extsi %b : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %o, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<1x6x6x32xi32>
  return %0 : tensor<1x6x6x32xi32>
}

// Sums in 16 bits are the low bits of sums in 32.
// CHECK-LABEL: func.func @short_sums
// CHECK: %[[PRODUCTS:.*]] = linalg.generic {{.*}} attrs = {mpk.fresh, mpk.mma = "i8"}
// CHECK: linalg.generic {{.*}} ins(%[[PRODUCTS]], %arg2 : tensor<24x16xi32>, tensor<24x16xi16>)
// CHECK: arith.trunci %{{.*}} : i32 to i16
func.func @short_sums(%x: tensor<24x32xi8>, %w: tensor<32x16xi8>, %c: tensor<24x16xi16>) -> tensor<24x16xi16> {
  %0 = linalg.matmul ins(%x, %w : tensor<24x32xi8>, tensor<32x16xi8>) outs(%c : tensor<24x16xi16>) -> tensor<24x16xi16>
  return %0 : tensor<24x16xi16>
}

// CHECK-LABEL: func.func @leaves_factors_of_two_types
// CHECK-NOT: mpk.mma
// REMARK: its operands have different types
func.func @leaves_factors_of_two_types(%x: tensor<64x64xbf16>, %y: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x64xbf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) {
  ^bb0(%p: bf16, %q: f16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : f16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @leaves_quotients_of_loops
// CHECK-NOT: mpk.mma
// REMARK: an index expression is not linear in the loops
func.func @leaves_quotients_of_loops(%x: tensor<64x32xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k floordiv 2)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x32xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @leaves_loops_of_the_result_alone
// CHECK-NOT: mpk.mma
// REMARK: a loop indexes neither operand
func.func @leaves_loops_of_the_result_alone(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64x4xf32>) -> tensor<64x64x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, r, k) -> (m, k)>, affine_map<(m, n, r, k) -> (k, n)>, affine_map<(m, n, r, k) -> (m, n, r)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64x4xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<64x64x4xf32>
  return %0 : tensor<64x64x4xf32>
}

// CHECK-LABEL: func.func @leaves_sums_of_one_factor
// CHECK-NOT: mpk.mma
// REMARK: a reduction loop indexes one operand only
func.func @leaves_sums_of_one_factor(%x: tensor<64x64x4xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k, r) -> (m, k, r)>, affine_map<(m, n, k, r) -> (k, n)>, affine_map<(m, n, k, r) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y : tensor<64x64x4xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
