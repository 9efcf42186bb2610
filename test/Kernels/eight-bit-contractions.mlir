// RUN: mp-opt %s --mp-select-contractions="target=sm_89" | FileCheck %s --check-prefix=ADA
// RUN: mp-opt %s --mp-select-contractions="target=sm_90" --remarks-filter=".*" 2>%t.remarks | FileCheck %s --check-prefix=HOPPER
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: mp-opt %s --mp-to-nvvm="target=sm_89" | FileCheck %s --check-prefix=PTX

// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32

// sm_90 has fp8 on wgmma only; its mma.sync goes through f16.
// ADA-LABEL: func.func @fp8
// ADA: mpk.mma = "f8E4M3FN"
// HOPPER-LABEL: func.func @fp8
// HOPPER-NOT: mpk.mma
// REMARK: sm_90 has no native mma.sync for f8E4M3FN
func.func @fp8(%a: tensor<64x256xf8E4M3FN>, %b: tensor<256x48xf8E4M3FN>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x256xf8E4M3FN>, tensor<256x48xf8E4M3FN>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// ADA-LABEL: func.func @signed_bytes
// ADA: mpk.mma = "i8"
// HOPPER-LABEL: func.func @signed_bytes
// HOPPER: mpk.mma = "i8"
func.func @signed_bytes(%a: tensor<64x256xi8>, %b: tensor<256x48xi8>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x256xi8>, tensor<256x48xi8>) outs(%c : tensor<64x48xi32>) -> tensor<64x48xi32>
  return %0 : tensor<64x48xi32>
}

// Wider integers have no instruction.
// ADA-LABEL: func.func @words
// ADA-NOT: mpk.mma
// REMARK: there is no emitter for i32 operands
func.func @words(%a: tensor<64x256xi32>, %b: tensor<256x48xi32>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x256xi32>, tensor<256x48xi32>) outs(%c : tensor<64x48xi32>) -> tensor<64x48xi32>
  return %0 : tensor<64x48xi32>
}
