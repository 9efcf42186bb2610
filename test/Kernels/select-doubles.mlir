// The model counts f64 by the units that a part has for it: on a chip with few of them they bind, on an A100 memory does.
// RUN: mp-opt %s --mp-select-schedules="target=sm_89" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-select-schedules="target=sm_80" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s --check-prefix=A100

#map = affine_map<(i) -> (i)>

// CHECK: select-doubles.mlir:[[#@LINE+4]]:{{.*}}schedule{{.*}}bound by issue
// A100: select-doubles.mlir:[[#@LINE+3]]:{{.*}}schedule{{.*}}bound by memory
func.func @computes_in_f64(%x: tensor<67108864xf64>) -> tensor<67108864xf64> {
  %e = tensor.empty() : tensor<67108864xf64>
  %0 = mpk.dispatch ins(%x : tensor<67108864xf64>) outs(%e : tensor<67108864xf64>) -> tensor<67108864xf64> {
  ^bb0(%a: tensor<67108864xf64>, %b: tensor<67108864xf64>):
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<67108864xf64>) outs(%b : tensor<67108864xf64>) {
    ^bb0(%p: f64, %q: f64):
      %2 = arith.mulf %p, %p : f64
      %3 = arith.addf %2, %p : f64
      %4 = math.exp %3 : f64
      linalg.yield %4 : f64
    } -> tensor<67108864xf64>
    mpk.yield %1 : tensor<67108864xf64>
  }
  return %0 : tensor<67108864xf64>
}

// CHECK: select-doubles.mlir:[[#@LINE+4]]:{{.*}}schedule{{.*}}bound by memory
// A100: select-doubles.mlir:[[#@LINE+3]]:{{.*}}schedule{{.*}}bound by memory
func.func @moves_f64(%x: tensor<67108864xf64>, %c: tensor<67108864xi1>) -> tensor<67108864xf64> {
  %e = tensor.empty() : tensor<67108864xf64>
  %0 = mpk.dispatch ins(%x, %c : tensor<67108864xf64>, tensor<67108864xi1>) outs(%e : tensor<67108864xf64>) -> tensor<67108864xf64> {
  ^bb0(%a: tensor<67108864xf64>, %m: tensor<67108864xi1>, %b: tensor<67108864xf64>):
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%a, %m : tensor<67108864xf64>, tensor<67108864xi1>) outs(%b : tensor<67108864xf64>) {
    ^bb0(%p: f64, %s: i1, %q: f64):
      %zero = arith.constant 0.0 : f64
      %2 = arith.select %s, %p, %zero : f64
      linalg.yield %2 : f64
    } -> tensor<67108864xf64>
    mpk.yield %1 : tensor<67108864xf64>
  }
  return %0 : tensor<67108864xf64>
}
