// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: func.func @step
func.func @step(%seed: tensor<4x2xf32>, %g: tensor<?xf16>, %scale: tensor<f32>, %clean: tensor<i32>, %left: tensor<i32>, %w: tensor<?xf16>)
    -> (tensor<4x2xf32>, tensor<?xf16>, tensor<f32>, tensor<i32>, tensor<i32>) {
  // CHECK: mp.scale_loss %{{.*}}, %{{.*}} : tensor<4x2xf32>
  %0 = mp.scale_loss %seed, %scale : tensor<4x2xf32>
  // CHECK: %[[U:.*]]:2, %[[INF:.*]] = mp.unscale %{{.*}}, %{{.*}} by %{{.*}} : tensor<4x2xf32>, tensor<?xf16>
  %1:3 = mp.unscale %0, %g by %scale : tensor<4x2xf32>, tensor<?xf16>
  // CHECK: mp.guarded_update %[[INF]] keep(%{{.*}}) else(%[[U]]#1) : tensor<?xf16>
  %2 = mp.guarded_update %1#2 keep(%w) else(%1#1) : tensor<?xf16>
  // CHECK: mp.update_loss_scale %{{.*}}, %{{.*}}, %{{.*}} on %[[INF]] by <growth = 2.000000e+00 : f64, backoff = 5.000000e-01 : f64, interval = 1000, hysteresis = 2, refill = on_growth, counter = exact, beyond = infinity, min = 1.000000e+00 : f64>
  %3:3 = mp.update_loss_scale %scale, %clean, %left on %1#2 by <growth = 2.0, backoff = 0.5, interval = 1000, hysteresis = 2, refill = on_growth, counter = exact, beyond = infinity, min = 1.0>
  return %1#0, %2, %3#0, %3#1, %3#2 : tensor<4x2xf32>, tensor<?xf16>, tensor<f32>, tensor<i32>, tensor<i32>
}
