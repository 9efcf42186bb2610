// RUN: mp-opt %s --split-input-file --mp-insert-loss-scale="preset=megatron initial=1024" --verify-diagnostics | FileCheck %s
// RUN: not mp-opt %s --mp-insert-loss-scale="preset=torhc" 2>&1 | FileCheck %s --check-prefix=PRESET
// RUN: not mp-opt %s --mp-insert-loss-scale="growth=0.5" 2>&1 | FileCheck %s --check-prefix=GROWTH
// RUN: not mp-opt %s --mp-insert-loss-scale="function=train" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// PRESET: error: option 'preset' is 'torhc', expected torch, apex, apex-hysteresis, megatron, deepspeed, deepspeed-consecutive, jmp, tf-keras or keras; did you mean 'torch'?
// GROWTH: error: mp-insert-loss-scale: expects growth > 1, found 5.000000e-01
// FUNCTION: error: mp-insert-loss-scale: option 'function' is 'train', expected a public function; there are @clips_after_unscaling

// The clipped value and the moment are made of the unscaled gradient, wherever the
// gradient of the other parameter stands; the whole state is guarded, hysteresis counted.

// CHECK-LABEL: func.func @clips_after_unscaling
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: tensor<f32> {mp.role = "loss_scale", mp.state = 3 : i64}
// CHECK-SAME: %[[CLEAN:[a-z0-9]+]]: tensor<i32> {mp.role = "clean_steps", mp.state = 4 : i64}
// CHECK-SAME: %[[LEFT:[a-z0-9]+]]: tensor<i32> {mp.role = "hysteresis", mp.state = 5 : i64}
// CHECK-SAME: %[[SKIPPED:[a-z0-9]+]]: tensor<i32> {mp.role = "skipped_steps", mp.state = 6 : i64}
// CHECK: %[[D:.*]] = arith.subf
// CHECK: %[[S:.*]] = mp.scale_loss %[[D]], %[[SCALE]]
// CHECK: %[[G:.*]] = linalg.matmul ins(%{{.*}}, %[[S]]
// CHECK: %[[B:.*]] = linalg.reduce { arith.addf } ins(%[[S]]
// CHECK: %[[U:.*]]:2, %[[INF:.*]] = mp.unscale %[[G]], %[[B]] by %[[SCALE]]
// CHECK-DAG: arith.minimumf %[[U]]#0
// CHECK-DAG: arith.subf %{{.*}}, %[[U]]#1
// CHECK-DAG: mp.guarded_update %[[INF]] keep(%{{.*}}, %{{.*}}, %{{.*}}) else(
// CHECK-DAG: mp.update_loss_scale %[[SCALE]], %[[CLEAN]], %[[LEFT]] on %[[INF]] by <{{.*}}hysteresis = 2, refill = on_growth
// CHECK: func.func @clips_after_unscaling_init() -> (tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) attributes {mp.init_of = @clips_after_unscaling}
// CHECK: arith.constant dense<1.024000e+03>
func.func @clips_after_unscaling(%w: tensor<8x8xf32>, %m: tensor<8x8xf32>, %b: tensor<8xf32>, %x: tensor<8x8xf32>, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %eb = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %fb = linalg.fill ins(%zero : f32) outs(%eb : tensor<8xf32>) -> tensor<8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %bb = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %p = arith.addf %h, %bb : tensor<8x8xf32>
  %d = arith.subf %p, %y : tensor<8x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%xt, %d : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = arith.minimumf %g, %one : tensor<8x8xf32>
  %m1 = arith.addf %m, %c : tensor<8x8xf32>
  %w1 = arith.subf %w, %m1 : tensor<8x8xf32>
  %gb = linalg.reduce { arith.addf } ins(%d : tensor<8x8xf32>) outs(%fb : tensor<8xf32>) dimensions = [0]
  %b1 = arith.subf %b, %gb : tensor<8xf32>
  return %w1, %m1, %b1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>
}
