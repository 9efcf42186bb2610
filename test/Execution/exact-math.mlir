// Functions as kernels compute them, without the C library, or an error.
// RUN: split-file %s %t
// RUN: mp-run %t/narrow.mlir --math=exact --compare=f64 --max-rel=1e-6
// RUN: mp-run %t/narrow.mlir --math=exact --emit-llvm | FileCheck %s --check-prefix=EXACT
// RUN: mp-run %t/narrow.mlir --emit-llvm | FileCheck %s --check-prefix=LIBM
// RUN: mp-run %t/wide.mlir --math=exact --input=2xf64=[0,1] | FileCheck %s --check-prefix=F64
// RUN: not mp-run %t/none.mlir --math=exact 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: mp-run %t/wide.mlir --math=libm --input=2xf64=[0,1] | FileCheck %s --check-prefix=F64
// RUN: not mp-run %t/wide.mlir --math=fast 2>&1 | FileCheck %s --check-prefix=OPTION

// EXACT: define
// EXACT-NOT: @erff
// LIBM: call float @erff
// WIDE: has no lowering for 'f64' without a vendor library
// F64: result 0: 2xf64 = [1 2.71828183]
// OPTION: --math=fast: expected libm or exact

//--- narrow.mlir
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = math.erf %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}

//--- wide.mlir
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  %0 = math.exp %x : tensor<2xf64>
  return %0 : tensor<2xf64>
}

//--- none.mlir
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  %0 = math.erfc %x : tensor<2xf64>
  return %0 : tensor<2xf64>
}
