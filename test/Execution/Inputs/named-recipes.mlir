// Scales and codes by the rules of packages that can be asked; named_recipes.py asks them.

func.func @torchao(%amax: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) {
  %e0, %d0 = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = formula, on_nonfinite = propagate, wide = true, floor = 1.0e-12> : tensor<1000xf32> to tensor<1000xf32>
  %e1, %d1 = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = down, on_zero = formula, on_nonfinite = propagate, wide = true, floor = 1.0e-12> : tensor<1000xf32> to tensor<1000xf32>
  %e2, %d2 = mp.compute_scale %amax for f8E5M2 by <form = encode, pow2 = none, on_zero = formula, on_nonfinite = propagate, wide = true, floor = 1.0e-12> : tensor<1000xf32> to tensor<1000xf32>
  %e3, %d3 = mp.compute_scale %amax for f8E5M2 by <form = encode, pow2 = down, on_zero = formula, on_nonfinite = propagate, wide = true, floor = 1.0e-12> : tensor<1000xf32> to tensor<1000xf32>
  return %e0, %e1, %e2, %e3 : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
}

func.func @mx(%x: tensor<1000x64xf32>) -> (tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf4E2M1FN>, tensor<1000x2xf8E8M0FNU>) {
  %floor, %sfloor = mp.block_quantize %x by <form = reciprocal, pow2 = down, on_zero = formula, on_nonfinite = propagate, largest = 256.0> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>
  %rceil, %srceil = mp.block_quantize %x by <form = reciprocal, pow2 = up, on_zero = formula, on_nonfinite = saturate> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>
  %ceil, %sceil = mp.block_quantize %x by <form = reciprocal, pow2 = up, on_zero = formula, on_nonfinite = propagate, largest = 256.0> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>
  %even, %seven = mp.block_quantize %x by <form = reciprocal, pow2 = even, on_zero = formula, on_nonfinite = propagate, largest = 256.0> : tensor<1000x64xf32> to tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>
  %floor4, %sfloor4 = mp.block_quantize %x by <form = reciprocal, pow2 = down, on_zero = formula, on_nonfinite = propagate, largest = 4.0> : tensor<1000x64xf32> to tensor<1000x64xf4E2M1FN>, tensor<1000x2xf8E8M0FNU>
  return %floor, %sfloor, %rceil, %srceil, %ceil, %sceil, %even, %seven, %floor4, %sfloor4 : tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf8E4M3FN>, tensor<1000x2xf8E8M0FNU>, tensor<1000x64xf4E2M1FN>, tensor<1000x2xf8E8M0FNU>
}

// 1,000 histories of 4 over 24 steps: the decode scale after each.
func.func @flax(%amax: tensor<1000x24xf32>) -> tensor<1000x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 1000 : index
  %steps = arith.constant 24 : index
  %one = arith.constant dense<1.0> : tensor<f32>
  %none = arith.constant dense<0.0> : tensor<4xf32>
  %empty = tensor.empty() : tensor<1000x24xf32>
  %all = scf.for %row = %c0 to %rows step %c1 iter_args(%table = %empty) -> tensor<1000x24xf32> {
    %last:3 = scf.for %step = %c0 to %steps step %c1 iter_args(%past = %none, %enc = %one, %filled = %table) -> (tensor<4xf32>, tensor<f32>, tensor<1000x24xf32>) {
      %number = tensor.extract %amax[%row, %step] : tensor<1000x24xf32>
      %now = tensor.from_elements %number : tensor<f32>
      %next, %deciding = mp.update_amax_history %past, %now max before_current : tensor<4xf32>
      %e, %d = mp.compute_scale %deciding or %enc : tensor<f32> for f8E4M3FN by <form = encode, pow2 = none, on_zero = keep, on_nonfinite = keep> : tensor<f32> to tensor<f32>
      %value = tensor.extract %d[] : tensor<f32>
      %entered = tensor.insert %value into %filled[%row, %step] : tensor<1000x24xf32>
      scf.yield %next, %e, %entered : tensor<4xf32>, tensor<f32>, tensor<1000x24xf32>
    }
    scf.yield %last#2 : tensor<1000x24xf32>
  }
  return %all : tensor<1000x24xf32>
}
