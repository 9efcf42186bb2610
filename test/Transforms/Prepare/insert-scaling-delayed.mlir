// RUN: mp-opt %s --mp-insert-scaling="recipe=delayed" | FileCheck %s

// The scales that are used came in as state; those of the next step go out. The value that is read
// twice has one history.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x8xf32>, %{{[a-z0-9]+}}: tensor<8x8xf32>, %[[PAST:[a-z0-9]+]]: tensor<1024xf32> {mp.role = "amax_history", mp.state = 1 : i64}, %[[ENC:[a-z0-9]+]]: tensor<f32> {mp.role = "encode_scale", mp.state = 2 : i64}, %[[SCALE:[a-z0-9]+]]: tensor<f32> {mp.role = "decode_scale", mp.state = 3 : i64})
// CHECK-SAME: -> (tensor<8x8xf32>, tensor<1024xf32>, tensor<f32>, tensor<f32>)
// CHECK: %[[AMAX:.*]] = mp.amax %[[X]]
// CHECK: %[[NEXT:.*]], %[[EFFECTIVE:.*]] = mp.update_amax_history %[[PAST]], %[[AMAX]] max after_current
// CHECK: %[[ENC1:.*]], %[[SCALE1:.*]] = mp.compute_scale %[[EFFECTIVE]] or %[[ENC]]
// CHECK: %[[Q:.*]] = mp.quantize saturate %[[X]] by %[[ENC]] {inserted}
// CHECK: mp.scaled_matmul %[[Q]] by(%[[SCALE]]) with %[[Q]] by(%[[SCALE]])
// CHECK: return %{{.*}}, %[[NEXT]], %[[ENC1]], %[[SCALE1]]
// CHECK: func.func @step_init() -> (tensor<1024xf32>, tensor<f32>, tensor<f32>) attributes {mp.init_of = @step}
func.func @step(%x: tensor<8x8xf32>, %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
