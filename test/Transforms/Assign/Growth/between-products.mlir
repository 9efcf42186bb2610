// An op between two products, one function each, GELU in both forms. Products narrow, the op stays in f32; the error of the whole stays that of the products.
//
// RUN: mp-sweep --run %s | %python %S/../Inputs/errors.py f16=4e-3 bf16=3e-2 | FileCheck %s
// CHECK: 30 functions: 0 above the limit, 0 not run
// RUN: mp-sweep --run %s | not %python %S/../Inputs/errors.py f16=1e-9 bf16=1e-9
func.func @relu(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = arith.maximumf %h, %zero : tensor<8x8xf32>
  %y = linalg.matmul ins(%0, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @erf(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.erf %h : tensor<8x8xf32>
  %y = linalg.matmul ins(%0, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @erfc(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.erf %h : tensor<8x8xf32>
  %1 = arith.subf %one, %0 : tensor<8x8xf32>
  %y = linalg.matmul ins(%1, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @tanh(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.tanh %h : tensor<8x8xf32>
  %y = linalg.matmul ins(%0, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @reciprocal(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.absf %h : tensor<8x8xf32>
  %1 = arith.addf %0, %one : tensor<8x8xf32>
  %2 = arith.divf %one, %1 : tensor<8x8xf32>
  %y = linalg.matmul ins(%2, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @log(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.absf %h : tensor<8x8xf32>
  %1 = arith.addf %0, %one : tensor<8x8xf32>
  %2 = math.log %1 : tensor<8x8xf32>
  %y = linalg.matmul ins(%2, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @log1p(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.absf %h : tensor<8x8xf32>
  %1 = math.log1p %0 : tensor<8x8xf32>
  %y = linalg.matmul ins(%1, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @sqrt(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.absf %h : tensor<8x8xf32>
  %1 = math.sqrt %0 : tensor<8x8xf32>
  %y = linalg.matmul ins(%1, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @sigmoid(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = arith.negf %h : tensor<8x8xf32>
  %1 = math.exp %0 : tensor<8x8xf32>
  %2 = arith.addf %1, %one : tensor<8x8xf32>
  %3 = arith.divf %one, %2 : tensor<8x8xf32>
  %y = linalg.matmul ins(%3, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @softplus(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = math.exp %h : tensor<8x8xf32>
  %1 = math.log1p %0 : tensor<8x8xf32>
  %y = linalg.matmul ins(%1, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @elu(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = arith.minimumf %h, %zero : tensor<8x8xf32>
  %1 = math.expm1 %0 : tensor<8x8xf32>
  %2 = arith.maximumf %h, %zero : tensor<8x8xf32>
  %3 = arith.addf %1, %2 : tensor<8x8xf32>
  %y = linalg.matmul ins(%3, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @gelu(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %half = arith.constant dense<0.5> : tensor<8x8xf32>
  %rh = arith.constant dense<0.70710678> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = arith.mulf %h, %rh : tensor<8x8xf32>
  %1 = math.erf %0 : tensor<8x8xf32>
  %2 = arith.addf %1, %one : tensor<8x8xf32>
  %3 = arith.mulf %h, %half : tensor<8x8xf32>
  %4 = arith.mulf %3, %2 : tensor<8x8xf32>
  %y = linalg.matmul ins(%4, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @gelu_tanh(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %half = arith.constant dense<0.5> : tensor<8x8xf32>
  %c3 = arith.constant dense<0.044715> : tensor<8x8xf32>
  %c0 = arith.constant dense<0.79788456> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = arith.mulf %h, %h : tensor<8x8xf32>
  %1 = arith.mulf %0, %h : tensor<8x8xf32>
  %2 = arith.mulf %1, %c3 : tensor<8x8xf32>
  %3 = arith.addf %h, %2 : tensor<8x8xf32>
  %4 = arith.mulf %3, %c0 : tensor<8x8xf32>
  %5 = math.tanh %4 : tensor<8x8xf32>
  %6 = arith.addf %5, %one : tensor<8x8xf32>
  %7 = arith.mulf %h, %half : tensor<8x8xf32>
  %8 = arith.mulf %7, %6 : tensor<8x8xf32>
  %y = linalg.matmul ins(%8, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @softmax(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.softmax dimension(1) ins(%h : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = linalg.matmul ins(%0, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @log_softmax(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.softmax dimension(1) ins(%h : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = math.log %0 : tensor<8x8xf32>
  %y = linalg.matmul ins(%1, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
