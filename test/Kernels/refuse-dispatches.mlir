// RUN: mp-opt %s --mp-refuse-dispatches --remarks-filter=".*" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// CHECK-LABEL: func.func @keeps_what_a_family_takes
// CHECK: mpk.dispatch
func.func @keeps_what_a_family_takes(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    mpk.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @keeps_f64
// CHECK: mpk.dispatch
func.func @keeps_f64(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = mpk.dispatch ins(%x : tensor<4xf64>) outs(%y : tensor<4xf64>) -> tensor<4xf64> {
  ^bb0(%a: tensor<4xf64>, %b: tensor<4xf64>):
    %1 = linalg.exp ins(%a : tensor<4xf64>) outs(%b : tensor<4xf64>) -> tensor<4xf64>
    mpk.yield %1 : tensor<4xf64>
  }
  return %0 : tensor<4xf64>
}

// CHECK-LABEL: func.func @inlines_elements_of_less_than_a_byte
// CHECK-NOT: mpk.dispatch
// CHECK: linalg.copy
// REMARK: no family of kernels takes this dispatch: {{.*}}its elements are f4E2M1FN{{.*}}it takes the plain route
func.func @inlines_elements_of_less_than_a_byte(%x: tensor<4xf4E2M1FN>, %y: tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> {
  %0 = mpk.dispatch ins(%x : tensor<4xf4E2M1FN>) outs(%y : tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> {
  ^bb0(%a: tensor<4xf4E2M1FN>, %b: tensor<4xf4E2M1FN>):
    %1 = linalg.copy ins(%a : tensor<4xf4E2M1FN>) outs(%b : tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN>
    mpk.yield %1 : tensor<4xf4E2M1FN>
  }
  return %0 : tensor<4xf4E2M1FN>
}

// CHECK-LABEL: func.func @inlines_a_reduction_that_is_no_combination
// CHECK-NOT: mpk.dispatch
// CHECK: linalg.generic
// REMARK: a reduction of it does not combine by one operation
func.func @inlines_a_reduction_that_is_no_combination(%x: tensor<4x8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpk.dispatch ins(%x : tensor<4x8xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4xf32>):
    %1 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) {
    ^bb0(%v: f32, %s: f32):
      %2 = arith.mulf %s, %s : f32
      %3 = arith.addf %2, %v : f32
      linalg.yield %3 : f32
    } -> tensor<4xf32>
    mpk.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
