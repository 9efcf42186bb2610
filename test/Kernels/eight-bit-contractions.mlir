// RUN: mp-opt %s --mp-select-contractions="target=sm_89" | FileCheck %s --check-prefix=ADA
// RUN: mp-opt %s --mp-select-contractions="target=sm_90" --remarks-filter=".*" 2>%t.remarks | FileCheck %s --check-prefix=HOPPER
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: mp-opt %s --mp-to-nvvm="target=sm_89" | FileCheck %s --check-prefix=PTX

// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32

// sm_90 has fp8 on wgmma only; on mma.sync products of f16 are the same.
// ADA-LABEL: func.func @fp8
// ADA: mpk.mma = "f8E4M3FN"
// HOPPER-LABEL: func.func @fp8
// HOPPER: arith.extf %{{.*}} : f8E4M3FN to f16
// HOPPER: mpk.mma = "f16"
// REMARK: widened-contraction{{.*}}contraction of 8-bit floats runs as products of f16: {{.*}}sm_90 has no native mma.sync for f8E4M3FN
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

// Gradients in e5m2 by weights in e4m3, or the reverse.
// ADA-LABEL: func.func @two_formats
// ADA: mpk.mma = "f8E4M3FN_f8E5M2"
// HOPPER-LABEL: func.func @two_formats
// HOPPER-DAG: arith.extf %{{.*}} : f8E4M3FN to f16
// HOPPER-DAG: arith.extf %{{.*}} : f8E5M2 to f16
// HOPPER: mpk.mma = "f16"
// REMARK: sm_90 has no native mma.sync for f8E4M3FN by f8E5M2
func.func @two_formats(%a: tensor<64x256xf8E4M3FN>, %b: tensor<256x48xf8E5M2>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<64x256xf8E4M3FN>, tensor<256x48xf8E5M2>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}

// Activations without a sign by weights with one.
// ADA-LABEL: func.func @unsigned_bytes
// ADA: mpk.mma = "u8_i8"
func.func @unsigned_bytes(%a: tensor<64x256xi8>, %b: tensor<256x48xi8>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x256xi8>, tensor<256x48xi8>) outs(%c : tensor<64x48xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %1 = arith.extui %x : i8 to i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %o, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<64x48xi32>
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
