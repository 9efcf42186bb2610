//

func.func private @printMemrefF32(tensor<*xf32>)

util.func public @adds_at_repeated_indices(%table: tensor<4xf32>, %where: tensor<6x1xi32>, %updates: tensor<6xf32>) -> tensor<4xf32> {
  %6 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%updates, %where : tensor<6xf32>, tensor<6x1xi32>) outs(%table : tensor<4xf32>) {
  ^bb0(%arg3: f32, %arg4: f32):
    %7 = arith.addf %arg4, %arg3 : f32
    iree_linalg_ext.yield %7 : f32
  } -> tensor<4xf32>
  util.return %6 : tensor<4xf32>
}

func.func @sums_f16_in_f32(%table: tensor<2x2xf16>, %where: tensor<2049x1xi64>, %updates: tensor<2049x1x2xf16>) -> tensor<2x2xf16> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%updates, %where : tensor<2049x1x2xf16>, tensor<2049x1xi64>) outs(%table : tensor<2x2xf16>) {
  ^bb0(%arg3: f16, %arg4: f16):
    %1 = arith.addf %arg4, %arg3 : f16
    tm_tensor.yield %1 : f16
  } -> tensor<2x2xf16>
  return %0 : tensor<2x2xf16>
}

func.func @sets_at_pairs(%table: tensor<2x3xf32>, %where: tensor<3x2xi64>, %updates: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 1, 0>} unique_indices(false) ins(%updates, %where : tensor<3xf32>, tensor<3x2xi64>) outs(%table : tensor<2x3xf32>) {
  ^bb0(%arg3: f32, %arg4: f32):
    tm_tensor.yield %arg3 : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

util.func private @maximum_of_rows(%table: tensor<3x2xf32>, %where: tensor<2x2xi32>, %updates: tensor<2x2x2xf32>) -> tensor<3x2xf32> {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%updates, %where : tensor<2x2x2xf32>, tensor<2x2xi32>) outs(%table : tensor<3x2xf32>) {
  ^bb0(%arg3: f32, %arg4: f32):
    %1 = arith.maximumf %arg4, %arg3 : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<3x2xf32>
  util.return %0 : tensor<3x2xf32>
}

func.func @main() {
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %where = arith.constant dense<[[0], [2], [2], [9], [-1], [3]]> : tensor<6x1xi32>
  %updates = arith.constant dense<[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]> : tensor<6xf32>
  %0 = call @adds_at_repeated_indices(%table, %where, %updates) : (tensor<4xf32>, tensor<6x1xi32>, tensor<6xf32>) -> tensor<4xf32>
  %1 = tensor.cast %0 : tensor<4xf32> to tensor<*xf32>
  // CHECK: [11, 2, 53, 64]
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  %zeros = arith.constant dense<0.0> : tensor<2x2xf16>
  %ones = arith.constant dense<1> : tensor<2049x1xi64>
  %s