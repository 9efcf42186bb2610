// Read by tflite-leftovers.mlir: each error names the op, its place and what was expected.
func.func @main(%x: tensor<2x5xf32>, %a: tensor<i32>, %c: tensor<2xi1>) -> tensor<2x5xf32> {
  %0 = "tosa.const"() <{values = dense<2> : tensor<i32>}> : () -> tensor<i32>
  // CHECK: tflite-refused.mlir:[[#@LINE+1]]:3: error: 'tfl.cumsum' expects a constant axis of tensor<2x5xf32>
  %1 = "tfl.cumsum"(%x, %a) <{exclusive = false, reverse = false}> : (tensor<2x5xf32>, tensor<i32>) -> tensor<2x5xf32>
  // CHECK: tflite-refused.mlir:[[#@LINE+1]]:3: error: 'tfl.cumsum' expects a constant axis of tensor<2x5xf32>
  %2 = "tfl.cumsum"(%x, %0) <{exclusive = false, reverse = false}> : (tensor<2x5xf32>, tensor<i32>) -> tensor<2x5xf32>
  // CHECK: tflite-refused.mlir:[[#@LINE+1]]:3: error: 'tfl.topk_v2' expects results of static size of floats or signless integers, found tensor<2x?xf32> and tensor<2x?xi32>
  %v, %i = "tfl.topk_v2"(%x, %a) : (tensor<2x5xf32>, tensor<i32>) -> (tensor<2x?xf32>, tensor<2x?xi32>)
  // CHECK: tflite-refused.mlir:[[#@LINE+1]]:3: error: 'tf.If' expects one truth value, found tensor<2xi1>
  %3 = "tf.If"(%c, %x) <{else_branch = @f, is_stateless = false, then_branch = @f}> : (tensor<2xi1>, tensor<2x5xf32>) -> tensor<2x5xf32>
  // CHECK: tflite-refused.mlir:[[#@LINE+1]]:3: error: 'tf.If' expects a truth value and the functions then_branch and else_branch
  %4 = "tf.If"(%x, %x) <{else_branch = @f, is_stateless = false, then_branch = @f}> : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  // CHECK: tflite-refused.mlir:[[#@LINE+1]]:3: error: 'tfl.where' expects truth values and a row of indices for each, found tensor<2x5xf32> and tensor<?x2xi64>
  %5 = "tfl.where"(%x) : (tensor<2x5xf32>) -> tensor<?x2xi64>
  return %2 : tensor<2x5xf32>
}
func.func private @f(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  return %x : tensor<2x5xf32>
}
