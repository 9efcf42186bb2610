// Round trip: custom form, generic form, and no loss in either.
// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s --mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s --emit-bytecode | mp-opt | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @rows_and_their_sums
// CHECK: %{{.*}}:2 = mpk.dispatch ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, f32) outs(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?xf32>) schedule = <rows, "threads-per-row=32"> attributes {note = 1 : i64} -> tensor<?x64xbf16>, tensor<?xf32> {
// CHECK: ^bb0(%{{.*}}: tensor<?x64xf32>, %{{.*}}: f32, %{{.*}}: tensor<?x64xbf16>, %{{.*}}: tensor<?xf32>):
// CHECK: mpk.yield %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?xf32>
func.func @rows_and_their_sums(%x: tensor<?x64xf32>, %s: f32, %e: tensor<?x64xbf16>, %z: tensor<?xf32>)
    -> (tensor<?x64xbf16>, tensor<?xf32>) {
  %0:2 = mpk.dispatch ins(%x, %s : tensor<?x64xf32>, f32) outs(%e, %z : tensor<?x64xbf16>, tensor<?xf32>)
      schedule = <rows, "threads-per-row=32"> attributes {note = 1 : i64} -> tensor<?x64xbf16>, tensor<?xf32> {
  ^bb0(%in: tensor<?x64xf32>, %scale: f32, %out: tensor<?x64xbf16>, %sum: tensor<?xf32>):
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%in : tensor<?x64xf32>) outs(%out : tensor<?x64xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %3 = arith.mulf %a, %scale : f32
      %4 = mp.cast ieee %3 : f32 to bf16
      linalg.yield %4 : bf16
    } -> tensor<?x64xbf16>
    %2 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
        ins(%in : tensor<?x64xf32>) outs(%sum : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %3 = arith.addf %b, %a : f32
      linalg.yield %3 : f32
    } -> tensor<?xf32>
    mpk.yield %1, %2 : tensor<?x64xbf16>, tensor<?xf32>
  }
  return %0#0, %0#1 : tensor<?x64xbf16>, tensor<?xf32>
}

// CHECK-LABEL: func.func @on_buffers_without_inputs
// CHECK: mpk.dispatch outs(%{{.*}} : memref<4xf32, strided<[2]>>) schedule = <map> {
func.func @on_buffers_without_inputs(%y: memref<4xf32, strided<[2]>>) {
  mpk.dispatch outs(%y : memref<4xf32, strided<[2]>>) schedule = <map> {
  ^bb0(%out: tensor<4xf32>):
    %one = arith.constant 1.0 : f32
    %0 = linalg.fill ins(%one : f32) outs(%out : tensor<4xf32>) -> tensor<4xf32>
    mpk.yield %0 : tensor<4xf32>
  }
  return
}
