// The model's choice, with its reason; what somebody chose stays.
// RUN: mp-opt %s --mp-select-schedules="target=sm_90a" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s
// RUN: not mp-opt %s --mp-select-schedules="target=sm_1" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}unknown target 'sm_1'

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK: schedule{{.*}}rows{{.*}}modelled {{[0-9.]+}} us on H100 SXM, bound by {{[a-z]+}}, {{[0-9.]+}} %
// CHECK-LABEL: func.func @rows_have_rows
// CHECK: mpk.dispatch {{.*}} schedule = <rows
func.func @rows_have_rows(%x: tensor<4096x4096xf32>, %s: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = mpk.dispatch ins(%x : tensor<4096x4096xf32>) outs(%s : tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%a: tensor<4096x4096xf32>, %b: tensor<4096xf32>):
    %1 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<4096x4096xf32>) outs(%b : tensor<4096xf32>) {
    ^bb0(%p: f32, %q: f32):
      %2 = arith.addf %q, %p : f32
      linalg.yield %2 : f32
    } -> tensor<4096xf32>
    mpk.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}

// CHECK-LABEL: func.func @a_chosen_one_stays
// CHECK: mpk.dispatch {{.*}} schedule = <map, "vector=4">
func.func @a_chosen_one_stays(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = mpk.dispatch ins(%x : tensor<4096xf32>) outs(%y : tensor<4096xf32>) schedule = <map, "vector=4"> -> tensor<4096xf32> {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
    %1 = linalg.exp ins(%a : tensor<4096xf32>) outs(%b : tensor<4096xf32>) -> tensor<4096xf32>
    mpk.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}
