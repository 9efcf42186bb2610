//

func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefI64(tensor<*xi64>)

util.func public @cumsum(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %cst = arith.constant dense<0.000000e+00> : tensor<2xf32>
  %0 = tensor.empty() : tensor<2x4xf32>
  %3:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%arg0 : tensor<2x4xf32>) outs(%0, %cst : tensor<2x4xf32>, tensor<2xf32>) {
  ^bb0(%arg1: f32, %arg2: f32):
    %4 = arith.addf %arg1, %arg2 : f32
    iree_linalg_ext.yield %4 : f32
  } -> tensor<2x4xf32>, tensor<2xf32>
  util.return %3#0 : tensor<2x4xf32>
}

func.func @shifted_product(%arg0: tensor<?xf32>, %start: tensor<f32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
  %0 = tensor.empty(%dim) : tensor<?xf32>
  %4:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%arg0 : tensor<?xf32>) outs(%0, %start : tensor<?xf32>, tensor<f32>) {
  ^bb0(%arg1: f32, %arg2: f32):
    %5 = arith.mulf %arg1, %arg2 : f32
    tm_tensor.yield %5 : f32
  } -> tensor<?xf32>, tensor<f32>
  return %4#0, %4#1 : tensor<?xf32>, tensor<f32>
}

func.func @positions(%arg0: tensor<3x2xi64>) -> tensor<3x2xi64> {
  %zeros = arith.constant dense<0> : tensor<2xi64>
  %0 = tensor.empty() : tensor<3x2xi64>
  %4:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%arg0 : tensor<3x2xi64>) outs(%0, %zeros : tensor<3x2xi64>, tensor<2xi64>) {
  ^bb0(%arg1: i64, %arg2: i64):
    %5 = arith.addi %arg1, %arg2 : i64
    tm_tensor.yield %5 : i64
  } -> tensor<3x2xi64>, tensor<2xi64>
  return %4#0 : tensor<3x2xi64>
}

func.func @sums_bf16_in_f32(%arg0: tensor<5xbf16>) -> tensor<5xbf16> {
  %zero = arith.constant dense<0.0> : tensor<bf16>
  %0 = tensor.empty() : tensor<5xbf16>
  %4:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%arg0 : tensor<5xbf16>) outs(%0, %zero : tensor<5xbf16>, tensor<bf16>) {
  ^bb0(%arg1: bf16, %arg2: bf16):
    %5 = arith.addf %arg1, %arg2 : bf16
    tm_tensor.yield %5 : bf16
  } -> tensor<5xbf16>, tensor<bf16>
  return %4#0 : tensor<5xbf16>
}

func.func @main() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 0.25, 8.0]]> : tensor<2x4xf32>
  %0 = call @cumsum(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tensor.cast %0 : tensor<2x4xf32> to tensor<*xf32>
  // CHECK: {{\[}}[1, 3, 6, 10],
  // CHECK-NEXT: [-1, -0.5, -0.25, 7.75]]
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  %y = arith.constant dense<[2.0, 3.0, 5.0]> : tensor<3xf32>
  %yd = tenso