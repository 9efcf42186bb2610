// RUN: mp-opt %s --mp-emit-contractions="target=sm_80" --split-input-file --verify-diagnostics | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @static
// The ring of three stages of 16 KiB lies in dynamic shared memory.
// CHECK: %[[BYTES:.*]] = arith.constant 49152 : i32
// CHECK: gpu.launch_func @mp_kernels::@mma_bf16_64x64_0 blocks in (%{{.*}}) threads in (%c128, %{{.*}}) dynamic_shared_memory_size %[[BYTES]] args(%{{.*}} : memref<128x256xbf16>, %{{.*}} : memref<256x128xbf16>, %{{.*}} : memref<128x128xf32>)
// CHECK: llvm.mlir.global external @mp_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK: gpu.func @mma_bf16_64x64_0
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME: nvvm.minctasm = 1
// Two stages are filled, the first waited for, before the loop; full tiles need no zeros.
// CHECK: cp.async.cg.shared.global [$0], [$1], 16;
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// Rows of A run along k: plain ldmatrix; rows of B run along n: transposing ldmatrix.
// CHECK: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>, num = 4
// CHECK: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>, num = 4
// CHECK: scf.for
// Loads of the next part and copies lie between products.
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK: nvvm.ldmatrix
// CHECK: @$2 cp.async.cg.shared.global [$0], [$1], 16;
// CHECK: nvvm.mma.sync
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield
// CHECK-NOT: gpu.barrier
// Full tiles, and a C of which columns are neighbours: stores of two, unguarded.
// CHECK: llvm.store {{.*}} : vector<2xf32>
func.func @static(%x: memref<128x256xbf16>, %y: memref<256x128xbf16>, %z: memref<128x128xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=64x64x64 warps=2x2 stages=3 copy=async">}
      ins(%x, %y : memref<128x256xbf16>, memref<256x128xbf16>) outs(%z : memref<128x128xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Sizes are arguments, and an empty result is no launch.
// CHECK-LABEL: func.func @dynamic
// CHECK: arith.cmpi sgt
// CHECK: scf.if
// CHECK: gpu.launch_func @mp_kernels::@mma_f16_{{[0-9x_]+}}
// CHECK-SAME: memref<f16>, %{{.*}} : memref<f16>, %{{.*}} : memref<f32>, %{{.*}} : index
func.func @dynamic(%x: memref<?x?xf16>, %y: memref<?x?xf16>, %z: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "f16"}
      ins(%x, %y : memref<?x?xf16>, memref<?x?xf16>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f16, %q: f16, %s: f32):
    %wp = arith.extf %p : f16 to f32
    %wq = arith.extf %q : f16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// The mark alone is not trusted.
func.func @no_product(%x: memref<8x8xf16>, %z: memref<8xf32>) {
  // expected-error @+1 {{is marked 'mpk.mma' but it is no sum of products}}
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"], mpk.mma = "f16"}
      ins(%x : memref<8x8xf16>) outs(%z : memref<8xf32>) {
  ^bb0(%p: f16, %s: f32):
    %wp = arith.extf %p : f16 to f32
    %r = arith.addf %s, %wp : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// A schedule that the part cannot run is refused, and why.
func.func @too_large(%x: memref<512x512xbf16>, %y: memref<512x512xbf16>, %z: memref<512x512xf32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but about 380 registers exceed the 255 of a thread}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=128x256x64 warps=2x2 stages=3 copy=async">}
      ins(%x, %y : memref<512x512xbf16>, memref<512x512xbf16>) outs(%z : memref<512x512xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

func.func @depth(%x: memref<64x64xbf16>, %y: memref<64x64xbf16>, %z: memref<64x64xf32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but a step is 128 bytes of products deep, here k=64}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=64x64x32 warps=2x2 stages=3 copy=async">}
      ins(%x, %y : memref<64x64xbf16>, memref<64x64xbf16>) outs(%z : memref<64x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Blocks leave their parts of sums in a buffer, which has a known size.
func.func @parts_of_unknown_rows(%x: memref<?x1024xi8>, %y: memref<64x1024xi8>, %z: memref<?x64xi32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but blocks share sums where every size of the results is known, tiles are at most 1024, and each block has a step}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "i8",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=64x64x128 warps=2x2 stages=3 split-k=2 copy=async">}
      ins(%x, %y : memref<?x1024xi8>, memref<64x1024xi8>) outs(%z : memref<?x64xi32>) {
  ^bb0(%p: i8, %q: i8, %s: i32):
    %wp = arith.extsi %p : i8 to i32
    %wq = arith.extsi %q : i8 to i32
    %m = arith.muli %wp, %wq : i32
    %r = arith.addi %s, %m : i32
    linalg.yield %r : i32
  }
  return
}

// -----

// Tiles have counters, of which a call clears 1024.
func.func @too_many_tiles(%x: memref<4096x1024xi8>, %y: memref<4096x1024xi8>, %z: memref<4096x4096xi32>) {
  // expected-error @+1 {{tiles are at most 1024, and each block has a step}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "i8",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=64x64x128 warps=2x2 stages=3 split-k=2 copy=async">}
      ins(%x, %y : memref<4096x1024xi8>, memref<4096x1024xi8>) outs(%z : memref<4096x4096xi32>) {
  ^bb0(%p: i8, %q: i8, %s: i32):
    %wp = arith.extsi %p : i8 to i32
    %wq = arith.extsi %q : i8 to i32
    %m = arith.muli %wp, %wq : i32
    %r = arith.addi %s, %m : i32
    linalg.yield %r : i32
  }
  return
}

// -----

// Only sums=tree lets warps share a sum of floats.
func.func @slices(%x: memref<1x1024xbf16>, %y: memref<64x1024xbf16>, %z: memref<1x64xf32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but slices and splits of a sum of floats need sums=tree}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=16x32x64 warps=1x1 stages=3 slices=4 copy=async">}
      ins(%x, %y : memref<1x1024xbf16>, memref<64x1024xbf16>) outs(%z : memref<1x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Sums of integers are the same in any order, but need room for runs of 32 columns.
func.func @narrow_slices(%x: memref<16x1024xi8>, %y: memref<64x1024xi8>, %z: memref<16x64xi32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but sums of slices go through the ring, where a tile of 16x16 for each of 2 has no room, or not 32 columns}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "i8",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=16x16x128 warps=1x1 stages=3 slices=2 copy=async">}
      ins(%x, %y : memref<16x1024xi8>, memref<64x1024xi8>) outs(%z : memref<16x64xi32>) {
  ^bb0(%p: i8, %q: i8, %s: i32):
    %wp = arith.extsi %p : i8 to i32
    %wq = arith.extsi %q : i8 to i32
    %m = arith.muli %wp, %wq : i32
    %r = arith.addi %s, %m : i32
    linalg.yield %r : i32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @another_unit(%x: memref<128x256xbf16>, %y: memref<256x128xbf16>, %z: memref<128x128xf32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but kernels here are of unit=mma.sync}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=wgmma tile=64x64x64 warps=2x2 stages=3 copy=async">}
      ins(%x, %y : memref<128x256xbf16>, memref<256x128xbf16>) outs(%z : memref<128x128xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @odd_tile(%x: memref<128x256xbf16>, %y: memref<256x128xbf16>, %z: memref<128x128xf32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but tiles, warps and slices are powers of two, found 48}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=48x64x64 warps=2x2 stages=3 copy=async">}
      ins(%x, %y : memref<128x256xbf16>, memref<256x128xbf16>) outs(%z : memref<128x128xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @another_copy(%x: memref<128x256xbf16>, %y: memref<256x128xbf16>, %z: memref<128x128xf32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but kernels here copy these operands by copy=async, found copy=bulk}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=64x64x64 warps=2x2 stages=3 copy=bulk">}
      ins(%x, %y : memref<128x256xbf16>, memref<256x128xbf16>) outs(%z : memref<128x128xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @another_launch(%x: memref<128x256xbf16>, %y: memref<256x128xbf16>, %z: memref<128x128xf32>) {
  // expected-error @+1 {{pins 'mpk.schedule', but kernels here have cluster=1x1 and no overlapped-stores, found cluster=2x1 overlapped-stores=true}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16",
                  mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=64x64x64 warps=2x2 stages=3 cluster=2x1 overlapped-stores=true">}
      ins(%x, %y : memref<128x256xbf16>, memref<256x128xbf16>) outs(%z : memref<128x128xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}
