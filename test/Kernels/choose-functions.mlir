// Functions before a rounding, and beside each its twin that must stay exact.
// RUN: mp-opt %s --mp-choose-functions --remarks-filter=mp-dispatches 2> %t.remarks | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// Roundings that kernels may leave out hide nothing.
// RUN: mp-opt %s --mp-choose-functions=excess-precision | FileCheck %s --check-prefix=EXCESS
// EXCESS-NOT: {{mpk.approximate|math.fma}}
// A budget of results allows what no rounding does, if it has room.
// RUN: mp-opt %s --mp-choose-functions=budget=9e-6 --remarks-filter=mp-dispatches 2> %t.remarks | FileCheck %s --check-prefix=BUDGET
// RUN: FileCheck %s --check-prefix=ROOM < %t.remarks
// RUN: mp-opt %s --mp-choose-functions=budget=8e-6 --remarks-filter=mp-dispatches 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=SMALL < %t.remarks

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// exp keeps its error through a sum of what is never negative and a quotient, which bf16 hides.
// CHECK-LABEL: func.func @softmax_in_bf16
// CHECK: math.exp %{{.*}} {mpk.approximate = "instruction"}
// The quotient of a row: the reciprocal is computed from what is constant along it.
// CHECK: %[[Y:.*]] = arith.mulf %{{.*}}, %[[S:.*]] : f32
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[Y]] : f32
// CHECK: %[[XS:.*]] = arith.mulf %{{.*}}, %[[S]] : f32
// CHECK: arith.mulf %[[XS]], %[[R]] : f32
// CHECK: return
// REMARK: approximated {{.*}}exp is approximate: relative error 8.1e-06, half of what rounding to bf16 behind it may lose leaves 9.8e-04
// REMARK: approximated {{.*}}quotient is approximate: relative error 2.4e-07, half of what rounding to bf16 behind it may lose leaves 2.0e-03
func.func @softmax_in_bf16(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %er = tensor.empty() : tensor<4xf32>
  %eb = tensor.empty() : tensor<4x8xbf16>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%eb : tensor<4x8xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: bf16):
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<4x8xbf16>
  return %q : tensor<4x8xbf16>
}

// A sum that may cancel, and f32 that is returned, hide nothing.
// CHECK-LABEL: func.func @a_sum_that_may_cancel
// CHECK-NOT: mpk.approximate
// CHECK: return
// REMARK: kept-exact {{.*}}exp is exact: no rounding behind it hides an instruction's relative error of 8.1e-06
func.func @a_sum_that_may_cancel(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %eb = tensor.empty() : tensor<4x8xbf16>
  %q = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%eb : tensor<4x8xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: bf16):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<4x8xbf16>
  return %q : tensor<4x8xbf16>
}
// CHECK-LABEL: func.func @also_returned_in_f32
// BUDGET-LABEL: func.func @also_returned_in_f32
// BUDGET: math.exp %{{.*}} {mpk.approximate = "instruction"}
// ROOM: approximated {{.*}}exp is approximate: relative error 8.1e-06, the budget of results leaves 9.0e-06
// SMALL: kept-exact {{.*}}exp is exact: an instruction's relative error of 8.1e-06 is more than the 8.0e-06 that the budget of results leaves
// CHECK-NOT: mpk.approximate
// CHECK: return
func.func @also_returned_in_f32(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xbf16>) {
  %e = tensor.empty() : tensor<4xf32>
  %eb = tensor.empty() : tensor<4xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%p : tensor<4xf32>) outs(%eb : tensor<4xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4xbf16>
  return %p, %q : tensor<4xf32>, tensor<4xbf16>
}

// tanh.approx has 11 bits: bf16 hides that, f16 does not.
// CHECK-LABEL: func.func @tanh_in_bf16_and_f16
// CHECK: math.tanh %{{.*}} {mpk.approximate = "instruction"} : f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
// CHECK: math.tanh %{{[a-z0-9_]*}} : f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
// REMARK: kept-exact {{.*}}tanh is exact: an instruction's relative error of 4.9e-04 is more than the 2.4e-04 that half of what rounding to f16 behind it may lose leaves
func.func @tanh_in_bf16_and_f16(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf16>) {
  %eb = tensor.empty() : tensor<4xbf16>
  %eh = tensor.empty() : tensor<4xf16>
  %p:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%eb, %eh : tensor<4xbf16>, tensor<4xf16>) {
  ^bb0(%a: f32, %b: bf16, %c: f16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    %n = arith.negf %a : f32
    %2 = math.tanh %n : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %1, %3 : bf16, f16
  } -> (tensor<4xbf16>, tensor<4xf16>)
  return %p#0, %p#1 : tensor<4xbf16>, tensor<4xf16>
}

// 1 + tanh cancels where tanh is near -1; the quotient does not, and f16 hides its error.
// CHECK-LABEL: func.func @gelu_in_f16
// CHECK: %[[U:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: %[[E:.*]] = math.exp %[[U]] {mpk.approximate = "instruction"} : f32
// CHECK: %[[D:.*]] = arith.addf %[[E]], %{{.*}} : f32
// CHECK: arith.divf %{{.*}}, %[[D]] {mpk.approximate = "reciprocal"} : f32
// CHECK-NOT: math.tanh
// CHECK: return
// REMARK: approximated {{.*}}1 + tanh is approximate: relative error 8.6e-06, half of what rounding to f16
func.func @gelu_in_f16(%x: tensor<4xf32>) -> tensor<4xf16> {
  %one = arith.constant 1.0 : f32
  %eh = tensor.empty() : tensor<4xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%eh : tensor<4xf16>) {
  ^bb0(%a: f32, %c: f16):
    %0 = math.tanh %a : f32
    %1 = arith.addf %0, %one : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<4xf16>
  return %p : tensor<4xf16>
}

// Values are followed through dispatches.
// CHECK-LABEL: func.func @through_a_dispatch
// CHECK: math.exp %{{.*}} {mpk.approximate = "instruction"}
// CHECK: return
func.func @through_a_dispatch(%x: tensor<4xf32>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xf32>
  %eb = tensor.empty() : tensor<4xbf16>
  %p = mpk.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%in: tensor<4xf32>, %out: tensor<4xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%in : tensor<4xf32>) outs(%out : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %1 = math.exp %a : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    mpk.yield %0 : tensor<4xf32>
  }
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%p : tensor<4xf32>) outs(%eb : tensor<4xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4xbf16>
  return %q : tensor<4xbf16>
}

// Nothing is known behind what a loop yields, a call, or another block.
// CHECK-LABEL: func.func @a_loop_yields_it
// CHECK-NOT: mpk.approximate
// CHECK: return
// BUDGET-LABEL: func.func @a_loop_yields_it
// BUDGET-NOT: mpk.approximate
// BUDGET: return
func.func @a_loop_yields_it(%x: tensor<4xf32>, %n: index) -> tensor<4xbf16> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> tensor<4xf32> {
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<4xf32>) {
    ^bb0(%a: f32):
      %1 = math.exp %a : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  %q = arith.truncf %r : tensor<4xf32> to tensor<4xbf16>
  return %q : tensor<4xbf16>
}
func.func private @seen(tensor<4xf32>) -> i1
// CHECK-LABEL: func.func @also_passed_to_a_call
// CHECK-NOT: mpk.approximate
// CHECK: return
func.func @also_passed_to_a_call(%x: tensor<4xf32>) -> tensor<4xbf16> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %q = arith.truncf %0 : tensor<4xf32> to tensor<4xbf16>
  %s = call @seen(%0) : (tensor<4xf32>) -> i1
  return %q : tensor<4xbf16>
}
// CHECK-LABEL: func.func @also_read_in_another_block
// CHECK-NOT: mpk.approximate
// CHECK: return
func.func @also_read_in_another_block(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %q = arith.truncf %0 : tensor<4xf32> to tensor<4xbf16>
  cf.cond_br %c, ^a, ^b
^a:
  return %0, %q : tensor<4xf32>, tensor<4xbf16>
^b:
  return %x, %q : tensor<4xf32>, tensor<4xbf16>
}

// Two approximate factors share the room.
// CHECK-LABEL: func.func @factors
// CHECK: math.tanh %{{.*}} {mpk.approximate = "instruction"}
// CHECK: math.rsqrt %{{.*}} {mpk.approximate = "instruction"}
// CHECK: return
// REMARK: tanh is approximate: relative error 4.9e-04, half of what rounding to bf16 behind it may lose leaves 9.8e-04
// REMARK: rsqrt is approximate: relative error 2.4e-07, half of what rounding to bf16 behind it may lose leaves 9.8e-04
func.func @factors(%x: tensor<4xf32>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %1 = math.tanh %a : f32
    %2 = math.rsqrt %a : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Rounding to a power of two is not relative to what is rounded, a comparison to nothing.
// CHECK-LABEL: func.func @scales_and_comparisons
// CHECK-NOT: mpk.approximate
// CHECK: return
func.func @scales_and_comparisons(%x: tensor<4xf32>) -> (tensor<4xf8E8M0FNU>, tensor<4xi1>) {
  %e = tensor.empty() : tensor<4xf8E8M0FNU>
  %i = tensor.empty() : tensor<4xi1>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e, %i : tensor<4xf8E8M0FNU>, tensor<4xi1>) {
  ^bb0(%a: f32, %b: f8E8M0FNU, %c: i1):
    %1 = math.exp %a : f32
    %2 = arith.truncf %1 : f32 to f8E8M0FNU
    %3 = math.exp2 %a : f32
    %4 = arith.truncf %3 : f32 to bf16
    %5 = arith.extf %4 : bf16 to f32
    %6 = arith.cmpf ogt, %3, %5 : f32
    linalg.yield %2, %6 : f8E8M0FNU, i1
  } -> (tensor<4xf8E8M0FNU>, tensor<4xi1>)
  return %0#0, %0#1 : tensor<4xf8E8M0FNU>, tensor<4xi1>
}

// A sum of what is never negative, into what may be: without elements the result is that.
// CHECK-LABEL: func.func @a_sum_into_anything
// CHECK-NOT: mpk.approximate
// CHECK: return
func.func @a_sum_into_anything(%x: tensor<4x8xf32>, %init: tensor<4xf32>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%e : tensor<4xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4xbf16>
  return %q : tensor<4xbf16>
}

// A certificate counts functions as exact.
// CHECK-LABEL: func.func @certified
// CHECK-NOT: mpk.approximate
// CHECK: return
// REMARK: kept-exact {{.*}}functions of @certified are exact: a certificate (certify=) counts them as within a unit in the last place
func.func @certified(%x: tensor<4xf32>) -> tensor<4xbf16> attributes {mp.certified} {
  %e = tensor.empty() : tensor<4xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = math.exp %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<4xbf16>
  return %q : tensor<4xbf16>
}

// A sum takes a product that nothing else reads without the product's rounding.
// CHECK-LABEL: func.func @product_and_sum
// CHECK: %[[Y:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: arith.truncf %[[Y]]
// CHECK-NOT: arith.mulf
// CHECK: return
// REMARK: approximated {{.*}}product and sum are rounded once: relative error 6.0e-08, half of what rounding to bf16 behind it may lose
func.func @product_and_sum(%x: tensor<4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %w, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xbf16>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: bf16):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.addf %1, %d : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
// The product is read besides, and behind the sum is another that may cancel.
// CHECK-LABEL: func.func @products_and_sums_kept_apart
// CHECK-NOT: math.fma
// CHECK: return
func.func @products_and_sums_kept_apart(%x: tensor<4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>) {
  %e = tensor.empty() : tensor<4xbf16>
  %0:3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %w, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e, %e, %e : tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: bf16, %p: bf16, %r: bf16):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.addf %1, %d : f32
    %3 = arith.truncf %2 : f32 to bf16
    %4 = arith.truncf %1 : f32 to bf16
    %7 = arith.mulf %d, %d : f32
    %8 = arith.addf %7, %c : f32
    %9 = arith.addf %8, %a : f32
    %10 = arith.truncf %9 : f32 to bf16
    linalg.yield %3, %4, %10 : bf16, bf16, bf16
  } -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  return %0#0, %0#1, %0#2 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>
}
// Nothing is rounded behind the sum, but a budget may allow it.
// STRICT-LABEL: func.func @product_and_sum_in_f32
// STRICT-NOT: math.fma
// STRICT: return
// BUDGET-LABEL: func.func @product_and_sum_in_f32
// BUDGET: math.fma
func.func @product_and_sum_in_f32(%x: tensor<4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %w, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.addf %1, %d : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
