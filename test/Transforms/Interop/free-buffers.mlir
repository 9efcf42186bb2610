// Buffers are freed behind the op that uses them last; where nobody can say which that is, as upstream does it.
// RUN: mp-opt %s --mp-free-buffers --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @freed_after_the_last_use
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: linalg.exp
// CHECK: %[[B:.*]] = memref.alloc()
// CHECK: linalg.exp ins(%[[A]]
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK: %[[C:.*]] = memref.alloc()
// CHECK: linalg.exp ins(%[[B]]
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK-NEXT: return %[[C]]
func.func @freed_after_the_last_use(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  %c = memref.alloc() : memref<4xf32>
  linalg.exp ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
  return %c : memref<4xf32>
}

// -----

// A use under another name counts, and so does one inside of a loop, which repeats.
// CHECK-LABEL: func.func @views_and_loops_keep_it
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: scf.for
// CHECK: %[[B:.*]] = memref.alloc()
// CHECK: linalg.exp
// CHECK: linalg.exp
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK-NEXT: }
// CHECK-NEXT: memref.dealloc %[[A]]
func.func @views_and_loops_keep_it(%y: memref<2x2xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %view = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<2x2xf32>
    linalg.exp ins(%view : memref<2x2xf32>) outs(%b : memref<2x2xf32>)
    linalg.exp ins(%b : memref<2x2xf32>) outs(%y : memref<2x2xf32>)
  }
  return
}

// -----

// The caller owns what it gets: a view, an argument, and what is returned twice are copied.
// CHECK-LABEL: func.func @results_are_the_callers
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
// CHECK: %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK: %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK: %[[VIEW:.*]] = memref.expand_shape %[[B]]
// CHECK: %[[AGAIN:.*]] = bufferization.clone %[[A]]
// CHECK: %[[COPY:.*]] = bufferization.clone %[[VIEW]]
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK-NEXT: %[[ARGUMENT:.*]] = bufferization.clone %[[X]]
// CHECK-NEXT: return %[[A]], %[[AGAIN]], %[[COPY]], %[[ARGUMENT]]
func.func @results_are_the_callers(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>, memref<2x2xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
  %view = memref.expand_shape %b [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  return %a, %a, %view, %x : memref<4xf32>, memref<4xf32>, memref<2x2xf32>, memref<4xf32>
}

// -----

// Either may be what is read in the end.
// CHECK-LABEL: func.func @a_choice_keeps_both
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: %[[B:.*]] = memref.alloc()
// CHECK: linalg.exp ins(%{{.*}}) outs(%[[B]]
// CHECK-NOT: dealloc
// CHECK: linalg.exp
// CHECK: memref.dealloc %[[B]]
// CHECK: memref.dealloc %[[A]]
// CHECK: return
func.func @a_choice_keeps_both(%x: memref<4xf32>, %y: memref<4xf32>, %c: i1) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
  %s = arith.select %c, %a, %b : memref<4xf32>
  linalg.exp ins(%s : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// Upstream's: the iteration that made a buffer hands it to the next, which frees it.
// CHECK-LABEL: func.func @carried_buffers_are_freed_too
// CHECK: scf.for
// CHECK: memref.alloc()
// CHECK: memref.dealloc
// CHECK: scf.yield
// CHECK: memref.dealloc
func.func @carried_buffers_are_freed_too(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%t : memref<4xf32>) outs(%b : memref<4xf32>)
    scf.yield %b : memref<4xf32>
  }
  linalg.exp ins(%r : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @what_a_callee_makes_is_the_callers
// CHECK: %[[R:.*]] = call @callee
// CHECK: linalg.exp
// CHECK: %[[OF_R:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[R]]
// CHECK-NEXT: memref.dealloc %[[OF_R]]
func.func private @callee(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}
func.func @what_a_callee_makes_is_the_callers(%x: memref<4xf32>, %y: memref<4xf32>) {
  %r = call @callee(%x) : (memref<4xf32>) -> memref<4xf32>
  linalg.exp ins(%r : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// A result of a loop lives on in another block: upstream's pass alone reads it after it is gone.
// CHECK-LABEL: func.func @a_loops_result_goes_to_other_blocks
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[Y:.*]] = %[[A]],
// CHECK: %[[B:.*]] = memref.alloc()
// CHECK: memref.copy %[[Y]], %[[B]]
// CHECK: memref.dealloc
// CHECK: cf.cond_br
// CHECK: memref.load %[[R]]#0
// CHECK: memref.dealloc
// CHECK: return
func.func private @use(memref<4xf32>)
func.func @a_loops_result_goes_to_other_blocks(%x: memref<4xf32>, %p: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %a) -> memref<4xf32> {
    %b = memref.alloc() : memref<4xf32>
    memref.copy %y, %b : memref<4xf32> to memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  call @use(%x) : (memref<4xf32>) -> ()
  cf.br ^bb2
^bb2:
  %s = memref.load %r[%c0] : memref<4xf32>
  return %s : f32
}
