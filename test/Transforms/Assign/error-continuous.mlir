// Errors that reach a selection move its result along a slope where both arms are equal at the
// threshold, as of PReLU: the error is modelled as it is, and a limit that it keeps is kept in
// f16. With a jump of 1/4 in its place the error is 20 times as large, and the limit keeps one wide.

// RUN: mp-opt %s --mp-mixed-precision="format=f16 target=sm_80 max-rel-error=2e-3" -o %t.f16.mlir 2>&1 | FileCheck %s --check-prefix=SLOPE
// RUN: mp-run %t.f16.mlir --compare=%s --numerics=sm_80 | FileCheck %s --check-prefix=NEAR
// RUN: sed 's/%%slope = arith.mulf/%%slope = arith.subf/' %s > %t.jump.mlir
// RUN: mp-opt %t.jump.mlir --mp-mixed-precision="format=f16 target=sm_80 max-rel-error=2e-3" -o %t.wide.mlir 2>&1 | FileCheck %s --check-prefix=JUMP
// RUN: mp-opt %t.jump.mlir --mp-mixed-precision="format=f16 target=sm_80" -o %t.off.mlir 2>&1 | FileCheck %s --check-prefix=FREE
// RUN: mp-run %t.off.mlir --compare=%t.jump.mlir --numerics=sm_80 | FileCheck %s --check-prefix=OFF

// SLOPE: 2 of 2 contractions f16
// SLOPE: error of the results in norm, estimated: 0.0004
// NEAR: in norm 0.000{{[34]}}
// JUMP: 1 of 2 contractions f16
// FREE: 2 of 2 contractions f16
// OFF: in norm 0.008
func.func @main(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>, %v: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %quarter = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %isPositive = arith.cmpf ogt, %a, %zero : f32
    %slope = arith.mulf %a, %quarter : f32
    %r = arith.select %isPositive, %a, %slope : f32
    linalg.yield %r : f32
  } -> tensor<256x256xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<256x256xf32>, tensor<256x256xf32>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %2 : tensor<256x256xf32>
}
