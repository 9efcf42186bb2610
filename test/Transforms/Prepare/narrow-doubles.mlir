// An op that computes in f64 computes in f32, but signatures, calls and what reads bits.
// RUN: mp-opt %s --mp-narrow-doubles --remarks-filter=mp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t.remarks
// RUN: mp-opt %s --mp-narrow-doubles -o %t.once.mlir && mp-opt %t.once.mlir --mp-narrow-doubles -o %t.twice.mlir && cmp %t.once.mlir %t.twice.mlir
// RUN: mp-opt %s --mp-mixed-precision -o %t.wide.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: mp-opt %t.once.mlir --mp-mixed-precision -o %t.narrow.mlir 2>&1 | FileCheck %s --check-prefix=NARROW
// TABLE: 8 ops compute in f64 what was widened from f32; mp-narrow-doubles computes it in f32
// NARROW-NOT: mp-narrow-doubles

// A variance as torch-mlir writes it: widened in bodies, divided by a count in f64, rounded at the end.
// CHECK-LABEL: @variance
// CHECK-NOT: f64
// CHECK: return
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @variance(%x: tensor<2x8xf32>) -> tensor<2x1xf32> {
  %zero = arith.constant 0.0 : f64
  %n = arith.constant 8.0 : f64
  %e = tensor.empty() : tensor<2x8xf64>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf64>) {
  ^bb0(%in: f32, %out: f64):
    %0 = arith.extf %in : f32 to f64
    linalg.yield %0 : f64
  } -> tensor<2x8xf64>
  %s = tensor.empty() : tensor<2x1xf64>
  %f = linalg.fill ins(%zero : f64) outs(%s : tensor<2x1xf64>) -> tensor<2x1xf64>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%w : tensor<2x8xf64>) outs(%f : tensor<2x1xf64>) {
  ^bb0(%in: f64, %out: f64):
    %0 = arith.mulf %in, %in : f64
    %1 = arith.addf %0, %out : f64
    linalg.yield %1 : f64
  } -> tensor<2x1xf64>
  %r = tensor.empty() : tensor<2x1xf32>
  %v = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<2x1xf64>) outs(%r : tensor<2x1xf32>) {
  ^bb0(%in: f64, %out: f32):
    %0 = arith.divf %in, %n : f64
    %1 = arith.truncf %0 : f64 to f32
    linalg.yield %1 : f32
  } -> tensor<2x1xf32>
  return %v : tensor<2x1xf32>
}

// The same in TOSA.
// CHECK-LABEL: @tosa
// CHECK-NOT: f64
// CHECK-NOT: tosa.cast
// CHECK: return
func.func @tosa(%x: tensor<2x8xf32>) -> tensor<2x1xf32> {
  %c = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf64>}> : () -> tensor<1x1xf64>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w = tosa.cast %x : (tensor<2x8xf32>) -> tensor<2x8xf64>
  %s = tosa.reduce_sum %w {axis = 1 : i32} : (tensor<2x8xf64>) -> tensor<2x1xf64>
  %m = tosa.mul %s, %c, %shift : (tensor<2x1xf64>, tensor<1x1xf64>, tensor<1xi8>) -> tensor<2x1xf64>
  %0 = tosa.cast %m : (tensor<2x1xf64>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// Constants round; the lowest f64 becomes the lowest f32, infinities stay, and what f32 cannot hold apart from zero is zero.
// CHECK-LABEL: @constants
// CHECK: arith.constant dense<[1.000000e-01, -3.40282347E+38, 0x7F800000, 0.000000e+00]> : tensor<4xf32>
// CHECK: arith.constant -3.40282347E+38 : f32
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[0.1, -1.7976931348623157E+308, 0x7FF0000000000000, 1.0e-300]> : tensor<4xf64>
  %lowest = arith.constant -1.7976931348623157E+308 : f64
  %l = tensor.splat %lowest : tensor<4xf64>
  %w = arith.extf %x : tensor<4xf32> to tensor<4xf64>
  %0 = arith.addf %w, %c : tensor<4xf64>
  %1 = arith.maximumf %0, %l : tensor<4xf64>
  %2 = arith.truncf %1 : tensor<4xf64> to tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Other formats widen and round to f32 in place of f64; integers, comparisons and control flow follow.
// CHECK-LABEL: @others
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: arith.cmpf olt, {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @others(%h: f16, %i: i32, %n: index) -> (bf16, i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.extf %h : f16 to f64
  %d = arith.sitofp %i : i32 to f64
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %w) -> (f64) {
    %0 = arith.addf %a, %d : f64
    scf.yield %0 : f64
  }
  %less = arith.cmpf olt, %s, %d : f64
  %b = arith.truncf %s : f64 to bf16
  return %b, %less : bf16, i1
}

// Signatures, calls and bits stay, behind casts.
// CHECK-LABEL: @outside
// CHECK-SAME: (%[[X:.*]]: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xi64>)
// CHECK: %[[N:.*]] = arith.truncf %[[X]] : tensor<4xf64> to tensor<4xf32>
// CHECK: %[[S:.*]] = math.sqrt %[[N]] : tensor<4xf32>
// CHECK: %[[W:.*]] = arith.extf %[[S]] : tensor<4xf32> to tensor<4xf64>
// CHECK: call @kept(%[[W]]) : (tensor<4xf64>) -> tensor<4xf64>
// CHECK: arith.bitcast %[[W]] : tensor<4xf64> to tensor<4xi64>
// SAID: narrow-doubles.mlir{{.*}}arith.bitcast stays in f64
func.func private @kept(tensor<4xf64>) -> tensor<4xf64>
func.func @outside(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xi64>) {
  %s = math.sqrt %x : tensor<4xf64>
  %k = call @kept(%s) : (tensor<4xf64>) -> tensor<4xf64>
  %b = arith.bitcast %s : tensor<4xf64> to tensor<4xi64>
  return %k, %b : tensor<4xf64>, tensor<4xi64>
}
