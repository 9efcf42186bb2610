// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the mp dialect.

#ifndef MP_DIALECT_MP_ATTRIBUTES
#define MP_DIALECT_MP_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mp/Dialect/MP/MPBase.td"

def MP_PrecisionAttr : AttrDef<MP_Dialect, "Precision"> {
  let mnemonic = "precision";
  let summary = "A decided precision: operand storage, compute, accumulator, result storage";
  let description = [{
    The decision for one op. Always a decision, never a wish (that is
    `mp.pin`). It sits on the outermost op only, between
    `mp-assign-precision` and `mp-insert-casts`.

    - `in`: storage of each operand, `_` where the operand is not a float.
    - `compute`: the format the op runs in; absent for control flow.
    - `acc`: the accumulator of contractions and reductions; absent otherwise.
    - `out`: storage of each result.
    - `by`: the layer that decided and its reason.
    - `evidence`: why the factors of a contraction fit a format of smaller range
      than f32's; absent where none is needed or none was asked for.

    On control flow init, block argument, yield and result of a carried value are
    one storage; `in` may be empty where `out` says all.

    Example:
    ```text
    #mp.precision<in = [bf16, bf16, f32], compute = bf16, acc = f32, out = [f32], by = class "T">
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::Type", "storage per operand, NoneType for non-floats">:$in,
    OptionalParameter<"::mlir::Type", "compute format">:$compute,
    OptionalParameter<"::mlir::Type", "accumulator format">:$acc,
    ArrayRefParameter<"::mlir::Type", "storage per result">:$out,
    EnumParameter<MP_Origin>:$origin,
    StringRefParameter<"why">:$reason,
    EnumParameter<MP_Evidence>:$evidence);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // MP_DIALECT_MP_ATTRIBUTES
