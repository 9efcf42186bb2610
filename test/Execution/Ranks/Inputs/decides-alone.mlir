// A loss scale that each rank halves where its own examples are too large, without asking others.
func.func @main(%x: tensor<2xf32> {comm.shard = 0 : i64}) -> tensor<f32> attributes {comm.ranks = 4 : i64} {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %limit = arith.constant 65504.0 : f32
  %scale = arith.constant 1024.0 : f32
  %half = arith.constant 512.0 : f32
  %largest = linalg.reduce ins(%x : tensor<2xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    }
  %number = tensor.extract %largest[] : tensor<f32>
  %over = arith.cmpf ogt, %number, %limit : f32
  %next = arith.select %over, %half, %scale : f32
  %0 = tensor.from_elements %next : tensor<f32>
  return %0 : tensor<f32>
}
