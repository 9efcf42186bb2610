// Scaling ops by upstream's interfaces: tiles, then buffers or a decomposition, made by upstream's passes; the bits stay.

// RUN: mp-opt %s --pass-pipeline="builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/tile-scaled.mlir},transform-interpreter,canonicalize,cse)" -o %t.tiled.mlir
// RUN: FileCheck %s --check-prefix=TILES < %t.tiled.mlir
// RUN: mp-run %t.tiled.mlir --compare=%s --max-rel=0 --input=seed --input=seed --input=seed --input=16xf32=uniform:3,0,1 --input=seed
// A scale of 128 elements serves tiles of 64; blocks of 128 rows are tiles of 128 rows.
// TILES-DAG: mp.quantize sr saturate {{.*}} : tensor<2x64xf32>, tensor<2x1xf32> to tensor<2x64xf8E4M3FN>
// TILES-DAG: mp.block_quantize {{.*}} : tensor<128x4xf32> to tensor<128x4xi8>, tensor<1x4xf32>
// TILES-DAG: mp.hadamard {{.*}} : tensor<1x8xf32>
// TILES-DAG: mp.amax {{.*}} : tensor<1x128xf32> to tensor<1x1xf32>
// TILES-DAG: mp.compute_scale {{.*}} : tensor<2x2xf32> to tensor<2x2xf32>
// TILES-DAG: mp.dequantize {{.*}} : tensor<2x4xf8E4M3FN>, tensor<2x1xf32> to tensor<2x4xf32>
// TILES-DAG: mp.scaled_matmul {{.*}} : tensor<2x128xi8> by(tensor<2x1xf32>) with tensor<128x4xi8> by(tensor<1x4xf32>) to tensor<2x4xf32>

// RUN: mp-opt %t.tiled.mlir --convert-elementwise-to-linalg --one-shot-bufferize="bufferize-function-boundaries" -o %t.buffers.mlir
// RUN: FileCheck %s --check-prefix=BUFFERS < %t.buffers.mlir
// RUN: mp-opt %s --convert-elementwise-to-linalg --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s --check-prefix=BUFFERS
// BUFFERS-LABEL: func.func @scaled(
// BUFFERS-NOT: {{tensor<|mp\.(amax|quantize|dequantize|scaled_matmul|hadamard|random_bits|compute_scale)}}
// BUFFERS: linalg.generic
// BUFFERS-NOT: {{tensor<|mp\.(amax|quantize|dequantize|scaled_matmul|hadamard|random_bits|compute_scale)}}
// BUFFERS: return
// RUN: mp-opt %t.tiled.mlir --convert-elementwise-to-linalg --one-shot-bufferize -o %t.inside.mlir
// RUN: mp-run %t.inside.mlir --compare=%s --max-rel=0 --input=seed --input=seed --input=seed --input=16xf32=uniform:3,0,1 --input=seed

// RUN: mp-opt %s --pass-pipeline="builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/decompose-aggregated.mlir},transform-interpreter)" -o %t.apart.mlir
// RUN: FileCheck %s --check-prefix=APART < %t.apart.mlir
// RUN: mp-run %t.apart.mlir --compare=%s --max-rel=0 --input=seed --input=seed --input=seed --input=16xf32=uniform:3,0,1 --input=seed
// APART-NOT: mp.{{amax|quantize|dequantize|hadamard|random|scaled_}}
// APART: return

func.func @scaled(%x: tensor<4x256xf32>, %w: tensor<256x8xf32>, %c: tensor<4x8xf32>, %history: tensor<16xf32>, %seed: tensor<i64>) -> (tensor<4x8xf32>, tensor<16xf32>, tensor<4x256xf32>, tensor<4x8xf32>, tensor<16xf32>) {
  %twice = arith.addf %c, %c : tensor<4x8xf32>
  %older = arith.addf %history, %history : tensor<16xf32>
  %spread = mp.hadamard %x axis 1 signs [1, -1, 1, 1] : tensor<4x256xf32>
  %amax = mp.amax %spread : tensor<4x256xf32> to tensor<4x2xf32>
  %enc, %scale = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<4x2xf32> to tensor<4x2xf32>
  %bits = mp.random_bits %seed, %seed : tensor<4x256xi32>
  %q = mp.quantize sr saturate %spread by %enc random %bits : tensor<4x256xi32> : tensor<4x256xf32>, tensor<4x2xf32> to tensor<4x256xf8E4M3FN>
  // Integers, whose sums are exact in any order: tiles of floats may run on another kernel of mp-run, which sums differently.
  %n = mp.quantize saturate %spread by %enc : tensor<4x256xf32>, tensor<4x2xf32> to tensor<4x256xi8>
  %r, %rs = mp.block_quantize %w by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<256x8xf32> to tensor<256x8xi8>, tensor<2x8xf32>
  %p = mp.scaled_matmul %n by(%scale) with %r by(%rs) onto %twice maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
     : tensor<4x256xi8> by(tensor<4x2xf32>) with tensor<256x8xi8> by(tensor<2x8xf32>) to tensor<4x8xf32>
  %back = mp.dequantize %q by %scale : tensor<4x256xf8E4M3FN>, tensor<4x2xf32> to tensor<4x256xf32>
  // The init of the product, and the history, are read again: neither may be overwritten.
  %all = arith.constant dense<0.75> : tensor<f32>
  %next, %effective = mp.update_amax_history %older, %all max after_current : tensor<16xf32>
  %again = arith.addf %twice, %p : tensor<4x8xf32>
  %both = arith.addf %older, %next : tensor<16xf32>
  return %p, %next, %back, %again, %both : tensor<4x8xf32>, tensor<16xf32>, tensor<4x256xf32>, tensor<4x8xf32>, tensor<16xf32>
}
