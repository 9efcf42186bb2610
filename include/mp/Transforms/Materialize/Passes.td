// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 3: decisions become types, casts and scales.

#ifndef MP_TRANSFORMS_MATERIALIZE_PASSES
#define MP_TRANSFORMS_MATERIALIZE_PASSES

include "mlir/Pass/PassBase.td"

def InsertCasts : Pass<"mp-insert-casts", "::mlir::ModuleOp"> {
  let summary = "Rebuild functions so that types and casts say what mp.precision decided (changes "
                "rounding)";
  let description = [{
    Needs: phase 2 (assigned): every op with float operands or results outside
    linalg bodies carries `mp.precision`; a function without any is left alone,
    one where some are missing is an error that names the op. Gives: phase 3, no
    `mp.precision` left, every cast marked `inserted`.

    The new function is built beside the old one with a value map and swapped in;
    nothing is retyped in place. One cast per value and format. With `saturate-constants`
    a constant that overflows its format, and holds no infinity, is clamped, and says of how
    many elements in `mp.saturated`; a cast of what is made of one by moves saturates.

    Example (`--mp-insert-casts`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {mp.phase = "assigned"} {
      %w = arith.constant {mp.precision = #mp.precision<in = [], compute = f32, out = [bf16], by = class "B">} dense<0.1> : tensor<8x2xf32>
      %0 = linalg.matmul {mp.precision = #mp.precision<in = [bf16, bf16, f32], compute = bf16, acc = f32, out = [f32], by = class "T">}
                         ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {mp.phase = "materialized"} {
      %xn = mp.cast ieee %x {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
      %wn = arith.constant dense<0.1> : tensor<8x2xbf16>
      %0 = linalg.matmul ins(%xn, %wn : tensor<4x8xbf16>, tensor<8x2xbf16>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
  }];
  let options = [
    Option<"saturateConstants", "saturate-constants", "bool", "false",
           "Clamp constants that overflow instead of making infinities of what does">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitContractions : Pass<"mp-split-contractions", "::mlir::ModuleOp"> {
  let summary = "Compute f32 contractions as several narrow products (changes rounding)";
  let description = [{
    Needs: `mp.split` on f32 contractions (a person's wish, or decided by
    `mp-assign-precision`), else changes nothing. Gives: none left; each is a sum of
    split products (docs/concepts/SplitPrecision.md), accurate as f32 and run by Tensor Cores:
    `bf16x3` two parts a factor and 3 products, `bf16x6` three parts and 6, `bf16x9`
    all 9, `tf32x3` two parts of tf32 and 3.

    The smaller products are summed in one accumulator, the smallest first, the
    leading one in another; `mp.join_split` adds them, and then what the contraction
    added to. Any contraction goes, by structure: named, generic, batched,
    convolutions; of those of TOSA, whose results have the format of the factors,
    only `tf32x3`. Parts of constants are constants; readers of a value share its
    parts. A contraction that cannot be split is an error that says why.

    Example (`--mp-split-contractions`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = linalg.matmul {mp.split = "bf16x3"} ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %w0 = mp.cast ieee %w {inserted} : tensor<8x2xf32> to tensor<8x2xbf16>
      %w1 = mp.split_residual bf16 of %w after %w0 {inserted} : (tensor<8x2xf32>, tensor<8x2xbf16>) -> tensor<8x2xbf16>
      %x0 = mp.cast ieee %x {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
      %x1 = mp.split_residual bf16 of %x after %x0 {inserted} : (tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
      %zero = arith.constant 0.0 : f32
      %zeros = linalg.fill ins(%zero : f32) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      %0 = linalg.matmul ins(%x1, %w0 : tensor<4x8xbf16>, tensor<8x2xbf16>)
                         outs(%zeros : tensor<4x2xf32>) -> tensor<4x2xf32>
      %small = linalg.matmul ins(%x0, %w1 : tensor<4x8xbf16>, tensor<8x2xbf16>)
                             outs(%0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %large = linalg.matmul ins(%x0, %w0 : tensor<4x8xbf16>, tensor<8x2xbf16>)
                             outs(%zeros : tensor<4x2xf32>) -> tensor<4x2xf32>
      %1 = mp.join_split %large, %small, %init {inserted} : tensor<4x2xf32>
      return %1 : tensor<4x2xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ScaleContractions : Pass<"mp-scale-contractions", "::mlir::ModuleOp"> {
  let summary = "Compute f32 contractions on factors that are stored scaled (changes rounding)";
  let description = [{
    Needs: `mp.scaled` on f32 contractions (a person's wish, or decided by
    `mp-assign-precision`), else changes nothing. Gives: none left; each is a
    `mp.scaled_matmul` on factors stored as the recipe says that `mp.scaled` names, as
    by mp-insert-scaling. Magnitudes in its place mean `f16-pow2`: a factor is
    multiplied by the power of two that takes the magnitude to between 2^14 and 2^15, or for 0
    its own largest one, found in the graph; constants ahead of time. That is exact
    but for what becomes smaller than f16 holds (docs/concepts/Scaling.md). Readers of a value
    share what it was made into.

    Example (`--mp-scale-contractions`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = linalg.matmul {mp.scaled = array<f64: 1.0e6, 0.0>} ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
    becomes
    ```mlir
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %wq, %ws = mp.block_quantize %w by <form = encode, pow2 = down, on_zero = one, on_nonfinite = propagate, largest = 3.276800e+04, limit = f32> {inserted} : tensor<8x2xf32> to tensor<8x2xf16>, tensor<f32>
      %enc = arith.constant dense<3.125000e-02> : tensor<f32>
      %xs = arith.constant dense<3.200000e+01> : tensor<f32>
      %xq = mp.quantize ieee %x by %enc {inserted} : tensor<4x8xf32>, tensor<f32> to tensor<4x8xf16>
      %0 = mp.scaled_matmul %xq by(%xs) with %wq by(%ws) onto %init maps [#a, #b, #c] {inserted} : tensor<4x8xf16> by(tensor<f32>) with tensor<8x2xf16> by(tensor<f32>) to tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_MATERIALIZE_PASSES
