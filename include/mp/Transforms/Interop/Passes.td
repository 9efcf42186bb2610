// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Towards other dialects, which know nothing of mp.

#ifndef MP_TRANSFORMS_INTEROP_PASSES
#define MP_TRANSFORMS_INTEROP_PASSES

include "mlir/Pass/PassBase.td"
include "mp/Transforms/Interop/HostPasses.td"
include "mp/Transforms/Interop/ReferencePasses.td"
include "mp/Transforms/Interop/RuntimePasses.td"

def ConvertMPToArith : Pass<"convert-mp-to-arith"> {
  let summary = "Lower casts between float formats to integer arithmetic (exact)";
  let description = [{
    Needs: `mp.cast` and `mp.round` on scalars and vectors; those on tensors become
    `linalg.generic` by `convert-elementwise-to-linalg` first, else this pass
    fails and says so. Gives: no `mp.cast` and no `mp.round` left, and no
    `arith.extf` or `arith.truncf` on scalars and vectors but the ones between f32
    and f64 that round to nearest even; the rest is integer arithmetic between
    `arith.bitcast`s (bodies of named linalg ops excepted, which are lowered with
    their op), so that no library function is called (LLVM's `fptrunc` to
    bf16 calls one that not every system has). Every format, rounding and
    overflow rule; results are those of lib/Numerics bit for bit, NaN included.

    Widening a format of at most 16 bits multiplies by a power of two in f32, which
    is exact as long as subnormals are not flushed.

    Example (`--convert-mp-to-arith`):
    ```mlir
    func.func @widen(%x: bf16) -> f32 {
      %0 = arith.extf %x : bf16 to f32
      return %0 : f32
    }
    ```
    becomes
    ```mlir
    func.func @widen(%arg0: bf16) -> f32 {
      %0 = arith.bitcast %arg0 : bf16 to i16
      %1 = arith.extui %0 : i16 to i32
      %c32767_i32 = arith.constant 32767 : i32
      %2 = arith.andi %1, %c32767_i32 : i32
      %c16_i32 = arith.constant 16 : i32
      %3 = arith.shli %1, %c16_i32 : i32
      %c32640_i32 = arith.constant 32640 : i32
      %4 = arith.cmpi ugt, %2, %c32640_i32 : i32
      %c4194304_i32 = arith.constant 4194304 : i32
      %5 = arith.ori %3, %c4194304_i32 : i32
      %6 = arith.select %4, %5, %3 : i32
      %7 = arith.bitcast %6 : i32 to f32
      return %7 : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::mp::MPDialect"];
}

def DecomposeSplit : Pass<"mp-decompose-words"> {
  let summary = "Expand split values into casts and differences (exact)";
  let description = [{
    Gives: no `mp.split_residual` and no `mp.join_split`; both act element by element, so
    casts and arithmetic on the same scalars, vectors or tensors take their place.

    Example (`--mp-decompose-words`):
    ```mlir
    func.func @low(%x: tensor<4xf32>, %high: tensor<4xbf16>) -> tensor<4xbf16> {
      %0 = mp.split_residual bf16 of %x after %high : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xbf16>
      return %0 : tensor<4xbf16>
    }
    ```
    becomes
    ```mlir
    func.func @low(%x: tensor<4xf32>, %high: tensor<4xbf16>) -> tensor<4xbf16> {
      %0 = mp.cast %high : tensor<4xbf16> to tensor<4xf32>
      %1 = arith.subf %x, %0 : tensor<4xf32>
      %2 = mp.cast ieee %1 : tensor<4xf32> to tensor<4xbf16>
      return %2 : tensor<4xbf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::mp::MPDialect"];
}

def CastsToUpstream : Pass<"mp-casts-to-upstream", "::mlir::ModuleOp"> {
  let summary = "Say casts with upstream ops alone, for other compilers (exact)";
  let description = [{
    Needs: phase 3 or 4. Gives: no op and no attribute of mp, and the same values.

    A widening cast becomes `arith.extf`, a narrowing one to nearest even with
    IEEE overflow `arith.truncf`; beside TOSA ops both become `tosa.cast`. Every
    other cast or rounding (saturation, other roundings, tf32) becomes a
    `linalg.generic` of integer arithmetic. No rounding attribute is written:
    it would lower to a constrained intrinsic.

    Example (`--mp-casts-to-upstream`):
    ```mlir
    func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
      %1 = mp.cast %0 {inserted} : tensor<4xbf16> to tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.truncf %x : tensor<4xf32> to tensor<4xbf16>
      %1 = arith.extf %0 : tensor<4xbf16> to tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect"];
}

def CheckBounds : Pass<"mp-check-bounds", "::mlir::ModuleOp"> {
  let summary = "Fail with a message where sizes or indices do not fit at run time (exact)";
  let description = [{
    Checks what would be undefined behaviour or an abort, unless it can be seen to be fine: a
    `cf.assert` that fails, an element or slice out of bounds, sizes of a structured op that do not
    fit each other, casts and reshapes to sizes that are not there, negative sizes, and an integer
    division by zero call `mp_rt_fail` with a number. The attribute `mp.runtime_checks` of that
    function holds the message of each number, from 1.

    Example (`--mp-check-bounds`):
    ```mlir
    func.func @four(%x: tensor<?xf32>) -> tensor<4xf32> {
      %0 = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    fails with "dimension 0 of a tensor.cast is not of size 4 at" and its location.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::memref::MemRefDialect"];
}

def ExpandReshapes : Pass<"mp-expand-reshapes"> {
  let summary = "Make views of reshapes that expand-strided-metadata cannot take (exact)";
  let description = [{
    Needs: buffers. A `memref.expand_shape` that splits one dimension into several of which
    more than one has a size known at run time only becomes a `memref.reinterpret_cast`.

    Example (`--mp-expand-reshapes`):
    ```mlir
    func.func @split(%x: memref<?xf32>, %a: index, %b: index) -> memref<?x?xf32> {
      %0 = memref.expand_shape %x [[0, 1]] output_shape [%a, %b] : memref<?xf32> into memref<?x?xf32>
      return %0 : memref<?x?xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def InlineSplats : Pass<"mp-inline-splats"> {
  let summary = "Let elementwise ops use the number that a constant tensor repeats (exact)";
  let description = [{
    Needs: elementwise ops as `linalg.generic`. Gives: none that reads a constant whose
    elements are all the same, which would be memory as large as the result. Ops that sum
    stay as they are, and so does what gives an op its sizes.

    Example (`--mp-inline-splats`):
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @halve(%x: tensor<4xf32>) -> tensor<4xf32> {
      %half = arith.constant dense<0.5> : tensor<4xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
           ins(%x, %half : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %1 = arith.mulf %a, %b : f32
        linalg.yield %1 : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @halve(%x: tensor<4xf32>) -> tensor<4xf32> {
      %half = arith.constant dense<0.5> : tensor<4xf32>
      %b = arith.constant 0.5 : f32
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
           ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
      ^bb0(%a: f32, %out: f32):
        %1 = arith.mulf %a, %b : f32
        linalg.yield %1 : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect"];
}

def FreeBuffers : Pass<"mp-free-buffers", "::mlir::ModuleOp"> {
  let summary = "Free buffers after their last use (exact)";
  let description = [{
    Needs: bufferized functions without `memref.dealloc`. Gives: what a function returns is its
    caller's, a fresh buffer or a copy, and other buffers are freed behind the op that uses them
    last. Where a loop or a block hands buffers on, or functions return them to each other,
    upstream's `buffer-deallocation-pipeline` does it, which frees at the end of the block.

    Example (`--mp-free-buffers`):
    ```mlir
    func.func @twice(%x: memref<4xf32>) -> memref<4xf32> {
      %a = memref.alloc() : memref<4xf32>
      linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>)
      %b = memref.alloc() : memref<4xf32>
      linalg.add ins(%a, %a : memref<4xf32>, memref<4xf32>) outs(%b : memref<4xf32>)
      %c = memref.alloc() : memref<4xf32>
      linalg.add ins(%b, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
      return %c : memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertCopiesToLinalg : Pass<"mp-convert-copies-to-linalg"> {
  let summary = "Turn memref.copy into a linalg copy, which becomes loops (exact)";
  let description = [{
    A copy between layouts would otherwise call a library function.

    Example (`--mp-convert-copies-to-linalg`):
    ```mlir
    func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>) {
      memref.copy %x, %y : memref<4xf32> to memref<4xf32>
      return
    }
    ```
    becomes
    ```mlir
    func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>) {
      linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]
      } ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FoldEmptyTensors : Pass<"mp-fold-empty-tensors"> {
  let summary = "Replace what computes tensors without elements by tensor.empty (exact)";
  let description = [{
    A ranked tensor with a static size of 0 holds nothing, so an op without side
    effects whose only result is one becomes `tensor.empty`. Empty parts of a
    `tensor.concat` and insertions of empty slices go away, and padding around
    nothing is a `tensor.generate`. Without this, lowering makes slices at offset 0
    of a dimension of size 0, or behind the last element, which upstream refuses.
    Sizes that are 0 only at run time need none of it.

    Padding by less than nothing, which exporters write to leave the ends of a
    dimension out, becomes a slice, padded on the sides where something is added:
    lowering would write beyond the ends of the result.

    Example (`--mp-fold-empty-tensors`):
    ```mlir
    func.func @sides(%x: tensor<0x4xf32>, %y: tensor<0x2xf32>) -> tensor<0x6xf32> {
      %0 = tensor.concat dim(1) %x, %y : (tensor<0x4xf32>, tensor<0x2xf32>) -> tensor<0x6xf32>
      return %0 : tensor<0x6xf32>
    }
    ```
    becomes
    ```mlir
    func.func @sides(%x: tensor<0x4xf32>, %y: tensor<0x2xf32>) -> tensor<0x6xf32> {
      %0 = tensor.empty() : tensor<0x6xf32>
      return %0 : tensor<0x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def DecomposeTransposeConv : Pass<"mp-decompose-transpose-conv"> {
  let summary = "Turn tosa.transpose_conv2d into convolutions (the same products, summed in "
                "another order)";
  let description = [{
    Upstream lowers no `tosa.transpose_conv2d` to linalg. A convolution with the reversed
    weights over the padded input is the same; with strides, one convolution for every
    phase of the result, whose channels are then put side by side. Sizes must be static, but for the
    batch.

    Example (`--mp-decompose-transpose-conv`):
    ```mlir
    func.func @up(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x5x5x3xf32> {
      %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
      %0 = tosa.transpose_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
      return %0 : tensor<1x5x5x3xf32>
    }
    ```
    becomes
    ```mlir
    func.func @up(%arg0: tensor<1x4x4x2xf32>, %arg1: tensor<3x2x2x2xf32>, %arg2: tensor<3xf32>) -> tensor<1x5x5x3xf32> {
      %0 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
      %1 = tosa.reverse %arg1 {axis = 1 : i32} : (tensor<3x2x2x2xf32>) -> tensor<3x2x2x2xf32>
      %2 = tosa.reverse %1 {axis = 2 : i32} : (tensor<3x2x2x2xf32>) -> tensor<3x2x2x2xf32>
      %3 = tosa.conv2d %arg0, %2, %arg2, %0, %0 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
      return %3 : tensor<1x5x5x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

def OutlineLoops : Pass<"mp-outline-loops", "::mlir::ModuleOp"> {
  let summary = "Move loop nests into functions, equal ones into the same (exact)";
  let description = [{
    Needs: loops over buffers (`scf.for`). Every outermost loop that neither calls
    anything (but `mp_rt_fail`) nor holds memory becomes a call of a private
    function, never inlined; what calls it is marked `optnone`, to be compiled quickly.
    Where the number of iterations is known, `mp.loop_work` says about how many operations a
    function executes, so that one that does little need not be optimised.
    LLVM takes quadratic time over long sequences of loops, and layers repeat.

    Example (`--mp-outline-loops`):
    ```mlir
    func.func @main(%x: memref<4xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %n step %c1 {
        memref.store %zero, %x[%i] : memref<4xf32>
      }
      return
    }
    ```
    becomes
    ```mlir
    func.func @main(%arg0: memref<4xf32>, %arg1: index) attributes {passthrough = ["noinline", "optnone"]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %cst = arith.constant 0.000000e+00 : f32
      call @loops(%arg0, %arg1) : (memref<4xf32>, index) -> ()
      return
    }
    func.func private @loops(%arg0: memref<4xf32>, %arg1: index) attributes {passthrough = ["noinline"]} {
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %arg2 = %c0 to %arg1 step %c1 {
        memref.store %cst, %arg0[%arg2] : memref<4xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def EmulateNarrowArithmetic : Pass<"mp-emulate-narrow-arithmetic"> {
  let summary = "Compute arith ops of formats of at most 16 bits in f32, rounding each result "
                "(exact)";
  let description = [{
    Every arith op on scalars or vectors of such a format, casts and constants
    excepted, widens its operands to f32, computes there, and rounds its result to
    nearest even. For one addition, subtraction, multiplication, division or
    comparison in bf16, f16 or fp8 that is the IEEE result: f32 has more than twice
    their digits. Integers become narrow floats through f64. `convert-mp-to-arith`
    lowers the casts.

    Example (`--mp-emulate-narrow-arithmetic`):
    ```mlir
    func.func @add(%x: f16, %y: f16) -> f16 {
      %0 = arith.addf %x, %y : f16
      return %0 : f16
    }
    ```
    becomes
    ```mlir
    func.func @add(%arg0: f16, %arg1: f16) -> f16 {
      %0 = arith.extf %arg1 : f16 to f32
      %1 = arith.extf %arg0 : f16 to f32
      %2 = arith.addf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      return %3 : f16
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // MP_TRANSFORMS_INTEROP_PASSES
