// RUN: mp-opt %s --mp-insert-scaling --split-input-file | FileCheck %s --check-prefixes=CHECK,CURRENT
// RUN: mp-opt %s --mp-insert-scaling="format=e5m2" --split-input-file | FileCheck %s --check-prefixes=CHECK,E5M2
// RUN: mp-opt %s --mp-insert-scaling="recipe=row" --split-input-file | FileCheck %s --check-prefixes=CHECK,ROW
// RUN: mp-opt %s --mp-insert-scaling="recipe=block" --split-input-file | FileCheck %s --check-prefixes=CHECK,BLOCK
// RUN: mp-opt %s --mp-insert-scaling="recipe=mxfp8" --split-input-file | FileCheck %s --check-prefixes=CHECK,MX
// RUN: mp-opt %s --mp-insert-scaling="recipe=nvfp4" --split-input-file | FileCheck %s --check-prefixes=CHECK,NVFP4
// RUN: mp-opt %s --mp-insert-scaling="recipe=int8" --split-input-file | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: mp-opt %s --mp-insert-scaling="recipe=int4-weights" --split-input-file | FileCheck %s --check-prefixes=CHECK,INT4

// Both operands are stored; the scales of a recipe lie over them.
// CHECK-LABEL: func.func @product
// CURRENT: mp.block_quantize %{{.*}} : tensor<64x256xf32> to tensor<64x256xf8E4M3FN>, tensor<f32>
// CURRENT: mp.scaled_matmul {{.*}} : tensor<64x256xf8E4M3FN> by(tensor<f32>) with tensor<256x128xf8E4M3FN> by(tensor<f32>) to tensor<64x128xf32>
// E5M2: mp.scaled_matmul {{.*}} : tensor<64x256xf8E5M2> by(tensor<f32>) with tensor<256x128xf8E5M2> by(tensor<f32>)
// ROW: mp.scaled_matmul {{.*}} : tensor<64x256xf8E4M3FN> by(tensor<64x1xf32>) with tensor<256x128xf8E4M3FN> by(tensor<1x128xf32>)
// The second is a parameter: it has blocks of 128 x 128.
// BLOCK: mp.scaled_matmul {{.*}} : tensor<64x256xf8E4M3FN> by(tensor<64x2xf32>) with tensor<256x128xf8E4M3FN> by(tensor<2x1xf32>)
// MX: mp.scaled_matmul {{.*}} : tensor<64x256xf8E4M3FN> by(tensor<64x8xf8E8M0FNU>) with tensor<256x128xf8E4M3FN> by(tensor<8x128xf8E8M0FNU>)
// NVFP4: %[[AMAX:.*]] = mp.amax
// NVFP4: %[[ENC:.*]], %[[ALL:.*]] = mp.compute_scale %[[AMAX]] for f4E2M1FN
// NVFP4: mp.block_quantize %{{.*}} within %{{.*}} by
// NVFP4: mp.scaled_matmul {{.*}} : tensor<64x256xf4E2M1FN> by(tensor<64x16xf8E4M3FN>, tensor<f32>) with tensor<256x128xf4E2M1FN> by(tensor<16x128xf8E4M3FN>, tensor<f32>)
// INT8: mp.scaled_matmul {{.*}} : tensor<64x256xi8> by(tensor<64x1xf32>) with tensor<256x128xi8> by(tensor<1x128xf32>)
// INT4: mp.dequantize %{{.*}} by %{{.*}} : tensor<256x128xi4>, tensor<2x128xf32> to tensor<256x128xf32>
// INT4: linalg.matmul
func.func @product(%x: tensor<64x256xf32>, %w: tensor<256x128xf32> {mp.role = "parameter"}, %init: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<64x256xf32>, tensor<256x128xf32>) outs(%init : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

// A pin is stronger; so is what is an angle later.
// CHECK-LABEL: func.func @keeps_what_is_pinned
// CHECK-NOT: mp.block_quantize
// CHECK: linalg.matmul
func.func @keeps_what_is_pinned(%x: tensor<128x128xf32>, %init: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = linalg.matmul {mp.pin = f32} ins(%x, %x : tensor<128x128xf32>, tensor<128x128xf32>) outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// 100 is one block of 128, as if zeros filled it up; it has no blocks of 32 or 16 whose scales hardware reads.
// CHECK-LABEL: func.func @less_than_a_block
// CURRENT: mp.scaled_matmul
// ROW: mp.scaled_matmul
// INT8: mp.scaled_matmul
// BLOCK: mp.scaled_matmul {{.*}} : tensor<4x100xf8E4M3FN> by(tensor<4x1xf32>) with tensor<100x4xf8E4M3FN> by(tensor<1x1xf32>)
// MX-NOT: mp.block_quantize
// MX: linalg.matmul
// NVFP4-NOT: mp.block_quantize
// NVFP4: linalg.matmul
func.func @less_than_a_block(%x: tensor<4x100xf32>, %y: tensor<100x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x100xf32>, tensor<100x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// 192 has blocks of 64, and six of 32; 200 has none of a quarter of 128.
// CHECK-LABEL: func.func @smaller_blocks
// BLOCK: mp.scaled_matmul {{.*}} : tensor<4x192xf8E4M3FN> by(tensor<4x3xf32>) with tensor<192x4xf8E4M3FN> by(tensor<3x1xf32>)
// BLOCK: linalg.matmul
// MX: mp.scaled_matmul {{.*}} : tensor<4x192xf8E4M3FN> by(tensor<4x6xf8E8M0FNU>)
// MX: linalg.matmul
func.func @smaller_blocks(%x: tensor<4x192xf32>, %y: tensor<192x4xf32>, %v: tensor<4x200xf32>, %w: tensor<200x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x192xf32>, tensor<192x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%v, %w : tensor<4x200xf32>, tensor<200x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Each use has its own direction of blocks, made from the source, and is made once.
// CHECK-LABEL: func.func @stores_each_direction_from_the_source
// MX-SAME: (%[[X:[a-z0-9]+]]: tensor<128x128xf32>
// MX-DAG: mp.block_quantize %[[X]] {{.*}} tensor<128x4xf8E8M0FNU>
// MX-DAG: mp.block_quantize %[[X]] {{.*}} tensor<4x128xf8E8M0FNU>
// MX-NOT: mp.block_quantize
// MX: return
// CURRENT-COUNT-1: mp.block_quantize
// CURRENT-NOT: mp.block_quantize
// CURRENT: return
func.func @stores_each_direction_from_the_source(%x: tensor<128x128xf32>, %init: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %0 = linalg.matmul ins(%x, %x : tensor<128x128xf32>, tensor<128x128xf32>) outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  %1 = linalg.matmul ins(%x, %x : tensor<128x128xf32>, tensor<128x128xf32>) outs(%0 : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// -----

// Batches, dynamic sizes, and TOSA, which adds to nothing.
// CHECK-LABEL: func.func @batches
// CURRENT: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?x8xf32>
// CURRENT: mp.scaled_matmul {{.*}} : tensor<?x?x128xf8E4M3FN> by(tensor<f32>) with tensor<?x128x8xf8E4M3FN> by(tensor<f32>) to tensor<?x?x8xf32>
// ROW: mp.scaled_matmul {{.*}} : tensor<?x?x128xf8E4M3FN> by(tensor<?x?x1xf32>) with tensor<?x128x8xf8E4M3FN> by(tensor<?x1x8xf32>)
func.func @batches(%x: tensor<?x?x128xf32>, %y: tensor<?x128x8xf32>) -> tensor<?x?x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %y, %zp, %zp : (tensor<?x?x128xf32>, tensor<?x128x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

// -----

// A convolution keeps its op and reads what comes back. A window has one scale: rows are whole images, blocks lie
// along channels.
// CHECK-LABEL: func.func @convolution
// CURRENT: mp.dequantize {{.*}} to tensor<1x8x8x4xf32>
// CURRENT: mp.dequantize {{.*}} : tensor<3x3x4x2xf8E4M3FN>, tensor<f32> to tensor<3x3x4x2xf32>
// CURRENT: linalg.conv_2d_nhwc_hwcf
// ROW: mp.dequantize {{.*}} : tensor<1x8x8x4xf8E4M3FN>, tensor<1x1x1x1xf32>
// ROW: mp.dequantize {{.*}} : tensor<3x3x4x2xf8E4M3FN>, tensor<1x1x1x2xf32>
// BLOCK: mp.dequantize {{.*}} : tensor<1x8x8x4xf8E4M3FN>, tensor<1x1x1x1xf32>
// BLOCK: mp.dequantize {{.*}} : tensor<3x3x4x2xf8E4M3FN>, tensor<1x1x1x1xf32>
// MX: linalg.conv_2d_nhwc_hwcf
func.func @convolution(%x: tensor<1x8x8x4xf32>, %init: tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32> {
  %w = arith.constant dense<0.5> : tensor<3x3x4x2xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) outs(%init : tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32>
  return %0 : tensor<1x6x6x2xf32>
}
