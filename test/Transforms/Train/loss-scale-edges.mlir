// Edges of the rules: the inverse of a scale, to the bit, and the step at which a scale first grows.

// RUN: mp-run %s --entry=inverse --input=f32:3 | FileCheck %s --check-prefix=THREE
// THREE: result 0: i32 = [1051372203]
// RUN: mp-run %s --entry=inverse --input=f32:1000 | FileCheck %s --check-prefix=THOUSAND
// THOUSAND: result 0: i32 = [981668463]
// Subnormal, and not flushed.
// RUN: mp-run %s --entry=inverse --input=f32:1.7014118346046923e+38 | FileCheck %s --check-prefix=LARGEST
// LARGEST: result 0: i32 = [4194304]
// An unscaling that overflows is not found in its step: the check sees what comes in.
// RUN: mp-run %s --entry=inverse --input=f32:7.174648137343064e-43 | FileCheck %s --check-prefix=SMALLEST
// SMALLEST: result 0: i32 = [2139095040]
// SMALLEST: result 1: i1 = [{{0|false}}]
func.func @inverse(%scale: tensor<f32>) -> (tensor<i32>, tensor<i1>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %u:2 = mp.unscale %one by %scale : tensor<f32>
  %bits = arith.bitcast %u#0 : tensor<f32> to tensor<i32>
  return %bits, %u#1 : tensor<i32>, tensor<i1>
}

// RUN: mp-run %s --entry=grows | FileCheck %s --check-prefix=GROWS
// GROWS: i32 = [1000]

func.func @grows() -> tensor<i32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 1100 : index
  %first = arith.constant dense<65536.0> : tensor<f32>
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %inf = arith.constant dense<false> : tensor<i1>
  %fine = arith.constant dense<false> : tensor<i1>
  %begin:2 = mp.update_loss_scale %first, %zero on %inf by <growth = 2.0, backoff = 0.5, interval = 1000, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  %scale = arith.select %inf, %begin#0, %first : tensor<i1>, tensor<f32>
  %clean = arith.select %inf, %begin#1, %zero : tensor<i1>, tensor<i32>
  %end:3 = scf.for %i = %c0 to %most step %c1 iter_args(%s = %scale, %c = %clean, %n = %zero) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
    %t:2 = mp.update_loss_scale %s, %c on %fine by <growth = 2.0, backoff = 0.5, interval = 1000, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
    // Counts the steps up to the one that grows.
    %waits = arith.cmpf ole, %s, %scale : tensor<f32>
    %more = arith.addi %n, %one : tensor<i32>
    %count = arith.select %waits, %more, %n : tensor<i1>, tensor<i32>
    scf.yield %t#0, %t#1, %count : tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %end#2 : tensor<i32>
}

// DeepSpeed is one step late.
// RUN: mp-run %s --entry=grows_late | FileCheck %s --check-prefix=LATE
// LATE: i32 = [1001]

func.func @grows_late() -> tensor<i32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 1100 : index
  %first = arith.constant dense<65536.0> : tensor<f32>
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %inf = arith.constant dense<false> : tensor<i1>
  %fine = arith.constant dense<false> : tensor<i1>
  %begin:2 = mp.update_loss_scale %first, %zero on %inf by <growth = 2.0, backoff = 0.5, interval = 1000, hysteresis = 1, refill = on_clean, counter = late, beyond = keep>
  %scale = arith.select %inf, %begin#0, %first : tensor<i1>, tensor<f32>
  %clean = arith.select %inf, %begin#1, %zero : tensor<i1>, tensor<i32>
  %end:3 = scf.for %i = %c0 to %most step %c1 iter_args(%s = %scale, %c = %clean, %n = %zero) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
    %t:2 = mp.update_loss_scale %s, %c on %fine by <growth = 2.0, backoff = 0.5, interval = 1000, hysteresis = 1, refill = on_clean, counter = late, beyond = keep>
    // Counts the steps up to the one that grows.
    %waits = arith.cmpf ole, %s, %scale : tensor<f32>
    %more = arith.addi %n, %one : tensor<i32>
    %count = arith.select %waits, %more, %n : tensor<i1>, tensor<i32>
    scf.yield %t#0, %t#1, %count : tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %end#2 : tensor<i32>
}

// And after an overflow.
// RUN: mp-run %s --entry=grows_late_again | FileCheck %s --check-prefix=AGAIN
// AGAIN: i32 = [11]

func.func @grows_late_again() -> tensor<i32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 1100 : index
  %first = arith.constant dense<65536.0> : tensor<f32>
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %inf = arith.constant dense<true> : tensor<i1>
  %fine = arith.constant dense<false> : tensor<i1>
  %begin:2 = mp.update_loss_scale %first, %zero on %inf by <growth = 2.0, backoff = 0.5, interval = 10, hysteresis = 1, refill = on_clean, counter = late, beyond = keep>
  %scale = arith.select %inf, %begin#0, %first : tensor<i1>, tensor<f32>
  %clean = arith.select %inf, %begin#1, %zero : tensor<i1>, tensor<i32>
  %end:3 = scf.for %i = %c0 to %most step %c1 iter_args(%s = %scale, %c = %clean, %n = %zero) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
    %t:2 = mp.update_loss_scale %s, %c on %fine by <growth = 2.0, backoff = 0.5, interval = 10, hysteresis = 1, refill = on_clean, counter = late, beyond = keep>
    // Counts the steps up to the one that grows.
    %waits = arith.cmpf ole, %s, %scale : tensor<f32>
    %more = arith.addi %n, %one : tensor<i32>
    %count = arith.select %waits, %more, %n : tensor<i1>, tensor<i32>
    scf.yield %t#0, %t#1, %count : tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %end#2 : tensor<i32>
}
