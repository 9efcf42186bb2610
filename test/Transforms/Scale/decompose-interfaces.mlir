// No scaling op is tiled or bufferized as it is: what it is made of is, by upstream's own interfaces. All nine, in one function.

// RUN: mp-opt %s --mp-decompose-scaling -o %t.mlir
// RUN: mp-opt %t.mlir --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s --check-prefix=BUFFERS
// BUFFERS-LABEL: func.func @scaled(
// BUFFERS-NOT: tensor<
// BUFFERS: linalg.generic
// BUFFERS-NOT: tensor<
// BUFFERS: return {{.*}} memref<4x8xf32

// Every op with loops, in tiles of 2; the numbers stay.
// RUN: mp-opt %t.mlir --pass-pipeline="builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/tile-by-2.mlir},transform-interpreter,canonicalize)" -o %t.tiled.mlir
// RUN: FileCheck %s --check-prefix=TILES < %t.tiled.mlir
// TILES-COUNT-8: scf.for
// RUN: mp-run %t.tiled.mlir --compare=%s --max-rel=0 --input=seed --input=seed --input=seed --input=16xf32=uniform:3,0,1 --input=seed

func.func @scaled(%x: tensor<4x256xf32>, %w: tensor<256x8xf32>, %c: tensor<4x8xf32>, %history: tensor<16xf32>, %seed: tensor<i64>) -> (tensor<4x8xf32>, tensor<16xf32>, tensor<4x256xf32>) {
  %amax = mp.amax %x : tensor<4x256xf32> to tensor<f32>
  %next, %effective = mp.update_amax_history %history, %amax max after_current : tensor<16xf32>
  %enc, %scale = mp.compute_scale %effective for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<f32> to tensor<f32>
  %spread = mp.hadamard %x axis 1 signs [1, -1, 1, 1] : tensor<4x256xf32>
  %bits = mp.random_bits %seed, %seed : tensor<4x256xi32>
  %q = mp.quantize sr saturate %spread by %enc random %bits : tensor<4x256xi32> : tensor<4x256xf32>, tensor<f32> to tensor<4x256xf8E4M3FN>
  %r, %rs = mp.block_quantize %w by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<256x8xf32> to tensor<256x8xf8E4M3FN>, tensor<2x8xf32>
  %p = mp.scaled_matmul %q by(%scale) with %r by(%rs) onto %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
     : tensor<4x256xf8E4M3FN> by(tensor<f32>) with tensor<256x8xf8E4M3FN> by(tensor<2x8xf32>) to tensor<4x8xf32>
  %back = mp.dequantize %q by %scale : tensor<4x256xf8E4M3FN>, tensor<f32> to tensor<4x256xf32>
  return %p, %next, %back : tensor<4x8xf32>, tensor<16xf32>, tensor<4x256xf32>
}
