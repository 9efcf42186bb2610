// RUN: mp-opt %s --mp-emit-contractions="target=sm_80" --split-input-file --verify-diagnostics | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>

// The kernel reads the bias and multiplies, adds, narrows and stores; the sums never reach memory. Two
// neighbours of bf16 that a lane has would fill no sector, so that sums go through shared memory.
// CHECK-LABEL: func.func @bias_and_cast
// CHECK-NOT: mpk.dispatch
// CHECK: gpu.launch_func @mp_kernels::@mma_bf16_64x64_0
// CHECK-SAME: args(%{{.*}} : memref<128x256xbf16>, %{{.*}} : memref<128x256xbf16>, %{{.*}} : memref<128xf32>, %{{.*}} : memref<128x128xbf16>)
// CHECK: gpu.func @mma_bf16_64x64_0
// CHECK: scf.for
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: arith.addf
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: llvm.store {{.*}} : vector<4xbf16>
// CHECK-NOT: llvm.store {{.*}} f32
func.func @bias_and_cast(%x: memref<128x256xbf16>, %y: memref<128x256xbf16>, %v: memref<128xf32>, %o: memref<128x128xbf16>) {
  mpk.dispatch ins(%x, %y, %v : memref<128x256xbf16>, memref<128x256xbf16>, memref<128xf32>) outs(%o : memref<128x128xbf16>) schedule = <matmul> {
  ^bb0(%a: tensor<128x256xbf16>, %b: tensor<128x256xbf16>, %bias: tensor<128xf32>, %out: tensor<128x128xbf16>):
    %e = tensor.empty() : tensor<128x128xf32>
    %s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh,
                         mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync tile=64x64x64 warps=2x2 stages=3 copy=async">}
        ins(%a, %b : tensor<128x256xbf16>, tensor<128x256xbf16>) outs(%e : tensor<128x128xf32>) {
    ^bb0(%p: bf16, %q: bf16, %t: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %t, %m : f32
      linalg.yield %r : f32
    } -> tensor<128x128xf32>
    %n = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s, %bias : tensor<128x128xf32>, tensor<128xf32>) outs(%out : tensor<128x128xbf16>) {
    ^bb0(%p: f32, %q: f32, %t: bf16):
      %r = arith.addf %p, %q : f32
      %w = arith.truncf %r : f32 to bf16
      linalg.yield %w : bf16
    } -> tensor<128x128xbf16>
    mpk.yield %n : tensor<128x128xbf16>
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @row_sums(%x: memref<64x64xbf16>, %y: memref<64x64xbf16>, %o: memref<64xf32>) {
  // expected-error @+1 {{is scheduled as a matmul, but cannot be one kernel because it has a linalg.generic, which is not elementwise}}
  mpk.dispatch ins(%x, %y : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o : memref<64xf32>) schedule = <matmul> {
  ^bb0(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %out: tensor<64xf32>):
    %e = tensor.empty() : tensor<64x64xf32>
    %s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
        ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %t: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %t, %m : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
        ins(%s : tensor<64x64xf32>) outs(%out : tensor<64xf32>) {
    ^bb0(%p: f32, %t: f32):
      %r = arith.addf %p, %t : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    mpk.yield %n : tensor<64xf32>
  }
  return
}

// -----

func.func @no_product(%x: memref<64xf32>, %o: memref<64xf32>) {
  // expected-error @+1 {{is scheduled as a matmul, but cannot be one kernel because it has no contraction that is marked mpk.mma}}
  mpk.dispatch ins(%x : memref<64xf32>) outs(%o : memref<64xf32>) schedule = <matmul> {
  ^bb0(%a: tensor<64xf32>, %out: tensor<64xf32>):
    mpk.yield %a : tensor<64xf32>
  }
  return
}

// -----

// Weights that lie in one buffer, behind each other, are of one launch, which is given where each begins.
// CHECK-LABEL: func.func @weights_behind_each_other
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @weights_behind_each_other(%x: memref<64x128xbf16>, %v: memref<64x128xbf16>, %w: memref<64x128xbf16, strided<[128, 1], offset: 8192>>, %o: memref<64x64xf32>, %q: memref<64x64xf32>) {
  mpk.dispatch ins(%x, %v, %x, %w : memref<64x128xbf16>, memref<64x128xbf16>, memref<64x128xbf16>, memref<64x128xbf16, strided<[128, 1], offset: 8192>>) outs(%o, %q : memref<64x64xf32>, memref<64x64xf32>) schedule = <matmul> {
  ^bb0(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>, %c: tensor<64x128xbf16>, %d: tensor<64x128xbf16>, %s: tensor<64x64xf32>, %t: tensor<64x64xf32>):
    %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
        ins(%a, %b : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%s : tensor<64x64xf32>) {
    ^bb0(%g: bf16, %h: bf16, %i: f32):
      %j = arith.extf %g : bf16 to f32
      %k = arith.extf %h : bf16 to f32
      %l = arith.mulf %j, %k : f32
      %n = arith.addf %i, %l : f32
      linalg.yield %n : f32
    } -> tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
        ins(%c, %d : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%t : tensor<64x64xf32>) {
    ^bb0(%g: bf16, %h: bf16, %i: f32):
      %j = arith.extf %g : bf16 to f32
      %k = arith.extf %h : bf16 to f32
      %l = arith.mulf %j, %k : f32
      %n = arith.addf %i, %l : f32
      linalg.yield %n : f32
    } -> tensor<64x64xf32>
    mpk.yield %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  return
}

// -----

// Those that begin elsewhere than at 16 bytes need other loads: a launch for each.
// CHECK-LABEL: func.func @weights_that_need_other_loads
// CHECK-COUNT-2: gpu.launch_func
// CHECK: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @weights_that_need_other_loads(%x: memref<64x128xbf16>, %v: memref<64x128xbf16>, %w: memref<64x128xbf16, strided<[128, 1], offset: 1>>, %o: memref<64x64xf32>, %q: memref<64x64xf32>) {
  mpk.dispatch ins(%x, %v, %x, %w : memref<64x128xbf16>, memref<64x128xbf16>, memref<64x128xbf16>, memref<64x128xbf16, strided<[128, 1], offset: 1>>) outs(%o, %q : memref<64x64xf32>, memref<64x64xf32>) schedule = <matmul> {
  ^bb0(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>, %c: tensor<64x128xbf16>, %d: tensor<64x128xbf16>, %s: tensor<64x64xf32>, %t: tensor<64x64xf32>):
    %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
        ins(%a, %b : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%s : tensor<64x64xf32>) {
    ^bb0(%g: bf16, %h: bf16, %i: f32):
      %j = arith.extf %g : bf16 to f32
      %k = arith.extf %h : bf16 to f32
      %l = arith.mulf %j, %k : f32
      %n = arith.addf %i, %l : f32
      linalg.yield %n : f32
    } -> tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
        ins(%c, %d : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%t : tensor<64x64xf32>) {
    ^bb0(%g: bf16, %h: bf16, %i: f32):
      %j = arith.extf %g : bf16 to f32
      %k = arith.extf %h : bf16 to f32
      %l = arith.mulf %j, %k : f32
      %n = arith.addf %i, %l : f32
      linalg.yield %n : f32
    } -> tensor<64x64xf32>
    mpk.yield %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  return
}
