// Exponentials of a softmax in a dispatch, of which factors cancel, and beside each its twin of which they would not.
// RUN: mp-opt %s --mp-choose-functions --split-input-file --remarks-filter=mp-dispatches 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @of_f32
// CHECK: %[[D:.*]] = arith.subf
// CHECK: %[[T:.*]] = math.fma %[[D]], %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: math.exp2 %[[T]] {mpk.approximate = "flushed"} : f32
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %{{.*}} {mpk.approximate = "reciprocal"} : f32
// CHECK-NEXT: arith.mulf %{{.*}}, %[[R]] : f32
// CHECK: return
// REMARK: approximated {{.*}}exp of a softmax is approximate: relative error 8.1e-06, half of what rounding to bf16 behind it may lose
func.func @of_f32(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Values of 16 bits need no difference.
// CHECK-LABEL: func.func @of_bf16
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NOT: arith.subf
// CHECK: %[[LARGE:.*]] = arith.cmpf oge
// CHECK: %[[C:.*]] = arith.select %[[LARGE]]
// CHECK: %[[F:.*]] = arith.select %[[LARGE]]
// CHECK: %[[T:.*]] = math.fma %[[X]], %[[F]], %[[C]] : f32
// CHECK-NEXT: math.exp2 %[[T]] {mpk.approximate = "flushed"} : f32
// CHECK: return
// REMARK: approximated {{.*}}exp of a softmax is approximate: relative error 1.5e-05, half of what rounding to bf16 behind it may lose
func.func @of_bf16(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xbf16>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xbf16>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xbf16>) outs(%l : tensor<4xf32>) {
    ^bb0(%n: bf16, %o: f32):
      %a = arith.extf %n : bf16 to f32
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xbf16>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%n: bf16, %y: f32, %o: f32):
      %a = arith.extf %n : bf16 to f32
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A maximum that begins above all of them is no value of 16 bits.
// CHECK-LABEL: func.func @of_bf16_and_a_start
// CHECK: arith.subf
// CHECK: math.exp2 %{{.*}} {mpk.approximate = "flushed"} : f32
// CHECK: return
func.func @of_bf16_and_a_start(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xbf16>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xbf16>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 1.0e9 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xbf16>) outs(%l : tensor<4xf32>) {
    ^bb0(%n: bf16, %o: f32):
      %a = arith.extf %n : bf16 to f32
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xbf16>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%n: bf16, %y: f32, %o: f32):
      %a = arith.extf %n : bf16 to f32
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A product with the reciprocal of the sum is a quotient, too.
// CHECK-LABEL: func.func @with_a_reciprocal
// CHECK: math.exp2 %{{.*}} {mpk.approximate = "flushed"} : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} {mpk.approximate = "reciprocal"} : f32
// CHECK: return
func.func @with_a_reciprocal(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %one = arith.constant 1.0 : f32
      %h = arith.divf %one, %b : f32
      %0 = arith.mulf %a, %h : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// An exponential above one may overflow with a factor.
// CHECK-LABEL: func.func @less_the_minimum
// CHECK-NOT: flushed
// CHECK: math.exp %{{.*}} {mpk.approximate = "instruction"}
// CHECK-NOT: flushed
// CHECK: return
func.func @less_the_minimum(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.minimumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The maximum is of other elements.
// CHECK-LABEL: func.func @of_other_elements
// CHECK-NOT: flushed
// CHECK: math.exp %{{.*}} {mpk.approximate = "instruction"}
// CHECK-NOT: flushed
// CHECK: return
func.func @of_other_elements(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      %0 = arith.maximumf %n, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum has a term without the factor.
// CHECK-LABEL: func.func @with_another_term
// CHECK-NOT: flushed
// CHECK: math.exp %{{.*}} {mpk.approximate = "instruction"}
// CHECK-NOT: flushed
// CHECK: return
func.func @with_another_term(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 1.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The quotient is rounded, and the exponential is read besides.
// CHECK-LABEL: func.func @also_multiplied
// CHECK-NOT: flushed
// CHECK: math.exp %{{.*}} {mpk.approximate = "instruction"}
// CHECK-NOT: flushed
// CHECK: return
func.func @also_multiplied(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %v = arith.mulf %0, %a : f32
      %1 = arith.truncf %v : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Terms are squares: the factor would be one of squares.
// CHECK-LABEL: func.func @of_squares
// CHECK-NOT: flushed
// CHECK: math.exp %{{.*}} {mpk.approximate = "instruction"}
// CHECK-NOT: flushed
// CHECK: return
func.func @of_squares(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %r = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xbf16>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %er = tensor.empty() : tensor<4xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%er : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x8xf32>
    %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.mulf %a, %a : f32
      %0 = arith.addf %v, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%out : tensor<4x8xbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %0 = arith.divf %a, %b : f32
      %1 = arith.truncf %0 : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<4x8xbf16>
    mpk.yield %q : tensor<4x8xbf16>
  }
  return %r : tensor<4x8xbf16>
}
