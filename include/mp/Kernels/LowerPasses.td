// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From loops in a kernel to PTX.

#ifndef MP_KERNELS_LOWERPASSES_TD
#define MP_KERNELS_LOWERPASSES_TD

include "mlir/Pass/PassBase.td"

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
    in either class. Ops that `mp-choose-functions` marked (`mpk.approximate`) are instructions
    whatever is asked for, quotients `div.full` or a product with `rcp.approx`.

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
           "What functions become">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

def KeepExcessPrecision : Pass<"mp-keep-excess-precision"> {
  let summary = "Compute bf16 and f16 in f32, rounding only what leaves registers (inexact)";
  let description = [{
    Needs: a kernel after `mp-lower-device-math`. Gives: arithmetic in bf16 and f16 in f32, and a
    value that is rounded to either and widened again in registers is not rounded. What is stored,
    handed to Tensor Cores or carried by a loop is. Formats of 8 bits and tf32 are left alone:
    programs that use them mean the rounding. XLA calls this xla_allow_excess_precision.

    Example (`--mp-keep-excess-precision`):
    ```mlir
    func.func @f(%x: bf16, %y: bf16) -> bf16 {
      %0 = arith.addf %x, %y : bf16
      %1 = arith.mulf %0, %y : bf16
      return %1 : bf16
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: bf16, %y: bf16) -> bf16 {
      %0 = arith.extf %y fastmath<contract> : bf16 to f32
      %1 = arith.extf %x fastmath<contract> : bf16 to f32
      %2 = arith.addf %1, %0 : f32
      %3 = arith.mulf %2, %0 : f32
      %4 = arith.truncf %3 fastmath<contract> : f32 to bf16
      return %4 : bf16
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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
  let options = [
    Option<"refinesRoots", "refine-roots", "bool", "true",
           "Whether 1 / sqrt(x) starts from the GPU's approximate root; a CPU computes the two "
           "operations, which have the same bits: true or false">
  ];
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
    Option<"target", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">,
    Option<"emit", "emit", "::mlir::mp::EmitFormat", "::mlir::mp::EmitFormat::PTX",
           "What the binary holds">,
    Option<"dir", "dir", "std::string", "\"\"", "Folder for the files; created if missing">,
    Option<"optLevel", "opt-level", "unsigned", "3", "LLVM optimisation level, 0 to 3">,
    Option<"allowSpills", "allow-spills", "bool", "false",
           "Warn about spilled registers instead of failing">,
    Option<"leaveSpilled", "leave-spilled", "bool", "false",
           "Leave kernels as they are if some spill: `mpk.spilled` of the module names them">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // MP_KERNELS_LOWERPASSES_TD
