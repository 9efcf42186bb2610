// Damaged bytecode ends in success or an error in words, within the limit of time.
// REQUIRES: slow
// RUN: mp-opt %S/hostile-input.mlir --emit-bytecode -o %t.mlirbc
// RUN: mp-opt %t.mlirbc | FileCheck --check-prefix=INTACT %s
// RUN: %python %S/Inputs/hostile.py bytecode %t.mlirbc 300 | FileCheck %s
// CHECK: 300 inputs, 0 problems
// INTACT: linalg.matmul
