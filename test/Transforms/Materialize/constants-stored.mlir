// Tests how constants are stored in the end.
//
// RUN: mp-opt %s --split-input-file --mp-mixed-precision="format=f16 table=false" | FileCheck %s

// Nearest even: 0.1 is 0x2E66, 0.3 is 0x34CD; the sign is kept.
// CHECK-LABEL: func.func @rounds_to_nearest_even
// CHECK: arith.constant dense<{{\[\[}}9.997550e-02, 3.000490e-01], [-9.997550e-02, -3.000490e-01]]> : tensor<2x2xf16>
func.func @rounds_to_nearest_even(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[0.1, 0.3], [-0.1, -0.3]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Read by a product and by a sum: a narrow copy for the one, the original for the other.
// CHECK-LABEL: func.func @copies_a_constant_for_each_format
// CHECK-DAG: arith.constant dense<{{.*}}> : tensor<2x2xf16>
// CHECK-DAG: arith.constant dense<{{.*}}> : tensor<2x2xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<2x2xf16>, tensor<2x2xf16>)
// CHECK: arith.addf {{.*}} : tensor<2x2xf32>
func.func @copies_a_constant_for_each_format(%x: tensor<2x2xf32>, %i: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[0.1, 0.3], [0.5, 0.7]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = arith.addf %0, %w : tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// A constant of another narrow format is the user's: the product beside it is not mixed with it.
// CHECK-LABEL: func.func @leaves_constants_of_other_formats
// CHECK: arith.constant dense<{{.*}}> : tensor<2x2xbf16>
// CHECK: linalg.matmul ins({{.*}} : tensor<2x2xf32>, tensor<2x2xbf16>)
func.func @leaves_constants_of_other_formats(%x: tensor<2x2xf32>, %i: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[0.5, 0.25], [1.5, 0.75]]> : tensor<2x2xbf16>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xbf16>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// The bytes of a resource are rounded like any constant.
// CHECK-LABEL: func.func @converts_resources
// CHECK: dense_resource<w_f16> : tensor<2x2xf16>
// CHECK: w_f16: "0x{{.*}}003C004000420044"
func.func @converts_resources(%x: tensor<2x2xf32>, %i: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense_resource<w> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
