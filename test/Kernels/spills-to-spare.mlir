// REQUIRES: ptxas
// A product in f16 arithmetic with the identity, which ptxas 13.0 makes spill at 48 registers for sm_90a to fit more
// blocks into a multiprocessor. Such a kernel is assembled again for one block.
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_90a emit=cubin dir=%t" --remarks-filter=mp-emit-kernels -o /dev/null 2>&1 | FileCheck %s
// CHECK-NOT: spills {{[0-9]}}
// CHECK: kernel 'identity_1' takes {{[0-9]+}} registers

#map = affine_map<(i, j) -> (i, j)>
func.func @identity(%a: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %empty = tensor.empty() : tensor<128x128xf16>
  %id = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<128x128xf16>) {
  ^bb0(%out: f16):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %same = arith.cmpi eq, %r, %c : index
    %v = arith.select %same, %one, %zero : f16
    linalg.yield %v : f16
  } -> tensor<128x128xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
  %product = linalg.matmul ins(%a, %id : tensor<128x128xf16>, tensor<128x128xf16>) outs(%fill : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %product : tensor<128x128xf16>
}
