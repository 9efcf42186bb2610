// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 max-rel-error=1e-5" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not=bf16
// RUN: mp-run %t.mlir --compare=%s --max-rel=0 | FileCheck %s --check-prefix=SAME
// RUN: echo '{"schema": "mp-measured-costs", "version": 1, "target": "sm_80", "picoseconds": {"linalg.matmul bf16 4x16 16x16": 900000000}}' > %t.json
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 never-slower=true costs=%t.json table=false" | FileCheck %s --implicit-check-not=bf16
// RUN: sed 's/4x16x/512x1024x/g; s/16x16x/1024x1024x/g' %s | mp-opt --mp-mixed-precision="format=bf16 target=sm_80 max-rel-error=2e-2 table=false" | FileCheck %s --check-prefix=NARROW

// Constants are rounded for contractions that are narrow, not for those that a limit or a measured time
// leaves in f32: weights, and what biases start sums with.

// TABLE: 0 of 2 contractions
// CHECK: arith.constant dense<{{.*}}> : tensor<16x16xf32>
// CHECK: linalg.matmul
// SAME: result 0: 4x16xf32, equal to the reference
// NARROW: arith.constant dense<{{.*}}> : tensor<1024x1024xbf16>
// NARROW: linalg.matmul {{.*}}tensor<1024x1024xbf16>
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %w = arith.constant dense<0.123456789> : tensor<16x16xf32>
  %start = arith.constant dense<0.3333333333> : tensor<4x16xf32>
  %moved = tensor.empty() : tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%start : tensor<4x16xf32>) -> tensor<4x16xf32>
  %t = linalg.transpose ins(%w : tensor<16x16xf32>) outs(%moved : tensor<16x16xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %t : tensor<4x16xf32>, tensor<16x16xf32>) outs(%start : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
