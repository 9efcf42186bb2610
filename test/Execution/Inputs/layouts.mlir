// A residual block of integers: what is summed is rounded first, so that sums are exact.
func.func @main(%x: tensor<24x32x20x20xf32>, %w: tensor<32x32x3x3xf32>, %v: tensor<32x32x3x3xf32>, %u: tensor<32x32x1x1xf32>, %b: tensor<32xf32>) -> (tensor<24x32x9x9xf32>, tensor<24x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %xi = math.roundeven %x : tensor<24x32x20x20xf32>
  %wi = math.roundeven %w : tensor<32x32x3x3xf32>
  %vi = math.roundeven %v : tensor<32x32x3x3xf32>
  %ui = math.roundeven %u : tensor<32x32x1x1xf32>
  %bi = math.roundeven %b : tensor<32xf32>
  %zeros = arith.constant dense<0.0> : tensor<24x32x20x20xf32>
  %e = tensor.empty() : tensor<24x32x20x20xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x32x20x20xf32>) -> tensor<24x32x20x20xf32>
  %p = tensor.pad %xi low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<24x32x20x20xf32> to tensor<24x32x22x22xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%p, %wi : tensor<24x32x22x22xf32>, tensor<32x32x3x3xf32>) outs(%f : tensor<24x32x20x20xf32>) -> tensor<24x32x20x20xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0, %bi : tensor<24x32x20x20xf32>, tensor<32xf32>) outs(%e : tensor<24x32x20x20xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %sum = arith.addf %s, %t : f32
    linalg.yield %sum : f32
  } -> tensor<24x32x20x20xf32>
  %2 = arith.maximumf %1, %zeros : tensor<24x32x20x20xf32>
  %p2 = tensor.pad %2 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<24x32x20x20xf32> to tensor<24x32x22x22xf32>
  %3 = linalg.conv_2d_nchw_fchw ins(%p2, %vi : tensor<24x32x22x22xf32>, tensor<32x32x3x3xf32>) outs(%f : tensor<24x32x20x20xf32>) -> tensor<24x32x20x20xf32>
  %4 = arith.addf %3, %2 : tensor<24x32x20x20xf32>
  %5 = linalg.conv_2d_nchw_fchw ins(%4, %ui : tensor<24x32x20x20xf32>, tensor<32x32x1x1xf32>) outs(%f : tensor<24x32x20x20xf32>) -> tensor<24x32x20x20xf32>
  %g = tensor.empty() : tensor<24x32x18x18xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<24x32x18x18xf32>) -> tensor<24x32x18x18xf32>
  %6 = linalg.conv_2d_nchw_fchw ins(%5, %vi : tensor<24x32x20x20xf32>, tensor<32x32x3x3xf32>) outs(%h : tensor<24x32x18x18xf32>) -> tensor<24x32x18x18xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %q = tensor.empty() : tensor<24x32x9x9xf32>
  %r = linalg.fill ins(%zero : f32) outs(%q : tensor<24x32x9x9xf32>) -> tensor<24x32x9x9xf32>
  %7 = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} ins(%6, %window : tensor<24x32x18x18xf32>, tensor<2x2xf32>) outs(%r : tensor<24x32x9x9xf32>) -> tensor<24x32x9x9xf32>
  %m = tensor.empty() : tensor<24x32xf32>
  %n = linalg.fill ins(%zero : f32) outs(%m : tensor<24x32xf32>) -> tensor<24x32xf32>
  %8 = linalg.reduce ins(%7 : tensor<24x32x9x9xf32>) outs(%n : tensor<24x32xf32>) dimensions = [2, 3]
    (%a: f32, %c: f32) {
      %sum = arith.addf %a, %c : f32
      linalg.yield %sum : f32
    }
  return %7, %8 : tensor<24x32x9x9xf32>, tensor<24x32xf32>
}
