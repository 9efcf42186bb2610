// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites before deciding, on request: scaled formats, and ranges that deciding can rely on.

#ifndef MP_TRANSFORMS_PREPARE_PASSES
#define MP_TRANSFORMS_PREPARE_PASSES

include "mlir/Pass/PassBase.td"

def InsertScaling : Pass<"mp-insert-scaling", "::mlir::ModuleOp"> {
  let summary = "Let contractions work on scaled values (changes rounding)";
  let description = [{
    Needs: phase 0 (input). Gives: phase 0 still, in which the contractions that
    pins, policy and classes would narrow work on quantised operands, as the
    recipe says (docs/concepts/Scaling.md): products of matrices become
    `mp.scaled_matmul`; other contractions, and those of recipes for weights alone,
    keep their op and read operands through `mp.quantize` and `mp.dequantize`.
    Constants are quantised ahead of time; every other operand is scaled by its own
    magnitude at run time, from the value in f32, or with `scales` by one that
    `mp-run --calibrate` measured: there every operand must have been. Whatever a recipe cannot
    scale stays as it is, with a remark (`--remarks-filter=mp`), and so does a contraction whose
    result chooses indices, as a router's does (argmax or top-k behind it): of few bits it sends
    rows elsewhere. `mp.scaled_error` on the function is the modelled mean square error of its
    results by what was scaled, relative to their own, for `mp-assign-precision`, which takes it
    away; NaN where codes are integers, of which there is no model.

    Example (`--mp-insert-scaling`):
    ```mlir
    func.func @dense(%x: tensor<4x2xf32>, %init: tensor<4x1xf32>) -> tensor<4x1xf32> {
      %w = arith.constant dense<[[1.0], [-2.0]]> : tensor<2x1xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x1xf32>) outs(%init : tensor<4x1xf32>) -> tensor<4x1xf32>
      return %0 : tensor<4x1xf32>
    }
    ```
    becomes
    ```mlir
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @dense(%x: tensor<4x2xf32>, %init: tensor<4x1xf32>) -> tensor<4x1xf32> attributes {mp.scaled_error = 0.0013137124269109969 : f64} {
      %q, %s = mp.block_quantize %x by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> {inserted} : tensor<4x2xf32> to tensor<4x2xf8E4M3FN>, tensor<f32>
      %w = arith.constant dense<[[2.240000e+02], [-4.480000e+02]]> : tensor<2x1xf8E4M3FN>
      %sw = arith.constant dense<0.00446428591> : tensor<f32>
      %0 = mp.scaled_matmul %q by(%s) with %w by(%sw) onto %init maps [#a, #b, #c] {inserted} : tensor<4x2xf8E4M3FN> by(tensor<f32>) with tensor<2x1xf8E4M3FN> by(tensor<f32>) to tensor<4x1xf32>
      return %0 : tensor<4x1xf32>
    }
    ```
  }];
  let options = [
    Option<"recipe", "recipe", "::mlir::mp::RecipeName", "\"current\"",
        "What is stored scaled, and how (docs/concepts/Scaling.md)">,
    Option<"format", "format", "::mlir::mp::OptionalScaledFormat",
           "::mlir::mp::OptionalScaledFormat()",
           "fp8 format of recipes that store fp8: e4m3 (if empty) or e5m2">,
    Option<"scalesFile", "scales", "std::string", "\"\"",
           "Magnitudes that mp-run --calibrate wrote, for recipes with one scale per activation">,
    Option<"target", "target", "::mpcore::target::TargetName", "\"\"",
           "GPU the result is meant for; sm_80 if the policy names none">,
    Option<"policyFile", "policy", "std::string", "\"\"",
           "Built-in policy or policy file, whose rules keep contractions wide "
           "(docs/reference/Policies.md)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

def PrescaleNorms : Pass<"mp-prescale-norms", "::mlir::ModuleOp"> {
  let summary = "Take norms whose squares would overflow of values times powers of two (exact "
                "short of overflow and underflow)";
  let description = [{
    Needs: phase 0 (input). Gives: phase 0 still. Where the range known of x says
    that its squares, or their sum, may leave the format they are computed in (or
    that of a contraction that is to be narrow), and they lead to square roots and
    reciprocal square roots alone, squares are taken of x times 2^-k, constants that are added to
    them are taken times 2^-2k, and what is behind the root is multiplied back. k
    is the least that does. Both multiplications are `linalg.generic` marked
    `mp.prescaled`; every other op, and its order, stays. Results are the same bit for bit where
    nothing overflows or underflows, and numbers where the squares
    would have been infinite. A norm that cannot be followed, or whose epsilon
    would leave the normal numbers, stays as it is, with a remark.

    Example (`--mp-prescale-norms`):
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    #none = affine_map<(d0) -> ()>
    func.func @length(%x: tensor<4xf32> {mp.range = [-1.0e20, 1.0e20]}) -> tensor<f32> {
      %zero = arith.constant dense<0.0> : tensor<f32>
      %s = linalg.generic {indexing_maps = [#map, #none], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%zero : tensor<f32>) {
      ^bb0(%a: f32, %sum: f32):
        %1 = arith.mulf %a, %a : f32
        %2 = arith.addf %sum, %1 : f32
        linalg.yield %2 : f32
      } -> tensor<f32>
      %0 = math.sqrt %s : tensor<f32>
      return %0 : tensor<f32>
    }
    ```
    becomes
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    #none = affine_map<(d0) -> ()>
    #scalar = affine_map<() -> ()>
    func.func @length(%x: tensor<4xf32> {mp.range = [-1.0e20, 1.0e20]}) -> tensor<f32> {
      %zero = arith.constant dense<0.0> : tensor<f32>
      %p = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) attrs = {mp.prescaled = "norm"} {
      ^bb0(%a: f32, %out: f32):
        %c = arith.constant 0.0625 : f32
        %1 = arith.mulf %a, %c : f32
        linalg.yield %1 : f32
      } -> tensor<4xf32>
      %s = linalg.generic {indexing_maps = [#map, #none], iterator_types = ["reduction"]} ins(%p : tensor<4xf32>) outs(%zero : tensor<f32>) {
      ^bb0(%a: f32, %sum: f32):
        %1 = arith.mulf %a, %a : f32
        %2 = arith.addf %sum, %1 : f32
        linalg.yield %2 : f32
      } -> tensor<f32>
      %r = math.sqrt %s : tensor<f32>
      %0 = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%r : tensor<f32>) outs(%r : tensor<f32>) attrs = {mp.prescaled = "root"} {
      ^bb0(%a: f32, %out: f32):
        %c = arith.constant 1.600000e+01 : f32
        %1 = arith.mulf %a, %c : f32
        linalg.yield %1 : f32
      } -> tensor<f32>
      return %0 : tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"format", "format", "::mlir::mp::OptionalFormat", "::mlir::mp::ContractionFormat::F16",
           "Narrow format of contractions">,
    Option<"target", "target", "::mpcore::target::TargetName", "\"\"",
           "GPU the result is meant for; sm_80 if the policy names none">,
    Option<"policyFile", "policy", "std::string", "\"\"",
           "Built-in policy or policy file (docs/reference/Policies.md)">,
    Option<"promote", "promote", "::mlir::mp::Switch", "::mlir::mp::Switch::On",
           "Whether what is narrow already will compute in f32 inside: on or off">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::mp::MPDialect"];
}

def InsertClamps : Pass<"mp-insert-clamps", "::mlir::ModuleOp"> {
  let summary = "Clamp what contractions would read in f16 without evidence of range (changes "
                "what overflows)";
  let description = [{
    Needs: phase 0 (input). Gives: phase 0 still, in which every factor of a
    contraction that `mp-assign-precision` would leave in f32 for want of evidence
    (docs/concepts/Ranges.md) is read through a saturating cast to f16 and back, one for all
    readers. What lies within the range of f16 is rounded as the contraction
    would round it, to the last bit; what lies beyond becomes the largest number of
    f16, infinities too; NaN stays. Everybody else reads what was there before.
    A value that a meant infinity reaches (a mask's constant) is not clamped, nor
    are constants, and the contraction stays in f32, with a remark. Formats with the range of
    f32 need no evidence: there nothing happens.

    Example (`--mp-insert-clamps`):
    ```mlir
    func.func @grows(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %e = math.exp %x : tensor<4x4xf32>
      %0 = linalg.matmul ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @grows(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %e = math.exp %x : tensor<4x4xf32>
      %c = mp.cast saturate %e {inserted} : tensor<4x4xf32> to tensor<4x4xf16>
      %r = mp.cast %c {inserted} : tensor<4x4xf16> to tensor<4x4xf32>
      %0 = linalg.matmul ins(%r, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
  }];
  let options = [
    Option<"format", "format", "::mlir::mp::OptionalFormat", "::mlir::mp::ContractionFormat::F16",
           "Narrow format of contractions">,
    Option<"target", "target", "::mpcore::target::TargetName", "\"\"",
           "GPU the result is meant for; sm_80 if the policy names none">,
    Option<"policyFile", "policy", "std::string", "\"\"",
           "Built-in policy or policy file, which says what counts as evidence "
           "(docs/reference/Policies.md)">,
    Option<"maxUnderflow", "max-underflow", "double", "1e-3",
           "Largest fraction of a constant's non-zero elements that rounding may turn into zero">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

def CountLoops : Pass<"mp-count-loops", "::mlir::ModuleOp"> {
  let summary = "Write loops that count as scf.for (exact)";
  let description = [{
    Needs: phase 0 (input). Gives: phase 0 still, in which loops count on the host. Frontends write
    every loop as scf.while over tensors, its counter among them as a tensor without dimensions
    (JAX's `scan` and `fori_loop`): how often it runs would be known to nobody, and a GPU would be
    asked before each turn. Tensors without dimensions of integers that a loop computes of
    constants, and of one another, become scalars; a loop that runs while such a counter is below
    a bound from outside, and adds one to it, becomes scf.for.

    Example (`--mp-count-loops`):
    ```mlir
    #none = affine_map<() -> ()>
    func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = arith.constant dense<0> : tensor<i32>
      %one = arith.constant dense<1> : tensor<i32>
      %two = arith.constant 2 : i32
      %r:2 = scf.while (%i = %zero, %v = %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
        %out = tensor.empty() : tensor<i1>
        %less = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%i : tensor<i32>) outs(%out : tensor<i1>) {
        ^bb0(%a: i32, %b: i1):
          %1 = arith.cmpi slt, %a, %two : i32
          linalg.yield %1 : i1
        } -> tensor<i1>
        %go = tensor.extract %less[] : tensor<i1>
        scf.condition(%go) %i, %v : tensor<i32>, tensor<4xf32>
      } do {
      ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
        %next = arith.addi %i, %one : tensor<i32>
        %w = arith.addf %v, %v : tensor<4xf32>
        scf.yield %next, %w : tensor<i32>, tensor<4xf32>
      }
      return %r#1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x) -> (tensor<4xf32>) {
        %w = arith.addf %v, %v : tensor<4xf32>
        scf.yield %w : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowDoubles : Pass<"mp-narrow-doubles", "::mlir::ModuleOp"> {
  let summary = "Compute in f32 what a graph computes in f64 (changes rounding)";
  let description = [{
    Needs: phase 0 (input). Gives: phase 0 still, in which ops of arith, math, linalg, tensor, tosa
    and scf compute in f32 where they did in f64. Frontends widen by themselves: torch-mlir takes
    variances of norms in f64, which costs a GPU up to 64 times as much as f32. Casts between f32
    and f64 fold. Signatures, calls, branches and what reads bits stay in f64, behind casts.
    Constants round to nearest; what is finite stays so, as the largest number of f32, so that
    the lowest f64, which a maximum begins with, becomes the lowest f32. What f64 was needed for
    (counts above 2^24, differences of large sums) is lost: that is why nobody runs it unasked.
    Remarks say how many ops of each function it narrows, and which stay (`--remarks-filter=mp`).

    Example (`--mp-narrow-doubles`):
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    #none = affine_map<(d0) -> ()>
    func.func @sum(%x: tensor<8xf32>) -> f32 {
      %zero = arith.constant dense<0.0> : tensor<f64>
      %w = arith.extf %x : tensor<8xf32> to tensor<8xf64>
      %s = linalg.generic {indexing_maps = [#map, #none], iterator_types = ["reduction"]} ins(%w : tensor<8xf64>) outs(%zero : tensor<f64>) {
      ^bb0(%a: f64, %sum: f64):
        %1 = arith.addf %sum, %a : f64
        linalg.yield %1 : f64
      } -> tensor<f64>
      %e = tensor.extract %s[] : tensor<f64>
      %r = arith.truncf %e : f64 to f32
      return %r : f32
    }
    ```
    becomes
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    #none = affine_map<(d0) -> ()>
    func.func @sum(%x: tensor<8xf32>) -> f32 {
      %zero = arith.constant dense<0.0> : tensor<f32>
      %s = linalg.generic {indexing_maps = [#map, #none], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%zero : tensor<f32>) {
      ^bb0(%a: f32, %sum: f32):
        %1 = arith.addf %sum, %a : f32
        linalg.yield %1 : f32
      } -> tensor<f32>
      %e = tensor.extract %s[] : tensor<f32>
      return %e : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // MP_TRANSFORMS_PREPARE_PASSES
