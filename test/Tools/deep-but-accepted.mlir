// Nesting far beyond what an 8 MB stack bears is parsed, run through passes (which drop it) and printed.
// RUN: %python %S/Inputs/hostile.py print-regions 3900 > %t.mlir
// RUN: mp-opt %t.mlir | FileCheck %s
// RUN: mp-opt %t.mlir --pass-pipeline='builtin.module(func.func(cse))' | FileCheck --check-prefix=GONE %s
// CHECK-COUNT-3900: scf.if
// GONE: func.func
// GONE-NEXT: return
