// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mpk dialect: parts of a graph that run as one kernel each, and how.

#ifndef MP_DIALECT_MPK_OPS
#define MP_DIALECT_MPK_OPS

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MPK_Dialect : Dialect {
  let name = "mpk";
  let cppNamespace = "::mlir::mp::mpk";
  let summary = "Dispatches: ops that run as one kernel, and the schedule of that kernel";
  let description = [{
    `mpk.dispatch` draws a line around ops on tensors that become one kernel. The
    ops inside are those that were there before: what a dispatch means is what its
    body says, and a body put back in its place (`mp-inline-dispatches`) computes the
    same. `#mpk.schedule` says how the kernel is to be written.

    Discardable attributes of the dialect:
    - `mpk.mma` (string) on a contraction: the operand format of the matrix instruction
      that runs it.
    - `mpk.fresh` (unit) on such a contraction: what its destination held is not added.
    - `mpk.schedule` (`#mpk.schedule`) on such a contraction: how its kernel must be written.
    - `mpk.host_read` (unit) on a load: the host reads the element back.
    - `mpk.buffers` (integer) on a function: bytes of its buffer plan.
    - `mpk.host_type` on a function: its type before it was lowered.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def MPK_Family : I32EnumAttr<"Family", "Ways to write a kernel", [
  I32EnumAttrCase<"Map", 0, "map">,
  I32EnumAttrCase<"Transpose", 1, "transpose">,
  I32EnumAttrCase<"Rows", 2, "rows">,
  I32EnumAttrCase<"Reduce", 3, "reduce">,
  I32EnumAttrCase<"Matmul", 4, "matmul">,
  I32EnumAttrCase<"Attention", 5, "attention">
]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::mp::mpk";
}

def MPK_ScheduleAttr : AttrDef<MPK_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a kernel is written: a family of kernels and its settings";
  let description = [{
    The family, and settings in the words of the performance model's schedules
    (mp/Performance/Schedule.h) without the first one; what is left out has the default.

    Example: `#mpk.schedule<rows, "threads-per-row=128 rows-per-block=2">`.
  }];
  let parameters = (ins EnumParameter<MPK_Family>:$family,
                        StringRefParameter<"", [{""}]>:$settings);
  let assemblyFormat = "`<` $family (`,` $settings^)? `>`";
}

class MPK_Op<string mnemonic, list<Trait> traits = []> : Op<MPK_Dialect, mnemonic, traits>;

def MPK_DispatchOp : MPK_Op<"dispatch", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize",
      "hasTensorSemantics"]>]> {
  let summary = "Run ops on tensors as one kernel";
  let description = [{
    The body has an argument for each operand, inputs before outputs, and computes on
    tensors; it yields what the outputs hold in the end. What an output held before
    is its argument in the body. Scalars are inputs, too.

    On tensors, each result is an output with its new contents. Bufferization makes
    operands buffers and drops the results; the body stays as it was and says what
    is to be read from and written to those buffers (see `mp-bufferize`).

    Constraints:
    - (C1) the arguments of the body are the operands, buffers as tensors of their shape
      and elements, and it yields the types of the outputs.
    - (C2) ops of the body are of the dialects affine, arith, linalg, math, mp and tensor, or
      `cf.assert`, so that it has no effects but its results, and may fail.
    - (C3) operands are tensors or buffers, not both.

    Example:
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @square(%x: tensor<64xf32>) -> tensor<64xf32> {
      %e = tensor.empty() : tensor<64xf32>
      %0 = mpk.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
          schedule = <map, "vector=16"> -> tensor<64xf32> {
      ^bb0(%in: tensor<64xf32>, %out: tensor<64xf32>):
        %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
            ins(%in : tensor<64xf32>) outs(%out : tensor<64xf32>) {
        ^bb0(%a: f32, %b: f32):
          %2 = arith.mulf %a, %a : f32
          linalg.yield %2 : f32
        } -> tensor<64xf32>
        mpk.yield %1 : tensor<64xf32>
      }
      return %0 : tensor<64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef, AnyInteger, Index,
                                            AnyFloat, AnyComplex]>>:$inputs,
                       Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$outputs,
                       OptionalAttr<MPK_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    (`schedule` `=` $schedule^)? attr-dict-with-keyword (`->` type($results)^)? $body
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    /// Returns what the body calls inputs and outputs.
    ::mlir::ArrayRef<::mlir::BlockArgument> getInputArguments() {
      return getBody().getArguments().take_front(getInputs().size());
    }
    ::mlir::ArrayRef<::mlir::BlockArgument> getOutputArguments() {
      return getBody().getArguments().drop_front(getInputs().size());
    }
    /// Returns what the outputs hold in the end, as values of the body.
    ::mlir::OperandRange getYields() { return getBody().front().getTerminator()->getOperands(); }
    /// True if the body reads what the output held before.
    bool readsOutput(unsigned index);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def MPK_YieldOp : MPK_Op<"yield", [Pure, Terminator, HasParent<"DispatchOp">]> {
  let summary = "End a dispatch with what its outputs hold";
  let description = [{
    One tensor for each output of the dispatch, of its type.

    Example:
    ```mlir
    func.func @copy(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
        mpk.yield %a : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // MP_DIALECT_MPK_OPS
