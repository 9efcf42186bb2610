// An option that would change nothing is refused: one of another kind of file, or without the option that it is of.
// RUN: not mp-run %s --grid=2 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not mp-run %s --max-instructions=5 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not mp-run %s --weight-codes=i4 2>&1 | FileCheck %s --check-prefix=CODES
// RUN: not mp-run %s --log-every=2 2>&1 | FileCheck %s --check-prefix=EVERY
// RUN: not mp-run %s --draws=2 2>&1 | FileCheck %s --check-prefix=DRAWS
// RUN: mp-run %s --log-every=2 --steps=4 | FileCheck %s --check-prefix=STEPS
// RUN: mp-run %s --device=emulator --max-instructions=100000 | FileCheck %s --check-prefix=KERNEL
// RUN: not mp-run %S/mp-run-ptx.ptx --kernel=scale --math=exact 2>&1 | FileCheck %s --check-prefix=MATH
// RUN: not mp-run %S/mp-run-ptx.ptx --kernel=scale --device=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not mp-run %S/mp-run-ptx.ptx --kernel=scale --check-errors 2>&1 | FileCheck %s --check-prefix=ERRORS

// GRID: error: --grid is of kernels in PTX files
// LIMIT: error: --max-instructions is of the emulator
// CODES: error: --weight-codes is of --round-weights
// EVERY: error: --log-every is of --steps
// DRAWS: error: --draws is of --budget, --sensitivity, --ab
// STEPS: step 0, result 0
// STEPS-NEXT: step 2, result 0
// KERNEL: result 0
// MATH: error: --math is of functions; {{.*}} is PTX
// CPU: error: --device=cpu is of functions; {{.*}} is PTX
// ERRORS: error: --check-errors is of functions; {{.*}} is PTX
func.func @main(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}
