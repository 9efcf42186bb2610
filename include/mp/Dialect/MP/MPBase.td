// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and its enums.

#ifndef MP_DIALECT_MP_BASE
#define MP_DIALECT_MP_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

def MP_Dialect : Dialect {
  let name = "mp";
  let cppNamespace = "::mlir::mp";
  let summary = "Mixed precision: casts with stated rounding and overflow, decisions, intent";
  let description = [{
    Says what the builtin float types and `arith` leave open: how a value that
    does not fit is treated (`mp.cast`), that a value was rounded without
    changing its type (`mp.round`), which precision was decided for an op
    (`#mp.precision`) and what a person asked for (`mp.pin`).

    Discardable attributes of the dialect:
    - `mp.precision` (#mp.precision) on an op: the decision; lives between
      `mp-assign-precision` and `mp-insert-casts` only.
    - `mp.pin` (a float type) on an op or function argument: the user's wish,
      kept to the end.
    - `mp.range` ([lo, hi] as two f64) on a function argument or op: the user's
      word about the values; labelled *assumed*.
    - `mp.role` (string) on a function argument: what it is ("parameter",
      "optimizer_state", "statistic", "input", ...); on an op of a train step:
      "seed" or "gradient".
    - `mp.state` (integer) on a function argument: the result that is its value
      in the next step.
    - `mp.dim` (array of i64) on a function argument: likely sizes of dynamic
      dimensions, used in costs only.
    - `mp.storage` (a float type) on a function argument: the format that mp
      decided for it, from `mp-assign-precision` on; kept, as the record that the
      signature has changed.
    - `mp.converts` (a symbol) on a function that mp added: it converts the
      parameters of that other one.
    - `mp.init_of` (symbol) on a function: the train step whose appended state it
      returns the first values of.
    - `mp.phase` (string) on a function: the last phase it has reached.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

def MP_Rounding : I32EnumAttr<"Rounding", "how a value between two neighbours is rounded", [
    I32EnumAttrCase<"RNE", 0, "rne">, I32EnumAttrCase<"RNA", 1, "rna">,
    I32EnumAttrCase<"RZ", 2, "rz">, I32EnumAttrCase<"RU", 3, "ru">,
    I32EnumAttrCase<"RD", 4, "rd">, I32EnumAttrCase<"SR", 5, "sr">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_Overflow : I32EnumAttr<"Overflow", "what becomes of a value beyond the largest finite one", [
    I32EnumAttrCase<"IEEE", 0, "ieee">, I32EnumAttrCase<"Saturate", 1, "saturate">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_Origin : I32EnumAttr<"Origin", "the layer that made a decision, strongest first", [
    I32EnumAttrCase<"Pin", 0, "pin">, I32EnumAttrCase<"Policy", 1, "policy">,
    I32EnumAttrCase<"Class", 2, "class">, I32EnumAttrCase<"Range", 3, "range">,
    I32EnumAttrCase<"Cost", 4, "cost">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_OpClass : I32EnumAttr<"OpClass", "how an op bears narrow formats", [
    I32EnumAttrCase<"TensorCore", 0, "T">, I32EnumAttrCase<"Follow", 1, "F">,
    I32EnumAttrCase<"ExactCommute", 2, "E">, I32EnumAttrCase<"Discontinuous", 3, "D">,
    I32EnumAttrCase<"Accumulate", 4, "A">, I32EnumAttrCase<"KeepWide", 5, "K">,
    I32EnumAttrCase<"RangeConditional", 6, "R">, I32EnumAttrCase<"Barrier", 7, "B">]> {
  let cppNamespace = "::mlir::mp";
}

#endif // MP_DIALECT_MP_BASE
