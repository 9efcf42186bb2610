// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Towards functions that a runtime or the C library has.

#ifndef MP_TRANSFORMS_INTEROP_RUNTIMEPASSES_TD
#define MP_TRANSFORMS_INTEROP_RUNTIMEPASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertContractionsToRuntime : Pass<"convert-contractions-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn contractions and convolutions on buffers into calls of libMPRuntime "
                "(changes rounding: order of sums)";
  let description = [{
    Needs: linalg on buffers. Every op whose body is `out + a * b`, a and b perhaps
    widened, with f32 or f64 results and indices that are sums of loop times
    constant, becomes a call of `mp_rt_contract` with sizes and strides: matrix
    products of any layout, contractions of any rank, convolutions without copying
    the image. Sums are taken in another, fixed order. Others are left alone.

    Example (`--convert-contractions-to-runtime`):
    ```mlir
    func.func @product(%x: memref<4x8xf32>, %w: memref<8x2xf32>, %out: memref<4x2xf32>) {
      linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x2xf32>) outs(%out : memref<4x2xf32>)
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def CallLibm : Pass<"mp-call-libm", "::mlir::ModuleOp"> {
  let summary = "Call the C library for functions that cancel when written out (exact)";
  let description = [{
    Needs: `math.expm1` and `math.log1p` on scalars of f32 or f64. Gives: calls of
    `expm1f`, `log1pf` and their f64 forms. Upstream's `convert-math-to-llvm` writes
    `exp(x) - 1` and `log(1 + x)` instead, which for small x have no digit right.

    Example (`--mp-call-libm`):
    ```mlir
    func.func @f(%x: f32) -> f32 {
      %0 = math.expm1 %x : f32
      return %0 : f32
    }
    ```
    becomes
    ```mlir
    func.func private @expm1f(f32) -> f32 attributes {llvm.readnone}
    func.func @f(%x: f32) -> f32 {
      %0 = call @expm1f(%x) : (f32) -> f32
      return %0 : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ConvertCheckToRuntime : Pass<"convert-check-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn expectations on buffers into calls of libMPRuntime (exact)";
  let description = [{
    Needs: ops of the check dialect on buffers and scalars. Each becomes a call
    of `mp_rt_expect_close`, `mp_rt_expect_bits` or `mp_rt_expect_finite` with
    sizes, strides, addresses and limits; scalars go through the stack. The first
    argument is the number of a message, as `mp_rt_fail` takes it: the attribute
    `mp.runtime_checks` of that function names op and location. With `device` buffers
    are memory of a device, which `mp_rt_device_mirror` copies to the host first.

    Example (`--convert-check-to-runtime`):
    ```mlir
    func.func @close(%x: memref<4xf32>, %y: memref<4xf32>) {
      check.expect_close %x, %y ulp 2 : memref<4xf32>
      return
    }
    ```
  }];
  let options = [
    Option<"device", "device", "bool", "false", "Buffers are memory of a device">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertCommToRuntime : Pass<"convert-comm-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn collectives on buffers into calls of libMPRuntime (exact)";
  let description = [{
    Needs: ops of the comm dialect on buffers. Each becomes a call of `mp_rt_all_reduce`,
    `mp_rt_all_gather` or `mp_rt_reduce_scatter` (`_wide` where it sums in a wider format)
    with addresses and sizes; a buffer that is not dense goes through one that is. `comm.rank`
    becomes a call of `mp_rt_rank`.

    Example (`--convert-comm-to-runtime`):
    ```mlir
    func.func @whole(%part: memref<4xf32>, %sum: memref<4xf32>) attributes {comm.ranks = 2 : i64} {
      comm.all_reduce sum ins(%part : memref<4xf32>) outs(%sum : memref<4xf32>)
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // MP_TRANSFORMS_INTEROP_RUNTIMEPASSES_TD
