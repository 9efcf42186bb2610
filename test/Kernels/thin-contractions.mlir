// RUN: mp-opt %s --mp-emit-contractions="target=sm_80 sums=tree" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s --check-prefix=TREE
// RUN: mp-opt %s --mp-emit-contractions="target=sm_80" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s --check-prefix=ORDERED

// One row: eight warps share each sum, or, where sums keep their order, a ring of twelve stages has weights under way.
// TREE: Remark="matmul tile=16x64x64 warps=1x1 stages=2 slices=8: 8 groups of warps share each sum, and add their parts by a tree"
// ORDERED: Remark="matmul tile=16x64x64 warps=1x4 stages=12"
// TREE-LABEL: func.func @one_row
// TREE: gpu.launch_func @mp_kernels::@mma_bf16_16x64_0 blocks in (%c64{{[_0-9]*}}, %{{.*}}) threads in (%c256, %{{.*}})
// ORDERED-LABEL: func.func @one_row
// ORDERED: gpu.launch_func @mp_kernels::@mma_bf16_16x64_0 blocks in (%c64{{[_0-9]*}}, %{{.*}}) threads in (%c128, %{{.*}})
// Rows beyond the first are zeros, which cp.async writes without reading.
// TREE-LABEL: gpu.func @mma_bf16_16x64_0
// TREE: cp.async.cg.shared.global [$0], [$1], 16, $2;
// TREE: scf.for
// TREE: nvvm.mma.sync
// Behind the loop the ring is free, and each thread adds eight parts of four sums.
// TREE: nvvm.cp.async.wait.group 0
// TREE-NEXT: gpu.barrier
// TREE: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// TREE: gpu.barrier
// TREE: scf.for
// TREE-COUNT-8: llvm.load {{.*}} -> vector<4xf32>
// TREE-COUNT-28: arith.addf
// TREE-NOT: arith.addf
// TREE: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
func.func @one_row(%x: memref<1x4096xbf16>, %y: memref<4096x4096xbf16>, %z: memref<1x4096xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %y : memref<1x4096xbf16>, memref<4096x4096xbf16>) outs(%z : memref<1x4096xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}
