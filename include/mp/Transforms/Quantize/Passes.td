// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantisation in training and after it, and sparsity (docs/guides/Quantize.md).

#ifndef MP_TRANSFORMS_QUANTIZE_PASSES
#define MP_TRANSFORMS_QUANTIZE_PASSES

include "mlir/Pass/PassBase.td"

def InsertFakeQuantize : Pass<"mp-insert-fake-quantize", "::mlir::ModuleOp"> {
  let summary = "Let contractions of the forward pass work on codes of narrow formats (changes "
                "rounding)";
  let description = [{
    Needs: a function of one block in f32 (phase 0). Gives: phase 0 still. Each
    contraction of the forward pass multiplies codes (`mp.fake_quantize codes`), as
    numbers in f32, and scales their sums; so what runs later on integers
    (`mp-quantize-trained`) has the same bits. Weights have a step for each output
    channel, activations one for all; an activation that is proved to be never
    negative has codes of uiN instead of iN, below 8 bits. With `zero-points=true`
    other activations have a zero point: codes reach from `below`, their largest
    magnitude below 0, to their largest value.

    In a forward function the steps of activations, with `steps=learned` those of
    weights, too, are appended as arguments, each before the `below` of its zero
    point. In a train step (`train=true`) they
    are state (`mp.state`), and the backward pass is that of the rounded values:

    - its contractions read what `mp.fake_quantize` makes of weights and
      activations;
    - gradients of factors pass straight through where nothing was clamped
      (`mp.straight_through`), and with `steps=learned` move the steps
      (`mp.step_gradient`), by gradient descent at `step-rate`;
    - steps that are observed follow the largest magnitude: of weights at once, of
      activations with the moving average `momentum`, and so do zero points. A
      learned step starts there.

    The product that computes the gradient of an activation is found by what it
    reads. Where several could be meant, or that of a convolution is in pieces,
    gradients pass straight through everywhere and the step is observed, with a
    remark (`--remarks-filter=mp`). Contractions that are no `linalg` op read
    rounded values, and are not scaled afterwards.

    Example (`--mp-insert-fake-quantize="activations=i4"`):
    ```mlir
    func.func @dense(%x: tensor<4x2xf32>, %w: tensor<2x3xf32> {mp.role = "parameter"}, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
    becomes
    ```mlir
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @dense(%x: tensor<4x2xf32>, %w: tensor<2x3xf32> {mp.role = "parameter"}, %init: tensor<4x3xf32>, %step: tensor<f32>) -> tensor<4x3xf32> {
      %amax = mp.amax %w : tensor<2x3xf32> to tensor<1x3xf32>
      %enc, %sw = mp.compute_scale %amax for i8 by <form = decode, pow2 = none, on_zero = one, on_nonfinite = one, largest = 127.0> : tensor<1x3xf32> to tensor<1x3xf32>
      %q = mp.fake_quantize codes %x by %step to i4 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xf32>
      %qw = mp.fake_quantize codes %w by %sw to i8 : tensor<2x3xf32>, tensor<1x3xf32> to tensor<2x3xf32>
      %0 = mp.scaled_matmul %q by(%step) with %qw by(%sw) onto %init maps [#a, #b, #c] : tensor<4x2xf32> by(tensor<f32>) with tensor<2x3xf32> by(tensor<1x3xf32>) to tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The function; may be left out where the module has one public function or a @main">,
    Option<"train", "train", "bool", "false", "The function is a train step">,
    Option<"weights", "weights", "::mlir::mp::CodeName", "\"i8\"",
           "Format of weights: iN or uiN with N from 2 to 8, or a float of at most 8 bits">,
    Option<"activations", "activations", "::mlir::mp::CodeName", "\"i8\"", "Format of activations">,
    Option<"steps", "steps", "::mlir::mp::StepRule", "::mlir::mp::StepRule::Observed",
           "observed or learned">,
    Option<"perChannel", "per-channel", "bool", "true",
           "Give weights a step for each output channel">,
    Option<"zeroPoints", "zero-points", "bool", "false",
           "Give activations a zero point, so that codes reach from their least to their largest">,
    Option<"stepRate", "step-rate", "double", "0.001", "Rate at which learned steps move">,
    Option<"momentum", "momentum", "double", "0.01",
           "Weight of a new magnitude in the moving average">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

def QuantizeTrained : Pass<"mp-quantize-trained", "::mlir::ModuleOp"> {
  let summary = "Store codes in their format, and sum products of integers in i32 (exact)";
  let description = [{
    Needs: codes as numbers in f32, as `mp-insert-fake-quantize` makes them, and
    sums of products of two of them. Gives: the same sums of codes that are stored
    as i4 or i8, with i32 to sum in, or as floats in their format: the same bits,
    short of NaN, which integers do not hold and make 0. That rests on sums whose
    every partial sum is an integer up to 2^24, which f32 adds without rounding.
    Others keep their codes in f32, with a remark (`--remarks-filter=mp`): longer
    ones, and those of `ui8`, which i8 does not hold. Codes with a zero point are
    stored with it, and it is subtracted before products are summed, which
    `mp-to-nvvm` takes out of the products again where Tensor Cores run them.
    `mp-check-erasure` knows the rule, and proves it for each pair of ops.

    Example (`--mp-quantize-trained`):
    ```mlir
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @dense(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>, %init: tensor<4x3xf32>, %s: tensor<f32>, %t: tensor<1x3xf32>) -> tensor<4x3xf32> {
      %q = mp.fake_quantize codes %x by %s to i8 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xf32>
      %r = mp.fake_quantize codes %w by %t to i4 : tensor<2x3xf32>, tensor<1x3xf32> to tensor<2x3xf32>
      %0 = mp.scaled_matmul %q by(%s) with %r by(%t) onto %init maps [#a, #b, #c] : tensor<4x2xf32> by(tensor<f32>) with tensor<2x3xf32> by(tensor<1x3xf32>) to tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
    becomes
    ```mlir
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @dense(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>, %init: tensor<4x3xf32>, %s: tensor<f32>, %t: tensor<1x3xf32>) -> tensor<4x3xf32> {
      %q = mp.fake_quantize codes %x by %s to i8 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xi8>
      %r = mp.fake_quantize codes %w by %t to i4 : tensor<2x3xf32>, tensor<1x3xf32> to tensor<2x3xi8>
      %0 = mp.scaled_matmul %q by(%s) with %r by(%t) onto %init maps [#a, #b, #c] : tensor<4x2xi8> by(tensor<f32>) with tensor<2x3xi8> by(tensor<1x3xf32>) to tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

def SumCodes : Pass<"mp-sum-codes", "::mlir::ModuleOp"> {
  let summary = "Sum products of integers where weights are codes and values on a grid (changes "
                "rounding)";
  let description = [{
    Needs: what `mp-run --round-weights --activation-codes` writes: contractions in
    linalg of a value that `mp.fake_quantize` rounds with one step, and of a weight
    that `mp.dequantize` brings back from integers of at most 8 bits, with a step
    per channel of the result. Gives: codes in bytes, sums of their products in
    i32, scaled by both steps. Without the pass f32 adds products of values and
    rounds each sum; with it sums are exact, and rounded once.

    Codes of `uiN` are read without a sign, and a constant zero point is subtracted
    before products are summed, which `mp-to-nvvm` takes out of the products again
    where Tensor Cores run them. Others keep their sums in f32, with a remark
    (`--remarks-filter=mp`): weights with steps in groups along what is summed over,
    sums of unknown length, and those that may reach 2^31.

    Example (`--mp-sum-codes`):
    ```mlir
    func.func @dense(%x: tensor<4x2xf32>, %w: tensor<2x3xi8>, %s: tensor<f32>, %t: tensor<1x3xf32>, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %q = mp.fake_quantize %x by %s to i8 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xf32>
      %r = mp.dequantize %w by %t : tensor<2x3xi8>, tensor<1x3xf32> to tensor<2x3xf32>
      %0 = linalg.matmul ins(%q, %r : tensor<4x2xf32>, tensor<2x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
    becomes
    ```mlir
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @dense(%x: tensor<4x2xf32>, %w: tensor<2x3xi8>, %s: tensor<f32>, %t: tensor<1x3xf32>, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %q = mp.fake_quantize codes %x by %s to i8 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xi8>
      %flat = tensor.collapse_shape %t [[0, 1]] : tensor<1x3xf32> into tensor<3xf32>
      %u = tensor.expand_shape %flat [[0, 1]] output_shape [1, 3] : tensor<3xf32> into tensor<1x3xf32>
      %e = tensor.empty() : tensor<4x3xi32>
      %c0 = arith.constant 0 : i32
      %f = linalg.fill ins(%c0 : i32) outs(%e : tensor<4x3xi32>) -> tensor<4x3xi32>
      %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %w : tensor<4x2xi8>, tensor<2x3xi8>) outs(%f : tensor<4x3xi32>) {
      ^bb0(%value: i8, %weight: i8, %sum: i32):
        %2 = arith.extsi %weight : i8 to i32
        %3 = arith.extsi %value : i8 to i32
        %4 = arith.muli %3, %2 : i32
        %5 = arith.addi %sum, %4 : i32
        linalg.yield %5 : i32
      } -> tensor<4x3xi32>
      %sums = arith.sitofp %0 : tensor<4x3xi32> to tensor<4x3xf32>
      %scaled = mp.dequantize %sums by %s, %u : tensor<4x3xf32>, tensor<f32>, tensor<1x3xf32> to tensor<4x3xf32>
      %1 = arith.addf %init, %scaled : tensor<4x3xf32>
      return %1 : tensor<4x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

def Prune : Pass<"mp-prune", "::mlir::ModuleOp"> {
  let summary = "Keep 2 of 4 values of weights along what is summed over (changes values)";
  let description = [{
    Needs: a function of one block in f32 (phase 0). Gives: phase 0 still, in which
    contractions read weights through `mp.prune keep 2 of 4`, along the innermost
    dimension that is summed over, of a convolution along channels, and where these
    are no multiple of 4 along its window: what sparse Tensor Cores expect. Without
    a multiple of 4 a weight stays as it is, with a remark
    (`--remarks-filter=mp`). `mp-check-erasure` takes an inserted `mp.prune` for its
    source.

    In a train step (`train=true`) the backward pass reads pruned weights as well.
    With `mask=magnitude` the gradient goes to all values, and those pruned may come
    back (the straight-through estimator; SR-STE of arXiv 2102.04010 without its
    decay); with `mask=fixed` what the first step prunes has no gradient, and stays
    0 (arXiv 2104.08378), and so do its moments, unless the gradient reaches the
    optimizer in pieces.

    Example (`--mp-prune`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x3xf32> {mp.role = "parameter"}, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
    becomes
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x3xf32> {mp.role = "parameter"}, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %p = mp.prune %w keep 2 of 4 axis 0 {inserted} : tensor<8x3xf32>
      %0 = linalg.matmul ins(%x, %p : tensor<4x8xf32>, tensor<8x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The function; may be left out where the module has one public function or a @main">,
    Option<"train", "train", "bool", "false", "The function is a train step">,
    Option<"mask", "mask", "::mlir::mp::PruneMask", "::mlir::mp::PruneMask::Magnitude",
           "magnitude, anew in each step, or fixed by the first step">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

def FactorWeights : Pass<"mp-factor-weights", "::mlir::ModuleOp"> {
  let summary = "Multiply by two factors of constant weights of low rank (changes values)";
  let description = [{
    Needs: contractions of f32 (linalg's, `tosa.matmul`, convolutions in linalg with
    a window of one element and steps of one) with a constant matrix, of which one
    loop is summed over (phase 0; `mp-fold-weights` before makes constants of transposed
    ones). Gives: phase 0 still, in which a product by W is one by U and then one
    by V (`mp.factored`): the singular vectors of the largest singular values of W,
    as many as are needed for what is left out to be at most `budget` of W's
    Frobenius norm, in eights. That is the best there is of this rank. It is done
    where both products are modelled to take less time than the one, in `format`,
    on the first part of `target`; a remark says so, or why a weight stays whole
    (`--remarks-filter=mp`).

    `mp.factored` states how far U V is from W, in f64, relative to W's norm: a
    result, the sum of the products of a row x, moves by at most that much of
    |x| |W|. Reports list it, the estimate of the error (`mp-assign-precision`)
    has it, and `mp-check-erasure` takes both products for the one by W only where
    the constants are no further off than stated, beside the rounding of factors
    in narrow formats. Bounds that are proved are of the graph with factors.

    Example (`--mp-factor-weights="budget=0.001 target=sm_80"`): a weight of rank
    1. There would be no time to gain in so small a product, and it stays whole.
    ```mlir
    func.func @small(%x: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %w = arith.constant dense<1.0> : tensor<4x4xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @small(%x: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %w = arith.constant dense<1.0> : tensor<4x4xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
  }];
  let options = [
    Option<"budget", "budget", "double", "0.01",
           "Share of a weight's Frobenius norm that may be left out">,
    Option<"target", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU whose times are compared">,
    Option<"format", "format", "::mlir::mp::OptionalFormat", "::mlir::mp::OptionalFormat()",
           "Format of the products whose times are compared: bf16, f16 or tf32; f32 if not given">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

#endif // MP_TRANSFORMS_QUANTIZE_PASSES
