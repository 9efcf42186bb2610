// RUN: mp-opt %s --mp-select-contractions="target=sm_80" --remarks-filter=".*" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: mp-opt %s --mp-to-nvvm="target=sm_90a dir=%t" | FileCheck %s --check-prefix=KERNELS
// RUN: mp-opt %s --mp-to-nvvm="target=sm_90a mma=false dir=%t.plain" | FileCheck %s --check-prefix=PLAIN
// RUN: FileCheck %s --check-prefix=PTX < %t/mp_kernels.ptx

// Products of f32 without a Tensor Core instruction are tiles on the scalar units, with what follows in the same kernel.
// CHECK-LABEL: func.func @product
// CHECK: linalg.generic {{.*}} attrs = {mpk.fresh, mpk.mma = "f32"}
// KERNELS-LABEL: func.func @product
// KERNELS: gpu.launch_func @mp_kernels::@fma_f32_32x32_0
// KERNELS-NOT: gpu.launch_func
// KERNELS: return
// PLAIN-NOT: fma_f32
// A multiplication and an addition that round each, in the order of a loop.
// PTX: .entry fma_f32_32x32_0
// PTX: cp.async
// PTX: mul.rn.f32
// PTX: add.rn.f32
// PTX-NOT: fma.rn.f32
// PTX: .entry
func.func @product(%a: tensor<256x512xf32>, %b: tensor<512x256xf32>, %v: tensor<256xf32>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<256x512xf32>, tensor<512x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0, %v : tensor<256x256xf32>, tensor<256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %u: f32):
    %s = arith.addf %x, %y : f32
    %r = arith.maximumf %s, %z : f32
    linalg.yield %r : f32
  } -> tensor<256x256xf32>
  return %1 : tensor<256x256xf32>
}

// Sums that start from a tensor are of whole steps: what is -0 there must stay so, and products beyond the end of a sum would make it 0.
// CHECK-LABEL: func.func @added_ragged
// CHECK-NOT: mpk.mma
// CHECK: return
// REMARK: its f32 sums start from a tensor, and are not known to be of whole steps of 16
func.func @added_ragged(%a: tensor<64x33xf32>, %b: tensor<33x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x33xf32>, tensor<33x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// CHECK-LABEL: func.func @added_of_unknown_length
// CHECK-NOT: mpk.mma
// CHECK: return
func.func @added_of_unknown_length(%a: tensor<64x?xf32>, %b: tensor<?x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x?xf32>, tensor<?x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// CHECK-LABEL: func.func @added
// CHECK: linalg.generic {{.*}} outs(%arg2 : tensor<64x48xf32>) attrs = {mpk.mma = "f32"}
func.func @added(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: mpk.mma
// CHECK: return
// REMARK: its rows, columns or sums are too few for a tile
func.func @few_rows(%a: tensor<15x32xf32>, %b: tensor<32x48xf32>) -> tensor<15x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<15x48xf32>) -> tensor<15x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<15x32xf32>, tensor<32x48xf32>) outs(%f : tensor<15x48xf32>) -> tensor<15x48xf32>
  return %0 : tensor<15x48xf32>
}

// CHECK-LABEL: func.func @contracted
// CHECK-NOT: mpk.mma
// CHECK: return
// REMARK: its f32 sums have flags of fast mathematics
func.func @contracted(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%f : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %q = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %q : f32
  } -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}
