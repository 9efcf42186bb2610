// A contraction keeps its constant operand, as the first step of a recurrent layer has one: folding it into the body lost
// that the products begin at zero, and kernels added to memory that nobody had written.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 dispatches=false" -o %t.plain.mlir
// RUN: mp-run %t.plain.mlir --device=emulator --compare=%s --max-rel=1e-5 | FileCheck %s
// RUN: mp-opt %s --mp-to-nvvm=target=sm_80 -o %t.mlir
// RUN: mp-run %t.mlir --device=emulator --compare=%s --max-rel=1e-5 | FileCheck %s
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 dispatches=false dir=%t.ptx" -o /dev/null && cat %t.ptx/*.ptx | FileCheck %s --check-prefix=PTX
// CHECK: result 0: 2x72xf32, equal to the reference
// PTX: mma.sync.aligned
func.func @main(%w: tensor<24x72xbf16>) -> tensor<2x72xf32> {
  %ones = arith.constant dense<1.0> : tensor<2x24xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x72xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x72xf32>) -> tensor<2x72xf32>
  %0 = linalg.matmul ins(%ones, %w : tensor<2x24xbf16>, tensor<24x72xbf16>) outs(%i : tensor<2x72xf32>) -> tensor<2x72xf32>
  return %0 : tensor<2x72xf32>
}
