// A softmax with approximate functions: rows that are masked whole by the lowest number, or by any between, are even, as
// in the graph; a row of which a part is masked is the softmax of the rest.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 dispatches math=approximate sums=tree" -o %t.mlir && FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: mp-run %t.mlir --device=emulator --chip=sm_80 --input="2x4xf32=-3.40282347e38 -3.40282347e38 -3.40282347e38 -3.40282347e38 -3.40282347e38 0 -3.40282347e38 0" | FileCheck %s --check-prefix=LOWEST
// RUN: mp-run %t.mlir --device=emulator --chip=sm_80 --input="2x4xf32=-1e10 -1e10 -1e10 -1e10 -1e9 -1e9 -1e9 -1e9" | FileCheck %s --check-prefix=BETWEEN
// RUN: mp-run %t.mlir --device=emulator --chip=sm_80 --input="2x4xf32=3e38 3e38 1 -3e38 2 2 -1e9 -1e9" | FileCheck %s --check-prefix=PART
// KERNEL: ex2.approx
// LOWEST: result 0: 2x4xf32 = [0.25 0.25 0.25 0.25 0 0.5 0 0.5]
// BETWEEN: result 0: 2x4xf32 = [0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25]
// PART: result 0: 2x4xf32 = [0.5 0.5 0 0 0.5 0.5 0 0]

func.func @softmax(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
