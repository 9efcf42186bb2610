// RUN: mp-opt %s --mp-assign-precision="format=f16 explain=model.py:7" -o /dev/null 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=f16 explain=@story:1 table=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDINAL
// RUN: mp-opt %s --mp-assign-precision="format=f16 explain=head" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mp-opt %s --mp-assign-precision="explain=model.py:8" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: mp-opt %s --mp-assign-precision="explain=up" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIRST

// CHECK: @story:1 linalg.matmul at a/model.py:7:3
// CHECK-NEXT:   class T: contraction: narrow factors, f32 accumulator
// CHECK-NEXT:   pin    has no objection and no wish
// CHECK-NEXT:   policy has no objection and no wish
// CHECK-NEXT:   range  decides: computes in f32 (no evidence that an operand stays below 65504: 'math.exp' has no bound)
// CHECK-NEXT:   class  not asked
// CHECK-NEXT:   cost   not asked
// CHECK:        in the end: computes in f32, by range
// CHECK-NEXT:   operand 0: result 0 of math.exp at {{.*}}, tensor<4x4xf32>; stored in f32, read as f32
// CHECK-NEXT:   operand 1: argument 1, tensor<4x4xf32>; stored in f32, read as f32
// CHECK:        result 0: tensor<4x4xf32>; stored in f32
// CHECK-NEXT:     read as f32 by 2 uses (arith.addf, arith.addf)
// CHECK-NEXT:     read as f16 by 1 use (linalg.matmul): one cast for all of them
// CHECK-NEXT:   instead result 0 stored in f16: would lose what arith.addf at other.py:71:1 reads in full
// CHECK-NEXT:   suggestion: clamp (clamp-unproven=true): operand 0 has no bound, f16 ends at 65504
// CHECK-NEXT:   suggestion: powers of two (scale-unproven=on): operand 0 has no bound, f16 ends at 65504; times a power of two made of its magnitude, measured where it is computed
// CHECK-NEXT:   to change it: state the range of what feeds it (mp.range)

// ORDINAL: @story:1 linalg.matmul
// NAME: @story:2 linalg.matmul at head
// NAME: class  decides: computes in f16 (T)
// NAME: operand 0: {{.*}}; stored in f32, read as f16
// NOWHERE: error: mp-assign-precision: option 'explain' is 'model.py:8', where no op is decided; expected FILE:LINE[:COLUMN], a location's name or @FUNCTION:ORDINAL; nearest is 'a/model.py:7:3'
func.func @story(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = math.exp %x : tensor<4x4xf32> loc("other.py":70:1)
  %0 = linalg.matmul {mp.range = [-8.0, 8.0]} ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("a/model.py":7:3)
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("head")
  %2 = arith.addf %0, %0 : tensor<4x4xf32> loc("other.py":71:1)
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Contractions of a layer come first, the other ops as they stand.
// FIRST: {{^}}@layer:{{[0-9]+}} linalg.matmul at up
// FIRST: {{^}}@layer:{{[0-9]+}} tensor.empty at up
// FIRST: {{^}}@layer:{{[0-9]+}} linalg.fill at up
func.func @layer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32> loc("up")
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32> loc("up")
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32> loc("up")
  return %0 : tensor<4x4xf32>
}
