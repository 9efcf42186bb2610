module {
  util.global private mutable @v = dense<0.0> : tensor<f32>
  util.func public @count(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = util.global.load @v : tensor<f32>
    %1 = arith.addf %0, %arg0 : tensor<f32>
    util.global.store %1, @v : tensor<f32>
    util.return %1 : tensor<f32>
  }
}
