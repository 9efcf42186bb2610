// Operands of dispatches become buffers; bodies stay on tensors, and what they read is said.
// RUN: mp-opt %s --mp-bufferize | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// The destination is not read: nothing is copied into it, and the argument is read where it is.
// CHECK-LABEL: func.func @writes_where_it_returns(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>
// CHECK-NEXT: %[[E:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK-NEXT: mpk.dispatch ins(%[[X]] : memref<8xf32>) outs(%[[E]] : memref<8xf32>) schedule = <map> attributes {note} {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>):
// CHECK-NEXT: linalg.exp ins(%[[A]] : tensor<8xf32>) outs(%[[B]] : tensor<8xf32>)
// CHECK: return %[[E]]
func.func @writes_where_it_returns(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) schedule = <map> attributes {note} -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %1 = linalg.exp ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    mpk.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// The second dispatch adds to what the first wrote: in place, since nobody else reads it.
// CHECK-LABEL: func.func @accumulates_in_place
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @accumulates_in_place(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %2 = linalg.exp ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    mpk.yield %2 : tensor<8xf32>
  }
  %1 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) {
    ^bb0(%c: f32, %d: f32):
      %3 = arith.addf %c, %d : f32
      linalg.yield %3 : f32
    } -> tensor<8xf32>
    mpk.yield %2 : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}

// Its twin: what the first wrote is returned, too, so that the second adds to a copy.
// CHECK-LABEL: func.func @copies_what_is_read_later
// CHECK: %[[E:.*]] = memref.alloc
// CHECK: mpk.dispatch {{.*}} outs(%[[E]]
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: memref.copy %[[E]], %[[C]]
// CHECK: mpk.dispatch {{.*}} outs(%[[C]]
func.func @copies_what_is_read_later(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %2 = linalg.exp ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    mpk.yield %2 : tensor<8xf32>
  }
  %1 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) {
    ^bb0(%c: f32, %d: f32):
      %3 = arith.addf %c, %d : f32
      linalg.yield %3 : f32
    } -> tensor<8xf32>
    mpk.yield %2 : tensor<8xf32>
  }
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An output that is also an input is not written before it is read.
// CHECK-LABEL: func.func @does_not_write_what_it_reads
// CHECK: memref.alloc
// CHECK: mpk.dispatch ins(%[[X:.*]] : memref<8xf32>) outs(%[[Y:.*]] :
// CHECK-NOT: outs(%[[X]]
func.func @does_not_write_what_it_reads(%x: tensor<8xf32> {bufferization.writable = true}) -> tensor<8xf32> {
  %0 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %1 = linalg.exp ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    mpk.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// Slices and scalars pass; a body keeps its own empty tensors and named ops.
// CHECK-LABEL: func.func @takes_slices_and_scalars
// CHECK: memref.subview
// CHECK: mpk.dispatch ins(%{{.*}}, %{{.*}} : memref<4xf32, strided<[1], offset: 2>>, f32) outs(%{{.*}} : memref<4xf32>) {
// CHECK: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: f32, %{{.*}}: tensor<4xf32>):
// CHECK: tensor.empty
// CHECK: linalg.fill
func.func @takes_slices_and_scalars(%x: tensor<8xf32>, %s: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %p = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %0 = mpk.dispatch ins(%p, %s : tensor<4xf32>, f32) outs(%e : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: f32, %c: tensor<4xf32>):
    %1 = tensor.empty() : tensor<4xf32>
    %2 = linalg.fill ins(%b : f32) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
    %3 = linalg.add ins(%a, %2 : tensor<4xf32>, tensor<4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    mpk.yield %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Two tensors begin with the same part: the copy that one of them gets reads what nobody has written but the fill.
// CHECK-LABEL: func.func @begins_alike(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
// CHECK: %[[E:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[E]] : memref<8xf32>)
// CHECK: memref.copy %[[X]]
// CHECK: memref.copy %[[E]], %{{.*}} : memref<8xf32> to memref<8xf32>
func.func @begins_alike(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = tensor.insert_slice %x into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %y into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %z into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// The variable gets a copy of what is read again after it was stored; the loaded value is a copy, since it is read after the store.
// CHECK-LABEL: func.func @variables_have_memory_of_their_own
// CHECK: %[[V:.*]] = memref.get_global @variable
// CHECK: %[[L:.*]] = memref.alloc
// CHECK: memref.copy %[[V]], %[[L]]
// CHECK: %[[S:.*]] = memref.alloc
// CHECK: memref.copy %{{.*}}, %[[S]]
// CHECK: memref.copy %[[S]], %{{.*}}
// CHECK: return %[[L]]
ml_program.global private mutable @variable(dense<0.0> : tensor<8xf32>) : tensor<8xf32>
func.func @variables_have_memory_of_their_own(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = ml_program.global_load @variable : tensor<8xf32>
  ml_program.global_store @variable = %x : tensor<8xf32>
  return %0, %x : tensor<8xf32>, tensor<8xf32>
}

// A number that was made for the variable is stored as it is, and one that is read before is read where it is.
// CHECK-LABEL: func.func @numbers_are_not_copied
// CHECK: %[[V:.*]] = memref.get_global @number
// CHECK: memref.load %[[V]][]
// CHECK: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
ml_program.global private mutable @number(dense<0> : tensor<i64>) : tensor<i64>
func.func @numbers_are_not_copied() -> i64 {
  %0 = ml_program.global_load @number : tensor<i64>
  %1 = tensor.extract %0[] : tensor<i64>
  %2 = arith.addi %1, %1 : i64
  %3 = tensor.from_elements %2 : tensor<i64>
  ml_program.global_store @number = %3 : tensor<i64>
  return %2 : i64
}
