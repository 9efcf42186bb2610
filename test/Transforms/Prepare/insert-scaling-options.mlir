// RUN: not mp-opt %s --mp-insert-scaling="recipe=nvpf4" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mp-opt %s --mp-insert-scaling="format=e3m4" 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not mp-opt %s --mp-insert-scaling="recipe=int8 format=e4m3" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: mp-opt %s --mp-insert-scaling="recipe=mxfp8" --remarks-filter=mp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// A policy written for another format than bf16 holds, unless the other words contradict it.
// RUN: mp-opt %s --mp-insert-scaling="recipe=current policy=%S/Inputs/f16.json" | FileCheck %s --check-prefix=SCALED
// RUN: mp-opt %s --mp-mixed-precision="format=f16 recipe=current policy=%S/Inputs/f16.json table=false" | FileCheck %s --check-prefix=SCALED
// RUN: mp-opt %s --mp-mixed-precision="recipe=current policy=%S/Inputs/f16.json table=false" | FileCheck %s --check-prefix=SCALED
// RUN: not mp-opt %s --mp-mixed-precision="format=bf16 recipe=current policy=%S/Inputs/f16.json" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not mp-opt %s --mp-insert-scaling="recipe=current target=sm_90a policy=%S/Inputs/f16.json" 2>&1 | FileCheck %s --check-prefix=TARGET
// One request is read once, by all passes: a second reading of a pipe is empty.
// RUN: cat %S/Inputs/f16.json | mp-opt %s --mp-mixed-precision="recipe=current policy=/dev/stdin clamp-unproven prescale-norms table=false" | FileCheck %s --check-prefix=SCALED

// Measured scales: of each operand all is there, and the function was measured.
// RUN: echo '{"mp_scales": 1, "functions": [{"name": "f", "hash": "0", "operands": [{"contraction": 0}]}]}' > %t.operand.json
// RUN: not mp-opt %s --mp-mixed-precision="format=e4m3 scales=%t.operand.json" 2>&1 | FileCheck %s --check-prefix=OPERAND
// RUN: echo '{"mp_scales": 1, "functions": [{"name": "f", "hash": "0", "operands": []}]}' > %t.other.json
// RUN: not mp-opt %s --mp-mixed-precision="format=e4m3 scales=%t.other.json" 2>&1 | FileCheck %s --check-prefix=NOTHING

// OPERAND: error: mp-insert-scaling: option 'scales' is '{{.*}}operand.json': expected 'contraction', 'operand' and 'amax' >= 0 of each operand of 'f'
// NOTHING: error: '{{.*}}other.json' has measured nothing in function 'product'; run mp-run --calibrate on it
// SCALED: mp.scaled_matmul
// OTHER: option 'format' is 'bf16', but policy '{{.*}}f16.json' is written for 'f16'
// TARGET: mp-insert-scaling: option 'target' is 'sm_90a', but policy '{{.*}}f16.json' is written for 'sm_80'
// NAME: option 'recipe' is 'nvpf4', expected current, current-pow2, delayed, f16-pow2, row, block, deepgemm, mxfp8, mxfp4, nvfp4, nvfp4-training, int8, int8-weights or int4-weights; did you mean 'nvfp4'?
// FORMAT: option 'format' is 'e3m4', expected e4m3 or e5m2
// BOTH: mp-insert-scaling: recipe 'int8' stores no fp8, so option 'format' must be left out, found 'e4m3'
// REMARK: not-scaled{{.*}}Reason="dimension 1 of size 100 has no blocks of 32
func.func @product(%x: tensor<4x100xf32>, %y: tensor<100x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x100xf32>, tensor<100x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
