// The weights move by the sum of the rows: ranks hold rows, and send what they sum to.
func.func @step(%w: tensor<2x5xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<4x2x5xf32>) -> tensor<2x5xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x5xf32>
  %g = linalg.reduce ins(%x : tensor<4x2x5xf32>) outs(%zero : tensor<2x5xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %0 = arith.subf %w, %g : tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
