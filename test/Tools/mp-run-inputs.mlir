// Files, patterns, names, dynamic sizes, state from step to step; the caller's data stays.
// RUN: %python %S/Inputs/make_arrays.py %t
// RUN: mp-run %s --entry=add --input=@%t/c.npy --input=@%t/fortran.npy | FileCheck %s --check-prefix=ORDER
// RUN: mp-run %s --entry=pass --input=@%t/bits.npy --output=@%t/out.npy && cmp %t/bits.npy %t/out.npy
// RUN: mp-run %s --entry=pass --input=@%t/bits.npy --input-dir=%t/in && cmp %t/bits.npy %t/in/input-000.npy
// RUN: mp-run %s --entry=pass --input=4xbf16=[0x3f80,0xbf80,inf,nan] | FileCheck %s --check-prefix=PATTERN
// RUN: mp-run %s --entry=named --params=%t/w.safetensors --input=f32:10 | FileCheck %s --check-prefix=NAMED
// RUN: mp-run %s --entry=sum --input=5xf32=2 | FileCheck %s --check-prefix=FIVE
// RUN: mp-run %s --entry=sum --dim=7 --input=seed --compare=f64 --max-rel=1e-6 | FileCheck %s --check-prefix=SEVEN
// RUN: mp-run %s --entry=count --input=f32:1 --steps=3 | FileCheck %s --check-prefix=STEPS
// RUN: mp-run %s --entry=overwrite --input=3xf32=1 | FileCheck %s --check-prefix=KEEP
// RUN: mp-run - --entry=add --seed=3 < %s > %t/a && mp-run %s --entry=add --seed=3 > %t/b && cmp %t/a %t/b
// RUN: mp-run %s --entry=add --seed=4 > %t/b && not cmp %t/a %t/b
// RUN: not mp-run %s --entry=add --input=@%t/hostile.npy 2>&1 | FileCheck %s --check-prefix=HOSTILE
// RUN: not mp-run %s --entry=named --params=%t/hostile.safetensors 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not mp-run %s --entry=named --params=%t/c.npy 2>&1 | FileCheck %s --check-prefix=OTHER

// ORDER: result 0: 2x3xf32 = [2 4 6 8 10 12]
func.func @add(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// PATTERN: result 0: 4xbf16 = [1 -1 inf nan]
func.func @pass(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  return %x : tensor<4xbf16>
}

// NAMED: result 0: 2xf32 = [13 14]
func.func @named(%x: f32, %w: tensor<2xf32> loc("layer.weight")) -> tensor<2xf32> {
  %s = tensor.splat %x : tensor<2xf32>
  %0 = arith.addf %s, %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// FIVE: result 0: f32 = [10]
// SEVEN: result 0: f32,
func.func @sum(%x: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}

// STEPS: step 0, result 0: f32 = [2]
// STEPS: step 1, result 0: f32 = [4]
// STEPS: step 2, result 0: f32 = [8]
func.func @count(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}

// KEEP: result 0: 3xf32 = [2 2 2]
// KEEP: result 1: 3xf32 = [1 1 1]
func.func @overwrite(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]
  } outs(%x : tensor<3xf32>) {
  ^bb0(%out: f32):
    %1 = arith.addf %out, %out : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0, %x : tensor<3xf32>, tensor<3xf32>
}

// HOSTILE: error: --input 0: cannot read '{{.*}}hostile.npy': it holds 0 elements where its shape, 1152921504606846976xf32, needs more
// OTHER: error: cannot read '{{.*}}c.npy': expected safetensors (the length of a header in 8 bytes, then its JSON), found an array of numpy, which --input=@FILE.npy takes
// LONG: error: cannot read '{{.*}}hostile.safetensors': its header claims 9223372036854775807 bytes, the file has 2
