// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that write a program as upstream's lowering can take it.

#ifndef MP_TRANSFORMS_INTEROP_HOSTPASSES
#define MP_TRANSFORMS_INTEROP_HOSTPASSES

include "mlir/Pass/PassBase.td"

def LiftBlockLoops : Pass<"mp-lift-block-loops", "::mlir::func::FuncOp"> {
  let summary = "Write loops of blocks as scf.while (exact)";
  let description = [{
    A region whose blocks lead back to themselves (`cf.br`, `cf.cond_br`, `cf.switch`;
    loops with several entries or exits, too) becomes structured, as
    `lift-cf-to-scf` would make it: bufferization on the host frees memory in
    structured loops only, and it takes no `cf.switch`. Values that one way through the blocks leaves undefined,
    which nobody reads there, are `tensor.empty` or poison. Blocks without either stay.

    Example (`--mp-lift-block-loops`):
    ```mlir
    func.func @halve_until_small(%x: f32) -> f32 {
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      cf.br ^again(%x : f32)
    ^again(%y: f32):
      %z = arith.mulf %y, %half : f32
      %large = arith.cmpf ogt, %z, %one : f32
      cf.cond_br %large, ^again(%z : f32), ^done
    ^done:
      return %z : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect"];
}

def ResolveCalls : Pass<"mp-resolve-calls", "::mlir::ModuleOp"> {
  let summary = "Turn calls of functions that are values into choices among calls (exact)";
  let description = [{
    Functions whose address is taken (`func.constant`) are numbered, values of function type become those
    numbers, and `func.call_indirect` an `scf.index_switch` over the functions of its type: bufferization
    takes calls of functions it knows only. A module whose public functions take or give functions stays.

    Example (`--mp-resolve-calls`):
    ```mlir
    func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %f = func.constant @double : (tensor<4xf32>) -> tensor<4xf32>
      %0 = call_indirect %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def PrepareVectors : Pass<"mp-prepare-vectors"> {
  let summary = "Take ops out of masks that are all true, and refuse vectors of scalable size (exact)";
  let description = [{
    Folding a `vector.mask` around an op without results whose mask is all true never ends upstream. Code
    for vectors of scalable size can be made neither for x86 nor for GPUs, and LLVM aborts.

    Example (`--mp-prepare-vectors`):
    ```mlir
    func.func @store(%v: vector<4xf32>, %to: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %all = arith.constant dense<true> : vector<4xi1>
      vector.mask %all { vector.transfer_write %v, %to[%c0] : vector<4xf32>, memref<4xf32> } : vector<4xi1>
      return
    }
    ```
    becomes
    ```mlir
    func.func @store(%v: vector<4xf32>, %to: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %all = arith.constant dense<true> : vector<4xi1>
      vector.transfer_write %v, %to[%c0] : vector<4xf32>, memref<4xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect"];
}

#endif // MP_TRANSFORMS_INTEROP_HOSTPASSES
