// Constants: what fits is rounded to nearest even, what does not keeps its op wide, with the reason.
//
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=f16" | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=bf16" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=f16 saturate-constants=0.75" | FileCheck %s --check-prefix=SHARE
// RUN: mp-opt %s --split-input-file --mp-mixed-precision="format=f16 saturate-constants=0.75" 2>&1 >%t.mlir | FileCheck %s --check-prefix=COUNTED
// RUN: FileCheck %s --check-prefix=CLAMPED <%t.mlir

// CHECK-LABEL: func.func @weighs_every_element
// F16: linalg.matmul {{.*}}compute = f32{{.*}}by = range "a constant reaches 1e+06, beyond the largest f16 65504"
// BF16: linalg.matmul {{.*}}compute = bf16
// CHECK: linalg.matmul {{.*}}compute = {{b?}}f16
func.func @weighs_every_element(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %large = arith.constant dense<[[1.0, 1.0e6], [2.0, 3.0]]> : tensor<2x2xf32>
  %fits = arith.constant dense<[[1.0, 2.0e4], [2.0, -2.0e4]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %large : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = linalg.matmul ins(%x, %fits : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// Seen through reshapes, transpositions and broadcasts, in both dialects.
// CHECK-LABEL: func.func @keeps_tiny_weights_of_either_sign
// F16: tosa.matmul {{.*}}compute = f32{{.*}}by = range "2 of 4 non-zero elements of a constant would become zero in f16"
// F16: linalg.matmul {{.*}}compute = f32{{.*}}by = range "2 of 4 non-zero
// BF16: tosa.matmul {{.*}}compute = bf16
// BF16: linalg.matmul {{.*}}compute = bf16
func.func @keeps_tiny_weights_of_either_sign(%x: tensor<1x4x2xf32>, %y: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> (tensor<1x4x2xf32>, tensor<4x2xf32>) {
  %c = "tosa.const"() <{values = dense<[[1.0e-9, -1.0e-9], [1.0, 2.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[1, 2, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w = tosa.reshape %c, %s : (tensor<2x2xf32>, !tosa.shape<3>) -> tensor<1x2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %t = linalg.transpose ins(%c : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x4x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x2xf32>
  %1 = linalg.matmul ins(%y, %t : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<1x4x2xf32>, tensor<4x2xf32>
}

// -----

// Three of four elements out of range, 37 of 50, or one of four: by default a single one is enough to stay
// wide; with saturate-constants a share of less than the one given is clamped, and counted.
// CHECK-LABEL: func.func @accepts_a_share_of_overflow
// F16-COUNT-3: compute = f32{{.*}}by = range "a constant reaches
// BF16-COUNT-3: compute = bf16
// SHARE-LABEL: func.func @accepts_a_share_of_overflow
// SHARE: linalg.matmul {{.*}}compute = f32{{.*}}by = range "3 of 4 elements of a constant would be clamped; it reaches 1e+06, beyond the largest f16 65504"
// SHARE: linalg.matmul {{.*}}compute = f16
// SHARE: linalg.matmul {{.*}}compute = f16
// CLAMPED-LABEL: func.func @accepts_a_share_of_overflow
// CLAMPED: arith.constant dense<{{.*}}1.000000e+06
// CLAMPED: arith.constant {{.*}}mp.saturated = 37 : i64{{.*}}6.550400e+04{{.*}}-6.550400e+04{{.*}} : tensor<2x25xf16>
// CLAMPED: arith.constant {{.*}}mp.saturated = 1 : i64{{.*}}6.550400e+04{{.*}} : tensor<2x2xf16>
// COUNTED: 2 of 3 contractions f16
// COUNTED: 1 contraction left as found: 3 of 4 elements of a constant would be clamped
// COUNTED: 38 elements of 2 constants clamped to the largest of the format (saturate-constants)
func.func @accepts_a_share_of_overflow(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>, %j: tensor<4x25xf32>) -> (tensor<4x2xf32>, tensor<4x25xf32>, tensor<4x2xf32>) {
  %most = arith.constant dense<[[1.0e6, 1.0e6], [1.0e6, 3.0]]> : tensor<2x2xf32>
  %many = arith.constant dense<[[1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5, 1.0e5], [-1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, -1.0e5, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]]> : tensor<2x25xf32>
  %one = arith.constant dense<[[1.0, 7.0e4], [2.0, 3.0]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %most : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = linalg.matmul ins(%x, %many : tensor<4x2xf32>, tensor<2x25xf32>) outs(%j : tensor<4x25xf32>) -> tensor<4x25xf32>
  %2 = linalg.matmul ins(%x, %one : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4x25xf32>, tensor<4x2xf32>
}

// -----

// Infinities are meant and stay infinities; an epsilon is no factor and stays f32.
// CHECK-LABEL: func.func @keeps_infinities_and_epsilons
// CHECK: linalg.matmul {{.*}}compute = {{b?}}f16
// CHECK: arith.addf {{.*}}compute = f32
func.func @keeps_infinities_and_epsilons(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, 0x7F800000], [2.0, 0xFF800000]]> : tensor<2x2xf32>
  %eps = arith.constant dense<1.0e-12> : tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = arith.addf %0, %eps : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

// The bias of 70,000 is added in f32 and never stored narrow in f16.
// CHECK-LABEL: func.func @adds_large_biases_in_f32
// CHECK: arith.addf {{.*}}in = [f32, f32], compute = f32
// F16: linalg.matmul {{.*}}compute = f32{{.*}}by = range "no evidence that an operand stays below 65504
// BF16: linalg.matmul {{.*}}compute = bf16
func.func @adds_large_biases_in_f32(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %b = arith.constant dense<7.0e4> : tensor<4x4xf32>
  %0 = arith.addf %x, %b : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
