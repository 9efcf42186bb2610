// A constant read by several functions is stored once in the narrow format, too.
// RUN: mp-opt %s --mp-mixed-precision=format=bf16 | FileCheck %s
// Nothing depends on what a context converted before, and text and bytecode are read back the same.
// RUN: mp-sweep --formats=f16,bf16 %s 2>/dev/null | FileCheck %s --check-prefix=SWEEP
// RUN: mp-gen mlp --resources -o %t.mlir
// RUN: mp-sweep --formats=f16,bf16 %t.mlir 2>/dev/null | FileCheck %s --check-prefix=SWEEP

// CHECK-LABEL: func.func @first
// CHECK: arith.constant dense_resource<weight_bf16> : tensor<2x2xbf16>
func.func @first(%x: tensor<2x2xf32>, %i: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense_resource<weight> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @second
// CHECK: arith.constant dense_resource<weight_bf16> : tensor<2x2xbf16>
func.func @second(%x: tensor<2x2xf32>, %i: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense_resource<weight> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// A function whose result type is no list.
// CHECK: llvm.func @nothing(%{{.*}}: !llvm.ptr)
llvm.func @nothing(%p: !llvm.ptr) {
  llvm.return
}

// CHECK: weight_bf16: "0x02000000803F00404040C03F"
// CHECK-NOT: weight_bf16_1
// SWEEP-NOT: broken
// SWEEP: "format":"bf16"
// SWEEP-NOT: broken

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F00000040000040400000C03F"
    }
  }
#-}
