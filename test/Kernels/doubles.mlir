// A variance in f64 of f32, as torch-mlir exports norms, is one kernel with what is around it, and so is one in f32. Remarks
// say what computes in f64, and what against it.
// RUN: mp-opt %s --mp-fuse-elementwise -o %t.fused.mlir && FileCheck %s --check-prefix=FUSED < %t.fused.mlir
// RUN: mp-opt %t.fused.mlir --mp-form-dispatches="target=sm_80" --remarks-filter=mp-dispatches -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=computes-f64 < %t.remarks
// RUN: mp-opt %s --mp-select-contractions="target=sm_80" --remarks-filter=mp-select-contractions -o /dev/null 2> %t.remarks
// RUN: FileCheck %s --check-prefix=SELECT --implicit-check-not="runs on the scalar units" < %t.remarks

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Each reader widens for itself: no f64 is stored. The square of one value is no product of two operands.
// FUSED-LABEL: func.func @variance_in_f64
// FUSED-COUNT-2: ins(%{{.*}}tensor<64x512xf32>
// FUSED-NOT: tensor<64x512xf64>
// FUSED-LABEL: func.func @variance_in_f32
// CHECK-LABEL: func.func @variance_in_f64
// CHECK: mpk.dispatch ins(%{{[^,]*}} : tensor<64x512xf32>)
// CHECK-SAME: -> tensor<64xf32>
// CHECK-NOT: mpk.dispatch
// CHECK: return
// REMARK: rows: 3 ops in one kernel
// REMARK: computes-f64 {{.*}}5{{.*}} ops of this kernel compute in f64, {{.*}}mp-narrow-doubles before computes them in f32
func.func @variance_in_f64(%x: tensor<64x512xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f64
  %n = arith.constant 512.0 : f64
  %e = tensor.empty() : tensor<64x512xf64>
  %er = tensor.empty() : tensor<64xf64>
  %ef = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%zero : f64) outs(%er : tensor<64xf64>) -> tensor<64xf64>
  %w = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x512xf32>) outs(%e : tensor<64x512xf64>) {
  ^bb0(%a: f32, %b: f64):
    %0 = arith.extf %a : f32 to f64
    linalg.yield %0 : f64
  } -> tensor<64x512xf64>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<64x512xf64>) outs(%z : tensor<64xf64>) {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.addf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<64xf64>
  %squares = linalg.generic {indexing_maps = [#map, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w, %sum : tensor<64x512xf64>, tensor<64xf64>) outs(%z : tensor<64xf64>) {
  ^bb0(%a: f64, %s: f64, %b: f64):
    %m = arith.divf %s, %n : f64
    %d = arith.subf %a, %m : f64
    %q = arith.mulf %d, %d : f64
    %0 = arith.addf %q, %b : f64
    linalg.yield %0 : f64
  } -> tensor<64xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%squares : tensor<64xf64>) outs(%ef : tensor<64xf32>) {
  ^bb0(%a: f64, %b: f32):
    %0 = arith.truncf %a : f64 to f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @variance_in_f32
// CHECK: mpk.dispatch
// CHECK-NOT: mpk.dispatch
// CHECK: return
// REMARK: rows: 2 ops in one kernel
func.func @variance_in_f32(%x: tensor<64x512xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 512.0 : f32
  %er = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x512xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %squares = linalg.generic {indexing_maps = [#map, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<64x512xf32>, tensor<64xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %m = arith.divf %s, %n : f32
    %d = arith.subf %a, %m : f32
    %q = arith.mulf %d, %d : f32
    %0 = arith.addf %q, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %squares : tensor<64xf32>
}

// A widening to f32 that two read stays: fusing it into both is no rule of f64.
// FUSED-LABEL: func.func @widening_to_f32_that_two_read
// FUSED: arith.extf
// FUSED-NOT: arith.extf
// FUSED: return
func.func @widening_to_f32_that_two_read(%x: tensor<64x512xbf16>) -> (tensor<64x512xf32>, tensor<64x512xf32>) {
  %w = arith.extf %x : tensor<64x512xbf16> to tensor<64x512xf32>
  %a = math.exp %w : tensor<64x512xf32>
  %b = math.tanh %w : tensor<64x512xf32>
  return %a, %b : tensor<64x512xf32>, tensor<64x512xf32>
}

// A product of two operands in f64 is a loop for each result, and says what would change that.
// SELECT: contraction runs on the scalar units: {{.*}}it accumulates in f64 {{.*}}mp-narrow-doubles before computes it in f32
func.func @product_in_f64(%a: tensor<64x32xf64>, %b: tensor<32x48xf64>, %c: tensor<64x48xf64>) -> tensor<64x48xf64> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x32xf64>, tensor<32x48xf64>) outs(%c : tensor<64x48xf64>) -> tensor<64x48xf64>
  return %0 : tensor<64x48xf64>
}
