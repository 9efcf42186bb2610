// Split products stand for the product they were made of; every other change of them is found.

// RUN: mp-opt %s --mp-mixed-precision="table=false" -o %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="table=false format=f16" | mp-opt --mp-check-erasure="original=%s" -o /dev/null

// The second part of %w taken from %v; the first in its place; a product left out; an init that starts the small
// products; another one added; parts that nobody marked.
// RUN: sed 's/mp.split_residual bf16 of %arg1/mp.split_residual bf16 of %arg3/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=PART
// RUN: sed 's/mp.split_residual bf16 of %arg1 after %[0-9]* {inserted} : (tensor<64x16xf32>, tensor<64x16xbf16>)/mp.cast ieee %arg1 {inserted} : tensor<64x16xf32>/;s/mp.cast ieee %arg1\(.*\) -> /mp.cast ieee %arg1\1 to /' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=PART
// RUN: sed 's/outs(%5 : tensor<8x16xf32>)/outs(%arg2 : tensor<8x16xf32>)/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=START
// RUN: sed 's/\(mp.join_split %[0-9]*, %[0-9]*\), %arg2/\1/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: sed '/mp.join_split/s/{inserted}//' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=UNMARKED
// RUN: sed 's/bf16x3/bf16x6/' %s > %t.six.mlir
// RUN: not mp-opt %t.mlir --mp-check-erasure="original=%t.six.mlir" 2>&1 | FileCheck %s --check-prefix=SCHEME

// PART: joins products that no split scheme has
// START: joins a product that starts from something else than zero
// INIT: is not added to what the original is added to
// UNMARKED: stands where the original has
// SCHEME: joins products that no split scheme has
func.func @main(%x: tensor<8x64xf32>, %w: tensor<64x16xf32>, %i: tensor<8x16xf32>, %v: tensor<64x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = linalg.matmul {mp.split = "bf16x3"} ins(%x, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%i : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.matmul ins(%x, %v : tensor<8x64xf32>, tensor<64x16xf32>) outs(%i : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}
