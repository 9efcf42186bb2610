// Errors point and explain, without the op's whole text; upstream's flags for tests work as ever.
// RUN: not mp-opt %s --split-input-file 2>&1 | FileCheck %s
// RUN: not mp-opt %s --split-input-file --mlir-print-op-on-diagnostic 2>&1 | FileCheck --check-prefix=WHOLE %s
// RUN: mp-opt %s --split-input-file --verify-diagnostics
// RUN: mp-opt --no-implicit-module --load-dialect-plugin=%libmp --pass-pipeline='builtin.module(canonicalize)' %S/Inputs/empty.mlir
// RUN: not mp-opt --load-dialect-plugin=%t.no-plugin.so %s 2>&1 | FileCheck --check-prefix=PLUGIN %s
// CHECK: error: 'func.func' op has unknown attribute 'mp.wrong'
// CHECK-NOT: see current operation
// WHOLE: see current operation
// PLUGIN: mp-opt: Could not load library '{{.*}}no-plugin.so'

// expected-error @+1 {{has unknown attribute 'mp.wrong'}}
func.func private @f() attributes {mp.wrong}

// -----

func.func private @fine()
