// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase T: gradients, before the optimizer takes them.

#ifndef MP_TRANSFORMS_TRAIN_GRADIENTPASSES_TD
#define MP_TRANSFORMS_TRAIN_GRADIENTPASSES_TD

include "mlir/Pass/PassBase.td"

def ClipGradients : Pass<"mp-clip-gradients", "::mlir::ModuleOp"> {
  let summary = "Limit the gradients of a train step, by value or by their norm (changes range)";
  let description = [{
    Needs: a train step in f32, one block (phase 0), before its loss is scaled:
    `mp-insert-loss-scale` then unscales before what this pass inserts. With
    `value` every element becomes min(max(g, -value), value); with `norm` all
    gradients are multiplied by min(norm / (n + 1e-6), 1), n being their common
    Euclidean norm (after `value`, if both are given), always: at n = norm the
    factor is just below one. NaN and infinities are not repaired: n = infinity
    makes NaN, and a step whose loss is scaled is skipped before that.

    The norm of the gradients as they came, `gradient_norm`, is appended to
    arguments and results, whether anything is clipped or not.

    Example (`--mp-clip-gradients="value=0.5"`):
    ```mlir
    func.func @step(%w: tensor<8x2xf32>, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
      %zero = arith.constant 0.0 : f32
      %rate = arith.constant dense<0.5> : tensor<8x2xf32>
      %e0 = tensor.empty() : tensor<4x2xf32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %e1 = tensor.empty() : tensor<8x2xf32>
      %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.mulf %g, %rate : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      return %n : tensor<8x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%arg0: tensor<8x2xf32> {mp.role = "parameter", mp.state = 0 : i64}, %arg1: tensor<8x4xf32>, %arg2: tensor<4x8xf32>, %arg3: tensor<4x2xf32>, %arg4: tensor<f32> {mp.role = "gradient_norm", mp.state = 1 : i64}) -> (tensor<8x2xf32>, tensor<f32>) {
      %cst = arith.constant 0.000000e+00 : f32
      %cst_0 = arith.constant dense<5.000000e-01> : tensor<8x2xf32>
      %0 = tensor.empty() : tensor<4x2xf32>
      %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %2 = linalg.matmul ins(%arg2, %arg0 : tensor<4x8xf32>, tensor<8x2xf32>) outs(%1 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %3 = arith.subf %2, %arg3 : tensor<4x2xf32>
      %4 = tensor.empty() : tensor<8x2xf32>
      %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %6 = linalg.matmul ins(%arg1, %3 : tensor<8x4xf32>, tensor<4x2xf32>) outs(%5 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %7 = tensor.empty() : tensor<f32>
      %cst_1 = arith.constant 0.000000e+00 : f32
      %8 = linalg.fill ins(%cst_1 : f32) outs(%7 : tensor<f32>) -> tensor<f32>
      %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%6 : tensor<8x2xf32>) outs(%8 : tensor<f32>) {
      ^bb0(%in: f32, %out: f32):
        %15 = arith.mulf %in, %in : f32
        %16 = arith.addf %out, %15 : f32
        linalg.yield %16 : f32
      } -> tensor<f32>
      %10 = math.sqrt %9 : tensor<f32>
      %11 = tensor.empty() : tensor<8x2xf32>
      %12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8x2xf32>) outs(%11 : tensor<8x2xf32>) {
      ^bb0(%in: f32, %out: f32):
        %cst_2 = arith.constant -5.000000e-01 : f32
        %15 = arith.maximumf %in, %cst_2 : f32
        %cst_3 = arith.constant 5.000000e-01 : f32
        %16 = arith.minimumf %15, %cst_3 : f32
        linalg.yield %16 : f32
      } -> tensor<8x2xf32>
      %13 = arith.mulf %12, %cst_0 : tensor<8x2xf32>
      %14 = arith.subf %arg0, %13 : tensor<8x2xf32>
      return %14, %10 : tensor<8x2xf32>, tensor<f32>
    }
    func.func @step_init() -> tensor<f32> attributes {mp.init_of = @step} {
      %cst = arith.constant dense<0.000000e+00> : tensor<f32>
      return %cst : tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The train step; may be left out where the module has one public function or a @main">,
    Option<"norm", "norm", "double", "0", "Largest common norm of the gradients; 0: any">,
    Option<"value", "value", "double", "0", "Largest magnitude of an element; 0: any">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def AccumulateGradients : Pass<"mp-accumulate-gradients", "::mlir::ModuleOp"> {
  let summary = "Update after several micro-batches, by the mean of their gradients (changes "
                "rounding)";
  let description = [{
    Needs: a train step in f32, one block (phase 0), or one whose loss is scaled (phase T).
    Each call then takes a micro-batch: its gradients are added, in f32, to sums
    that are appended to arguments and results. In every call whose number is a
    multiple of `steps` the optimizer (clipping included) sees the mean, and the
    sums start again; in the others parameters, optimizer state and counters
    keep their values. What the forward pass makes, running statistics and keys
    of random numbers, moves in every call.

    With a loss scale, what is summed is scaled: `mp.unscale` takes the sums, one check and
    one multiplication for all micro-batches of an update, and the scale stays
    until then. A micro-batch that overflowed leaves an infinity or NaN in the sums, so that
    their update is skipped.

    Example (`--mp-accumulate-gradients="steps=4"`):
    ```mlir
    func.func @step(%w: tensor<8x2xf32>, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
      %zero = arith.constant 0.0 : f32
      %rate = arith.constant dense<0.5> : tensor<8x2xf32>
      %e0 = tensor.empty() : tensor<4x2xf32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %e1 = tensor.empty() : tensor<8x2xf32>
      %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.mulf %g, %rate : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      return %n : tensor<8x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%arg0: tensor<8x2xf32> {mp.role = "parameter", mp.state = 0 : i64}, %arg1: tensor<8x4xf32>, %arg2: tensor<4x8xf32>, %arg3: tensor<4x2xf32>, %arg4: tensor<i32> {mp.role = "micro_steps", mp.state = 1 : i64}, %arg5: tensor<8x2xf32> {mp.role = "gradient_sum", mp.state = 2 : i64}) -> (tensor<8x2xf32>, tensor<i32>, tensor<8x2xf32>) {
      %cst = arith.constant dense<1> : tensor<i32>
      %0 = arith.addi %arg4, %cst : tensor<i32>
      %cst_0 = arith.constant dense<4> : tensor<i32>
      %1 = arith.cmpi eq, %0, %cst_0 : tensor<i32>
      %cst_1 = arith.constant 0.000000e+00 : f32
      %cst_2 = arith.constant dense<5.000000e-01> : tensor<8x2xf32>
      %2 = tensor.empty() : tensor<4x2xf32>
      %3 = linalg.fill ins(%cst_1 : f32) outs(%2 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %4 = linalg.matmul ins(%arg2, %arg0 : tensor<4x8xf32>, tensor<8x2xf32>) outs(%3 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %5 = arith.subf %4, %arg3 : tensor<4x2xf32>
      %6 = tensor.empty() : tensor<8x2xf32>
      %7 = linalg.fill ins(%cst_1 : f32) outs(%6 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %8 = linalg.matmul ins(%arg1, %5 : tensor<8x4xf32>, tensor<4x2xf32>) outs(%7 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %9 = arith.addf %arg5, %8 : tensor<8x2xf32>
      %10 = tensor.empty() : tensor<8x2xf32>
      %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<8x2xf32>) outs(%10 : tensor<8x2xf32>) {
      ^bb0(%in: f32, %out: f32):
        %cst_5 = arith.constant 4.000000e+00 : f32
        %20 = arith.divf %in, %cst_5 : f32
        linalg.yield %20 : f32
      } -> tensor<8x2xf32>
      %12 = arith.mulf %11, %cst_2 : tensor<8x2xf32>
      %13 = arith.subf %arg0, %12 : tensor<8x2xf32>
      %14 = tensor.empty() : tensor<8x2xf32>
      %15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%13, %arg0, %1 : tensor<8x2xf32>, tensor<8x2xf32>, tensor<i1>) outs(%14 : tensor<8x2xf32>) {
      ^bb0(%in: f32, %in_5: f32, %in_6: i1, %out: f32):
        %20 = arith.select %in_6, %in, %in_5 : f32
        linalg.yield %20 : f32
      } -> tensor<8x2xf32>
      %cst_3 = arith.constant dense<0> : tensor<i32>
      %16 = tensor.empty() : tensor<i32>
      %17 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%cst_3, %0, %1 : tensor<i32>, tensor<i32>, tensor<i1>) outs(%16 : tensor<i32>) {
      ^bb0(%in: i32, %in_5: i32, %in_6: i1, %out: i32):
        %20 = arith.select %in_6, %in, %in_5 : i32
        linalg.yield %20 : i32
      } -> tensor<i32>
      %cst_4 = arith.constant dense<0.000000e+00> : tensor<8x2xf32>
      %18 = tensor.empty() : tensor<8x2xf32>
      %19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cst_4, %9, %1 : tensor<8x2xf32>, tensor<8x2xf32>, tensor<i1>) outs(%18 : tensor<8x2xf32>) {
      ^bb0(%in: f32, %in_5: f32, %in_6: i1, %out: f32):
        %20 = arith.select %in_6, %in, %in_5 : f32
        linalg.yield %20 : f32
      } -> tensor<8x2xf32>
      return %15, %17, %19 : tensor<8x2xf32>, tensor<i32>, tensor<8x2xf32>
    }
    func.func @step_init() -> (tensor<i32>, tensor<8x2xf32>) attributes {mp.init_of = @step} {
      %cst = arith.constant dense<0> : tensor<i32>
      %cst_0 = arith.constant dense<0.000000e+00> : tensor<8x2xf32>
      return %cst, %cst_0 : tensor<i32>, tensor<8x2xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The train step; may be left out where the module has one public function or a @main">,
    Option<"steps", "steps", "int64_t", "2", "Micro-batches to an update">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_TRAIN_GRADIENTPASSES_TD
