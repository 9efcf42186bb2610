// RUN: mp-run %s --entry=exact --input=2x3xf32=[1,2,3,4,5,6] --input="3x2xf32=[1 0][0 1][1 1]" | FileCheck %s --check-prefix=EXACT
// RUN: mp-run %s --entry=narrow --compare=f64 --max-rel=1e-2 | FileCheck %s --check-prefix=NARROW
// RUN: not mp-run %s --entry=narrow --compare=f64 --max-rel=1e-6 | FileCheck %s --check-prefix=FAILED
// RUN: mp-run %s --entry=narrow --emit-llvm | FileCheck %s --check-prefix=LLVM
// RUN: mp-run %s --entry=little --emit-llvm | FileCheck %s --check-prefix=LITTLE
// RUN: mp-run %s --entry=little --steps=1000000 --emit-llvm | FileCheck %s --check-prefix=OFTEN

// EXACT: result 0: 2x2xf32 = [4 5 10 11]
func.func @exact(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>)
                     outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Storage in bf16 costs at most 2^-9 an operand, so the gate of 1e-2 holds and 1e-6 cannot.
// NARROW: result 0: 8x8xbf16, {{[0-9]+}} of 64 elements differ
// NARROW: SQNR
// FAILED: FAILED {{.*}} of the largest magnitude, limit 1e-06

// No function of the compiler's support library is called for narrow formats.
// LLVM-LABEL: define {{.*}} @narrow(
// LLVM: call void @mp_rt_contract
// LLVM-NOT: __trunc
// LLVM-NOT: __extend
// LLVM-NOT: fptrunc
func.func @narrow(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> tensor<8x8xbf16> {
  %0 = mp.cast ieee %a : tensor<8x16xf32> to tensor<8x16xbf16>
  %1 = arith.truncf %b : tensor<16x8xf32> to tensor<16x8xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<8x16xbf16>, tensor<16x8xbf16>)
                     outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = mp.cast ieee %2 : tensor<8x8xf32> to tensor<8x8xbf16>
  %4 = arith.addf %3, %3 : tensor<8x8xbf16>
  return %4 : tensor<8x8xbf16>
}

// LLVM does not optimise a loop that takes less time than that would, unless it runs often.
// LITTLE: define {{.*}} @loops({{.*}} #[[LOOPS:[0-9]+]] {
// LITTLE: attributes #[[LOOPS]] = { noinline optnone }
// OFTEN: define {{.*}} @loops({{.*}} #[[LOOPS:[0-9]+]] {
// OFTEN: attributes #[[LOOPS]] = { noinline }
func.func @little(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
