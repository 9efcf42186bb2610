// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16" | FileCheck %s --check-prefix=BF16

// bf16 has f32's range: no evidence is asked for, and nothing stays wide for range.
// BF16-NOT: by = range

// CHECK-LABEL: func.func @takes_arguments_on_the_class_assumption
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32], compute = f16, acc = f32, out = [f32], by = class "T", evidence = assumed>}
func.func @takes_arguments_on_the_class_assumption(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_exponentials_wide
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f32{{.*}}by = range "no evidence that an operand stays below 65504: 'math.exp' has no bound"
func.func @keeps_exponentials_wide(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = math.exp %x : tensor<4x4xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// An annotation is evidence.
// CHECK-LABEL: func.func @believes_annotated_ranges
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @believes_annotated_ranges(%x: tensor<4x4xf32> {mp.range = [-8.0, 8.0]}, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = math.exp %x : tensor<4x4xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_large_constants_wide
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range "a constant reaches 3.6e+06, beyond the largest f16 65504"
func.func @keeps_large_constants_wide(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, 3.6e6], [2.0, 0.5]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Half of the cosines of a transform are noise; 1e-9 beside 1 is not.
// CHECK-LABEL: func.func @takes_noise_for_zero
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range "1 of 4 non-zero elements of a constant would become zero in f16"
func.func @takes_noise_for_zero(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %table = arith.constant dense<[[1.0, 6.12323426E-17], [-1.8369702E-16, -1.0]]> : tensor<2x2xf32>
  %tiny = arith.constant dense<[[1.0, 1.0e-9], [0.5, -1.0]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %table : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = linalg.matmul ins(%x, %tiny : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_tiny_constants_wide
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range "4 of 4 non-zero elements of a constant would become zero in f16"
func.func @keeps_tiny_constants_wide(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[-1.0e-9, -2.0e-9], [-1.5e-9, -1.0e-9]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_growing_products_wide
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range
func.func @keeps_growing_products_wide(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<1.0e5> : tensor<4x4xf32>
  %m = arith.mulf %x, %c : tensor<4x4xf32>
  %0 = linalg.matmul ins(%m, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Softmax in pieces: x - max x is at most 0, its exponential at most 1, and a
// part of a sum of such at most 1.
// CHECK-LABEL: func.func @bounds_decomposed_softmax
// CHECK: linalg.matmul {{.*}}compute = f16
#id = affine_map<(i,j)->(i,j)>
#row = affine_map<(i,j)->(i)>
func.func @bounds_decomposed_softmax(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%m0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<4x4xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%p, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// RMS norm: x / sqrt(mean x^2 + eps) is at most sqrt n; without the mean of its own
// squares below, a quotient has no bound.
// CHECK-LABEL: func.func @bounds_rms_norm
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range "no evidence
#id = affine_map<(i,j)->(i,j)>
#row = affine_map<(i,j)->(i)>
func.func @bounds_rms_norm(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %a : f32
    %r = arith.addf %b, %q : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %norm = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %v = arith.addf %m, %eps : f32
    %s = math.rsqrt %v : f32
    %r = arith.mulf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %other = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %sum : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%norm, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%other, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_angles_wide
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = class "T, but its result is an angle"
func.func @keeps_angles_wide(%p: tensor<4x1xf32>, %f: tensor<1x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%p, %f : tensor<4x1xf32>, tensor<1x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.cos %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The inserted slice lies beside what was there: neither alone is the range of the whole.
// CHECK-LABEL: @beside_what_overflows
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f32{{.*}}by = range "no evidence that an operand stays below 65504: 'math.exp' has no bound"
func.func @beside_what_overflows(%x: tensor<4x8xf32>, %w: tensor<16x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = math.exp %x : tensor<4x8xf32>
  %t = math.tanh %x : tensor<4x8xf32>
  %0 = tensor.empty() : tensor<4x16xf32>
  %1 = tensor.insert_slice %e into %0[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x16xf32>
  %2 = tensor.insert_slice %t into %1[0, 8] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x16xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<4x16xf32>, tensor<16x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Two bounded pieces of a tensor that nobody else wrote to.
// CHECK-LABEL: @pieces
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32]
func.func @pieces(%x: tensor<4x8xf32>, %w: tensor<16x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = math.sin %x : tensor<4x8xf32>
  %t = math.tanh %x : tensor<4x8xf32>
  %0 = tensor.empty() : tensor<4x16xf32>
  %1 = tensor.insert_slice %s into %0[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x16xf32>
  %2 = tensor.insert_slice %t into %1[0, 8] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x16xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<4x16xf32>, tensor<16x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A variance that is NaN unless there are elements: NaN needs no room, and the norm stays one.
// CHECK-LABEL: @variance_or_nan
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32]
func.func @variance_or_nan(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %i: tensor<4x4xf32>, %some: i1) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %eight = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = math.exp %x : tensor<4x8xf32>
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
       ins(%e : tensor<4x8xf32>) outs(%1 : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %3 = tensor.empty() : tensor<4x8xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
       ins(%e, %2 : tensor<4x8xf32>, tensor<4xf32>) outs(%3 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %m = arith.divf %v, %eight : f32
    %c = arith.select %some, %m, %nan : f32
    %p = arith.addf %c, %eps : f32
    %r = math.rsqrt %p : f32
    %n = arith.mulf %a, %r : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// The result of a contraction of large factors is not assumed to be small.
// CHECK-LABEL: @large_factors
// CHECK: linalg.matmul {mp.precision = {{.*}}by = range "no evidence that an operand stays below 65504: 'math.exp' has no bound"
// CHECK: linalg.matmul {mp.precision = {{.*}}by = range "no evidence that an operand stays below 65504: 'math.exp' has no bound"
func.func @large_factors(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = math.exp %x : tensor<4x4xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// A border counts; one of infinity, which is one in every format, does not.
// CHECK-LABEL: @borders
// CHECK: linalg.matmul {mp.precision = {{.*}}by = range "no evidence that an operand stays below 65504: it may reach 1e+05"
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32]
func.func @borders(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %large = arith.constant 1.0e5 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %s = math.sin %x : tensor<3x4xf32>
  %0 = tensor.pad %s low[1, 0] high[0, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %large : f32
  } : tensor<3x4xf32> to tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tensor.pad %s low[1, 0] high[0, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %infinity : f32
  } : tensor<3x4xf32> to tensor<4x4xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// One carried value that grows says nothing of another; both kinds of loop.
// CHECK-LABEL: @carried
// CHECK: scf.for
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32]
// CHECK: scf.while
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32]
// CHECK: linalg.matmul {mp.precision = {{.*}}by = range "no evidence that an operand stays below 65504: 'arith.mulf' has no bound"
func.func @carried(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %n: index)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %x, %g = %x) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %p = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = math.tanh %p : tensor<4x4xf32>
    %s = arith.addf %h, %t : tensor<4x4xf32>
    %m = arith.mulf %g, %s : tensor<4x4xf32>
    scf.yield %s, %m : tensor<4x4xf32>, tensor<4x4xf32>
  }
  %1:3 = scf.while (%k = %c0, %h = %x, %g = %x) : (index, tensor<4x4xf32>, tensor<4x4xf32>) -> (index, tensor<4x4xf32>, tensor<4x4xf32>) {
    %more = arith.cmpi slt, %k, %n : index
    scf.condition(%more) %k, %h, %g : index, tensor<4x4xf32>, tensor<4x4xf32>
  } do {
  ^bb0(%k: index, %h: tensor<4x4xf32>, %g: tensor<4x4xf32>):
    %p = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = arith.addf %h, %p : tensor<4x4xf32>
    %m = arith.mulf %g, %s : tensor<4x4xf32>
    %next = arith.addi %k, %c1 : index
    scf.yield %next, %s, %m : index, tensor<4x4xf32>, tensor<4x4xf32>
  }
  %2 = linalg.matmul ins(%1#2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0#0, %0#1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A square spelt as an integer power.
// CHECK-LABEL: @integer_power
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32]
func.func @integer_power(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %two = arith.constant dense<2> : tensor<4x8xi32>
  %e = math.exp %x : tensor<4x8xf32>
  %s = math.fpowi %e, %two : tensor<4x8xf32>, tensor<4x8xi32>
  %0 = tosa.reduce_sum %s {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %eighth = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %1 = tosa.mul %0, %eighth, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %2 = tosa.add %1, %eps : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %3 = tosa.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = tosa.mul %e, %3, %shift : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// An average is no larger than what is averaged; its zero points are no operands of it.
// CHECK-LABEL: func.func @average_pool
// CHECK: tosa.conv2d {{.*}}compute = f16
func.func @average_pool(%x: tensor<1x4x4x8xf32>, %w: tensor<8x1x1x8xf32>, %b: tensor<8xf32>) -> tensor<1x2x2x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.avg_pool2d %x, %zp, %zp {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x8xf32>
  %0 = tosa.conv2d %a, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x8xf32>, tensor<8x1x1x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x8xf32>
  return %0 : tensor<1x2x2x8xf32>
}

// -----

// A softmax over one element, whose maximum and sum were folded: exp(x - x).
// CHECK-LABEL: func.func @softmax_of_one
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @softmax_of_one(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = arith.subf %x, %x : tensor<4x4xf32>
  %e = math.exp %d : tensor<4x4xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A number a channel, stored as it is broadcast, is an affine scale; one an element is not.
// CHECK-LABEL: func.func @channel_scale
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @channel_scale(%x: tensor<4x4xf32>, %s: tensor<1x4xf32>, %t: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tosa.mul %x, %s, %zp : (tensor<4x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  %b = tosa.mul %x, %t, %zp : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%b, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// 1 - s of a scale s, the one an integer, is a scale.
// CHECK-LABEL: func.func @integer_constant
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @integer_constant(%x: tensor<4x4xf32>, %s: tensor<4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1> : tensor<i64>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %one : tensor<4x4xf32>, tensor<4xf32>, tensor<i64>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %n: i64, %o: f32):
    %f = arith.sitofp %n : i64 to f32
    %rest = arith.subf %f, %b : f32
    %r = arith.mulf %a, %rest : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Rounding to tf32 is none to integers: 0.4 does not become 0.
// CHECK-LABEL: func.func @keeps_what_is_rounded_to_tf32
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = range "no evidence that an operand stays below 65504: it may reach 3.999e+05"
func.func @keeps_what_is_rounded_to_tf32(%x: tensor<4x4xf32> {mp.range = [-0.4, 0.4]}, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<1.0e6> : tensor<4x4xf32>
  %r = mp.round tf32 %x : tensor<4x4xf32>
  %m = arith.mulf %r, %c : tensor<4x4xf32>
  %0 = linalg.matmul ins(%m, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A saturating cast ends where its format does.
// CHECK-LABEL: func.func @takes_what_saturates
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @takes_what_saturates(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = math.exp %x : tensor<4x4xf32>
  %c = mp.cast saturate %e : tensor<4x4xf32> to tensor<4x4xf16>
  %m = mp.cast %c : tensor<4x4xf16> to tensor<4x4xf32>
  %0 = linalg.matmul ins(%m, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
