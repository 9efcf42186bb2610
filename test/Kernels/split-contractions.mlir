// RUN: mp-opt %s --mp-emit-contractions="target=sm_80 sums=tree" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s --check-prefix=TREE
// RUN: mp-opt %s --mp-emit-contractions="target=sm_80" --remarks-filter=mp-dispatches 2>&1 | FileCheck %s --check-prefix=ORDERED

// 24 tiles would leave most of 108 multiprocessors idle: four blocks share the sums of each, and the last of them to come adds
// what they left, and what was there. Counters are cleared once for a call; a tile's is zero again behind its last block.
// TREE: Remark="matmul tile=64x64x64 stages=5 split-k=4: 4 blocks share each sum, and the last one adds their parts"
// TREE-LABEL: func.func @long_sums
// TREE: %[[COUNTERS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1024xi32>
// TREE: gpu.memset %[[COUNTERS]], %c0_i32
// TREE: %[[PARTS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<393216xf32>
// TREE: gpu.launch_func @mp_kernels::@mma_bf16_64x64_0 blocks in (%c96{{[_0-9]*}}, {{.*}} args(%{{.*}} : memref<128x3072xbf16>, %{{.*}} : memref<768x3072xbf16>, %{{.*}} : memref<128x768xf32>, %[[PARTS]] : memref<393216xf32>, %[[COUNTERS]] : memref<1024xi32>)
// TREE-NOT: gpu.launch_func
// TREE-LABEL: gpu.func @mma_bf16_64x64_0
// TREE: %[[LAST:.*]] = arith.constant 511 : i32
// TREE: llvm.inline_asm has_side_effects {{.*}}atom.acq_rel.gpu.global.inc.u32 {{.*}} %[[LAST]]
// TREE: nvvm.barrier
// TREE: scf.if
// TREE: scf.for
// TREE-COUNT-16: llvm.load {{.*}} -> vector<4xf32>
// TREE-COUNT-48: arith.addf
// TREE: llvm.load {{.*}} -> vector<4xf32>
// TREE-COUNT-4: arith.addf
// TREE: llvm.store {{.*}} : vector<4xf32>
// ORDERED: Remark="matmul tile={{[0-9x]+}} stages=5"
// ORDERED-NOT: memref.alloc
// ORDERED-NOT: gpu.memset
func.func @long_sums(%x: memref<128x3072xbf16>, %y: memref<768x3072xbf16>, %z: memref<128x768xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
      ins(%x, %y : memref<128x3072xbf16>, memref<768x3072xbf16>) outs(%z : memref<128x768xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}
