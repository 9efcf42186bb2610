// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases 5 and 6: dispatches, kernels, PTX.

#ifndef MP_KERNELS_PASSES
#define MP_KERNELS_PASSES

include "mlir/Pass/PassBase.td"
include "mp/Kernels/Families/Passes.td"

def DecomposeAggregates : Pass<"mp-decompose-aggregates", "::mlir::func::FuncOp"> {
  let summary = "Write softmax, packing and other aggregate tensor ops as loops (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: no op that implements
    `AggregatedOpInterface`, no `linalg.pack`, `unpack` or `winograd_*`, no
    `tensor.gather` and no `tensor.scatter` is left, and
    every linalg op left has a form as a loop nest; one that has none is an error
    that names it (upstream's lowering leaves it behind without a word).

    Example (`--mp-decompose-aggregates`): `linalg.softmax` becomes a row
    maximum, a subtraction with exponential, a row sum and a division.
    ```mlir
    func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %e = tensor.empty() : tensor<4x8xf32>
      %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect"];
}

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
    accumulators carry `mpk.mma`, the name of the operand format. Contractions
    that stay on the scalar units get a remark with the reason. One that starts
    from zeros writes its result into a fresh buffer (`mpk.fresh`).

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
    Option<"target", "target", "std::string", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">
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
    cast into the contraction, which then reads f32. With `reductions=false` nothing is fused into
    what sums either: on the CPU a sum of products would become a contraction, whose order of
    summation is another.

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

def EmitContractions : Pass<"mp-emit-contractions", "::mlir::ModuleOp"> {
  let summary = "Write contractions marked mpk.mma as Tensor Core kernels";
  let description = [{
    Needs: buffers; `linalg.generic` ops marked `mpk.mma`. Gives: one `gpu.func` per
    distinct contraction in `gpu.module @mp_kernels` and a `gpu.launch_func` in place
    of each op. Ragged sizes are guarded, dynamic ones are arguments. Tiles are the
    performance model's, or what `mpk.schedule = #mpk.schedule<matmul, "...">` pins.

    The accumulators start from zero and take the products in ascending order of
    the flattened reduction, one instruction's k at a time; what `outs` held is
    added last, in f32, unless the op carries `mpk.fresh`.

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
    Option<"target", "target", "std::string", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">
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
           "Order in which the points run",
           [{::llvm::cl::values(
             clEnumValN(::mlir::mp::ThreadOrder::Forward, "forward", "first point first"),
             clEnumValN(::mlir::mp::ThreadOrder::Reverse, "reverse", "last point first"))}]>
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

def ScalarizeVectors : Pass<"mp-scalarize-vectors"> {
  let summary = "Compute elementwise ops on vectors element by element (exact)";
  let description = [{
    Needs: kernels. Gives: no elementwise op on a vector is left, so that whatever
    lowers scalars (formats, functions) sees them; a thread of a GPU computes scalars
    anyway. Reductions over some dimensions become those of rows, in order; products and
    moves of vectors stay.

    Example (`--mp-scalarize-vectors --canonicalize`):
    ```mlir
    func.func @f(%x: vector<2xf32>) -> f32 {
      %0 = math.exp %x : vector<2xf32>
      %1 = vector.extract %0[1] : f32 from vector<2xf32>
      return %1 : f32
    }
    ```
    becomes
    ```mlir
    func.func @f(%arg0: vector<2xf32>) -> f32 {
      %0 = vector.extract %arg0[1] : f32 from vector<2xf32>
      %1 = math.exp %0 : f32
      return %1 : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::math::MathDialect"];
}

def LowerKernelCasts : Pass<"mp-lower-kernel-casts"> {
  let summary = "Lower scalar mp.cast and mp.round to arith (exact)";
  let description = [{
    Needs: scalar or vector `mp.cast` and `mp.round`. Gives: `arith` ops with the
    same result. Casts among f64, f32, f16 and bf16 that round to nearest even
    under IEEE overflow become `arith.truncf` and `arith.extf`; `mp.round tf32`
    becomes integer arithmetic on the bits. Anything else is left for
    `convert-mp-to-arith`.

    Example (`--mp-lower-kernel-casts`):
    ```mlir
    func.func @f(%x: f32) -> bf16 {
      %0 = mp.cast ieee %x : f32 to bf16
      return %0 : bf16
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: f32) -> bf16 {
      %0 = arith.truncf %x : f32 to bf16
      return %0 : bf16
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandMath : Pass<"mp-expand-math"> {
  let summary = "Write math functions as polynomials in arith (changes rounding within stated "
                "bounds)";
  let description = [{
    Needs: scalar `math` ops on f16, bf16, f32, f64. Gives: `arith`, `math.fma`, rounding
    functions and `math.sqrt` only, with the same bits on a CPU and a GPU. Narrow types compute in
    f32 and round once. Bounds for f32 and f64, in ULP of the result, are measured by the tests and
    listed in docs/reference/Math.md. `math.erfc` on f64 has no expansion and is left as it is.

    `accuracy=approximate` takes the GPU's own instructions for `exp`, `exp2`, `log`,
    `log2`, `log10`, `tanh` and `rsqrt` instead; other functions have none that is
    useful on their whole range and stay polynomials, and `sqrt` is correctly rounded
    in either class.

    Example (`--mp-expand-math`): `math.rsqrt` is a correctly rounded root and division.
    ```mlir
    func.func @f(%x: f32) -> f32 {
      %0 = math.rsqrt %x : f32
      return %0 : f32
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: f32) -> f32 {
      %one = arith.constant 1.000000e+00 : f32
      %0 = math.sqrt %x : f32
      %1 = arith.divf %one, %0 : f32
      return %1 : f32
    }
    ```
  }];
  let options = [
    Option<"accuracy", "accuracy", "::mlir::mp::MathAccuracy", "::mlir::mp::MathAccuracy::Exact",
           "What functions become",
           [{::llvm::cl::values(
             clEnumValN(::mlir::mp::MathAccuracy::Exact, "exact",
                        "polynomials, the same bits everywhere"),
             clEnumValN(::mlir::mp::MathAccuracy::Approximate, "approximate",
                        "approximate instructions of the GPU where there are any"))}]>
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

def LowerDeviceMath : Pass<"mp-lower-device-math"> {
  let summary = "Map the math ops left after expansion to LLVM intrinsics the GPU has (exact)";
  let description = [{
    Needs: a kernel after `mp-expand-math`. Gives: no `math` op; `math.sqrt` is the
    correctly rounded root, never `sqrt.approx`, which upstream's lowering through
    libdevice silently takes. A `math` op it does not know is an error.

    Example (`--mp-lower-device-math`):
    ```mlir
    func.func @f(%x: f32) -> f32 {
      %0 = math.floor %x : f32
      return %0 : f32
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: f32) -> f32 {
      %0 = llvm.call_intrinsic "llvm.floor"(%x) : (f32) -> f32
      return %0 : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def VerifyKernels : Pass<"mp-verify-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Check that lowered kernels call nothing and hold nothing unlowered";
  let description = [{
    Needs: kernels lowered to the LLVM and NVVM dialects. Fails on an op of another
    dialect (a conversion that was left behind), a call of a function that is not
    defined in the module (`__nv_*`, `malloc`), an indirect call, and an
    approximate square root. `__assertfail` is the driver's and allowed.

    Example: `builtin.module(gpu.module(mp-verify-kernels))` accepts
    ```mlir
    gpu.module @mp_kernels {
      llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
        llvm.return
      }
    }
    ```
  }];
}

def EmitKernels : Pass<"mp-emit-kernels", "::mlir::ModuleOp"> {
  let summary = "Translate kernels to PTX, and with ptxas to machine code";
  let description = [{
    Needs: `gpu.module`s in the LLVM and NVVM dialects. Gives: a `gpu.binary` in
    place of each, holding PTX (`emit=ptx`), a cubin or a fat binary; with `dir`
    also the file DIR/NAME.ptx, .cubin or .fatbin, written whole or not at all.

    PTX needs no CUDA toolkit. cubin and fatbin need `ptxas` (and `fatbinary`) in PATH, CUDA_ROOT,
    CUDA_HOME or CUDA_PATH; without it the error says so. Fails when ptxas reports spills (a kernel
    that it makes spill with registers to spare is assembled again for one block), and when PTX
    holds an unresolved function, an indirect call or an approximate square root. What ptxas warns
    of is a warning; resources of each kernel are remarks (`--remarks-filter=mp-emit-kernels`).

    Example (`--mp-emit-kernels="target=sm_80 emit=ptx"`):
    ```mlir
    module {
      gpu.module @mp_kernels {
        llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
          llvm.return
        }
      }
    }
    ```
    becomes `gpu.binary @mp_kernels [#gpu.object<#nvvm.target<chip = "sm_80">, assembly = "...">]`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">,
    Option<"emit", "emit", "::mlir::mp::EmitFormat", "::mlir::mp::EmitFormat::PTX",
           "What the binary holds",
           [{::llvm::cl::values(
             clEnumValN(::mlir::mp::EmitFormat::PTX, "ptx", "PTX assembly"),
             clEnumValN(::mlir::mp::EmitFormat::Cubin, "cubin", "machine code of one architecture"),
             clEnumValN(::mlir::mp::EmitFormat::Fatbin, "fatbin", "machine code and PTX"))}]>,
    Option<"dir", "dir", "std::string", "\"\"", "Folder for the files; created if missing">,
    Option<"optLevel", "opt-level", "unsigned", "3", "LLVM optimisation level, 0 to 3">,
    Option<"allowSpills", "allow-spills", "bool", "false",
           "Warn about spilled registers instead of failing">,
    Option<"leaveSpilled", "leave-spilled", "bool", "false",
           "Leave kernels as they are if some spill: `mpk.spilled` of the module names them">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // MP_KERNELS_PASSES
