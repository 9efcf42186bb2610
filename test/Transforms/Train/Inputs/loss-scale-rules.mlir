// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
