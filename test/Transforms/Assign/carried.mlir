// RUN: mp-opt %s -split-input-file --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-mixed-precision="format=f16 table=false" | FileCheck %s --check-prefix=F16
// RUN: mp-opt %s -split-input-file --mp-mixed-precision="format=bf16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TABLE

// The state of the loop is only read by narrow contractions, here and behind the loop: it is carried
// narrow, and the weight, which does not change, is cast outside.
// CHECK-LABEL: func.func @carries_what_only_contractions_read
// CHECK-DAG: mp.cast ieee %{{.*}} : tensor<8x8xf32> to tensor<8x8xbf16>
// CHECK: scf.for {{.*}} -> (tensor<4x8xbf16>) {
// CHECK-NOT: tensor<8x8xf32>
// CHECK: scf.yield %{{.*}} : tensor<4x8xbf16>
// F16-LABEL: func.func @carries_what_only_contractions_read
// F16: scf.for {{.*}} -> (tensor<4x8xf16>) {
func.func @carries_what_only_contractions_read(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4x8xf32>) {
    %y = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %y : tensor<4x8xf32>
  }
  %z = linalg.matmul ins(%r, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// -----

// Its twin hands the state out: all of it is needed.
// CHECK-LABEL: func.func @keeps_what_is_returned
// CHECK: scf.for {{.*}} -> (tensor<4x8xf32>) {
func.func @keeps_what_is_returned(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4x8xf32>) {
    %y = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %y : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// -----

// A value that goes round unread, through moves of data, is as narrow as what reads it in the end.
// CHECK-LABEL: func.func @sees_through_moves_and_branches
// CHECK: scf.if {{.*}} -> (tensor<8x8xbf16>) {
// CHECK: linalg.transpose ins(%{{.*}} : tensor<8x8xbf16>)
func.func @sees_through_moves_and_branches(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %b: i1) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %empty = tensor.empty() : tensor<8x8xf32>
  %r = scf.if %b -> (tensor<8x8xf32>) {
    %y = arith.addf %x, %x : tensor<8x8xf32>
    scf.yield %y : tensor<8x8xf32>
  } else {
    scf.yield %x : tensor<8x8xf32>
  }
  %t = linalg.transpose ins(%r : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) permutation = [1, 0]
  %z = linalg.matmul ins(%t, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// -----

// The values before and behind the condition of a while loop are two.
// CHECK-LABEL: func.func @narrows_one_side_of_a_while
// CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<8x8xf32>) -> tensor<8x8xbf16> {
func.func @narrows_one_side_of_a_while(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %r = scf.while (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %e = tensor.extract %a[%c0, %c0] : tensor<8x8xf32>
    %more = arith.cmpf ogt, %e, %half : f32
    scf.condition(%more) %a : tensor<8x8xf32>
  } do {
  ^bb0(%c: tensor<8x8xf32>):
    %y = linalg.matmul ins(%c, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %y : tensor<8x8xf32>
  }
  %z = linalg.matmul ins(%r, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @decides_inside_of_tosa
// CHECK: tosa.while_loop (%{{.*}} = %{{.*}}) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
// CHECK: tosa.matmul {{.*}} : (tensor<1x4x4xbf16>, tensor<1x4x4xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x4xf32>
func.func @decides_inside_of_tosa(%x: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>, %b: tensor<i1>) -> tensor<1x4x4xf32> {
  %r = tosa.while_loop (%c = %x) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
    tosa.yield %b : tensor<i1>
  } do {
  ^bb0(%d: tensor<1x4x4xf32>):
    %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %m = tosa.matmul %d, %w, %zp, %zp : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
    tosa.yield %m : tensor<1x4x4xf32>
  }
  return %r : tensor<1x4x4xf32>
}

// -----

// A private function takes and returns narrow what its callers only use so.
// TABLE: @layer: 2 arguments change their format, and those of its calls
// CHECK-LABEL: func.func @calls
// CHECK-NOT: convert_params
// CHECK: call @layer(%{{.*}}) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
// CHECK: call @layer(%{{.*}}) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%{{.*}}: tensor<4x4xbf16> {mp.storage = bf16}, %{{.*}}: tensor<4x4xbf16> {mp.storage = bf16}) -> tensor<4x4xbf16>
func.func @calls(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = call @layer(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @layer(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func private @layer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.tanh %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Signatures that others rely on stay: one that is public, recursive, taken by address, or elsewhere.
// TABLE: @recursive keeps its signature: a recursive function
// TABLE: @taken keeps its signature: a function whose address 'func.constant' takes
// CHECK-LABEL: func.func @keeps_signatures
// CHECK-LABEL: func.func private @recursive
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32>, %{{.*}}: i1) -> tensor<4x4xf32>
// CHECK-LABEL: func.func private @taken
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: linalg.matmul {{.*}} tensor<4x4xbf16>
// CHECK: func.func private @elsewhere(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @keeps_signatures(%x: tensor<4x4xf32>, %b: i1) -> tensor<4x4xf32> {
  %f = func.constant @taken : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = call_indirect %f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @recursive(%0, %b) : (tensor<4x4xf32>, i1) -> tensor<4x4xf32>
  %2 = call @elsewhere(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func private @recursive(%x: tensor<4x4xf32>, %b: i1) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.if %b -> (tensor<4x4xf32>) {
    %2 = func.call @recursive(%0, %b) : (tensor<4x4xf32>, i1) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  } else {
    scf.yield %0 : tensor<4x4xf32>
  }
  return %1 : tensor<4x4xf32>
}
func.func private @taken(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @elsewhere(tensor<4x4xf32>) -> tensor<4x4xf32>

// -----

// Modules in modules are decided, too.
// CHECK: module @inner
// CHECK: func.func @nested
// CHECK: linalg.matmul {{.*}} tensor<4x4xbf16>
module {
  module @inner {
    func.func @nested(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %zero = arith.constant dense<0.0> : tensor<4x4xf32>
      %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
  }
}
