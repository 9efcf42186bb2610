// A norm on values times a power of two stands for the original where nothing of the power is left; every other change is found.
// RUN: mp-opt %s --mp-prescale-norms -o %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%t.mlir" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="format=f16 prescale-norms=true table=false" | mp-opt --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 prescale-norms=true table=false" | mp-opt --mp-check-erasure="original=%s" -o /dev/null

// RUN: sed 's/1.5625[^>]*/1.000000e-03/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=EPSILON
// RUN: sed '0,/1.250000e-01/s//2.500000e-01/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=FACTOR
// RUN: sed 's/1.250000e-01/1.200000e-01/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=NOPOWER
// RUN: sed 's/{mp.prescaled = "norm"}/{}/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=UNMARKED
// RUN: sed 's/math.rsqrt/math.exp/' %s > %t.exp.mlir
// RUN: sed 's/math.rsqrt/math.exp/' %t.mlir | not mp-opt --mp-check-erasure="original=%t.exp.mlir" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: sed 's/math.rsqrt/math.sqrt/' %s > %t.sqrt.mlir
// RUN: sed 's/math.rsqrt/math.sqrt/' %t.mlir | not mp-opt --mp-check-erasure="original=%t.sqrt.mlir" 2>&1 | FileCheck %s --check-prefix=RETURNED

// EPSILON: operand #1 is not the original's times 2^-6, as what it is combined with is
// FACTOR: reads 2^-1 times what the original does, and returns no such multiple
// NOPOWER: 'linalg.generic' op stands where the original has 'arith.mulf'
// UNMARKED: 'func.return' op reads 2^-3 times what the original does, and returns no such multiple
// FUNCTION: 'math.exp' op reads 2^-6 times what the original does, and returns no such multiple
// RETURNED: 'func.return' op reads 2^-6 times what the original does, and returns no such multiple
func.func @root(%x: tensor<4xf32> {mp.range = [-1.0e20, 1.0e20]}) -> tensor<4xf32> {
  %eps = arith.constant dense<0.001> : tensor<4xf32>
  %s = arith.mulf %x, %x : tensor<4xf32>
  %v = arith.addf %s, %eps : tensor<4xf32>
  %r = math.rsqrt %v : tensor<4xf32>
  return %r : tensor<4xf32>
}
