// A norm whose factors were folded, x a + (b - mean a), is as large as its parameters make it.
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-mixed-precision="format=f16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// REPORT: recognised: 1 layer_norm
// REPORT: recognised: 1 mean, 1 variance
// REPORT-NOT: layer_norm
// REPORT: {{^}}mp:
// REPORT: recognised: 1 layer_norm{{$}}

// CHECK-LABEL: func.func @folded
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @folded(%x: tensor<4x32xf32>, %gamma: tensor<32xf32>, %beta: tensor<32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %means = linalg.broadcast ins(%mean : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %d = arith.subf %x, %means : tensor<4x32xf32>
  %dd = arith.mulf %d, %d : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%dd : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %var = arith.divf %squares, %n : tensor<4xf32>
  %ve = arith.addf %var, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %gammas = linalg.broadcast ins(%gamma : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %betas = linalg.broadcast ins(%beta : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %a = arith.mulf %rs, %gammas : tensor<4x32xf32>
  %xa = arith.mulf %x, %a : tensor<4x32xf32>
  %ma = arith.mulf %means, %a : tensor<4x32xf32>
  %b = arith.subf %betas, %ma : tensor<4x32xf32>
  %y = arith.addf %xa, %b : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The mean of another tensor: no norm.
// CHECK-LABEL: func.func @another_mean
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @another_mean(%x: tensor<4x32xf32>, %z: tensor<4x32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %sumz = linalg.reduce {arith.addf} ins(%z : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %meanz = arith.divf %sumz, %n : tensor<4xf32>
  %means = linalg.broadcast ins(%mean : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %meanszs = linalg.broadcast ins(%meanz : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %d = arith.subf %x, %means : tensor<4x32xf32>
  %dd = arith.mulf %d, %d : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%dd : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %var = arith.divf %squares, %n : tensor<4xf32>
  %ve = arith.addf %var, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %xa = arith.mulf %x, %rs : tensor<4x32xf32>
  %ma = arith.mulf %meanszs, %rs : tensor<4x32xf32>
  %y = arith.subf %xa, %ma : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The mean is added: what is large stays large.
// CHECK-LABEL: func.func @mean_added
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @mean_added(%x: tensor<4x32xf32>, %gamma: tensor<32xf32>, %beta: tensor<32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %means = linalg.broadcast ins(%mean : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %d = arith.subf %x, %means : tensor<4x32xf32>
  %dd = arith.mulf %d, %d : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%dd : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %var = arith.divf %squares, %n : tensor<4xf32>
  %ve = arith.addf %var, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %gammas = linalg.broadcast ins(%gamma : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %betas = linalg.broadcast ins(%beta : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %a = arith.mulf %rs, %gammas : tensor<4x32xf32>
  %xa = arith.mulf %x, %a : tensor<4x32xf32>
  %ma = arith.mulf %means, %a : tensor<4x32xf32>
  %b = arith.addf %betas, %ma : tensor<4x32xf32>
  %y = arith.addf %xa, %b : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A sum in the place of the mean.
// CHECK-LABEL: func.func @sum_for_mean
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @sum_for_mean(%x: tensor<4x32xf32>, %gamma: tensor<32xf32>, %beta: tensor<32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %means = linalg.broadcast ins(%mean : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %d = arith.subf %x, %means : tensor<4x32xf32>
  %dd = arith.mulf %d, %d : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%dd : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %var = arith.divf %squares, %n : tensor<4xf32>
  %ve = arith.addf %var, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %gammas = linalg.broadcast ins(%gamma : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %betas = linalg.broadcast ins(%beta : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %a = arith.mulf %rs, %gammas : tensor<4x32xf32>
  %xa = arith.mulf %x, %a : tensor<4x32xf32>
  %ma = arith.mulf %sums, %a : tensor<4x32xf32>
  %b = arith.subf %betas, %ma : tensor<4x32xf32>
  %y = arith.addf %xa, %b : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Two factors: x g - (mean x) h.
// CHECK-LABEL: func.func @another_factor
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @another_factor(%x: tensor<4x32xf32>, %gamma: tensor<32xf32>, %beta: tensor<32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %means = linalg.broadcast ins(%mean : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %d = arith.subf %x, %means : tensor<4x32xf32>
  %dd = arith.mulf %d, %d : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%dd : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %var = arith.divf %squares, %n : tensor<4xf32>
  %ve = arith.addf %var, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %gammas = linalg.broadcast ins(%gamma : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %betas = linalg.broadcast ins(%beta : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %a = arith.mulf %rs, %gammas : tensor<4x32xf32>
  %xa = arith.mulf %x, %a : tensor<4x32xf32>
  %h = arith.mulf %rs, %betas : tensor<4x32xf32>
  %ma = arith.mulf %means, %h : tensor<4x32xf32>
  %b = arith.subf %betas, %ma : tensor<4x32xf32>
  %y = arith.addf %xa, %b : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A norm, but a known factor makes it large.
// CHECK-LABEL: func.func @large_factor
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @large_factor(%x: tensor<4x32xf32>, %gamma: tensor<32xf32>, %beta: tensor<32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %means = linalg.broadcast ins(%mean : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %d = arith.subf %x, %means : tensor<4x32xf32>
  %dd = arith.mulf %d, %d : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%dd : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %var = arith.divf %squares, %n : tensor<4xf32>
  %ve = arith.addf %var, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %large = arith.constant dense<[1.0e6, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<32xf32>
  %gammas = linalg.broadcast ins(%large : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %betas = linalg.broadcast ins(%beta : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %a = arith.mulf %rs, %gammas : tensor<4x32xf32>
  %xa = arith.mulf %x, %a : tensor<4x32xf32>
  %ma = arith.mulf %means, %a : tensor<4x32xf32>
  %b = arith.subf %betas, %ma : tensor<4x32xf32>
  %y = arith.addf %xa, %b : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// (x - mean) (gamma / sqrt(variance)), the variance from squares and clamped, as flax writes it.
// CHECK-LABEL: func.func @factor_first
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @factor_first(%x: tensor<4x32xf32>, %gamma: tensor<32xf32>, %beta: tensor<32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %xx = arith.mulf %x, %x : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%xx : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %square = arith.divf %squares, %n : tensor<4xf32>
  %mm = arith.mulf %mean, %mean : tensor<4xf32>
  %difference = arith.subf %square, %mm : tensor<4xf32>
  %var = arith.maximumf %zero, %difference : tensor<4xf32>
  %ve = arith.addf %var, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %means = linalg.broadcast ins(%mean : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %gammas = linalg.broadcast ins(%gamma : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %betas = linalg.broadcast ins(%beta : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %d = arith.subf %x, %means : tensor<4x32xf32>
  %a = arith.mulf %rs, %gammas : tensor<4x32xf32>
  %da = arith.mulf %d, %a : tensor<4x32xf32>
  %y = arith.addf %da, %betas : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The same of another x: nothing holds.
// CHECK-LABEL: func.func @factor_of_another
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @factor_of_another(%x: tensor<4x32xf32>, %z: tensor<4x32xf32>, %gamma: tensor<32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %n = arith.constant dense<32.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %xx = arith.mulf %x, %x : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%xx : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %square = arith.divf %squares, %n : tensor<4xf32>
  %ve = arith.addf %square, %eps : tensor<4xf32>
  %r = math.rsqrt %ve : tensor<4xf32>
  %rs = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %gammas = linalg.broadcast ins(%gamma : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %a = arith.mulf %rs, %gammas : tensor<4x32xf32>
  %y = arith.mulf %z, %a : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// x / |x|, the root written as a power.
// CHECK-LABEL: func.func @unit_rows
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @unit_rows(%x: tensor<4x32xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %xx = arith.mulf %x, %x : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%xx : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %norm = math.powf %squares, %half : tensor<4xf32>
  %norms = linalg.broadcast ins(%norm : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %y = arith.divf %x, %norms : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Squares of magnitudes are squares, a maximum may be a comparison; a factor as of torch's weight_norm.
// CHECK-LABEL: func.func @weight_norm
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @weight_norm(%x: tensor<4x32xf32>, %g: tensor<4x1xf32>, %w: tensor<32x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %least = arith.constant dense<1.0e-12> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4x32xf32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %a = math.absf %x : tensor<4x32xf32>
  %xx = math.powf %a, %two : tensor<4x32xf32>
  %squares = linalg.reduce {arith.addf} ins(%xx : tensor<4x32xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %root = math.powf %squares, %half : tensor<4xf32>
  %c = arith.cmpf ult, %root, %least : tensor<4xf32>
  %norm = arith.select %c, %least, %root : tensor<4xi1>, tensor<4xf32>
  %gs = tensor.collapse_shape %g [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
  %factor = arith.divf %gs, %norm : tensor<4xf32>
  %factors = linalg.broadcast ins(%factor : tensor<4xf32>) outs(%e : tensor<4x32xf32>) dimensions = [1]
  %y = arith.mulf %x, %factors : tensor<4x32xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x32xf32>, tensor<32x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Factor and term repeated by gathers whose indices are constants, as torch-mlir repeats those of a group norm in TOSA.
// CHECK-LABEL: func.func @gathered_factor
// CHECK: tosa.matmul {{.*}}compute = f16
func.func @gathered_factor(%x: tensor<1x4x32xf32>, %gamma: tensor<1x4x1xf32>, %beta: tensor<1x4x1xf32>, %w: tensor<1x32x8xf32>) -> tensor<1x4x8xf32> {
  %n = "tosa.const"() <{values = dense<0.03125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %rows = "tosa.const"() <{values = dense<[[0, 1, 2, 3]]> : tensor<1x4xi32>}> : () -> tensor<1x4xi32>
  %first = "tosa.const"() <{values = dense<0> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %index = tosa.add %rows, %first : (tensor<1x4xi32>, tensor<1x1xi32>) -> tensor<1x4xi32>
  %sum = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<1x4x32xf32>) -> tensor<1x4x1xf32>
  %mean = tosa.mul %sum, %n, %shift : (tensor<1x4x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x1xf32>
  %d = tosa.sub %x, %mean : (tensor<1x4x32xf32>, tensor<1x4x1xf32>) -> tensor<1x4x32xf32>
  %dd = tosa.mul %d, %d, %shift : (tensor<1x4x32xf32>, tensor<1x4x32xf32>, tensor<1xi8>) -> tensor<1x4x32xf32>
  %squares = tosa.reduce_sum %dd {axis = 2 : i32} : (tensor<1x4x32xf32>) -> tensor<1x4x1xf32>
  %var = tosa.mul %squares, %n, %shift : (tensor<1x4x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x1xf32>
  %ve = tosa.add %var, %eps : (tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> tensor<1x4x1xf32>
  %r = tosa.rsqrt %ve : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %a = tosa.mul %r, %gamma, %shift : (tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1xi8>) -> tensor<1x4x1xf32>
  %ma = tosa.mul %mean, %a, %shift : (tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1xi8>) -> tensor<1x4x1xf32>
  %b = tosa.sub %beta, %ma : (tensor<1x4x1xf32>, tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %ag = tosa.gather %a, %index : (tensor<1x4x1xf32>, tensor<1x4xi32>) -> tensor<1x4x1xf32>
  %bg = tosa.gather %b, %index : (tensor<1x4x1xf32>, tensor<1x4xi32>) -> tensor<1x4x1xf32>
  %xa = tosa.mul %x, %ag, %shift : (tensor<1x4x32xf32>, tensor<1x4x1xf32>, tensor<1xi8>) -> tensor<1x4x32xf32>
  %y = tosa.add %xa, %bg : (tensor<1x4x32xf32>, tensor<1x4x1xf32>) -> tensor<1x4x32xf32>
  %0 = tosa.matmul %y, %w, %zp, %zp : (tensor<1x4x32xf32>, tensor<1x32x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}
