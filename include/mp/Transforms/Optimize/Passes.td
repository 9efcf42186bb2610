// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 4: casts moved and merged.

#ifndef MP_TRANSFORMS_OPTIMIZE_PASSES
#define MP_TRANSFORMS_OPTIMIZE_PASSES

include "mlir/Pass/PassBase.td"

def OptimizeCasts : Pass<"mp-optimize-casts"> {
  let summary = "Merge casts, move them to the smaller tensor, drop those that change nothing "
                "(exact)";
  let description = [{
    Needs: phase 3 (materialized). Keeps: every value bit for bit. Gives: phase 4.

    - One cast per value and format.
    - A cast that returns to a format which the middle one holds goes away, also
      where the user widened (`arith.extf`).
    - A narrowing cast moves through an op that only moves data when it then
      works on fewer elements: above a broadcast, below a slice.
    - A constant is stored in its final format.

    Linear in the number of ops; a second run changes nothing.

    Example (`--mp-optimize-casts`):
    ```mlir
    func.func @merges(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>) {
      %0 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
      %1 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
      return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
    }
    ```
    becomes
    ```mlir
    func.func @merges(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>) {
      %0 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
      return %0, %0 : tensor<4xbf16>, tensor<4xbf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

def Recompute : Pass<"mp-recompute", "::mlir::ModuleOp"> {
  let summary = "Compute values again rather than keep them, so that a function fits into memory "
                "(exact, unless narrow storage is allowed)";
  let description = [{
    Needs: functions of one block on tensors of known sizes; others stay. Gives: the
    same function, in which no more than `max-memory` bytes of what it computes
    live at a time, for the least modelled time that was found. Between the two of
    its uses that lie furthest apart each value is kept, or freed and computed again
    (`mp.recomputed`) right before the second one, from what is there by then, or
    with `narrow` stored in that format. What runs a second time is the same op on
    the same values, and nothing is computed again from what was stored narrow:
    without `narrow` results have the same bits. Ops with side effects run once.

    Bytes are those of op results, reshapes and slices aside, in blocks of 64 and
    with 64 more to align them, as the runtime allocates them; of arguments none,
    and none inside an op. Ops that write into an empty or filled tensor get one of
    their own. Times are modelled for the target. Up to 2^16 choices are all
    looked at; the remark, and `mp.memory_plan` on the function, say so
    (`--remarks-filter=mp`). A limit that cannot be kept is an error which says what
    could. `mp-check-erasure` takes an op marked `mp.recomputed` for the one of the
    same kind and operands before it.

    Example (`--mp-recompute="max-memory=12480"`):
    ```mlir
    func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %a = math.tanh %x : tensor<1024xf32>
      %b = math.sin %a : tensor<1024xf32>
      %c = math.cos %b : tensor<1024xf32>
      %d = math.exp %c : tensor<1024xf32>
      %e = arith.mulf %d, %b : tensor<1024xf32>
      %f = arith.mulf %e, %a : tensor<1024xf32>
      return %f : tensor<1024xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> attributes {mp.memory_plan = "peak 12480 bytes of 16640: 1 values computed again, 0 stored narrow, 16.66% more time (modelled), optimal; checkpoints alone 16.66%"} {
      %a = math.tanh %x : tensor<1024xf32>
      %b = math.sin %a : tensor<1024xf32>
      %c = math.cos %b : tensor<1024xf32>
      %d = math.exp %c : tensor<1024xf32>
      %e = arith.mulf %d, %b : tensor<1024xf32>
      %a2 = math.tanh %x {mp.recomputed} : tensor<1024xf32>
      %f = arith.mulf %e, %a2 : tensor<1024xf32>
      return %f : tensor<1024xf32>
    }
    ```
  }];
  let options = [
    Option<"maxMemory", "max-memory", "int64_t", "0",
           "Bytes that what a function computes may take at a time; 0: nothing is done">,
    Option<"narrow", "narrow", "::mlir::mp::OptionalStoredFormat",
           "::mlir::mp::OptionalStoredFormat()",
           "Format in which f32 values may be stored meanwhile: none, bf16 or f16">,
    Option<"late", "late", "bool", "false",
           "What is read late alone is computed late, not twice; mp-check-erasure does not follow">,
    Option<"chip", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "Whose times are compared">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

def ChooseLayouts : Pass<"mp-choose-layouts", "::mlir::ModuleOp"> {
  let summary = "Put channels last where kernels gain more by that than transpositions take "
                "(changes rounding: sums of convolutions are in another order)";
  let description = [{
    Needs: formats as they are computed in (phase 4), since bytes decide. Gives: the
    same graph, in which tensors around convolutions may have dimension 1 behind the
    others (NCHW becomes NHWC), so that kernels copy elements 16 bytes at a time
    where windows move.

    The choice is one assignment problem for each block: an op that computes as well
    in either order (convolutions, and what is structured, elementwise or a padding
    between them) has both, at the modelled time of its kernel; a value that is read
    in another order than it is stored in costs a transposition in its format, which
    is less where the kernel of a cast writes it (kernels that read or write through a
    transposition may save it: the price is the most it takes). Arguments, results and
    all other ops keep what they have. Weights that are constants cost nothing. The remark, and
    `mp.layout_plan` on the function, say what was chosen and what it is modelled to
    gain; where nothing is gained nothing changes.

    Sums over integers, elementwise ops and pooling keep every bit; a convolution of
    floats sums windows before channels. `mp-check-erasure` follows every value
    through its order of dimensions (`mp.layout`).

    Example (`--mp-choose-layouts`):
    ```mlir
    func.func @pointwise(%x: tensor<1x4x6x6xf32>, %w: tensor<8x4x3x3xf32>, %init: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
      %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) outs(%init : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
      return %0 : tensor<1x8x4x4xf32>
    }
    ```
  }];
  let options = [
    Option<"chip", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "Whose times are compared">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_OPTIMIZE_PASSES
