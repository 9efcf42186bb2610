// RUN: not mp-opt %s --mp-assign-precision="format=fp16" 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not mp-opt %s --mp-assign-precision="format=e4m3" 2>&1 | FileCheck %s --check-prefix=SCALED
// RUN: not mp-opt %s --mp-assign-precision="target=sm_81" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mp-opt %s --mp-mixed-precision="format=bf16 target=sm_75" 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: mp-opt %s --mp-assign-precision="format=f16 target=sm_75"
// RUN: not mp-opt %s --mp-assign-precision="objective=speed" 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// RUN: not mp-opt %s --mp-assign-precision="objective=error" 2>&1 | FileCheck %s --check-prefix=UNTIMED
// RUN: not mp-opt %s --mp-assign-precision="max-rel-error=0.1 min-sqnr=20" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mp-opt %s --mp-assign-precision="objective=error max-time=1 max-rel-error=0.1" 2>&1 | FileCheck %s --check-prefix=EXCLUDE
// RUN: not mp-opt %s --mp-assign-precision="max-rel-error=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mp-opt %s --mp-assign-precision="assume-dim=0" 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not mp-opt %s --mp-assign-precision="dump-problem=/no/such/folder/p.json" 2>&1 | FileCheck %s --check-prefix=DUMP

// OBJECTIVE: error: option 'objective' is 'speed', expected time, memory or error [MP101]
// UNTIMED: error: mp-assign-precision: option 'max-time' limits modelled time for objective=error, and is needed there
// TWICE: error: mp-assign-precision: options 'max-rel-error' and 'min-sqnr' say the same; give one
// EXCLUDE: error: mp-assign-precision: options 'max-time' and 'max-rel-error' exclude each other: one is limited, the other least
// NEGATIVE: error: mp-assign-precision: option 'max-rel-error' is '-1.000000', expected a positive number
// DIM: error: mp-assign-precision: option 'assume-dim' is '0', expected a size of at least 1
// DUMP: error: cannot write output file '/no/such/folder/p.json': No such file or directory
// FORMAT: error: option 'format' is 'fp16', expected bf16, f16, tf32, bf16x3, bf16x6, bf16x9, tf32x3, e4m3 or e5m2; did you mean 'f16'?
// SCALED: error: mp-assign-precision: option 'format' is 'e4m3', which needs scales: mp-mixed-precision takes it
// UNKNOWN: error: option 'target' is 'sm_81': {{.*}}sm_80
// LACKS: error: mp-assign-precision: option 'target' is 'sm_75': {{.*}}bf16{{.*}}f16
func.func @nothing() {
  return
}
