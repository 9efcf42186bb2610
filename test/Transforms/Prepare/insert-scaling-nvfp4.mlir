// RUN: mp-opt %s --mp-insert-scaling="recipe=nvfp4-training" | FileCheck %s
// RUN: mp-opt %s --mp-insert-scaling="recipe=nvfp4-training" --mp-decompose-scaling | FileCheck %s --check-prefix=PLAIN
//
// NVFP4 trains so: gradients are rounded stochastically, with bits of the step's own; the product that is a weight's gradient
// works on both operands behind a Hadamard transform along the tokens, the one that goes on backwards on none.

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<32x16xf32>
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: tensor<i64> {mp.role = "random_seed", mp.state = 2 : i64}, %[[OFFSET:[a-z0-9]+]]: tensor<i64> {mp.role = "random_offset", mp.state = 3 : i64}
// The weight's gradient: both operands are spread along the 64 tokens.
// CHECK: mp.hadamard %{{.*}} axis 1 signs [1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1] {inserted} : tensor<32x64xf32>
// The weight is stored in blocks of 16 x 16.
// CHECK: mp.block_quantize %[[W]] within {{.*}} : tensor<32x16xf32> to tensor<32x16xf4E2M1FN>, tensor<2x1xf8E4M3FN>
// A gradient on its way back: a random word for each element, blocks along what is summed over.
// CHECK: %[[D:.*]] = arith.subf {{.*}}mp.role = "seed"
// CHECK: mp.random_bits %[[SEED]], %{{.*}} : tensor<64x16xi32>
// CHECK: mp.block_quantize sr %[[D]] within %{{.*}} random {{.*}} : tensor<64x16xf32> to tensor<64x16xf4E2M1FN>, tensor<64x1xf8E4M3FN>
// CHECK: %[[SPREAD:.*]] = mp.hadamard %[[D]] axis 0 signs [1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1] {inserted} : tensor<64x16xf32>
// CHECK: mp.random_bits %[[SEED]], %{{.*}} : tensor<64x16xi32>
// CHECK: mp.block_quantize sr %[[SPREAD]] {{.*}} : tensor<64x16xf32> to tensor<64x16xf4E2M1FN>, tensor<4x16xf8E4M3FN>
// CHECK-NOT: mp.hadamard
// 2 x 64 x 16 words are 512 blocks of Philox.
// CHECK: %[[DRAWN:.*]] = arith.constant dense<512> : tensor<i64>
// CHECK: %[[NEXT:.*]] = arith.addi %[[OFFSET]], %[[DRAWN]] : tensor<i64>
// CHECK: return %{{.*}}, %{{.*}}, %[[SEED]], %[[NEXT]]
// PLAIN-NOT: mp.hadamard
// PLAIN-NOT: mp.random_bits
// PLAIN: return
func.func @step(%w: tensor<32x16xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<64x32xf32>, %xt: tensor<32x64xf32>, %y: tensor<64x16xf32>) -> (tensor<32x16xf32>, tensor<64x32xf32>) {
  %p0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %p = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%p0 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %d = arith.subf %p, %y {mp.role = "seed"} : tensor<64x16xf32>
  %g0 = arith.constant dense<0.0> : tensor<32x16xf32>
  %g = linalg.matmul ins(%xt, %d : tensor<32x64xf32>, tensor<64x16xf32>) outs(%g0 : tensor<32x16xf32>) -> tensor<32x16xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  %wt = linalg.transpose ins(%w : tensor<32x16xf32>) outs(%e : tensor<16x32xf32>) permutation = [1, 0]
  %b0 = arith.constant dense<0.0> : tensor<64x32xf32>
  %b = linalg.matmul ins(%d, %wt : tensor<64x16xf32>, tensor<16x32xf32>) outs(%b0 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %n = arith.subf %w, %g : tensor<32x16xf32>
  return %n, %b : tensor<32x16xf32>, tensor<64x32xf32>
}
