// An output appears whole or not at all; devices and pipes are written as they are.
// RUN: mp-opt %s -o %t.mlir && FileCheck --check-prefix=FIRST %s < %t.mlir
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(no-such-pass))' -o %t.mlir
// RUN: FileCheck --check-prefix=FIRST %s < %t.mlir
// RUN: not mp-opt %t.missing -o %t.mlir 2>&1 | FileCheck --check-prefix=MISSING %s
// RUN: FileCheck --check-prefix=FIRST %s < %t.mlir
// RUN: mp-opt %t.mlir -o %t.mlir && FileCheck --check-prefix=FIRST %s < %t.mlir
// RUN: mp-opt %s -o - | FileCheck --check-prefix=FIRST %s
// RUN: mp-opt %s -o /dev/null
// RUN: not mp-opt %s -o %t.no-such-folder/x.mlir 2>&1 | FileCheck --check-prefix=FOLDER %s
// RUN: not mp-opt %s -o %S 2>&1 | FileCheck --check-prefix=DIRECTORY %s
// FIRST: func.func @f
// MISSING: mp-opt: cannot open input file '{{.*}}missing': No such file or directory
// FOLDER: mp-opt: cannot write output file '{{.*}}x.mlir': No such file or directory
// DIRECTORY: mp-opt: cannot write output file '{{.*}}': Is a directory

func.func @f(%x: f32) -> f32 {
  return %x : f32
}
