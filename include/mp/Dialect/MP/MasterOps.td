// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact masters of narrow parameters in two halves.

#ifndef MP_DIALECT_MP_MASTER_OPS
#define MP_DIALECT_MP_MASTER_OPS

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mp/Dialect/MP/MPBase.td"

class MP_MasterOp<string mnemonic, list<Trait> traits = []>
    : Op<MP_Dialect, mnemonic,
         [Pure, SameOperandsShape, DeclareOpInterfaceMethods<InferTypeOpInterface>] # traits>;

def MP_MasterTensor : RankedTensorOf<[F32]>;
def MP_HighTensor : RankedTensorOf<[BF16]>;
def MP_RemainderTensor : RankedTensorOf<[I16]>;

def MP_SplitMasterOp : MP_MasterOp<"split_master"> {
  let summary = "Split f32 into a bf16 that can be computed with and 16 bits that complete it";
  let description = [{
    `remainder` is the low half of the bits of `master`, as a signed number; `high` is the high
    half, plus one where the remainder is negative. `mp.join_master` gives back every pattern of
    bits, NaN included, so that a bf16 parameter with its remainder is its exact f32 master, in 4
    bytes instead of 6.

    `high` is `master` rounded to nearest, ties away from zero: an exact tie above an even bf16 is
    rounded up, where `mp.cast` rounds to even, and the largest finite values become infinite. NaN
    whose only bits are low ones do not stay NaN in `high`.

    Example:
    ```mlir
    func.func @split(%master: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xi16>) {
      %high, %remainder = mp.split_master %master : tensor<4xf32>
      return %high, %remainder : tensor<4xbf16>, tensor<4xi16>
    }
    ```
  }];
  let arguments = (ins MP_MasterTensor:$master);
  let results = (outs MP_HighTensor:$high, MP_RemainderTensor:$remainder);
  let assemblyFormat = "$master attr-dict `:` type($master)";
}

def MP_JoinMasterOp : MP_MasterOp<"join_master"> {
  let summary = "The f32 that was split into bf16 and a remainder";
  let description = [{
    The inverse of `mp.split_master`, bit for bit.

    Example:
    ```mlir
    func.func @join(%high: tensor<4xbf16>, %remainder: tensor<4xi16>) -> tensor<4xf32> {
      %master = mp.join_master %high, %remainder : tensor<4xbf16>, tensor<4xi16>
      return %master : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins MP_HighTensor:$high, MP_RemainderTensor:$remainder);
  let results = (outs MP_MasterTensor:$master);
  let assemblyFormat = "$high `,` $remainder attr-dict `:` type($high) `,` type($remainder)";
  let hasFolder = 1;
}

#endif // MP_DIALECT_MP_MASTER_OPS
