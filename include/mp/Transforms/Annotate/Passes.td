// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 1: facts made visible.

#ifndef MP_TRANSFORMS_ANNOTATE_PASSES
#define MP_TRANSFORMS_ANNOTATE_PASSES

include "mlir/Pass/PassBase.td"

def AnnotateRanges : Pass<"mp-annotate-ranges", "::mlir::ModuleOp"> {
  let summary = "Write what is known of each float value's range (changes nothing but attributes)";
  let description = [{
    Needs: phase 0 (input). Gives: `mp.facts` on every op outside bodies with a
    float result: one text per result. A text says in which interval the result
    lies, a bound on the 2-norm of its rows, and what else is known; `nan` and
    `inf` mean that such elements cannot be excluded. Facts are proved from the
    program, in the formats it computes in, unless they say `assumed`: then they
    rest on an `mp.range`.

    Example (`--mp-annotate-ranges`):
    ```mlir
    func.func @scores(%x: tensor<4x8xf32> {mp.range = [-2.0, 2.0]}) -> tensor<4x8xf32> {
      %half = arith.constant dense<0.5> : tensor<4x8xf32>
      %0 = arith.mulf %x, %half : tensor<4x8xf32>
      %1 = arith.mulf %0, %0 : tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @scores(%arg0: tensor<4x8xf32> {mp.range = [-2.000000e+00, 2.000000e+00]}) -> tensor<4x8xf32> {
      %cst = arith.constant {mp.facts = ["[0.5, 0.5] norm<=1.4142135623730951"]} dense<5.000000e-01> : tensor<4x8xf32>
      %0 = arith.mulf %arg0, %cst {mp.facts = ["[-1, 1] norm<=2.8284271247461903 (assumed)"]} : tensor<4x8xf32>
      %1 = arith.mulf %0, %0 {mp.facts = ["[0, 1] norm<=2.8284271247461903 (assumed)"]} : tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

def AnnotateIdioms : Pass<"mp-annotate-idioms", "::mlir::ModuleOp"> {
  let summary = "Name the ops of softmax, norms, losses and activations (changes nothing but "
                "attributes)";
  let description = [{
    Needs: phase 0 to 4. Gives: `mp.idiom` on every op outside bodies that is part of an idiom: one
    string `KIND#N` for each idiom the op is part of, followed by `!` on the op that computes its
    value; N counts over the function. An op in whose body one idiom ends and another begins has
    both. Recognised are softmax, log_softmax, logsumexp, layer_norm, rms_norm, group_norm,
    batch_norm, instance_norm, l2_norm, variance, mean, cross_entropy, mean_square_error, gelu,
    gelu_tanh and silu, however they are spelled (docs/concepts/Idioms.md). Annotations there were
    before are replaced; other passes ignore them.

    Example (`--mp-annotate-idioms`):
    ```mlir
    func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tosa.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = arith.mulf %x, %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tosa.sigmoid %x {mp.idiom = ["silu#0"]} : (tensor<4xf32>) -> tensor<4xf32>
      %1 = arith.mulf %x, %0 {mp.idiom = ["silu#0!"]} : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

def AnnotateRoles : Pass<"mp-annotate-roles", "::mlir::ModuleOp"> {
  let summary = "Write what the values of a train step are: seed, gradients, state (exact)";
  let description = [{
    Needs: a train step, one block of any input dialect. Gives: `mp.role` and
    `mp.state` on the arguments that the step replaces, `mp.role = "seed"` on
    the op whose result begins the backward pass, `mp.role = "gradient"` on the
    ops whose results the optimizer takes over. What stands there already is
    believed. A remark counts what was found; what cannot be found is an error
    that names what to write.

    The seed is the value that, scaled, scales most contractions and leaves none
    beyond; a value whose degree of homogeneity in the seed is 1 and that leaves
    the backward pass is a gradient; an argument is state if a result of its
    type is computed from it place by place.

    Example (`--mp-annotate-roles`):
    ```mlir
    func.func @step(%w: tensor<8x2xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
      %zero = arith.constant 0.0 : f32
      %rate = arith.constant dense<0.1> : tensor<8x2xf32>
      %e0 = tensor.empty() : tensor<4x2xf32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %e1 = tensor.empty() : tensor<8x4xf32>
      %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e1 : tensor<8x4xf32>) permutation = [1, 0]
      %e2 = tensor.empty() : tensor<8x2xf32>
      %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %g = linalg.matmul ins(%t, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f2 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.mulf %g, %rate : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      return %n : tensor<8x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%w: tensor<8x2xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
      %zero = arith.constant 0.0 : f32
      %rate = arith.constant dense<0.1> : tensor<8x2xf32>
      %e0 = tensor.empty() : tensor<4x2xf32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y {mp.role = "seed"} : tensor<4x2xf32>
      %e1 = tensor.empty() : tensor<8x4xf32>
      %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e1 : tensor<8x4xf32>) permutation = [1, 0]
      %e2 = tensor.empty() : tensor<8x2xf32>
      %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %g = linalg.matmul {mp.role = "gradient"} ins(%t, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f2 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.mulf %g, %rate : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      return %n : tensor<8x2xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The train step; may be left out where the module has one public function or a @main">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

#endif // MP_TRANSFORMS_ANNOTATE_PASSES
