// The distribution's own mlir-opt loads libMP.so: dialect, passes and pipelines with one flag.
// RUN: mlir-opt --load-dialect-plugin=%libmp %s --pass-pipeline='builtin.module(mp-assign-precision{format=bf16},mp-insert-casts)' | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%libmp %s --pass-pipeline='builtin.module(mp-mixed-precision{format=bf16})' -o %t.mlir
// RUN: mlir-opt --load-dialect-plugin=%libmp %t.mlir --pass-pipeline='builtin.module(mp-check-erasure{original=%s})' | FileCheck %s
// RUN: mp-opt --load-dialect-plugin=%libmp %s --pass-pipeline='builtin.module(mp-mixed-precision{format=bf16})' | FileCheck %s
// CHECK-LABEL: func.func @dense
// CHECK: mp.cast ieee %{{.*}} {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK: linalg.matmul
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                     outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
