// RUN: mp-opt %s --mp-check-bounds --mp-prepare-for-cpu | FileCheck %s --check-prefix=PREPARE
// RUN: mp-opt %s --mp-emulate-narrow-arithmetic | FileCheck %s --check-prefix=EMULATE
// RUN: mp-opt %s --mp-emulate-narrow-arithmetic --canonicalize | FileCheck %s --check-prefix=ROUNDED
// RUN: mp-opt %s --mp-outline-loops | FileCheck %s --check-prefix=OUTLINE
// RUN: mp-opt %s --mp-to-cpu | FileCheck %s --check-prefix=LLVM

// PREPARE: func.func private @mp_rt_fail(i64) attributes {mp.runtime_checks = ["assertion failed: shapes differ at
// LLVM-NOT: unrealized_conversion_cast

// PREPARE-LABEL: @square_is_a_product
// PREPARE: arith.mulf
// PREPARE-NOT: math.fpowi
func.func @square_is_a_product(%x: f32) -> f32 {
  %c2 = arith.constant 2 : i64
  %0 = math.fpowi %x, %c2 : f32, i64
  return %0 : f32
}

// PREPARE-LABEL: @assertions_become_checks
// PREPARE: scf.if
// PREPARE: call @mp_rt_fail
// PREPARE-NOT: cf.assert
func.func @assertions_become_checks(%ok: i1) {
  cf.assert %ok, "shapes differ"
  return
}

// PREPARE-LABEL: @arguments_are_kept
// PREPARE-SAME: bufferization.writable = false
func.func @arguments_are_kept(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensor.empty() : tensor<2x8xf32>
  %1 = linalg.softmax dimension(1) ins(%x : tensor<2x8xf32>) outs(%0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// PREPARE-LABEL: @tf32_contractions_are_marked
// PREPARE: linalg.matmul {mp.operands_tf32}
func.func @tf32_contractions_are_marked(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %c: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = mp.round tf32 %a : tensor<2x2xf32>
  %1 = mp.round tf32 %b : tensor<2x2xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// EMULATE-LABEL: @f16_adds_in_f32
// EMULATE: arith.addf %{{.*}}, %{{.*}} : f32
// EMULATE: arith.truncf %{{.*}} : f32 to f16
func.func @f16_adds_in_f32(%x: f16, %y: f16) -> f16 {
  %0 = arith.addf %x, %y : f16
  return %0 : f16
}

// Passes behind it do not drop the rounding of what one op hands to the next.
// ROUNDED-LABEL: @f16_rounds_each_result
// ROUNDED: %[[SUM:.*]] = arith.addf
// ROUNDED: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to f16
// ROUNDED: arith.extf %[[ROUNDED]] : f16 to f32
func.func @f16_rounds_each_result(%x: f16, %y: f16) -> f16 {
  %0 = arith.addf %x, %y : f16
  %1 = arith.mulf %0, %y : f16
  return %1 : f16
}

// EMULATE-LABEL: @integers_round_once
// EMULATE: arith.sitofp %{{.*}} : i32 to f64
// EMULATE: arith.truncf %{{.*}} : f64 to bf16
func.func @integers_round_once(%x: i32) -> bf16 {
  %0 = arith.sitofp %x : i32 to bf16
  return %0 : bf16
}

// f64 does not hold every integer of 64 bits: beyond 2^53 the last twelve bits only break ties.
// EMULATE-LABEL: @long_integers_round_once
// EMULATE: arith.andi %arg0, %c4095_i64 : i64
// EMULATE: arith.select {{.*}} : i64
// EMULATE: %[[ODD:.*]] = arith.select {{.*}} : i64
// EMULATE: arith.sitofp %[[ODD]] : i64 to f64
// EMULATE: arith.truncf %{{.*}} : f64 to bf16
func.func @long_integers_round_once(%x: i64) -> bf16 {
  %0 = arith.sitofp %x : i64 to bf16
  return %0 : bf16
}

// Two equal loops are one function, which executes twice four stores and yields, and itself; of a loop without known end nothing is said.
// OUTLINE-LABEL: @loops_move_out
// OUTLINE: call @[[LOOPS:.*]](%{{.*}})
// OUTLINE: call @[[LOOPS]](%{{.*}})
// OUTLINE-NOT: scf.for
// OUTLINE: return
// OUTLINE: func.func private @[[LOOPS]]({{.*}}) attributes {mp.loop_work = 18 : i64, passthrough = ["noinline"]}
// OUTLINE: func.func private @{{.*}} attributes {passthrough = ["noinline"]}
func.func @loops_move_out(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %zero, %x[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %zero, %y[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %y[%i] : memref<4xf32>
  }
  return
}
