// RUN: mp-opt %s --split-input-file --mp-emit-dispatches --verify-diagnostics
// RUN: %python %S/Inputs/many-operands.py 127 | mp-opt --mp-emit-dispatches -o /dev/null
// RUN: %python %S/Inputs/many-operands.py 128 | not mp-opt --mp-emit-dispatches -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: its operands take 4128 bytes of arguments, of which a kernel has 4096

func.func @needs_buffers(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands on buffers, found tensors: run mp-bufferize}}
  %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @has_no_f4(%x: memref<4xf4E2M1FN>, %y: memref<4xf4E2M1FN>) {
  // expected-error @+1 {{is taken by no family of kernels: its elements are f4E2M1FN}}
  mpk.dispatch ins(%x : memref<4xf4E2M1FN>) outs(%y : memref<4xf4E2M1FN>) {
  ^bb0(%a: tensor<4xf4E2M1FN>, %b: tensor<4xf4E2M1FN>):
    mpk.yield %a : tensor<4xf4E2M1FN>
  }
  return
}

// -----

func.func @reads_schedules(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{its schedule: 'vektor=4' is no field of map}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) schedule = <map, "vektor=4"> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @wants_the_family(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{its schedule is of family 'rows', expected 'map'}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) schedule = <rows> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @has_no_contraction(%x: memref<4x4xf32>, %y: memref<4x4xf32>, %z: memref<4x4xf32>) {
  // expected-error @+1 {{a reduction of it is a product of operands with different loops}}
  mpk.dispatch ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%z : memref<4x4xf32>) {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    mpk.yield %0 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @reduces_one_way(%x: memref<4x8xf32>, %y: memref<4xf32>, %z: memref<8xf32>) {
  // expected-error @+1 {{its reductions reduce different loops}}
  mpk.dispatch ins(%x : memref<4x8xf32>) outs(%y, %z : memref<4xf32>, memref<8xf32>) {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>):
    %0 = linalg.reduce {arith.addf} ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1]
    %1 = linalg.reduce {arith.addf} ins(%a : tensor<4x8xf32>) outs(%c : tensor<8xf32>) dimensions = [0]
    mpk.yield %0, %1 : tensor<4xf32>, tensor<8xf32>
  }
  return
}

// -----

func.func @keeps_no_rows_in_shared_memory(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{its schedule keeps rows in shared memory (residence=shared), which no kernel does; expected residence=registers or residence=reread}}
  mpk.dispatch ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) schedule = <rows, "threads-per-row=32 rows-per-block=1 vector=16 residence=shared"> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4xf32>):
    %0 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%p: f32, %q: f32) {
      %1 = arith.addf %p, %q : f32
      linalg.yield %1 : f32
    }
    mpk.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @does_not_transpose(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  // expected-error @+1 {{no operand of it lies across its results}}
  mpk.dispatch ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) schedule = <transpose, "tile=64 block=256"> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>):
    %1 = linalg.exp ins(%a : tensor<64x64xf32>) outs(%b : tensor<64x64xf32>) -> tensor<64x64xf32>
    mpk.yield %1 : tensor<64x64xf32>
  }
  return
}

// -----

func.func @needs_more_shared_memory(%x: memref<512x512xf32>, %y: memref<512x512xf32>) {
  // expected-error @+1 {{its tiles need more shared memory than a block has}}
  mpk.dispatch ins(%x : memref<512x512xf32>) outs(%y : memref<512x512xf32>) schedule = <transpose, "tile=256 block=256"> {
  ^bb0(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>):
    %1 = linalg.transpose ins(%a : tensor<512x512xf32>) outs(%b : tensor<512x512xf32>) permutation = [1, 0]
    mpk.yield %1 : tensor<512x512xf32>
  }
  return
}

// -----

func.func @has_no_such_block(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{its schedule: expected block to be a power of two from 32 to 1024, found 4096}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) schedule = <map, "block=4096"> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @has_no_such_share(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{its schedule: expected per-thread to be 1 to 1024, found 0}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) schedule = <map, "per-thread=0"> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @has_no_such_rows(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{its schedule: expected rows-per-block to be a power of two from 1 to 2, found 4}}
  mpk.dispatch ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) schedule = <rows, "threads-per-row=512"> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4xf32>):
    %0 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%p: f32, %q: f32) {
      %1 = arith.addf %p, %q : f32
      linalg.yield %1 : f32
    }
    mpk.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @adds_in_order(%x: memref<4x8xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // expected-warning @+1 {{its schedule is not followed: it asks for threads-per-row=32, and its kernel has 1: one thread adds a row in order, unless sums=tree}}
  mpk.dispatch ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) schedule = <rows, "threads-per-row=32"> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4xf32>):
    %0 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%p: f32, %q: f32) {
      %1 = arith.addf %p, %q : f32
      linalg.yield %1 : f32
    }
    mpk.yield %0 : tensor<4xf32>
  }
  // A maximum is the same in any order.
  mpk.dispatch ins(%x : memref<4x8xf32>) outs(%z : memref<4xf32>) schedule = <rows, "threads-per-row=32"> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4xf32>):
    %0 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%p: f32, %q: f32) {
      %1 = arith.maximumf %p, %q : f32
      linalg.yield %1 : f32
    }
    mpk.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @moves_whole_vectors(%x: memref<4096xf32>, %y: memref<4096xf32>, %z: memref<4096xf32>) {
  // expected-warning @+1 {{its schedule is not followed: it asks for per-thread=7, and its kernel has 8: a thread has whole vectors of 4}}
  mpk.dispatch ins(%x : memref<4096xf32>) outs(%y : memref<4096xf32>) schedule = <map, "per-thread=7"> {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
    mpk.yield %a : tensor<4096xf32>
  }
  mpk.dispatch ins(%x : memref<4096xf32>) outs(%z : memref<4096xf32>) schedule = <map, "per-thread=7 vector=4"> {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
    mpk.yield %a : tensor<4096xf32>
  }
  return
}

// -----

func.func @has_short_rows(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-warning @+1 {{its schedule is not followed: it asks for per-thread=8, and its kernel has 4: a row has no more}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) schedule = <map, "per-thread=8"> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @has_no_such_tile(%x: memref<512x512xf32>, %y: memref<512x512xf32>) {
  // expected-error @+1 {{its schedule: expected tile to be a power of two from 8 to 1024, found 0}}
  mpk.dispatch ins(%x : memref<512x512xf32>) outs(%y : memref<512x512xf32>) schedule = <transpose, "tile=0"> {
  ^bb0(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>):
    %1 = linalg.transpose ins(%a : tensor<512x512xf32>) outs(%b : tensor<512x512xf32>) permutation = [1, 0]
    mpk.yield %1 : tensor<512x512xf32>
  }
  return
}

// -----

func.func @has_no_code_for_so_many(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{its schedule: expected per-thread to be 1 to 1024, found 1048576}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) schedule = <map, "per-thread=1048576"> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @reads_whole_vectors(%x: memref<512x512xbf16>, %y: memref<512x512xbf16>) {
  // expected-error @+1 {{its schedule: expected vector to be 16, found 4}}
  mpk.dispatch ins(%x : memref<512x512xbf16>) outs(%y : memref<512x512xbf16>) schedule = <transpose, "vector=4"> {
  ^bb0(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>):
    %1 = linalg.transpose ins(%a : tensor<512x512xbf16>) outs(%b : tensor<512x512xbf16>) permutation = [1, 0]
    mpk.yield %1 : tensor<512x512xbf16>
  }
  return
}

// -----

func.func @has_eight_vectors(%x: memref<512x512xbf16>, %y: memref<512x512xbf16>) {
  // expected-error @+1 {{its schedule: expected tile to be 64 or more, eight vectors of its elements, found 32}}
  mpk.dispatch ins(%x : memref<512x512xbf16>) outs(%y : memref<512x512xbf16>) schedule = <transpose, "tile=32"> {
  ^bb0(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>):
    %1 = linalg.transpose ins(%a : tensor<512x512xbf16>) outs(%b : tensor<512x512xbf16>) permutation = [1, 0]
    mpk.yield %1 : tensor<512x512xbf16>
  }
  return
}

// -----

func.func @gives_each_thread_a_vector(%x: memref<512x512xbf16>, %y: memref<512x512xbf16>) {
  // expected-error @+1 {{its schedule: expected block to be at most 512, the vectors of a tile, found 1024}}
  mpk.dispatch ins(%x : memref<512x512xbf16>) outs(%y : memref<512x512xbf16>) schedule = <transpose, "block=1024"> {
  ^bb0(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>):
    %1 = linalg.transpose ins(%a : tensor<512x512xbf16>) outs(%b : tensor<512x512xbf16>) permutation = [1, 0]
    mpk.yield %1 : tensor<512x512xbf16>
  }
  return
}

// -----

func.func @yields_a_constant(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{it yields a constant}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %c = arith.constant dense<1.0> : tensor<4xf32>
    mpk.yield %c : tensor<4xf32>
  }
  return
}
