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

// CHECK-LABEL: func.func @inlines_what_holds_several_values
// CHECK-NOT: mpk.dispatch
// REMARK: it holds a constant of several values, which should be an operand
func.func @inlines_what_holds_several_values(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %1 = linalg.add ins(%a, %c : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    mpk.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @inlines_what_reads_every_second
// CHECK-NOT: mpk.dispatch
// REMARK: an index of it is neither a loop nor zero
func.func @inlines_what_reads_every_second(%x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<4xf32>):
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%b : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<4xf32>
    mpk.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @inlines_what_reads_a_diagonal
// CHECK-NOT: mpk.dispatch
// REMARK: two dimensions of a tensor are one loop
func.func @inlines_what_reads_a_diagonal(%x: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpk.dispatch ins(%x : tensor<4x4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<4x4xf32>) outs(%b : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<4xf32>
    mpk.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @inlines_what_splits_a_dimension
// CHECK-NOT: mpk.dispatch
// REMARK: a reshape in it splits a dimension
func.func @inlines_what_splits_a_dimension(%x: tensor<8xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%y : tensor<4x2xf32>) -> tensor<4x2xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<4x2xf32>):
    %e = tensor.expand_shape %a [[0, 1]] output_shape [4, 2] : tensor<8xf32> into tensor<4x2xf32>
    %1 = linalg.exp ins(%e : tensor<4x2xf32>) outs(%b : tensor<4x2xf32>) -> tensor<4x2xf32>
    mpk.yield %1 : tensor<4x2xf32>
  }
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @inlines_what_lacks_a_loop
// CHECK-NOT: mpk.dispatch
// REMARK: a result of it lacks a loop of others
func.func @inlines_what_lacks_a_loop(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %y: tensor<4xf32>, %z: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0:2 = mpk.dispatch ins(%x, %v : tensor<4x8xf32>, tensor<8xf32>) outs(%y, %z : tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>, tensor<8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %v1: tensor<8xf32>, %b: tensor<4xf32>, %d: tensor<8xf32>):
    %1 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1]
    %2 = linalg.exp ins(%v1 : tensor<8xf32>) outs(%d : tensor<8xf32>) -> tensor<8xf32>
    mpk.yield %1, %2 : tensor<4xf32>, tensor<8xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<8xf32>
}

// An op that no rule takes is in no dispatch; forming says so, of it and not of its twin.
// RUN: mp-opt %s --mp-form-dispatches --remarks-filter=mp-refuse-dispatches -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMED
// FORMED: no family of kernels takes this op; it takes the plain route
// FORMED-NEXT: tensor<8xcomplex<f32>>
// FORMED-NOT: takes this op
// FORMED-NOT: tensor<8xf32>
func.func @has_no_family(%x: tensor<8xcomplex<f32>>, %f: tensor<8xf32>) -> (tensor<8xcomplex<f32>>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xcomplex<f32>>) outs(%e : tensor<8xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %s = complex.mul %a, %a : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<8xcomplex<f32>>
  %g = tensor.empty() : tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%f : tensor<8xf32>) outs(%g : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xcomplex<f32>>, tensor<8xf32>
}
