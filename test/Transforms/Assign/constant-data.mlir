// Resources that were elided, or are of the wrong length: an error where their values are needed.
// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-assign-precision="format=f16"
// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-assign-precision="format=bf16"
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=tf32" -o /dev/null

func.func @needs_elided_values(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-note @+1 {{the constant is here}}
  %w = arith.constant dense_resource<__elided__> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  // expected-error-re @+1 {{needs the values of resource '__elided__' in '{{b?}}f16', which has no data; print the file with its resources}}
  %0 = linalg.matmul ins(%x, %t : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @needs_more_values(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-note @+1 {{the constant is here}}
  %w = arith.constant dense_resource<short> : tensor<4x4xf32>
  // expected-error-re @+1 {{needs the values of resource 'short' in '{{b?}}f16'; it has 8 bytes, and 'tensor<4x4xf32>' needs another number}}
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

{-#
  dialect_resources: { builtin: { short: "0x040000000000803F00000040" } }
#-}

// -----

// Added, pinned wide, integers: nothing is made of the values.
func.func @needs_no_values(%x: tensor<4x4xf32>, %n: tensor<4x4xi32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xi32>) {
  %w = arith.constant dense_resource<__elided__> : tensor<4x4xf32>
  %c = arith.constant dense_resource<__elided__> : tensor<4x4xi32>
  %0 = arith.addf %x, %w : tensor<4x4xf32>
  %1 = linalg.matmul {mp.pin = f32} ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = arith.addi %n, %c : tensor<4x4xi32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xi32>
}
