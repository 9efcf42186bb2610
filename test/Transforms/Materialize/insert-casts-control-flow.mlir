// RUN: mp-opt %s -split-input-file --mp-verify-assigned --mp-insert-casts --mp-verify-materialized | FileCheck %s

// A value that a loop carries has one format: initial value and yielded one are cast into it.
// CHECK-LABEL: func.func @carries_narrow
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[N:.*]]: index)
// CHECK: %[[XN:.*]] = mp.cast ieee %[[X]] {inserted} : tensor<4xf32> to tensor<4xbf16>
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[XN]]) -> (tensor<4xbf16>) {
// CHECK: %[[W:.*]] = mp.cast %[[A]] {inserted} : tensor<4xbf16> to tensor<4xf32>
// CHECK: %[[T:.*]] = math.tanh %[[W]] : tensor<4xf32>
// CHECK: %[[TN:.*]] = mp.cast ieee %[[T]] {inserted} : tensor<4xf32> to tensor<4xbf16>
// CHECK: scf.yield %[[TN]] : tensor<4xbf16>
// CHECK: %[[OUT:.*]] = mp.cast %[[R]] {inserted} : tensor<4xbf16> to tensor<4xf32>
// CHECK: return %[[OUT]]
func.func @carries_narrow(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %t = math.tanh %a {mp.precision = #mp.precision<in = [bf16], compute = f32, out = [f32], by = class "F">} : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  } {mp.precision = #mp.precision<in = [_, _, _, bf16], out = [bf16], by = class "E">}
  return %r : tensor<4xf32>
}

// -----

// The two sides of a while loop are two storages.
// CHECK-LABEL: func.func @casts_between_the_regions_of_a_while
// CHECK: %[[XN:.*]] = mp.cast ieee %{{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: scf.while (%[[A:.*]] = %[[XN]]) : (tensor<4xbf16>) -> tensor<4xf32> {
// CHECK: %[[AW:.*]] = mp.cast %[[A]] {inserted} : tensor<4xbf16> to tensor<4xf32>
// CHECK: scf.condition(%{{.*}}) %[[AW]] : tensor<4xf32>
// CHECK: ^bb0(%[[B:.*]]: tensor<4xf32>):
// CHECK: %[[BN:.*]] = mp.cast ieee %{{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: scf.yield %[[BN]] : tensor<4xbf16>
func.func @casts_between_the_regions_of_a_while(%x: tensor<4xf32>, %b: i1) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%b) %a : tensor<4xf32>
  } do {
  ^bb0(%c: tensor<4xf32>):
    %t = math.tanh %c {mp.precision = #mp.precision<in = [f32], compute = f32, out = [f32], by = class "F">} : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  } attributes {mp.precision = #mp.precision<in = [bf16], out = [f32], by = class "E">}
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @branches_return_one_format
// CHECK: scf.if %{{.*}} -> (tensor<4xbf16>) {
// CHECK: scf.yield %{{.*}} : tensor<4xbf16>
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : tensor<4xbf16>
func.func @branches_return_one_format(%x: tensor<4xf32>, %y: tensor<4xf32>, %b: i1) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %r = scf.if %b -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  } {mp.precision = #mp.precision<in = [], out = [bf16], by = class "E">}
  return %r : tensor<4xf32>
}

// -----

// Slices that threads write have the format of their destination.
// CHECK-LABEL: func.func @combines_narrow_slices
// CHECK: scf.forall {{.*}} shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<4xbf16>) {
// CHECK: %[[S:.*]] = tensor.extract_slice {{.*}} : tensor<4xf32> to tensor<1xf32>
// CHECK: %[[SN:.*]] = mp.cast ieee %[[S]] {inserted} : tensor<1xf32> to tensor<1xbf16>
// CHECK: tensor.parallel_insert_slice %[[SN]] into %[[O]]{{.*}} : tensor<1xbf16> into tensor<4xbf16>
func.func @combines_narrow_slices(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<4xf32>) {
    %s = tensor.extract_slice %x[%i] [1] [1] {mp.precision = #mp.precision<in = [f32, _], compute = f32, out = [f32], by = class "E">} : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  } {mp.precision = #mp.precision<in = [bf16], out = [bf16], by = class "E">}
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @passes_tosa_values_narrow
// CHECK: tosa.cond_if %{{.*}}(%[[P:.*]] = %{{.*}}) : tensor<i1> (tensor<4xbf16>) -> tensor<4xf32> {
// CHECK: ^bb0(%{{.*}}: tensor<4xbf16>):
// CHECK: tosa.yield %{{.*}} : tensor<4xf32>
// CHECK: tosa.while_loop (%{{.*}} = %{{.*}}) : (tensor<4xbf16>) -> tensor<4xbf16> {
// CHECK: ^bb0(%{{.*}}: tensor<4xbf16>):
// CHECK: tosa.yield %{{.*}} : tensor<4xbf16>
func.func @passes_tosa_values_narrow(%x: tensor<4xf32>, %b: tensor<i1>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %r = tosa.cond_if %b (%p = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    tosa.yield %p : tensor<4xf32>
  } else {
  ^bb0(%q: tensor<4xf32>):
    tosa.yield %q : tensor<4xf32>
  } {mp.precision = #mp.precision<in = [_, bf16], out = [f32], by = class "E">}
  %w = tosa.while_loop (%c = %r) : (tensor<4xf32>) -> tensor<4xf32> {
    %one = "tosa.const"() {values = dense<true> : tensor<i1>} : () -> tensor<i1>
    tosa.yield %one : tensor<i1>
  } do {
  ^bb0(%d: tensor<4xf32>):
    tosa.yield %d : tensor<4xf32>
  } attributes {mp.precision = #mp.precision<in = [bf16], out = [bf16], by = class "E">}
  return %w : tensor<4xf32>
}

// -----

// A private function whose callers are all seen changes its signature with them.
// CHECK-LABEL: func.func @main
// CHECK: %[[XN:.*]] = mp.cast ieee %{{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: %[[C:.*]] = call @helper(%[[XN]]) : (tensor<4xbf16>) -> tensor<4xbf16>
// CHECK: %[[W:.*]] = mp.cast %[[C]] {inserted} : tensor<4xbf16> to tensor<4xf32>
// CHECK: return %[[W]]
// CHECK-LABEL: func.func private @helper
// CHECK-SAME: (%[[A:.*]]: tensor<4xbf16> {mp.storage = bf16}) -> tensor<4xbf16> attributes {mp.phase = "materialized"}
// CHECK: math.tanh %{{.*}} : tensor<4xf32>
// CHECK: return %{{.*}} : tensor<4xbf16>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %r = call @helper(%x) {mp.precision = #mp.precision<in = [bf16], compute = f32, out = [bf16], by = class "B">} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @helper(%x: tensor<4xf32> {mp.storage = bf16}) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %t = math.tanh %x {mp.precision = #mp.precision<in = [bf16], compute = f32, out = [f32], by = class "F">} : tensor<4xf32>
  return %t : tensor<4xf32>
}
