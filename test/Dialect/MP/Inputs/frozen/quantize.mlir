module {
  func.func @quantize(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<1x8xf32>, %arg3: tensor<1x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi4>, tensor<4x8xf32>, tensor<1x8xf32>) {
    %0 = mp.fake_quantize %arg0 by %arg2 zero %arg3 : tensor<1x8xf32> to ui8 : tensor<4x8xf32>, tensor<1x8xf32> to tensor<4x8xf32>
    %1 = mp.fake_quantize codes %arg0 by %arg2 to i4 {inserted} : tensor<4x8xf32>, tensor<1x8xf32> to tensor<4x8xi4>
    %2 = mp.straight_through %arg1 at %arg0 by %arg2 to f8E4M3FN : tensor<4x8xf32>, tensor<1x8xf32>
    %3 = mp.step_gradient %arg1 at %arg0 by %arg2 zero %arg3 : tensor<1x8xf32> to i4 : tensor<4x8xf32>, tensor<1x8xf32>
    return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xi4>, tensor<4x8xf32>, tensor<1x8xf32>
  }
  func.func @prune(%arg0: tensor<8x3xf32>, %arg1: tensor<8xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
    %0 = mp.prune %arg0 keep 2 of 4 axis 0 {inserted} : tensor<8x3xf32>
    %1 = mp.prune %arg0 scored %arg1 : tensor<8xf32> keep 1 of 2 axis 0 : tensor<8x3xf32>
    return %0, %1 : tensor<8x3xf32>, tensor<8x3xf32>
  }
}

