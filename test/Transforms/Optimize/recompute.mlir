// Values are computed again, late, or stored narrow, so that what lives at a time fits into a limit.

// RUN: split-file %s %t
// RUN: mp-opt %t/forth-and-back.mlir --mp-recompute="max-memory=16640" | FileCheck %s --check-prefix=ROOM
// RUN: mp-opt %t/forth-and-back.mlir --mp-recompute="max-memory=12480" --remarks-filter=mp 2>&1 | FileCheck %s --check-prefix=TIGHT
// RUN: mp-opt %t/forth-and-back.mlir --mp-recompute="max-memory=14464 narrow=bf16" | FileCheck %s --check-prefix=NARROW
// RUN: mp-opt %t/forth-and-back.mlir --mp-recompute | FileCheck %s --check-prefix=NONE
// RUN: not mp-opt %t/forth-and-back.mlir --mp-recompute="max-memory=4096" 2>&1 | FileCheck %s --check-prefix=LITTLE
// RUN: mp-opt %t/views.mlir --mp-recompute="max-memory=12480" | FileCheck %s --check-prefix=VIEWS
// RUN: mp-opt %t/filled.mlir --mp-recompute="max-memory=4194304" | FileCheck %s --check-prefix=FILLED
// RUN: not mp-opt %t/prints.mlir --mp-recompute="max-memory=12480" 2>&1 | FileCheck %s --check-prefix=PRINTS
// RUN: not mp-opt %t/dynamic.mlir --mp-recompute="max-memory=12480" 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not mp-opt %t/forth-and-back.mlir --mp-recompute="max-memory=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mp-opt %t/forth-and-back.mlir --mp-recompute="max-memory=9 narrow=i8" 2>&1 | FileCheck %s --check-prefix=FORMAT

// Merging equal ops keeps what is computed again apart.
// RUN: mp-opt %t/forth-and-back.mlir --mp-recompute="max-memory=12480" --cse | FileCheck %s --check-prefix=TIGHT-IR

//--- forth-and-back.mlir
func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = math.tanh %x : tensor<1024xf32>
  %b = math.sin %a : tensor<1024xf32>
  %c = math.cos %b : tensor<1024xf32>
  %d = math.exp %c : tensor<1024xf32>
  %e = arith.mulf %d, %b : tensor<1024xf32>
  %f = arith.mulf %e, %a : tensor<1024xf32>
  return %f : tensor<1024xf32>
}

// All of it is kept where 4 x 4160 bytes may live: a, b, c and d.
// ROOM-LABEL: func.func @step
// ROOM-SAME: mp.memory_plan = "peak 16640 bytes of 16640: 0 values computed again, 0 stored narrow, 0.00% more time (modelled), optimal
// ROOM-NOT: mp.recomputed
// NONE-NOT: mp.memory_plan

// With three, a is computed again from the argument, behind all that needs the room.
// TIGHT: recomputed
// TIGHT: func.func @step(%arg0
// TIGHT-SAME: peak 12480 bytes of 16640: 1 values computed again, 0 stored narrow, {{.*}}% more time (modelled), optimal
// TIGHT-IR-LABEL: func.func @step
// TIGHT-IR: %[[A:.*]] = math.tanh %arg0 : tensor<1024xf32>
// TIGHT-IR-NEXT: %[[B:.*]] = math.sin %[[A]]
// TIGHT-IR-NEXT: %[[C:.*]] = math.cos %[[B]]
// TIGHT-IR-NEXT: %[[D:.*]] = math.exp %[[C]]
// TIGHT-IR-NEXT: %[[E:.*]] = arith.mulf %[[D]], %[[B]]
// TIGHT-IR-NEXT: %[[AGAIN:.*]] = math.tanh %arg0 {mp.recomputed} : tensor<1024xf32>
// TIGHT-IR-NEXT: arith.mulf %[[E]], %[[AGAIN]]

// NARROW-LABEL: func.func @step
// NARROW-SAME: peak {{12480|14464}} bytes of 16640

// LITTLE: error: mp-recompute: needs 16640 bytes, and with all that may be computed again {{[0-9]+}}: expected max-memory of at least that, found 4096
// NEGATIVE: option 'max-memory' is -1, expected bytes, or 0 for none
// FORMAT: option 'narrow' is 'i8', expected none, bf16 or f16

//--- views.mlir
// What shows a value that is computed again is shown again, too.
func.func @viewed(%x: tensor<1024xf32>) -> tensor<32x32xf32> {
  %a = math.tanh %x : tensor<1024xf32>
  %v = tensor.expand_shape %a [[0, 1]] output_shape [32, 32] : tensor<1024xf32> into tensor<32x32xf32>
  %b = math.sin %v : tensor<32x32xf32>
  %c = math.cos %b : tensor<32x32xf32>
  %d = math.exp %c : tensor<32x32xf32>
  %e = arith.mulf %d, %b : tensor<32x32xf32>
  %f = arith.mulf %e, %v : tensor<32x32xf32>
  return %f : tensor<32x32xf32>
}
// VIEWS-LABEL: func.func @viewed
// VIEWS: math.exp
// VIEWS: arith.mulf
// VIEWS-NEXT: %[[AGAIN:.*]] = math.tanh %arg0 {mp.recomputed}
// VIEWS-NEXT: %[[VIEW:.*]] = tensor.expand_shape %[[AGAIN]]
// VIEWS-NEXT: arith.mulf %{{.*}}, %[[VIEW]]

//--- filled.mlir
// Two products share a tensor of zeros: each gets one of its own, which is written in place.
func.func @filled(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = linalg.matmul ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%fill : tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = linalg.matmul ins(%a, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%fill : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %b : tensor<32x32xf32>
}
// FILLED-LABEL: func.func @filled
// FILLED-SAME: peak 8320 bytes of 8320
// FILLED: tensor.empty
// FILLED: linalg.fill
// FILLED: linalg.matmul
// FILLED: tensor.empty
// FILLED: linalg.fill
// FILLED: linalg.matmul

//--- prints.mlir
// An op with side effects runs once, though nothing else would fit.
func.func private @draw(tensor<1024xf32>) -> tensor<1024xf32>
func.func @random(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = func.call @draw(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = math.sin %a : tensor<1024xf32>
  %c = math.cos %b : tensor<1024xf32>
  %d = math.exp %c : tensor<1024xf32>
  %e = arith.mulf %d, %b : tensor<1024xf32>
  %f = arith.mulf %e, %a : tensor<1024xf32>
  return %f : tensor<1024xf32>
}
// PRINTS: error: mp-recompute: needs 16640 bytes

//--- dynamic.mlir
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = math.tanh %x : tensor<?xf32>
  return %a : tensor<?xf32>
}
// DYNAMIC: error: mp-recompute: expected sizes that are known, but 'math.tanh' computes a tensor of unknown size
