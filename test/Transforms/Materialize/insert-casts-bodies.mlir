// Bodies of ops that stay as they are move into the new function, with what they capture.
// RUN: split-file %s %t
// RUN: mp-opt %t/good.mlir --mp-assign-precision="format=bf16" --mp-insert-casts | FileCheck %s
// RUN: not mp-opt %t/bad.mlir --mp-insert-casts --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=BAD

//--- good.mlir
// The matmul reads the slice rounded, the body still reads all of it.
// CHECK-LABEL: func.func @captures_stay_wide
// CHECK: %[[WIDE:.*]] = tensor.extract_slice {{.*}} to tensor<2x4xf32>
// CHECK: %[[NARROW:.*]] = mp.cast ieee %[[WIDE]] {inserted}
// CHECK: linalg.matmul ins(%[[NARROW]]
// CHECK: tensor.generate
// CHECK: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK: scf.if
// CHECK: tensor.extract %[[WIDE]][%[[I]], %[[J]]] : tensor<2x4xf32>
func.func @captures_stay_wide(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<2x4xf32>, %c: i1) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[0, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
  %p = linalg.matmul ins(%s, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%init : tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %v = scf.if %c -> f32 {
      %e = tensor.extract %s[%i, %j] : tensor<2x4xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    tensor.yield %v : f32
  } : tensor<2x4xf32>
  return %p, %g : tensor<2x4xf32>, tensor<2x4xf32>
}

//--- bad.mlir
// The error comes after a body has moved; what is left is printed all the same.
// BAD: error: 'arith.addf' op stands in an unreachable block and uses a value before its definition
// BAD: IR Dump After {{.*}}Failed
// BAD: func.func
func.func @no_definition_yet(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %g : tensor<4xf32>
^bb1:
  %0 = arith.addf %1, %1 : tensor<4xf32>
  %1 = arith.addf %0, %0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
