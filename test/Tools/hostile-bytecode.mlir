// Damaged bytecode ends in success or an error in words, within the limit of time.
// REQUIRES: slow
// RUN: mp-opt %S/hostile-input.mlir --emit-bytecode -o %t.mlirbc
// RUN: mp-opt %t.mlirbc | FileCheck --check-prefix=INTACT %s
// RUN: %python %S/Inputs/hostile.py bytecode %t.mlirbc 300 | FileCheck %s
// CHECK: 300 inputs, 0 problems
// INTACT: linalg.matmul

// Upstream's reader makes types that no text could hold, on which passes rely; with passes and without.
// RUN: not mp-opt %S/Inputs/negative-size.mlirbc 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not mp-opt %S/Inputs/negative-size.mlirbc --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not mp-run %S/Inputs/negative-size.mlirbc 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not mp-reduce %S/Inputs/negative-size.mlirbc 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: damaged bytecode: the type tensor<-9223372036401790976x4xf32> cannot be: invalid tensor dimension size [MP203]

// On this file it does not end.
// RUN: not mp-opt %S/Inputs/endless.mlirbc 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: damaged bytecode: the reader did not finish within 2 s
