module {
  func.func @main(%arg0: tensor<16x32xf32>, %arg1: tensor<32x16xf32>) -> tensor<16x16xf32> attributes {mp.phase = "optimized"} {
    %0 = mp.cast ieee %arg1 {inserted} : tensor<32x16xf32> to tensor<32x16xbf16>
    %1 = mp.cast ieee %arg0 {inserted} : tensor<16x32xf32> to tensor<16x32xbf16>
    %cst = arith.constant dense<0.000000e+00> : tensor<32x16xbf16>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = tensor.empty() : tensor<16x16xf32>
    %3 = linalg.fill ins(%cst_0 : f32) outs(%2 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %4 = linalg.matmul ins(%1, %cst : tensor<16x32xbf16>, tensor<32x16xbf16>) outs(%3 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %5 = linalg.matmul ins(%1, %0 : tensor<16x32xbf16>, tensor<32x16xbf16>) outs(%3 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %6 = arith.mulf %4, %5 : tensor<16x16xf32>
    return %6 : tensor<16x16xf32>
  }
}

