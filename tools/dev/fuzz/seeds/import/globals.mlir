//


module @model {
  util.global private @__auto.lin.weight = #flow.parameter.named<"model"::"lin.weight"> : tensor<3x4xf32>
  util.global private @__auto.lin.bias = #stream.parameter.named<"model"::"lin.bias"> : tensor<3xf32>
  util.global private mutable @scale {noinline} = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // CHECK-NOT: @scale
  util.func public @get_scale() -> tensor<3xf32> {
    %w = util.global.load @scale : tensor<3xf32>
    util.return %w : tensor<3xf32>
  }
  util.func public @set_scale(%arg0: tensor<3xf32>) {
    util.global.store %arg0, @scale : tensor<3xf32>
    util.return
  }
  // CHECK: func.func private @weight(%[[W:.*]]: tensor<3x4xf32> {ml_program.identifier = "lin.weight", mp.role = "parameter"}) -> tensor<3x4xf32> {
  // CHECK-NEXT: return %[[W]]
  util.func private @weight() -> tensor<3x4xf32> {
    %w = util.global.load immutable @__auto.lin.weight : tensor<3x4xf32>
    util.return %w : tensor<3x4xf32>
  }
  // CHECK: func.func public @main(%{{.*}}: tensor<2x4xf32>,
  // CHECK-SAME: %[[B:.*]]: tensor<3xf32> {ml_program.identifier = "lin.bias", mp.role = "parameter"},
  // CHECK-SAME: %[[W:.*]]: tensor<3x4xf32> {ml_program.identifier = "lin.weight", mp.role = "parameter"})
  util.func public @main(%arg0: tensor<2x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>) {
    %b = util.global.load @__auto.lin.bias : tensor<3xf32>
    // CHECK: %[[R:.*]] = call @weight(%[[W]]) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %w = util.call @weight() : () -> tensor<3x4xf32>
    // CHECK: %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
    %c = util.global.load @scale : tensor<3xf32>
    // CHECK: arith.addf %[[B]], %[[C]]
    %d = arith.addf %b, %c : tensor<3xf32>
    util.return %w, %d : tensor<3x4xf32>, tensor<3xf32>
  }
}
