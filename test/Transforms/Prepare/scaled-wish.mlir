// A person's wish: the factors of this contraction are stored as a recipe says, whatever the options say of others.
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_90a table=false" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// Each factor is off by at most 2^-4 of itself, two of them by 1/8 and a little.
// RUN: mp-run %t.mlir --entry=follows_a_wish --compare=%s --input=64x64xf32=1.3 --input=64x64xf32=0.7 --max-rel=0.13
// RUN: not mp-opt %s --mp-mixed-precision="format=bf16 target=sm_90a table=false max-rel-error=1e-2" 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: the error allowed (max-rel-error, min-sqnr), 1.0E-02, cannot be kept
// RUN: sed 's/"current"/"int8"/' %s | not mp-opt --mp-scale-contractions 2>&1 | FileCheck %s --check-prefix=INT8
// INT8: error: {{.*}}expects 'mp.scaled' to be two magnitudes, {{.*}} as "current", found "int8"

// CHECK-LABEL: func.func @follows_a_wish(
// CHECK: mp.scaled_matmul {{.*}}f8E4M3FN
func.func @follows_a_wish(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = linalg.matmul {mp.scaled = "current"} ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @decides_the_rest(
// CHECK: linalg.matmul {{.*}}bf16
func.func @decides_the_rest(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
