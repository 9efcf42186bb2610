// RUN: mp-opt %s --mp-emit-contractions="target=sm_80 sparse=true" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s
// RUN: not mp-opt %s --mp-emit-contractions="target=sm_75 sparse=true" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s --check-prefix=TURING
// RUN: mp-opt %s --mp-emit-contractions="target=sm_80" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s --check-prefix=DENSE

// Weights that are constants with two of four become values and metadata, and operand A.
// CHECK: [Passed] sparse-product {{.*}}two of each four weights are multiplied: B, which becomes A of mma.sp
// One that has three, and one that anybody may pass, stay dense, with the reason.
// CHECK: [Missed] sparse-product {{.*}}products stay dense: of the four weights of output 1 from product 4 on, 3 are not zero
// CHECK: [Missed] sparse-product {{.*}}products stay dense: neither factor is a constant of 8 or 16 bits, whose zeros could be checked
// CHECK-DAG: memref.global "private" constant @sparse_values_0 : memref<8x32xf16>
// CHECK-DAG: memref.global "private" constant @sparse_metadata_1 : memref<1x256xi32>
// CHECK-LABEL: func.func @two_of_four
// CHECK: gpu.launch_func @mp_kernels::@mma_sp_f16_64x64_0
// CHECK-LABEL: func.func @three_of_four
// CHECK: gpu.launch_func @mp_kernels::@mma_f16_64x64_1
// CHECK-LABEL: func.func @argument
// CHECK: gpu.launch_func @mp_kernels::@mma_f16_64x64_
// CHECK-LABEL: gpu.func @mma_sp_f16_64x64_0
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.f32.f32"
// CHECK-LABEL: gpu.func @mma_f16_64x64_1
// CHECK-NOT: mma.sp

// The pinned schedule copies by cp.async, which sm_75 has not: an error behind the remarks.
// TURING-COUNT-3: products stay dense: sm_75 has no mma.sp of f16 that is written here
// TURING-NOT: mma_sp

// Infinities that meet zeros are NaN: nobody leaves these out who was not asked to.
// DENSE-NOT: sparse-product
// DENSE: func.func @two_of_four
// DENSE-NOT: sparse_values
// DENSE-NOT: mma_sp
memref.global "private" constant @left : memref<8x8xf16> = dense<[[1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0, -0.0, 0.0, 3.0],
  [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0],
  [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0]]>
memref.global "private" constant @full : memref<8x8xf16> = dense<[[1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 1.0, 4.0, 0.0, 3.0],
  [1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0],
  [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0]]>

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#pinned = #mpk.schedule<matmul, "tile=64x64x64 warps=2x2 stages=2 copy=async">
func.func @two_of_four(%x: memref<16x8xf16>, %y: memref<16x8xf32>) {
  %w = memref.get_global @left : memref<8x8xf16>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "f16", mpk.fresh, mpk.schedule = #pinned}
      ins(%x, %w : memref<16x8xf16>, memref<8x8xf16>) outs(%y : memref<16x8xf32>) {
  ^bb0(%p: f16, %q: f16, %s: f32):
    %wp = arith.extf %p : f16 to f32
    %wq = arith.extf %q : f16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

func.func @three_of_four(%x: memref<16x8xf16>, %y: memref<16x8xf32>) {
  %w = memref.get_global @full : memref<8x8xf16>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "f16", mpk.fresh, mpk.schedule = #pinned}
      ins(%x, %w : memref<16x8xf16>, memref<8x8xf16>) outs(%y : memref<16x8xf32>) {
  ^bb0(%p: f16, %q: f16, %s: f32):
    %wp = arith.extf %p : f16 to f32
    %wq = arith.extf %q : f16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

func.func @argument(%x: memref<16x8xf16>, %w: memref<8x8xf16>, %y: memref<16x8xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "f16", mpk.fresh, mpk.schedule = #pinned}
      ins(%x, %w : memref<16x8xf16>, memref<8x8xf16>) outs(%y : memref<16x8xf32>) {
  ^bb0(%p: f16, %q: f16, %s: f32):
    %wp = arith.extf %p : f16 to f32
    %wq = arith.extf %q : f16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}
