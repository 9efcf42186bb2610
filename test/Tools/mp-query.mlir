// Questions on a module: counts by class, by matcher, by layer; wrong ones are answered in words.
// RUN: mp-query %s -c count -c 'count contraction()' -c 'count hasFormat("bf16")' -c 'count allOf(contraction(), hasFormat("bf16"))' | FileCheck %s
// RUN: mp-query %s -c 'match named("block.1")' | FileCheck %s --check-prefix=NAMED
// RUN: mp-query %s -c 'match reads("block.1.up")' | FileCheck %s --check-prefix=READS
// RUN: mp-query %s -c 'match readBy("block.1.exp")' | FileCheck %s --check-prefix=READBY
// RUN: mp-query %s -c 'count reads("weight")' -c 'count at("mp-query.mlir:63")' -c 'count opClass("R")' | FileCheck %s --check-prefix=COUNTS
// RUN: printf 'count contraction()\nquit\ncount\n' | mp-query %s | FileCheck %s --check-prefix=TYPED
// RUN: not mp-query %s -c 'match nosuch()' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mp-query %s -c 'count opClass("Q")' 2>&1 | FileCheck %s --check-prefix=CLASS
// RUN: not mp-query %s -c 'count hasFormat("fp17")' 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not mp-query %s -c 'count named(5)' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: mp-query %s -c 'count hasFormat("fp32")' -c 'count hasFormat("i7")' | FileCheck %s --check-prefix=SHORT
// RUN: not mp-query 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not mp-query %s --nosuch 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not mp-query %s -c 2> %t.said
// RUN: not mp-query %s -c ' ' 2>> %t.said
// RUN: not sh -c 'mp-query %s < %S' 2>> %t.said
// RUN: not mp-query %s -c 'count at("")' 2>> %t.said
// RUN: not mp-query %s -c 'count named("")' 2>> %t.said
// RUN: not mp-query %s -c 'count allOf()' 2>> %t.said
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: mp-query %s -c 'count contraction()' -c quit -c count | FileCheck %s --check-prefix=TYPED
// RUN: printf 'func.func @f(' > %t.mlir
// RUN: not mp-query %t.mlir -c count 2>&1 | FileCheck %s --check-prefix=BROKEN

// CHECK: R 1 math.exp 1
// CHECK: T 2 linalg.matmul 2
// CHECK-NEXT: {{^}}2
// CHECK-NEXT: {{^}}1
// CHECK-NEXT: {{^}}1
// NAMED: block.1.up: linalg.matmul "block.1.up" : tensor<4x4xf32>
// NAMED: block.1.exp: math.exp
// NAMED-NEXT: 2 matches
// NAMED-NOT: block.10
// READS: block.1.exp: math.exp
// READS-NEXT: 1 match
// READBY: block.1.up: linalg.matmul
// READBY-NEXT: 1 match
// COUNTS: {{^}}2
// COUNTS-NEXT: {{^}}1
// COUNTS-NEXT: {{^}}1
// TYPED: 2
// TYPED-NOT: matmul
// UNKNOWN: mp-query: {{.*}}nosuch
// CLASS: mp-query: opClass("Q"): expected one of T, F, E, D, A, K, R, B; see --help
// FORMAT: mp-query: hasFormat("fp17"): expected an element type, as f32, bf16, e4m3, i8 or index
// TYPE: mp-query: 1:7: an argument has another type: names stand in double quotes; see --help
// SHORT: {{^}}4
// SHORT-NEXT: {{^}}0
// NOFILE: mp-query: error: expected a file
// OPTION: mp-query: error: unknown option '--nosuch'
// SAID: mp-query: error: -c: expected a query behind it, as in -c count
// SAID-NEXT: mp-query: error: -c: expected a query behind it, as in -c count
// SAID-NEXT: mp-query: error: standard input, which has the queries, is a folder [MP201]
// SAID-NEXT: mp-query: at(""): expected a file, or a line of it, as in model.py:12
// SAID-NEXT: mp-query: named(""): expected the name of a layer
// SAID-NEXT: mp-query: 1:1: expected another number of arguments
// BROKEN: is not a valid MLIR module
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> loc("weight"), %i: tensor<4x4xf32>, %n: tensor<4x4xbf16>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("block.1.up")
  %1 = math.exp %0 : tensor<4x4xf32> loc("block.1.exp")
  %2 = linalg.matmul ins(%n, %w : tensor<4x4xbf16>, tensor<4x4xf32>) outs(%1 : tensor<4x4xf32>) -> tensor<4x4xf32> loc("block.10.up")
  %3 = arith.negf %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
