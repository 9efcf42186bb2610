// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 dispatches=false" | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 dispatches=true" | FileCheck %s --check-prefixes=CHECK,DISPATCH
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_90a dir=%t" -o /dev/null && FileCheck %s --check-prefix=FILE < %t/mp_kernels.ptx
// RUN: not mp-opt %s --mp-to-nvvm="target=sm_8" 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: {{.*}}sm_8

// FILE: .target sm_90a
// FILE-NOT: .extern .func
// FILE-NOT: sqrt.approx
// FILE: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// FILE-NOT: sqrt.approx

// The host keeps what a runtime needs: kernel, grid, block, arguments in order. In a dispatch, what reads the product is computed in
// its kernel.
// CHECK-LABEL: func.func @layer
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<64x96xbf16>, %[[W:[a-z0-9]*]]: memref<96x128xbf16>, %[[B:[a-z0-9]*]]: memref<128xf32>
// CHECK: %[[Y:.*]] = memref.alloc()
// CHECK: gpu.launch_func @mp_kernels::@mma_bf16_{{[0-9x]+}}_0 blocks in (%{{.*}}) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %{{.*}} args(%[[X]] : memref<64x96xbf16>, %[[W]] : memref<96x128xbf16>,
// PLAIN-SAME: %[[Y]] : memref<64x128xf32>)
// PLAIN: gpu.launch_func @mp_kernels::@layer_0
// DISPATCH-SAME: %[[B]] : memref<128xf32>, {{.*}}%[[Y]] : memref<64x128xf32>)
// DISPATCH-NEXT: return
func.func @layer(%x: tensor<64x96xbf16>, %w: tensor<96x128xbf16>, %b: tensor<128xf32>) -> tensor<64x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x96xbf16>, tensor<96x128xbf16>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%0, %b : tensor<64x128xf32>, tensor<128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%v: f32, %w0: f32, %o: f32):
    %s = arith.addf %v, %w0 : f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  %2 = math.sqrt %1 : tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}

// The caller's buffer is not written to.
// CHECK-LABEL: func.func @argument_as_outs
// CHECK: memref.alloc
// CHECK: gpu.launch_func
func.func @argument_as_outs(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Upstream's route leaves softmax on the host without a word.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: gpu.launch_func
// CHECK: return
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Two equal ops in two functions are one kernel.
// CHECK-LABEL: func.func @"strange-name.1"
// CHECK: gpu.launch_func @mp_kernels::@[[K:[a-z0-9_]*]] blocks
func.func @"strange-name.1"(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = math.exp %x : tensor<100xf32>
  return %0 : tensor<100xf32>
}
// CHECK-LABEL: func.func @same
// CHECK: gpu.launch_func @mp_kernels::@[[K]] blocks
func.func @same(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = math.exp %x : tensor<100xf32>
  return %0 : tensor<100xf32>
}

// CHECK: gpu.binary @mp_kernels
