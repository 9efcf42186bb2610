// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases 5 and 6: dispatches, kernels, PTX.

#ifndef MP_KERNELS_PASSES
#define MP_KERNELS_PASSES

include "mlir/Pass/PassBase.td"
include "mp/Kernels/DispatchPasses.td"
include "mp/Kernels/Families/Passes.td"
include "mp/Kernels/LowerPasses.td"

def ProtectArguments : Pass<"mp-protect-arguments", "::mlir::ModuleOp"> {
  let summary = "Keep bufferization from writing into the caller's buffers (exact)";
  let description = [{
    Needs: functions on tensors. Gives: every tensor argument of a public
    function carries `bufferization.writable = false` unless the caller gave it
    away with `bufferization.writable = true`.

    Without it `linalg.add ins(%x, %y) outs(%x)` overwrites the argument: right
    once, wrong at the second call. For the same reason
    `bufferization.materialize_in_destination` into such an argument becomes its
    source. A tensor that is cast to one without rank, which functions of others
    take, is copied first, and so are the contents of a buffer that is read as a
    tensor without being `restrict`: others may write to it. So is an argument of a
    block that other blocks read: upstream's analysis (LLVM 22) lets them write in
    its place before.

    Example (`--mp-protect-arguments`):
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def SelectContractions : Pass<"mp-select-contractions", "::mlir::ModuleOp"> {
  let summary = "Mark the contractions that a target's mma.sync can run (exact)";
  let description = [{
    Needs: linalg on tensors, casts still visible as ops (`mp.round tf32` says
    that f32 operands may run as tf32). Gives: every product-and-sum, whatever
    its spelling (named, generic, transposed, batched, convolution), is a
    `linalg.generic`; those that the target's Tensor Cores can run with f32
    accumulators carry `mpk.mma`, the name of the operand format. Where a target
    has f16 products and none of e4m3 and e5m2, operands of these are widened to
    f16, exactly, with a remark. Contractions that stay on the scalar units get a
    remark with the reason. With `sparse=true` those with a constant factor of which
    two of each four elements are not zero carry `mpk.two_of_four`, its number: what
    forms dispatches takes the time of `mma.sp` for theirs where that is less. One
    that starts from zeros writes its result into a fresh buffer (`mpk.fresh`).

    A contraction qualifies when its body is exactly one multiplication and one
    addition in f32 (operands widened from the narrow format), its result is
    f32, and every index expression is linear in the loops.

    Example (`--mp-select-contractions="target=sm_80"`):
    ```mlir
    func.func @mm(%a: tensor<64x32xbf16>, %b: tensor<32x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = linalg.matmul ins(%a, %b : tensor<64x32xbf16>, tensor<32x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
    ```
    becomes a `linalg.generic` with `mpk.mma = "bf16"`.
  }];
  let options = [
    Option<"target", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">,
    Option<"sparse", "sparse", "bool", "false",
           "Mark contractions of which two of four weights are not zero">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FuseElementwise : Pass<"mp-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise producers into their consumers, contractions excepted (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: fewer, larger `linalg.generic` ops.

    Named ops that do not reduce become generics first. A producer is fused when the consumer is its
    only user and does not repeat its work (a broadcast of a costly value is computed once, not per
    element). Nothing is fused into an op marked `mpk.mma`: upstream's fusion would pull a narrowing
    cast into the contraction, which then reads f32. What only widens to f64 is fused into each of
    its readers, since its result takes at least twice the bytes of what it reads. With
    `reductions=false` nothing is fused into what sums either: on the CPU a sum of products would
    become a contraction, whose order of summation is another.

    Example (`--mp-fuse-elementwise`): the two generics of `exp(x + y)` become one.
    ```mlir
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %x, %y : tensor<4xf32>
      %1 = math.exp %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"reductions", "reductions", "bool", "true", "Fuse into ops that reduce, too">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
}

def FoldWeights : Pass<"mp-fold-weights"> {
  let summary = "Compute what mp.prune, mp.cast and transpositions make of constants (exact)";
  let description = [{
    Needs: any module. Gives: constants in place of `mp.prune`, `mp.cast` and
    `linalg.transpose` of constants, resources too, one behind the other, so that kernels can
    be chosen by what weights hold
    (`mp-emit-contractions`, `sparse`). Casts that round by random bits stay. Exact: the bits
    that the ops give when they run.

    Example (`--mp-fold-weights`):
    ```mlir
    func.func @f() -> tensor<4xbf16> {
      %w = arith.constant dense<[1.0, -3.0, 0.5, 3.0]> : tensor<4xf32>
      %0 = mp.prune %w keep 2 of 4 axis 0 : tensor<4xf32>
      %1 = mp.cast ieee %0 : tensor<4xf32> to tensor<4xbf16>
      return %1 : tensor<4xbf16>
    }
    ```
    becomes
    ```mlir
    func.func @f() -> tensor<4xbf16> {
      %w = arith.constant dense<[1.0, -3.0, 0.5, 3.0]> : tensor<4xf32>
      %0 = arith.constant dense<[0.0, -3.0, 0.0, 3.0]> : tensor<4xf32>
      %1 = arith.constant dense<[0.0, -3.0, 0.0, 3.0]> : tensor<4xbf16>
      return %1 : tensor<4xbf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def EmitContractions : Pass<"mp-emit-contractions", "::mlir::ModuleOp"> {
  let summary = "Write contractions marked mpk.mma as Tensor Core kernels";
  let description = [{
    Needs: buffers; `linalg.generic` ops marked `mpk.mma`. Gives: one `gpu.func` per
    distinct contraction in `gpu.module @mp_kernels` and a `gpu.launch_func` in place
    of each op. Ragged sizes are guarded, dynamic ones are arguments. Tiles are the
    performance model's, or what `mpk.schedule = #mpk.schedule<matmul, "...">` pins.

    The accumulators start from zero and take the products in ascending order of
    the flattened reduction, one instruction's k at a time; what `outs` held is
    added last, in f32, unless the op carries `mpk.fresh`. With `sums=tree` warps of
    a block (`slices` of the schedule) or blocks (`split-k`) may share a sum of floats:
    what each has of it is added in pairs of neighbours, then pairs of these.

    With `sparse=true` a factor that is a constant of which at most two of each four
    along the sum are not zero is stored as these two and metadata (`mpk.sparse`), and
    multiplied by `mma.sp`, which has it for A, if that is modelled to be faster. What
    zeros would be multiplied by is not read: infinities and NaN there leave no NaN. A
    remark of category `mp-dispatches`, `sparse-product`, says which, or why not.

    Kernel arguments: the A, B and C buffers (static shapes whole, others as
    their base), then as `index`, dynamic ones only: for each loop of batch, rows,
    columns and reduction its size and its steps in A, B, C; the offsets of A, B,
    C. Buffers that are function arguments must be 16-byte aligned.

    Example (`--mp-emit-contractions="target=sm_80"`):
    ```mlir
    #a = affine_map<(m, n, k) -> (m, k)>
    #b = affine_map<(m, n, k) -> (k, n)>
    #c = affine_map<(m, n, k) -> (m, n)>
    func.func @mm(%a: memref<64x32xbf16>, %b: memref<32x64xbf16>, %c: memref<64x64xf32>) {
      linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
          ins(%a, %b : memref<64x32xbf16>, memref<32x64xbf16>) outs(%c : memref<64x64xf32>) {
      ^bb0(%x: bf16, %y: bf16, %z: f32):
        %0 = arith.extf %x : bf16 to f32
        %1 = arith.extf %y : bf16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %z, %2 : f32
        linalg.yield %3 : f32
      }
      return
    }
    ```
  }];
  let options = [
    Option<"target", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">,
    Option<"sums", "sums", "::mlir::mp::SumOrder", "::mlir::mp::SumOrder::Ordered",
           "Order of sums of floats">,
    Option<"sparse", "sparse", "bool", "false",
           "Multiply by constant weights with two of each four zero as mma.sp does">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def LinalgToLoops : Pass<"mp-linalg-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Write linalg ops and copies on buffers as parallel loops (exact)";
  let description = [{
    Needs: buffers. Gives: no linalg op and no `memref.copy` is left. A loop is
    parallel only if every output map is a projection that keeps it; a parallel
    dimension that an output drops would be a race and becomes sequential.
    Reductions accumulate in registers, in ascending order.

    Example (`--mp-linalg-to-loops --canonicalize`):
    ```mlir
    func.func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
      linalg.exp ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
      return
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c8) step (%c1, %c1) {
        %0 = memref.load %x[%i, %j] : memref<4x8xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %y[%i, %j] : memref<4x8xf32>
        scf.reduce
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def ParallelToFor : Pass<"mp-parallel-to-for"> {
  let summary = "Run parallel loops in a chosen order on one thread (exact)";
  let description = [{
    Needs: `scf.parallel` without results. Gives: `scf.for` nests that visit the
    points in ascending or, with `order=reverse`, descending order. Both orders
    must give the same result: that is how tests on a CPU find races between
    the threads of a kernel.

    Example (`--mp-parallel-to-for="order=reverse"`): point `i` of 0 to 4 runs as `3 - i`.
    ```mlir
    func.func @f(%x: memref<4xf32>, %v: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
        memref.store %v, %x[%i] : memref<4xf32>
      }
      return
    }
    ```
  }];
  let options = [
    Option<"order", "order", "::mlir::mp::ThreadOrder", "::mlir::mp::ThreadOrder::Forward",
           "Order in which the points run">
  ];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def MapToLaunch : Pass<"mp-map-to-launch", "::mlir::func::FuncOp"> {
  let summary = "Turn parallel loops and what else touches buffers into launches (exact)";
  let description = [{
    Needs: buffers, parallel loops (`mp-linalg-to-loops`). Gives: every outermost
    `scf.parallel` is a `gpu.launch` of 256 threads a block with one guarded point
    a thread, last dimension fastest; inner parallel loops are sequential. Loads,
    stores and loop nests that no thread owns form one-thread launches. A value
    that host control flow or a size needs is read back: its `memref.load` stays
    and carries `mpk.host_read`.

    Example (`--mp-map-to-launch`): 300 points become 2 blocks, the last guarded.
    ```mlir
    func.func @f(%x: memref<300xf32>, %v: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c300 = arith.constant 300 : index
      scf.parallel (%i) = (%c0) to (%c300) step (%c1) {
        memref.store %v, %x[%i] : memref<300xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def OutlineKernels : Pass<"mp-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move launches into named kernels of one module, equal ones once (exact)";
  let description = [{
    Needs: `gpu.launch` ops. Gives: `gpu.module @mp_kernels` with one `gpu.func` per
    distinct kernel and a `gpu.launch_func` per launch. Constants move into the
    kernel. Buffers of static shape are one argument each (a bare pointer in
    PTX); one with dynamic sizes, strides or offset is its base (rank 0)
    followed by offset, sizes and strides as `index`, dynamic ones only, in this
    order. Names are `FUNCTION_N` with N counting kernels, over `[A-Za-z0-9_]`.

    Example (`--mp-map-to-launch --mp-outline-kernels`):
    ```mlir
    func.func @fill(%x: memref<300xf32>, %v: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c300 = arith.constant 300 : index
      scf.parallel (%i) = (%c0) to (%c300) step (%c1) {
        memref.store %v, %x[%i] : memref<300xf32>
      }
      return
    }
    ```
    becomes a launch of `@mp_kernels::@fill_0 args(%x : memref<300xf32>, %v : f32)`.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def VerifyHost : Pass<"mp-verify-host", "::mlir::ModuleOp"> {
  let summary = "Check that no computation on buffers is left outside kernels";
  let description = [{
    Needs: outlined kernels. Fails on host code that would touch device memory:
    `memref.load` without `mpk.host_read`, `memref.store`, linalg, parallel loops,
    vector accesses. Changes nothing.

    Example (`--mp-verify-host`): accepted, nothing but address arithmetic.
    ```mlir
    func.func @f(%x: memref<4x4xf32>) -> memref<2x4xf32, strided<[4, 1]>> {
      %0 = memref.subview %x[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
      return %0 : memref<2x4xf32, strided<[4, 1]>>
    }
    ```
  }];
}

#endif // MP_KERNELS_PASSES
