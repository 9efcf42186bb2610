// RUN: mp-opt %s --mp-prescale-norms --remarks-filter=mp -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=EPSILON < %t.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %t.mlir --mp-prescale-norms | cmp - %t.mlir
// RUN: not mp-opt %s --mp-prescale-norms="promote=no" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: option 'promote' is 'no', expected on or off

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// As torch-mlir prints it: squares are summed in one body, the root is taken in another with the norm. 8 * 10^40 is 2^8.6 times
// what f32 holds: 2^-5, and the epsilon times 2^-10.
// CHECK-LABEL: func.func @norm_in_two_bodies(
// CHECK: arith.constant 9.76562546E-7 : f32
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<2x8xf32>) outs(%arg0 : tensor<2x8xf32>) attrs = {mp.prescaled = "norm"}
// CHECK: arith.constant 3.125000e-02 : f32
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<2x8xf32>)
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%arg0, {{.*}} : tensor<2x8xf32>, tensor<2xf32>)
// CHECK: math.rsqrt
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[N]] : tensor<2x8xf32>) outs(%[[N]] : tensor<2x8xf32>) attrs = {mp.prescaled = "root"}
// CHECK: arith.constant 3.125000e-02 : f32
// CHECK: return %[[R]]
func.func @norm_in_two_bodies(%x: tensor<2x8xf32> {mp.range = [-1.0e20, 1.0e20]}) -> tensor<2x8xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 0.001 : f32
  %n = arith.constant 0.125 : f32
  %e1 = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x8xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2xf32>
  %e2 = tensor.empty() : tensor<2x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<2x8xf32>, tensor<2xf32>) outs(%e2 : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %b, %n : f32
    %2 = arith.addf %1, %eps : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %a, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// Op by op, of any size, and of a difference: layer norm.
// CHECK-LABEL: func.func @norm_op_by_op(
// CHECK: %[[D:.*]] = arith.subf
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[D]] : tensor<?x?xf32>) outs(%[[D]] : tensor<?x?xf32>) attrs = {mp.prescaled = "norm"}
// CHECK: linalg.square ins(%[[P]]
// CHECK: linalg.reduce
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[ROOT]] : tensor<?xf32>) outs(%[[ROOT]] : tensor<?xf32>) attrs = {mp.prescaled = "root"}
// CHECK: linalg.broadcast ins(%[[R]]
// CHECK: arith.divf %[[D]]
func.func @norm_op_by_op(%x: tensor<?x?xf32> {mp.range = [-1.0e20, 1.0e20]}, %mean: tensor<?x?xf32> {mp.range = [-1.0e20, 1.0e20]}, %like: tensor<?xf32>, %eps: tensor<?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %d = arith.subf %x, %mean : tensor<?x?xf32>
  %q = linalg.square ins(%d : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) -> tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%like : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce ins(%q : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
    (%a: f32, %o: f32) {
      %1 = arith.addf %a, %o : f32
      linalg.yield %1 : f32
    }
  %r = math.sqrt %s : tensor<?xf32>
  %b = linalg.broadcast ins(%r : tensor<?xf32>) outs(%x : tensor<?x?xf32>) dimensions = [1]
  %0 = arith.divf %d, %b : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @norm_in_tosa(
// CHECK: "tosa.const"() <{values = dense<9.76562546E-7> : tensor<1x1xf32>}>
// CHECK: %[[P:.*]] = linalg.generic {{.*}}mp.prescaled = "norm"
// CHECK: tosa.pow %[[P]]
// CHECK: tosa.reduce_sum
// CHECK: %[[ROOT:.*]] = tosa.rsqrt
// CHECK: linalg.generic {{.*}} ins(%[[ROOT]] : tensor<2x1xf32>) {{.*}}mp.prescaled = "root"
func.func @norm_in_tosa(%x: tensor<2x8xf32> {mp.range = [-1.0e20, 1.0e20]}) -> tensor<2x8xf32> {
  %two = "tosa.const"() {values = dense<2.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %n = "tosa.const"() {values = dense<0.125> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %eps = "tosa.const"() {values = dense<0.001> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %q = tosa.pow %x, %two : (tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %s = tosa.reduce_sum %q {axis = 1 : i32} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %m = tosa.mul %s, %n, %shift : (tensor<2x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x1xf32>
  %v = tosa.add %m, %eps : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %r = tosa.rsqrt %v : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %0 = tosa.mul %x, %r, %shift : (tensor<2x8xf32>, tensor<2x1xf32>, tensor<1xi8>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// A sum of squares that is a contraction ends where f16 does: 10^6 is 2^3.9 times that.
// CHECK-LABEL: func.func @norm_by_a_contraction(
// CHECK: mp.prescaled = "norm"
// CHECK: arith.constant 6.250000e-02 : f32
// CHECK: linalg.matmul
// CHECK: math.sqrt
// CHECK: mp.prescaled = "root"
// CHECK: arith.constant 1.600000e+01 : f32
func.func @norm_by_a_contraction(%x: tensor<4x4xf32> {mp.range = [-1.0e6, 1.0e6]}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %s = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = math.sqrt %s : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Two norms that share their epsilon: each gets its own multiple, also in a loop.
// CHECK-LABEL: func.func @norms_that_share(
// EPSILON-LABEL: func.func @norms_that_share(
// EPSILON: %[[A:.*]] = arith.constant dense<1.562500e-05>
// EPSILON: %[[B:.*]] = arith.constant dense<9.53674361E-10>
// EPSILON: arith.addf {{.*}}, %[[A]]
// EPSILON: arith.addf {{.*}}, %[[B]]
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 : {{.*}} attrs = {mp.prescaled = "norm"}
// CHECK: arith.mulf %[[X]], %[[X]]
// CHECK: mp.prescaled = "root"
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%arg1 : {{.*}} attrs = {mp.prescaled = "norm"}
// CHECK: arith.mulf %[[Y]], %[[Y]]
// CHECK: mp.prescaled = "root"
// CHECK: scf.for
// CHECK: %[[I:.*]] = linalg.generic {{.*}} ins(%arg0 : {{.*}} attrs = {mp.prescaled = "norm"}
// CHECK: arith.mulf %[[I]], %[[I]]
// CHECK: mp.prescaled = "root"
// CHECK: scf.yield
func.func @norms_that_share(%x: tensor<4x4xf32> {mp.range = [-1.0e20, 1.0e20]}, %y: tensor<4x4xf32> {mp.range = [-1.0e22, 1.0e22]}, %n: index) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %eps = arith.constant dense<0.001> : tensor<4x4xf32>
  %s = arith.mulf %x, %x : tensor<4x4xf32>
  %v = arith.addf %s, %eps : tensor<4x4xf32>
  %0 = math.sqrt %v : tensor<4x4xf32>
  %t = arith.mulf %y, %y : tensor<4x4xf32>
  %u = arith.addf %t, %eps : tensor<4x4xf32>
  %1 = math.rsqrt %u : tensor<4x4xf32>
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
    %p = arith.mulf %x, %x : tensor<4x4xf32>
    %q = arith.addf %p, %eps : tensor<4x4xf32>
    %r = math.sqrt %q : tensor<4x4xf32>
    scf.yield %r : tensor<4x4xf32>
  }
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Nothing is known to overflow.
// CHECK-LABEL: func.func @leaves_what_fits(
// CHECK-NOT: mp.prescaled
// CHECK: return
func.func @leaves_what_fits(%x: tensor<4x4xf32> {mp.range = [-1.0e6, 1.0e6]}, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %s = arith.mulf %x, %x : tensor<4x4xf32>
  %0 = math.sqrt %s : tensor<4x4xf32>
  %t = arith.mulf %y, %y : tensor<4x4xf32>
  %1 = math.sqrt %t : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// No norm: what is made of the squares is no root, or the squares are wanted themselves.
// CHECK-LABEL: func.func @leaves_what_is_no_norm(
// CHECK-NOT: mp.prescaled
// CHECK: return
func.func @leaves_what_is_no_norm(%x: tensor<4x4xf32> {mp.range = [-1.0e20, 1.0e20]}) -> tensor<4x4xf32> {
  %s = arith.mulf %x, %x : tensor<4x4xf32>
  %0 = math.exp %s : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @leaves_squares_that_are_returned(
// CHECK-NOT: mp.prescaled
// CHECK: return
// REMARK: not-prescaled {{.*}}Function=leaves_squares_that_are_returned | Reason="its squares reach 'func.return' at {{.*}}, which is no multiple of them", Remark="squares that may reach 1.00E+40 stay as they are"
func.func @leaves_squares_that_are_returned(%x: tensor<4x4xf32> {mp.range = [-1.0e20, 1.0e20]}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %s = arith.mulf %x, %x : tensor<4x4xf32>
  %0 = math.sqrt %s : tensor<4x4xf32>
  return %0, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// An epsilon that is an argument cannot be multiplied ahead of time.
// CHECK-LABEL: func.func @leaves_an_unknown_epsilon(
// CHECK-NOT: mp.prescaled
// CHECK: return
func.func @leaves_an_unknown_epsilon(%x: tensor<4x4xf32> {mp.range = [-1.0e20, 1.0e20]}, %eps: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = arith.mulf %x, %x : tensor<4x4xf32>
  %v = arith.addf %s, %eps : tensor<4x4xf32>
  %0 = math.sqrt %v : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// 10^-30 times 2^-40 is no normal number.
// CHECK-LABEL: func.func @leaves_an_epsilon_that_underflows(
// CHECK-NOT: mp.prescaled
// CHECK: return
// REMARK: not-prescaled {{.*}}Function=leaves_an_epsilon_that_underflows | Reason="the constant that is added at {{.*}} leaves the normal numbers times 2^-40"
func.func @leaves_an_epsilon_that_underflows(%x: tensor<4x4xf32> {mp.range = [-1.0e25, 1.0e25]}) -> tensor<4x4xf32> {
  %eps = arith.constant dense<1.0e-30> : tensor<4x4xf32>
  %s = arith.mulf %x, %x : tensor<4x4xf32>
  %v = arith.addf %s, %eps : tensor<4x4xf32>
  %0 = math.sqrt %v : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A graph in f16 whose norms stay in f16 (promote=off) ends sooner.
// RUN: mp-opt %s --mp-prescale-norms="promote=off" | FileCheck %s --check-prefix=NARROW
// CHECK-LABEL: func.func @norm_in_f16(
// CHECK-NOT: mp.prescaled
// NARROW-LABEL: func.func @norm_in_f16(
// NARROW: mp.prescaled = "norm"
// NARROW: arith.constant 1.250000e-01 : f16
// NARROW: arith.mulf
// NARROW: arith.mulf
// NARROW: mp.prescaled = "root"
func.func @norm_in_f16(%x: tensor<4x4xf16> {mp.range = [-1000.0, 1000.0]}) -> tensor<4x4xf16> {
  %s = arith.mulf %x, %x : tensor<4x4xf16>
  %0 = math.sqrt %s : tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}
