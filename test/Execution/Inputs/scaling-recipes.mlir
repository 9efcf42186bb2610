// Quantised rows by the rules of several implementations; scaling_second_opinion.py has theirs.
func.func @main(%x: tensor<1000x64xf32>) -> (
    tensor<1000x64xf8E4M3FN>, tensor<1000x64xf8E5M2>, tensor<1000x64xf8E4M3FN>, tensor<1000x1xf32>,
    tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>,
    tensor<1000x64xi8>, tensor<1000x1xf32>, tensor<1000x64xf4E2M1FN>, tensor<1000x4xf8E4M3FN>,
    tensor<1000x64xf8E4M3FN>, tensor<1000x1xf32>, tensor<1000x64xf32>) {
  %c4, %cs4 = mp.block_quantize %x by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x1xf32>
  %c5, %cs5 = mp.block_quantize %x by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<1000x64xf32> to tensor<1000x64xf8E5M2>, tensor<1000x1xf32>
  %t, %ts = mp.block_quantize %x by <form = encode, pow2 = down, on_zero = formula, on_nonfinite = propagate, wide = true, floor = 1.0e-12> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x1xf32>
  %u, %us = mp.block_quantize %x by <form = reciprocal, pow2 = up, on_zero = formula, on_nonfinite = saturate> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>
  %f, %fs = mp.block_quantize %x by <form = reciprocal, pow2 = down, on_zero = formula, on_nonfinite = propagate, largest = 256.0> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>
  %i, %is = mp.block_quantize %x by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<1000x64xf32> to tensor<1000x64xi8>, tensor<1000x1xf32>
  %amax = mp.amax %x : tensor<1000x64xf32> to tensor<f32>
  %enc, %all = mp.compute_scale %amax for f4E2M1FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = propagate, largest = 2688.0, limit = f32> : tensor<f32> to tensor<f32>
  %n, %ns = mp.block_quantize %x within %enc by <form = reciprocal, pow2 = none, on_zero = formula, on_nonfinite = saturate, limit = f32> : tensor<1000x64xf32> to tensor<1000x64xf4E2M1FN>, tensor<1000x4xf8E4M3FN>
  %d, %ds = mp.block_quantize %x by <form = decode, pow2 = none, on_zero = formula, on_nonfinite = propagate, floor = 1.0e-4> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x1xf32>
  %back = mp.dequantize %i by %is : tensor<1000x64xi8>, tensor<1000x1xf32> to tensor<1000x64xf32>
  return %c4, %c5, %t, %ts, %u, %us, %f, %fs, %i, %is, %n, %ns, %d, %ds, %back :
      tensor<1000x64xf8E4M3FN>, tensor<1000x64xf8E5M2>, tensor<1000x64xf8E4M3FN>, tensor<1000x1xf32>,
      tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>,
      tensor<1000x64xi8>, tensor<1000x1xf32>, tensor<1000x64xf4E2M1FN>, tensor<1000x4xf8E4M3FN>,
      tensor<1000x64xf8E4M3FN>, tensor<1000x1xf32>, tensor<1000x64xf32>
}
