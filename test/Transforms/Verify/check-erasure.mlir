// RUN: mp-opt %s --mp-mixed-precision -o %t.converted.mlir
// RUN: mp-opt %t.converted.mlir --mp-check-erasure="original=%s" | FileCheck %s
// RUN: mp-opt %s --mp-check-erasure="original=%s" -o /dev/null
// A hand-made slip: one cast loses its mark.
// RUN: sed -e 's/ {inserted}//' %t.converted.mlir > %t.unmarked.mlir
// RUN: not mp-opt %t.unmarked.mlir --mp-check-erasure="original=%s" -o /dev/null 2>&1 | FileCheck --check-prefix=UNMARKED %s
// RUN: sed -e 's/arith.subf %\([a-z0-9]*\), %\([a-z0-9]*\)/arith.subf %\2, %\1/' %t.converted.mlir > %t.swapped.mlir
// RUN: not mp-opt %t.swapped.mlir --mp-check-erasure="original=%s" -o /dev/null 2>&1 | FileCheck --check-prefix=SWAPPED %s
// RUN: not mp-opt %s --mp-check-erasure -o /dev/null 2>&1 | FileCheck --check-prefix=EMPTY %s
// RUN: not mp-opt %s --mp-check-erasure="original=%t.missing" -o /dev/null 2>&1 | FileCheck --check-prefix=MISSING %s

// CHECK: mp.cast {{.*}}{inserted}
// UNMARKED: error: 'mp.cast' op stands where the original has 'linalg.matmul'; only casts marked 'inserted' may be added
// UNMARKED: check-erasure.mlir:[[#]]:{{.*}}note: the original 'linalg.matmul' is here
// SWAPPED: error: 'arith.subf' op operand #0 is not the original's, nor a cast of it or a constant rounded from it
// EMPTY: error: mp-check-erasure: option 'original' is empty, expected the file that was converted
// MISSING: error: cannot read '{{.*}}missing': No such file or directory [MP201]

func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = arith.subf %0, %init : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
