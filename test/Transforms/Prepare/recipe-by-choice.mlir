// If error is limited, being scaled and stored in fp8 is a choice like any other: taken where time is saved and the limit holds.
// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 target=sm_90a max-rel-error=0.2 report=%t.json" -o %t.loose.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: FileCheck %s --check-prefix=LOOSE < %t.loose.mlir
// RUN: mp-opt %t.loose.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_90a policy=%t.json table=false" | cmp - %t.loose.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 target=sm_90a max-rel-error=2e-2 table=false" | FileCheck %s --check-prefix=TIGHT
// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 target=sm_90a max-rel-error=0.2 table=false explain=@saves_time:1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STORY
// A target without such products is told apart, and a limit that nobody would keep is refused.
// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 target=sm_80 max-rel-error=0.2 table=false" 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: not mp-opt %s --mp-mixed-precision="recipe=int8 max-rel-error=0.2 table=false" 2>&1 | FileCheck %s --check-prefix=INT8
// RUN: not mp-opt %s --mp-mixed-precision="format=e5m2 max-rel-error=0.2 table=false" 2>&1 | FileCheck %s --check-prefix=INT8
// RUN: not mp-opt %s --mp-assign-precision="format=bf16 recipe=curent max-rel-error=0.2" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mp-opt %s --mp-assign-precision="format=bf16 recipe=current" 2>&1 | FileCheck %s --check-prefix=FREE

// TABLE: scaled: {{[12]}} contractions f8E4M3FN
// SM80: warning: recipe 'current' is offered to no contraction: sm_80 has no products of f8E4M3FN
// SM80-NOT: mp.scaled_matmul
// INT8: error: error or time is limited {{.*}} but contractions are scaled already
// INT8: note: the last one
// NAME: option 'recipe' is 'curent', expected current, {{.*}}did you mean 'current'?
// FREE: option 'recipe' offers scaled values to contractions that choose: expected max-rel-error

// LOOSE-LABEL: func.func @saves_time(
// LOOSE: mp.scaled_matmul {{.*}}f8E4M3FN
// TIGHT-LABEL: func.func @saves_time(
// TIGHT-NOT: mp.scaled_matmul
// TIGHT: linalg.matmul {{.*}}bf16
// STORY: instead bf16: would cost
func.func @saves_time(%x: tensor<8192x8192xf32>, %w: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %z = arith.constant dense<0.0> : tensor<8192x8192xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%z : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %0 : tensor<8192x8192xf32>
}

// Finding the magnitudes of so much data costs more than such a product saves.
// LOOSE-LABEL: func.func @is_all_traffic(
// LOOSE-NOT: mp.scaled_matmul
// LOOSE: return
func.func @is_all_traffic(%x: tensor<4096x32xf32>, %w: tensor<32x32xf32>) -> tensor<4096x32xf32> {
  %z = arith.constant dense<0.0> : tensor<4096x32xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4096x32xf32>, tensor<32x32xf32>) outs(%z : tensor<4096x32xf32>) -> tensor<4096x32xf32>
  return %0 : tensor<4096x32xf32>
}
