// A log-softmax of what is assumed is assumed: the logarithm lies in [0, log n]. The near misses have no such sum.

// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s

// CHECK-LABEL: func.func @log_softmax(
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @log_softmax(%x: tensor<8x6xf32>, %y: tensor<8x6xf32>, %w: tensor<6x6xf32>) -> tensor<8x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x6xf32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  %m = linalg.reduce {arith.maximumf} ins(%h : tensor<8x6xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%e : tensor<8x6xf32>) dimensions = [1]
  %d = arith.subf %h, %b : tensor<8x6xf32>
  %p = math.exp %d : tensor<8x6xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<8x6xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %l = math.log %s : tensor<8xf32>
  %lb = linalg.broadcast ins(%l : tensor<8xf32>) outs(%e : tensor<8x6xf32>) dimensions = [1]
  %q = arith.subf %d, %lb : tensor<8x6xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// The maximum of something else: all exponentials may vanish.
// CHECK-LABEL: func.func @of_another(
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @of_another(%x: tensor<8x6xf32>, %y: tensor<8x6xf32>, %w: tensor<6x6xf32>) -> tensor<8x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x6xf32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  %m = linalg.reduce {arith.maximumf} ins(%y : tensor<8x6xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%e : tensor<8x6xf32>) dimensions = [1]
  %d = arith.subf %h, %b : tensor<8x6xf32>
  %p = math.exp %d : tensor<8x6xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<8x6xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %l = math.log %s : tensor<8xf32>
  %lb = linalg.broadcast ins(%l : tensor<8xf32>) outs(%e : tensor<8x6xf32>) dimensions = [1]
  %q = arith.subf %d, %lb : tensor<8x6xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Not shifted: the sum may overflow.
// CHECK-LABEL: func.func @unshifted(
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @unshifted(%x: tensor<8x6xf32>, %y: tensor<8x6xf32>, %w: tensor<6x6xf32>) -> tensor<8x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x6xf32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  %m = linalg.reduce {arith.maximumf} ins(%h : tensor<8x6xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%e : tensor<8x6xf32>) dimensions = [1]
  %d = arith.subf %h, %b : tensor<8x6xf32>
  %p = math.exp %h : tensor<8x6xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<8x6xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %l = math.log %s : tensor<8xf32>
  %lb = linalg.broadcast ins(%l : tensor<8xf32>) outs(%e : tensor<8x6xf32>) dimensions = [1]
  %q = arith.subf %d, %lb : tensor<8x6xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// The maximum of rows, the sum of columns: all exponentials of a column may vanish.
// CHECK-LABEL: func.func @across(
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @across(%x: tensor<6x6xf32>, %y: tensor<6x6xf32>, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %none = arith.constant dense<0.0> : tensor<6xf32>
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %h = linalg.matmul ins(%x, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  %m = linalg.reduce {arith.maximumf} ins(%h : tensor<6x6xf32>) outs(%low : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<6xf32>) outs(%e : tensor<6x6xf32>) dimensions = [1]
  %d = arith.subf %h, %b : tensor<6x6xf32>
  %p = math.exp %d : tensor<6x6xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x6xf32>) outs(%none : tensor<6xf32>) dimensions = [0]
  %l = math.log %s : tensor<6xf32>
  %lb = linalg.broadcast ins(%l : tensor<6xf32>) outs(%e : tensor<6x6xf32>) dimensions = [0]
  %q = arith.subf %d, %lb : tensor<6x6xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// The logarithm of what is no less than a constant, as of a spectrum's power: up to 89 for a finite number.
// CHECK-LABEL: func.func @log_of_power(
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}'math.log' has no bound
func.func @log_of_power(%x: tensor<8x6xf32>, %w: tensor<6x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x6xf32>
  %least = arith.constant dense<1.0e-5> : tensor<8x6xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  %p = arith.mulf %h, %h : tensor<8x6xf32>
  %q = arith.addf %p, %least : tensor<8x6xf32>
  %l = math.log %q : tensor<8x6xf32>
  %0 = linalg.matmul ins(%l, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  %n = math.log %p : tensor<8x6xf32>
  %1 = linalg.matmul ins(%n, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}
