// RUN: mp-opt --import %s | FileCheck %s
//
// IREE's functions become func's; attributes only exporters read are dropped; barriers vanish.

// CHECK: module @jit_step attributes {other.kept = 1 : i32} {
module @jit_step attributes {mhlo.num_partitions = 1 : i32, other.kept = 1 : i32, torch.assume_strict_symbolic_shapes} {
  // CHECK: func.func private @square(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
  util.func private @square(%arg0: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> attributes {iree.abi.stub, inlining_policy = #util.inline.never, tf_saved_model.exported_names = ["f"]} {
    %0 = arith.mulf %arg0, %arg0 : tensor<4xf32>
    util.return %0 : tensor<4xf32>
  }
  // CHECK: func.func public @main(%[[X:.*]]: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xf32>) {
  util.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]", mhlo.sharding = "{replicated}"}, tensor<4xf32>) {
    // CHECK-NEXT: %[[S:.*]] = call @square(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
    %0 = util.call @square(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    // These barriers are left by jax.checkpoint: one value, and two, the second behind another
    // barrier.
    %1 = util.optimization_barrier %0 : tensor<4xf32>
    %2:2 = util.optimization_barrier %1, %arg0 : tensor<4xf32>, tensor<4xf32>
    // CHECK-NEXT: %[[A:.*]] = arith.addf %[[S]], %[[X]] : tensor<4xf32>
    %3 = arith.addf %2#0, %2#1 : tensor<4xf32>
    // CHECK-NEXT: return %[[A]], %[[S]] : tensor<4xf32>, tensor<4xf32>
    util.return %3, %1 : tensor<4xf32>, tensor<4xf32>
  }  // A result tied to an argument.
  // CHECK: func.func public @tied(%[[T:.*]]: tensor<4xf32>) -> tensor<4xf32> {
  util.func public @tied(%arg0: tensor<4xf32>) -> (%arg0 as tensor<4xf32>) {
    util.return %arg0 : tensor<4xf32>
  }
}
