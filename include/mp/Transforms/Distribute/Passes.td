// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs for many ranks, which meet in collectives.

#ifndef MP_TRANSFORMS_DISTRIBUTE_PASSES
#define MP_TRANSFORMS_DISTRIBUTE_PASSES

include "mlir/Pass/PassBase.td"

def Partition : Pass<"mp-partition", "::mlir::ModuleOp"> {
  let summary = "Let ranks compute parts of a function's tensors and meet in collectives (changes "
                "rounding)";
  let description = [{
    Needs: a function of one block on tensors (`--inline`), training ops decomposed
    (`--mp-decompose-training`). Gives: the same function for one of `ranks` ranks. An argument with
    `comm.shard = d` is held in parts along dimension d, all others whole. Each op is
    computed on parts where one of its loops runs over a part of each operand, chosen for the least
    bytes that ranks exchange; where that loop is reduced, ranks combine what they have
    (`comm.all_reduce`). A part of what is whole is cut out without an exchange; where an op needs
    the whole of what is held in parts, ranks gather it (`comm.all_gather`). What ranks have to
    combine waits for ops that move it or sum up more of it, and is combined into parts
    (`comm.reduce_scatter`) if a result held in parts is computed from it element by element. So the
    known schemes follow from what is held in parts:

    - `batch`: arguments that hold examples, along dimension 0: data parallel. Gradients and
      statistics of a batch are combined as they arise, so that every rank sees the same loss,
      overflow and loss scale.
    - `optimizer-state`: moments and masters of the optimizer (ZeRO 1; gradients are then combined
      into parts, `comm.reduce_scatter`, which is ZeRO 2).
    - `parameters`: parameters, too (ZeRO 3).
    - `comm.shard = 1` on the weight of a layer, `comm.shard = 0` on the next one's: tensor parallel
      by columns, then by rows.

    Results that replace an argument (`mp.state`, found as in any train step where nothing says it)
    are held as that argument is, all others whole. A
    dimension must be a multiple of `ranks`. Sums over a dimension that is held in parts are in
    another order than those of the whole function, and in the same whatever number of processes
    hosts the ranks.

    Example (`--mp-partition=ranks=2`):
    ```mlir
    func.func @gradient(%x: tensor<8x4xf32> {comm.shard = 1 : i64}, %d: tensor<4x2xf32> {comm.shard = 0 : i64}) -> tensor<8x2xf32> {
      %zero = arith.constant dense<0.0> : tensor<8x2xf32>
      %0 = linalg.matmul ins(%x, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%zero : tensor<8x2xf32>) -> tensor<8x2xf32>
      return %0 : tensor<8x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @gradient(%x: tensor<8x2xf32> {comm.shard = 1 : i64}, %d: tensor<2x2xf32> {comm.shard = 0 : i64}) -> tensor<8x2xf32> attributes {comm.ranks = 2 : i64} {
      %zero = arith.constant dense<0.0> : tensor<8x2xf32>
      %own = linalg.matmul ins(%x, %d : tensor<8x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<8x2xf32>) -> tensor<8x2xf32>
      %empty = tensor.empty() : tensor<8x2xf32>
      %0 = comm.all_reduce sum ins(%own : tensor<8x2xf32>) outs(%empty : tensor<8x2xf32>) -> tensor<8x2xf32>
      return %0 : tensor<8x2xf32>
    }
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "0", "Ranks that run the function together">,
    Option<"function", "function", "std::string", "\"\"",
           "The function; may be left out where the module has one public function or a @main">,
    Option<"batch", "batch", "bool", "false",
           "Hold arguments that are neither state nor numbers in parts along dimension 0">,
    Option<"optimizerState", "optimizer-state", "bool", "false",
           "Hold moments and masters of the optimizer in parts along the first dimension that can "
           "be cut">,
    Option<"parameters", "parameters", "bool", "false",
           "Hold parameters in parts along the first dimension that can be cut">
  ];
  let dependentDialects = ["::mlir::mp::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def NarrowGradients : Pass<"mp-narrow-gradients", "::mlir::ModuleOp"> {
  let summary = "Let ranks send gradients in bf16 or fp8, and what that takes away with the next "
                "ones (changes rounding)";
  let description = [{
    Needs: a train step that `mp-partition` made. Gradients are sums over ranks of f32, of more than
    one element, that parameters move by and no contraction reads; there must be one. Gives: each
    rank rounds g + e, its gradient and what is left over from earlier steps, sends that, and keeps
    what rounding took away as the next e. What ranks receive is summed in f32, in the order of
    `comm.all_reduce`; where all need the sum, its owner rounds it once more, with an e of its own,
    and sends that back. So what the optimizer has been given, and all e, are together what it would
    have been given, but for the rounding of g + e in f32.

    8-bit formats are scaled by a power of two, agreed by all ranks: the largest magnitude
    of a tensor comes to lie in the binade below the format's uppermost one.

    e is state (`gradient_residual`), each rank's its own, so that checkpoints have it. Where the
    loss is scaled, e is kept without the scale, exactly as long as that is a power of two. Where a
    sum is infinite or NaN, as in a step that is skipped, every e stays as it was.

    Example (`--mp-narrow-gradients=format=bf16`):
    ```mlir
    func.func @step(%w: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %g: tensor<4xf32>) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
      %empty = tensor.empty() : tensor<4xf32>
      %all = comm.all_reduce sum ins(%g : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      %0 = arith.subf %w, %all : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"format", "format", "::mlir::mp::SentFormat", "::mlir::mp::SentFormat::BF16",
           "bf16, f8E4M3FN or f8E5M2">,
    Option<"function", "function", "std::string", "\"\"",
           "The function; may be left out where the module has one public function or a @main">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::mp::comm::CommDialect",
                           "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def Pipeline : Pass<"mp-pipeline", "::mlir::ModuleOp"> {
  let summary = "Let each rank run one stage of a step on one micro-batch after the other (exact)";
  let description = [{
    Needs: a train step that `mp-partition` made with `batch=true` alone, and `mp.state` on its
    arguments (`--mp-annotate-roles`, before). Its ranks are read as micro-batches. Gives: a step
    for `stages` ranks with the bits of the ranks' step. A rank runs its part of the forward and the
    backward pass for each micro-batch, sums up gradients as ranks do (a balanced tree over
    micro-batches), and updates what it holds.

    - The forward pass, all that the loss is computed from, is cut before contractions so that the
      stage that computes longest, forward and backward, does so as shortly as it can (modelled for
      `target`), or so that arguments with `comm.stage` are read by that stage. What is computed
      from examples and constants alone is computed by every stage that reads it.
    - A value of the backward pass is computed by the first of the stages that have what it is
      computed from, the gradient of a parameter where that is read; what is computed from sums of
      gradients, where the largest of them is.
    - State is held where its next value is made (`comm.stage` on arguments and results). A stage
      that reads what another holds or makes is sent it, once for each micro-batch (`comm.send`,
      `comm.receive`).

    A stage runs one micro-batch backward as soon as it can, after one forward (1F1B), so that stage
    i of p holds activations of at most p - i. With `all-forward` it runs all of them forward first
    (GPipe). Both give the same bits. Where micro-batches meet before the backward pass is done
    (statistics of a batch), that is an error.

    Example (`--mp-pipeline=stages=1`):
    ```mlir
    func.func @step(%w: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<4xf32> {comm.shard = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
      %empty = tensor.empty() : tensor<4xf32>
      %y = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      %loss = comm.all_reduce sum ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      %gradient = comm.all_reduce sum ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      %0 = arith.subf %w, %gradient : tensor<4xf32>
      return %0, %loss : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "0", "Ranks that run the function together">,
    Option<"chip", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU for which stages come to equal times">,
    Option<"allForward", "all-forward", "bool", "false",
           "Run all micro-batches forward before one runs backward">,
    Option<"function", "function", "std::string", "\"\"",
           "The function; may be left out where the module has one public function or a @main">
  ];
  let dependentDialects = ["::mlir::mp::comm::CommDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_DISTRIBUTE_PASSES
