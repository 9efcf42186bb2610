// RUN: mp-run %s --entry=remainder --check-ranges | FileCheck %s --check-prefix=RANGE
// RUN: mp-run %s --entry=to_tf32 --check-ranges | FileCheck %s --check-prefix=RANGE
// RUN: mp-run %s --entry=product --check-errors | FileCheck %s --check-prefix=ERROR
// RUN: mp-run %s --entry=product --check-errors --numerics=sm_80 | FileCheck %s --check-prefix=ERROR
// RUN: mp-opt %s --mp-annotate-ranges | FileCheck %s

// A rounded value is near what it was made of, but not equal to it: neither is the difference of the two zero,
// nor does a rounded constant keep its value. Every element lies within what was proved.
// RANGE: {{[1-9]}} bounded{{.*}}; 0 outside
// ERROR: {{[1-9]}} bounded{{.*}}; 0 outside

// CHECK-LABEL: func.func @remainder
// CHECK: arith.subf {{.*}}mp.facts = ["[-{{[0-9.e-]+}}, {{[0-9.e-]+}}]
func.func @remainder(%x: tensor<64xf64> {mp.range = [1.0, 2.0]}) -> tensor<64xf64> {
  %high = arith.truncf %x : tensor<64xf64> to tensor<64xf32>
  %wide = arith.extf %high : tensor<64xf32> to tensor<64xf64>
  %low = arith.subf %x, %wide : tensor<64xf64>
  return %low : tensor<64xf64>
}

// CHECK-LABEL: func.func @to_tf32
// CHECK: mp.round {{.*}}mp.facts = ["[2.828125, 2.828125]
func.func @to_tf32() -> (tensor<4xf32>, tensor<4xf32>) {
  %x = arith.constant dense<2.828427> : tensor<4xf32>
  %0 = mp.round tf32 %x : tensor<4xf32>
  %1 = arith.subf %x, %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

func.func @product(%x: tensor<3x3xf32> {mp.range = [-3.0, 3.0]}) -> tensor<3x3xf32> {
  %w = arith.constant dense<28.827427> : tensor<3x3xf32>
  %zero = arith.constant dense<0.0> : tensor<3x3xf32>
  %0 = mp.round tf32 %w : tensor<3x3xf32>
  %1 = mp.round tf32 %x : tensor<3x3xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<3x3xf32>, tensor<3x3xf32>) outs(%zero : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}
