// A tensor divided by its largest magnitude lies in [-1, 1], NaN aside: evidence for f16 that neither the class assumption
// nor intervals give. Near misses stay wide.

// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s
// RUN: mp-run %s --entry=main --check-ranges | FileCheck %s --check-prefix=RANGES
// RANGES: 0 outside

// Rows.
// CHECK-LABEL: func.func @rows(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @rows(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @columns(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @columns(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// With a floor under the magnitude, or something added to it.
// CHECK-LABEL: func.func @floor(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @floor(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %f = arith.maximumf %m, %eps : tensor<8xf32>
  %b = linalg.broadcast ins(%f : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @added(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @added(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %f = arith.addf %m, %eps : tensor<8xf32>
  %b = linalg.broadcast ins(%f : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The inverse of one that is not too small.
// CHECK-LABEL: func.func @inverse(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @inverse(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %f = arith.addf %m, %eps : tensor<8xf32>
  %i = arith.divf %one, %f : tensor<8xf32>
  %b = linalg.broadcast ins(%i : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.mulf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A scale of 8 bits: up to 127.
// CHECK-LABEL: func.func @scale(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @scale(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %n = arith.constant dense<0.00787401571> : tensor<8xf32>
  %s = arith.mulf %m, %n : tensor<8xf32>
  %f = arith.maximumf %s, %eps : tensor<8xf32>
  %b = linalg.broadcast ins(%f : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Magnitudes of columns beneath rows.
// CHECK-LABEL: func.func @transposed(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @transposed(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The largest value is no magnitude: -1e30 over 1e-3.
// CHECK-LABEL: func.func @largest(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @largest(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%h : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %f = arith.addf %m, %eps : tensor<8xf32>
  %b = linalg.broadcast ins(%f : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The inverse of a subnormal magnitude is infinite.
// CHECK-LABEL: func.func @inverse_of_any(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @inverse_of_any(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %i = arith.divf %one, %m : tensor<8xf32>
  %b = linalg.broadcast ins(%i : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.mulf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A scale may vanish though the magnitude does not.
// CHECK-LABEL: func.func @scale_of_any(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @scale_of_any(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %n = arith.constant dense<0.00787401571> : tensor<8xf32>
  %f = arith.mulf %m, %n : tensor<8xf32>
  %b = linalg.broadcast ins(%f : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The smallest magnitude.
// CHECK-LABEL: func.func @smallest(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @smallest(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %high = arith.constant dense<0x7F800000> : tensor<8xf32>
  %m = linalg.reduce {arith.minimumf} ins(%a : tensor<8x8xf32>) outs(%high : tensor<8xf32>) dimensions = [1]
  %f = arith.addf %m, %eps : tensor<8xf32>
  %b = linalg.broadcast ins(%f : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

func.func @main(%x: tensor<8x8xf32> {mp.range = [-3.0, 3.0]}) -> tensor<8x8xf32> {
  %low = arith.constant dense<0.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = math.sinh %x : tensor<8x8xf32>
  %a = math.absf %h : tensor<8x8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %q = arith.divf %h, %b : tensor<8x8xf32>
  return %q : tensor<8x8xf32>
}
