// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1,000 trajectories of 64 steps at once for loss_scale_second_opinion.py: the scale after each step.

func.func @torch(%first: tensor<1000xf32>, %overflows: tensor<1000x64xi8>) -> tensor<1000x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 1000 : index
  %steps = arith.constant 64 : index
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant 0 : i8
  %empty = tensor.empty() : tensor<1000x64xf32>
  %all = scf.for %row = %c0 to %rows step %c1 iter_args(%table = %empty) -> tensor<1000x64xf32> {
    %begin = tensor.extract %first[%row] : tensor<1000xf32>
    %start = tensor.from_elements %begin : tensor<f32>
    %last:3 = scf.for %step = %c0 to %steps step %c1 iter_args(%scale = %start, %clean = %zero, %filled = %table) -> (tensor<f32>, tensor<i32>, tensor<1000x64xf32>) {
      %flag = tensor.extract %overflows[%row, %step] : tensor<1000x64xi8>
      %is = arith.cmpi ne, %flag, %none : i8
      %inf = tensor.from_elements %is : tensor<i1>
      %next:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
      %value = tensor.extract %next#0[] : tensor<f32>
      %entered = tensor.insert %value into %filled[%row, %step] : tensor<1000x64xf32>
      scf.yield %next#0, %next#1, %entered : tensor<f32>, tensor<i32>, tensor<1000x64xf32>
    }
    scf.yield %last#2 : tensor<1000x64xf32>
  }
  return %all : tensor<1000x64xf32>
}

func.func @torch_odd(%first: tensor<1000xf32>, %overflows: tensor<1000x64xi8>) -> tensor<1000x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 1000 : index
  %steps = arith.constant 64 : index
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant 0 : i8
  %empty = tensor.empty() : tensor<1000x64xf32>
  %all = scf.for %row = %c0 to %rows step %c1 iter_args(%table = %empty) -> tensor<1000x64xf32> {
    %begin = tensor.extract %first[%row] : tensor<1000xf32>
    %start = tensor.from_elements %begin : tensor<f32>
    %last:3 = scf.for %step = %c0 to %steps step %c1 iter_args(%scale = %start, %clean = %zero, %filled = %table) -> (tensor<f32>, tensor<i32>, tensor<1000x64xf32>) {
      %flag = tensor.extract %overflows[%row, %step] : tensor<1000x64xi8>
      %is = arith.cmpi ne, %flag, %none : i8
      %inf = tensor.from_elements %is : tensor<i1>
      %next:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 1.1, backoff = 0.9, interval = 2, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
      %value = tensor.extract %next#0[] : tensor<f32>
      %entered = tensor.insert %value into %filled[%row, %step] : tensor<1000x64xf32>
      scf.yield %next#0, %next#1, %entered : tensor<f32>, tensor<i32>, tensor<1000x64xf32>
    }
    scf.yield %last#2 : tensor<1000x64xf32>
  }
  return %all : tensor<1000x64xf32>
}

func.func @jmp(%first: tensor<1000xf32>, %overflows: tensor<1000x64xi8>) -> tensor<1000x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 1000 : index
  %steps = arith.constant 64 : index
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant 0 : i8
  %empty = tensor.empty() : tensor<1000x64xf32>
  %all = scf.for %row = %c0 to %rows step %c1 iter_args(%table = %empty) -> tensor<1000x64xf32> {
    %begin = tensor.extract %first[%row] : tensor<1000xf32>
    %start = tensor.from_elements %begin : tensor<f32>
    %last:3 = scf.for %step = %c0 to %steps step %c1 iter_args(%scale = %start, %clean = %zero, %filled = %table) -> (tensor<f32>, tensor<i32>, tensor<1000x64xf32>) {
      %flag = tensor.extract %overflows[%row, %step] : tensor<1000x64xi8>
      %is = arith.cmpi ne, %flag, %none : i8
      %inf = tensor.from_elements %is : tensor<i1>
      %next:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep, min = 1.0>
      %value = tensor.extract %next#0[] : tensor<f32>
      %entered = tensor.insert %value into %filled[%row, %step] : tensor<1000x64xf32>
      scf.yield %next#0, %next#1, %entered : tensor<f32>, tensor<i32>, tensor<1000x64xf32>
    }
    scf.yield %last#2 : tensor<1000x64xf32>
  }
  return %all : tensor<1000x64xf32>
}

// 1,000 rows of gradients, each with a scale and a check of its own.
func.func @unscaled(%gradients: tensor<1000x64xf32>, %scales: tensor<1000xf32>) -> (tensor<1000x64xf32>, tensor<1000xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 1000 : index
  %empty = tensor.empty() : tensor<1000x64xf32>
  %clear = arith.constant dense<0> : tensor<1000xi8>
  %all:2 = scf.for %row = %c0 to %rows step %c1 iter_args(%table = %empty, %flags = %clear) -> (tensor<1000x64xf32>, tensor<1000xi8>) {
    %factor = tensor.extract %scales[%row] : tensor<1000xf32>
    %scale = tensor.from_elements %factor : tensor<f32>
    %g = tensor.extract_slice %gradients[%row, 0] [1, 64] [1, 1] : tensor<1000x64xf32> to tensor<64xf32>
    %u:2 = mp.unscale %g by %scale : tensor<64xf32>
    %entered = tensor.insert_slice %u#0 into %table[%row, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<1000x64xf32>
    %is = tensor.extract %u#1[] : tensor<i1>
    %flag = arith.extui %is : i1 to i8
    %set = tensor.insert %flag into %flags[%row] : tensor<1000xi8>
    scf.yield %entered, %set : tensor<1000x64xf32>, tensor<1000xi8>
  }
  return %all#0, %all#1 : tensor<1000x64xf32>, tensor<1000xi8>
}
