// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells apart what is proved, stated, assumed and not even asked: in the attribute, the table, the
// JSON, the story of an op, and a replay of the decisions.

// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=f16 report=%t.json" -o /dev/null 2>%t.table
// RUN: FileCheck %s --check-prefix=TABLE --input-file=%t.table
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: mp-opt %s --mp-assign-precision="format=f16 explain=@told:4" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STORY
// RUN: mp-opt %s --mp-assign-precision="format=f16 policy=%t.json" | FileCheck %s --check-prefix=AGAIN
// RUN: mp-opt %s --mp-assign-precision="format=bf16" | FileCheck %s --check-prefix=BF16

// TABLE: ranges of narrow contractions: 1 proved, 1 stated, 1 assumed, 1 unchecked

// JSON: "evidence": "proved"
// JSON: "evidence": "stated"
// JSON: "evidence": "assumed"
// JSON: "evidence": "unchecked"

// STORY: in the end: computes in f16, by class (T)
// STORY-NEXT: ranges of its factors: assumed

// AGAIN: linalg.matmul {{.*}}by = policy "replay: class T", evidence = proved>

// BF16-NOT: evidence =

// CHECK-LABEL: @told
func.func @told(%x: tensor<4x4xf32>, %s: tensor<4x4xf32> {mp.range = [-2.0, 2.0]}, %i: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %w = arith.constant dense<2.0> : tensor<4x4xf32>
  %t = math.tanh %x : tensor<4x4xf32>
  // CHECK: linalg.matmul {{.*}}by = class "T", evidence = proved>
  %0 = linalg.matmul ins(%t, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: linalg.matmul {{.*}}by = class "T", evidence = stated>
  %1 = linalg.matmul ins(%t, %s : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  // The weakest of any.
  // CHECK: linalg.matmul {{.*}}by = class "T", evidence = assumed>
  %2 = linalg.matmul ins(%s, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %x : tensor<4x4xf32>
  // CHECK: linalg.matmul {{.*}}by = pin "mp.pin = f16">
  %3 = linalg.matmul {mp.pin = f16} ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
