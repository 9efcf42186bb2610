// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations between the ranks of a program that runs on many devices.

#ifndef MP_DIALECT_COMM_OPS
#define MP_DIALECT_COMM_OPS

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Comm_Dialect : Dialect {
  let name = "comm";
  let cppNamespace = "::mlir::mp::comm";
  let summary = "Collectives between ranks that run the same program";
  let description = [{
    A function that `mp-partition` made is run by a number of ranks at once, each on its own parts
    of the tensors. The ops here are how the ranks meet: every rank executes the same collectives in
    the same order; what one sends to another (`mp-pipeline`) finds its place by a number. They
    therefore count as reading and writing a resource of their own, so that none is removed, merged,
    hoisted or moved past another, as `mpi.comm_split` (`Pure` upstream) may be.

    Sums and other combinations are a balanced binary tree over the ranks, left subtree the largest
    power of two below their number. The order depends on nothing else, in particular not on how
    many processes host the ranks, so that one process and many give the same bits.

    Attributes:
    - `comm.ranks`, an integer on a function: how many ranks run it together.
    - `comm.shard`, an integer on an argument or a result of such a function: the dimension of which
      each rank holds one of as many equal parts, in the order of ranks. Without it a rank holds the
      whole. Before `mp-partition`, on an argument: what is wanted.
    - `comm.stage`, an integer on an argument or a result of a function that `mp-pipeline` made: the
      one rank that holds it. Before, on an argument: the stage that reads it first.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

// The numbers are those of mp_rt_combine in mp/Runtime/Collectives.h.
def Comm_Combine : I32EnumAttr<"Combine", "how the elements of ranks are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Maximum", 1, "maximum">,
    I32EnumAttrCase<"Minimum", 2, "minimum">, I32EnumAttrCase<"MaxNum", 3, "maxnum">,
    I32EnumAttrCase<"MinNum", 4, "minnum">, I32EnumAttrCase<"Or", 5, "or">,
    I32EnumAttrCase<"And", 6, "and">]> {
  let cppNamespace = "::mlir::mp::comm";
}

def Comm_RankOp : Op<Comm_Dialect, "rank", [Pure]> {
  let summary = "The number of the rank that runs this";
  let description = [{
    From 0 up to `comm.ranks` of the function around it, exclusive. The same in the whole run.

    Example:
    ```mlir
    func.func @first(%x: tensor<4xf32>) -> index attributes {comm.ranks = 2 : i64} {
      %0 = comm.rank
      return %0 : index
    }
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

/// An exchange writes what it gets to its destination, if it has one, and reads the rest.
class Comm_Exchange<string mnemonic, list<Trait> traits = []>
    : Op<Comm_Dialect, mnemonic, traits # [
        MemoryEffectsOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<BufferizableOpInterface, [
            "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
            "bufferize"]>]> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      detail::getExchangeEffects(*this, effects);
    }
    bool $cppClass::bufferizesToMemoryRead(::mlir::OpOperand &operand,
                                           const ::mlir::bufferization::AnalysisState &) {
      return !detail::isDestination(operand);
    }
    bool $cppClass::bufferizesToMemoryWrite(::mlir::OpOperand &operand,
                                            const ::mlir::bufferization::AnalysisState &) {
      return detail::isDestination(operand);
    }
    ::mlir::bufferization::AliasingValueList
    $cppClass::getAliasingValues(::mlir::OpOperand &operand,
                                 const ::mlir::bufferization::AnalysisState &) {
      return detail::aliasesOfExchange(*this, operand);
    }
    ::llvm::LogicalResult
    $cppClass::bufferize(::mlir::RewriterBase &rewriter,
                         const ::mlir::bufferization::BufferizationOptions &options,
                         ::mlir::bufferization::BufferizationState &state) {
      return detail::bufferizeExchange(*this, rewriter, options, state);
    }
  }];
}

/// An exchange in destination style has a result on tensors and writes `dest` on buffers.
class Comm_Receiving<string mnemonic>
    : Comm_Exchange<mnemonic, [DestinationStyleOpInterface]> {
  let results = (outs Optional<AnyRankedTensor>:$result);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
  }];
}

def Comm_Values : AnyTypeOf<[TensorOf<[AnyFloat, AnyInteger]>, MemRefOf<[AnyFloat, AnyInteger]>],
                            "tensor or buffer of floats or integers">;

def Comm_AllReduceOp : Comm_Receiving<"all_reduce"> {
  let summary = "Combine the values of all ranks, element by element; all get the result";
  let description = [{
    Constraints:
    - (C1) source, destination and result agree in shape and element type.
    - (C2) elements are f32, f64, or integers of 1, 8, 32 or 64 bits; `or` and `and` take integers
      alone, `maxnum` and `minnum` floats alone. Narrower floats are widened by who builds the op:
      rounding at every level of the tree would depend on the number of ranks.

    Example:
    ```mlir
    func.func @whole(%part: tensor<4xf32>) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
      %empty = tensor.empty() : tensor<4xf32>
      %0 = comm.all_reduce sum ins(%part : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Comm_Combine:$combine, Comm_Values:$source, Comm_Values:$dest);
  let assemblyFormat = [{
    $combine `ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)` attr-dict
    (`->` type($result)^)?
  }];
}

def Comm_AllGatherOp : Comm_Receiving<"all_gather"> {
  let summary = "Put the parts of all ranks together along a dimension; all get the result";
  let description = [{
    Constraints:
    - (C1) source, destination and result agree in element type, destination and result in shape.
    - (C2) `dim` is a dimension of the source, of which the destination has as many times the size
      as there are ranks; all other sizes agree.

    Example:
    ```mlir
    func.func @whole(%part: tensor<4x3xf32>) -> tensor<8x3xf32> attributes {comm.ranks = 2 : i64} {
      %empty = tensor.empty() : tensor<8x3xf32>
      %0 = comm.all_gather dim 0 ins(%part : tensor<4x3xf32>) outs(%empty : tensor<8x3xf32>) -> tensor<8x3xf32>
      return %0 : tensor<8x3xf32>
    }
    ```
  }];
  let arguments = (ins I64Attr:$dim, Comm_Values:$source, Comm_Values:$dest);
  let assemblyFormat = [{
    `dim` $dim `ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)`
    attr-dict (`->` type($result)^)?
  }];
}

def Comm_ReduceScatterOp : Comm_Receiving<"reduce_scatter"> {
  let summary = "Combine the values of all ranks; each gets its part along a dimension";
  let description = [{
    What `comm.all_reduce` gives, cut along `dim` into one part a rank: the same bits for half of
    the traffic.

    Constraints:
    - (C1) source, destination and result agree in element type, destination and result in shape.
    - (C2) `dim` is a dimension of the source, which has as many times the size of the destination
      as there are ranks; all other sizes agree.
    - (C3) elements as in `comm.all_reduce` (C2).
    - (C4) where element types differ, (C1) notwithstanding, the source has floats narrower than f32
      and the destination f32: they are sent as they are and summed in f32.

    Example:
    ```mlir
    func.func @part(%whole: tensor<8x3xf32>) -> tensor<4x3xf32> attributes {comm.ranks = 2 : i64} {
      %empty = tensor.empty() : tensor<4x3xf32>
      %0 = comm.reduce_scatter sum dim 0 ins(%whole : tensor<8x3xf32>) outs(%empty : tensor<4x3xf32>) -> tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
  }];
  let arguments = (ins Comm_Combine:$combine, I64Attr:$dim, Comm_Values:$source,
                       Comm_Values:$dest);
  let assemblyFormat = [{
    $combine `dim` $dim `ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)`
    attr-dict (`->` type($result)^)?
  }];
}

def Comm_SendOp : Comm_Exchange<"send"> {
  let summary = "Send a value to one other rank, without waiting for it";
  let description = [{
    The rank `to` gets it by a `comm.receive` with the same `tag`. Of several with one tag the first
    one sent is the first received.

    Constraints:
    - (C1) `to` is one of the ranks of the function around it.
    - (C2) `tag` is not negative.

    Example:
    ```mlir
    func.func @give(%x: tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
      comm.send %x to 1 tag 0 : tensor<4xf32>
      return
    }
    ```
  }];
  let arguments = (ins Comm_Values:$source, I64Attr:$to, I64Attr:$tag);
  let assemblyFormat = "$source `to` $to `tag` $tag attr-dict `:` type($source)";
}

def Comm_ReceiveOp : Comm_Receiving<"receive"> {
  let summary = "Wait for what another rank sends";
  let description = [{
    What the rank `from` sends to this one by a `comm.send` with the same `tag`.

    Constraints:
    - (C1) `from` is one of the ranks of the function around it.
    - (C2) `tag` is not negative.
    - (C3) destination and result agree; on buffers there is no result.

    Example:
    ```mlir
    func.func @take() -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
      %empty = tensor.empty() : tensor<4xf32>
      %0 = comm.receive from 0 tag 0 outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Comm_Values:$dest, I64Attr:$from, I64Attr:$tag);
  let assemblyFormat = [{
    `from` $from `tag` $tag `outs` `(` $dest `:` type($dest) `)` attr-dict (`->` type($result)^)?
  }];
}

#endif // MP_DIALECT_COMM_OPS
