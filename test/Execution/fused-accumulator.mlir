// An op that adds to its destination adds once, however often its result is read: fused into its reader for each of
// three columns, it would add three times.
// RUN: mp-run %s --entry=columns --input="2xf32=1 2" --input=2xf32=10 | FileCheck %s
// RUN: mp-run %s --entry=columns --input="2xf32=1 2" --input=2xf32=10 --device=emulator --chip=sm_80 | FileCheck %s
// RUN: mp-run %s --entry=once --input="2xf32=1 2" --input=2xf32=10 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=ONCE
// RUN: mp-opt %s --mp-fuse-elementwise | FileCheck %s --check-prefix=FUSED

// CHECK: [26 26 26 32 32 32]
// FUSED-LABEL: func.func @columns
// FUSED-COUNT-2: linalg.generic
// FUSED: return
func.func @columns(%a: tensor<2xf32>, %sum: tensor<2xf32>) -> tensor<2x3xf32> {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<2xf32>) outs(%sum : tensor<2xf32>) {
  ^bb0(%x: f32, %old: f32):
    %p = arith.mulf %x, %three : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<2xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%x: f32, %old: f32):
    %p = arith.mulf %x, %two : f32
    linalg.yield %p : f32
  } -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// Each element is read once: fused.
// ONCE: [26 32]
// FUSED-LABEL: func.func @once
// FUSED-COUNT-1: linalg.generic
// FUSED-NOT: linalg.generic
func.func @once(%a: tensor<2xf32>, %sum: tensor<2xf32>) -> tensor<2xf32> {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<2xf32>) outs(%sum : tensor<2xf32>) {
  ^bb0(%x: f32, %old: f32):
    %p = arith.mulf %x, %three : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%0 : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%x: f32, %old: f32):
    %p = arith.mulf %x, %two : f32
    linalg.yield %p : f32
  } -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
