// Numbers of a mean and of a maximum, in f32 after the pass and in f64 before, and what f32 loses: 2^24 + 1.
// RUN: mp-opt %s --mp-narrow-doubles -o %t.mlir && mp-run %t.mlir --entry=mean --compare=%s --max-rel=1e-6
// RUN: not mp-run %t.mlir --entry=count --compare=%s --max-rel=0
func.func @mean(%x: tensor<64xf32>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<f64>
  %n = arith.constant 64.0 : f64
  %w = arith.extf %x : tensor<64xf32> to tensor<64xf64>
  %s = linalg.reduce ins(%w : tensor<64xf64>) outs(%zero : tensor<f64>) dimensions = [0]
    (%a: f64, %b: f64) {
      %0 = arith.addf %a, %b : f64
      linalg.yield %0 : f64
    }
  %e = tensor.extract %s[] : tensor<f64>
  %m = arith.divf %e, %n : f64
  %r = arith.truncf %m : f64 to f32
  return %r : f32
}
func.func @count(%i: i32) -> i64 {
  %big = arith.constant 16777216.0 : f64
  %one = arith.constant 1.0 : f64
  %s = arith.addf %big, %one : f64
  %0 = arith.fptosi %s : f64 to i64
  return %0 : i64
}
