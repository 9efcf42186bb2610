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
    structured loops only, and it takes no `cf.switch`. Values that one way through the blocks
    leaves undefined, which nobody reads there, are `tensor.empty` or poison. Blocks without either
    stay.

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
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect"];
}

def ResolveCalls : Pass<"mp-resolve-calls", "::mlir::ModuleOp"> {
  let summary = "Turn calls of functions that are values into choices among calls (exact)";
  let description = [{
    Functions whose address is taken (`func.constant`) are numbered, values of function type become
    those numbers, and `func.call_indirect` an `scf.index_switch` over the functions of its type:
    bufferization takes calls of functions it knows only. A module whose public functions take or
    give functions stays.

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
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect"];
}

def PrepareVectors : Pass<"mp-prepare-vectors"> {
  let summary = "Take ops out of masks that are all true, and refuse vectors of scalable size "
                "(exact)";
  let description = [{
    Folding a `vector.mask` around an op without results whose mask is all true never ends upstream.
    Code for vectors of scalable size can be made neither for x86 nor for GPUs, and LLVM aborts.

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

def LowerRareFormats : Pass<"mp-lower-rare-formats"> {
  let summary = "Compute in fp8 and the like by integer arithmetic, where these formats occur "
                "(exact)";
  let description = [{
    Needs: scalars and vectors. If the op it runs on holds a cast of mp, or arithmetic in a
    format other than f16, bf16, f32 and f64, then math functions compute in f32, narrow
    arithmetic is emulated (`mp-emulate-narrow-arithmetic`) and casts become integer
    arithmetic (`convert-mp-to-arith`). Otherwise nothing changes: conversions of f16 and
    bf16 are single instructions of every target.

    Example (`--mp-lower-rare-formats`):
    ```mlir
    func.func @common(%x: f32) -> f16 {
      %0 = arith.truncf %x : f32 to f16
      return %0 : f16
    }
    ```
    becomes
    ```mlir
    func.func @common(%arg0: f32) -> f16 {
      %0 = arith.truncf %arg0 : f32 to f16
      return %0 : f16
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::mp::MPDialect"];
}

def PrepareForCPU : Pass<"mp-prepare-for-cpu", "::mlir::ModuleOp"> {
  let summary = "Rewrite what upstream's lowering to loops leaves behind or gets wrong (exact)";
  let description = [{
    Needs: linalg on tensors. `math.fpowi` by a constant becomes products, any
    other `math.powf`; contractions whose operands both come from `mp.round tf32`
    are marked `mp.operands_tf32`; arguments of public functions are marked as not writable,
    so that bufferization copies instead of overwriting the caller's data, and the
    functions get C wrappers. `memref.dealloc` goes: bufferization frees all buffers.

    Example (`--mp-prepare-for-cpu`):
    ```mlir
    func.func @square(%x: f32) -> f32 {
      %c2 = arith.constant 2 : i64
      %0 = math.fpowi %x, %c2 : f32, i64
      return %0 : f32
    }
    ```
    becomes
    ```mlir
    func.func @square(%arg0: f32) -> f32 attributes {llvm.emit_c_interface} {
      %c2_i64 = arith.constant 2 : i64
      %0 = arith.mulf %arg0, %arg0 : f32
      return %0 : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect"];
}

def LoadNarrowAsBits : Pass<"mp-load-narrow-as-bits", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Load bf16 as 16 bits (exact)";
  let description = [{
    Needs: `llvm.load` of bf16. Gives: loads of i16, and casts of their bits. LLVM 22
    for x86 takes the sign bit of a number loaded as bf16 for zero where no other bit
    is read, so that `copysign` loses it.

    Example (`--mp-load-narrow-as-bits`):
    ```mlir
    llvm.func @f(%p: !llvm.ptr) -> bf16 {
      %0 = llvm.load %p : !llvm.ptr -> bf16
      llvm.return %0 : bf16
    }
    ```
    becomes
    ```mlir
    llvm.func @f(%p: !llvm.ptr) -> bf16 {
      %0 = llvm.load %p : !llvm.ptr -> i16
      %1 = llvm.bitcast %0 : i16 to bf16
      llvm.return %1 : bf16
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // MP_TRANSFORMS_INTEROP_HOSTPASSES
