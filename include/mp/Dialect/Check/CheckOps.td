// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expectations inside programs: what a value must be when the program runs.

#ifndef MP_DIALECT_CHECK_OPS
#define MP_DIALECT_CHECK_OPS

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::mlir::mp";
  let summary = "Expectations about values, for tests that run";
  let description = [{
    An op of this dialect compares values while the program runs, under `mp-run`
    or ahead of time compiled with libMPRuntime. The first expectation that does
    not hold ends the run with exit status 1 and one message: where the op is, how
    many elements fail, and of the first of them the index, what was expected and
    what was found, as numbers and as bit patterns.

    To the deciding passes the ops are barriers (class B): their operands keep
    their types, so an expectation on an f32 value holds or fails the same before
    and after `mp-mixed-precision` inserted casts around it. The reference that
    `mp-run --compare=f64` computes drops them.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, !listconcat(traits, [
        // The write is the message; it keeps the op where it is.
        MemoryEffects<[MemRead, MemWrite]>,
        DeclareOpInterfaceMethods<BufferizableOpInterface, [
            "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
            "bufferize"]>])> {
  let hasVerifier = 1;
  // Buffers are read as tensors are; nothing is written.
  let extraClassDefinition = [{
    bool $cppClass::bufferizesToMemoryRead(::mlir::OpOperand &,
                                           const ::mlir::bufferization::AnalysisState &) {
      return true;
    }
    bool $cppClass::bufferizesToMemoryWrite(::mlir::OpOperand &,
                                            const ::mlir::bufferization::AnalysisState &) {
      return false;
    }
    ::mlir::bufferization::AliasingValueList
    $cppClass::getAliasingValues(::mlir::OpOperand &,
                                 const ::mlir::bufferization::AnalysisState &) {
      return {};
    }
    ::llvm::LogicalResult
    $cppClass::bufferize(::mlir::RewriterBase &rewriter,
                         const ::mlir::bufferization::BufferizationOptions &options,
                         ::mlir::bufferization::BufferizationState &state) {
      return detail::readBuffers(*this, rewriter, options, state);
    }
  }];
}

def Check_Floats : AnyTypeOf<[AnyFloat, TensorOf<[AnyFloat]>, MemRefOf<[AnyFloat]>],
                             "float, or tensor or buffer of floats">;
def Check_Values : AnyTypeOf<[AnyFloat, AnyInteger, TensorOf<[AnyFloat, AnyInteger]>,
                              MemRefOf<[AnyFloat, AnyInteger]>],
                             "float or integer, or tensor or buffer of them">;

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "Expect every element within stated distances of another value";
  let description = [{
    An element passes when it meets one of the limits given:
    - `ulp N`: at most N representable values of the element format lie on the way
      from the expected value to the actual one. +0 and -0 are 0 apart, infinity
      is one step from the largest value.
    - `rel X`: |actual - expected| <= X * |expected|.
    - `abs X`: |actual - expected| <= X.

    NaN passes where NaN is expected and fails elsewhere. An infinity meets `rel`
    and `abs` only where the same infinity is expected.

    Constraints:
    - (C1) at least one limit is given, each at most once and not negative.
    - (C2) elements are floats of at most 64 bits.

    Example:
    ```mlir
    func.func @halves(%x: tensor<4xf32>) {
      %half = arith.constant dense<0.5> : tensor<4xf32>
      %two = arith.constant dense<2.0> : tensor<4xf32>
      %0 = arith.mulf %x, %half : tensor<4xf32>
      %1 = arith.divf %x, %two : tensor<4xf32>
      check.expect_close %0, %1 ulp 0 : tensor<4xf32>
      check.expect_close %0, %1 rel 1.0e-6 abs 1.0e-30 : tensor<4xf32>
      return
    }
    ```
  }];
  let arguments = (ins Check_Floats:$actual, Check_Floats:$expected,
                       OptionalAttr<I64Attr>:$ulp, OptionalAttr<F64Attr>:$rel,
                       OptionalAttr<F64Attr>:$abs);
  let assemblyFormat = [{
    $actual `,` $expected oilist(`ulp` $ulp | `rel` $rel | `abs` $abs) attr-dict
    `:` type($actual)
  }];
}

def Check_ExpectFiniteOp : Check_Op<"expect_finite"> {
  let summary = "Expect neither infinity nor NaN";
  let description = [{
    Every element is a finite number.

    Constraints:
    - (C1) elements are floats of at most 64 bits.

    Example:
    ```mlir
    func.func @stays_finite(%x: tensor<4xf16>) {
      %0 = arith.addf %x, %x : tensor<4xf16>
      check.expect_finite %0 : tensor<4xf16>
      return
    }
    ```
  }];
  let arguments = (ins Check_Floats:$actual);
  let assemblyFormat = "$actual attr-dict `:` type($actual)";
}

def Check_ExpectBitsOp : Check_Op<"expect_bits", [SameTypeOperands]> {
  let summary = "Expect the same bit patterns";
  let description = [{
    Every element has exactly the bits of the expected one: -0 is not +0, and a NaN
    equals only the same NaN. Works on floats and on integers.

    Constraints:
    - (C1) elements have at most 64 bits.

    Example:
    ```mlir
    func.func @rounds_to_even() {
      %x = arith.constant dense<[1.00390625, 1.01171875]> : tensor<2xf32>
      %0 = mp.cast ieee %x : tensor<2xf32> to tensor<2xbf16>
      %1 = arith.constant dense<[1.0, 1.015625]> : tensor<2xbf16>
      check.expect_bits %0, %1 : tensor<2xbf16>
      return
    }
    ```
  }];
  let arguments = (ins Check_Values:$actual, Check_Values:$expected);
  let assemblyFormat = "$actual `,` $expected attr-dict `:` type($actual)";
}

#endif // MP_DIALECT_CHECK_OPS
