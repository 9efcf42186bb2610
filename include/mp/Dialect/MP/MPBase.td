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
    - `mp.pin` (a float type) on an op, a function argument or a result: the
      user's wish, kept to the end.
    - `mp.range` ([lo, hi] as two f64) on a function argument or op: the user's
      word about the values; labelled *stated*. With a string behind, [lo, hi,
      "8 batches"], what a run showed; labelled *measured*.
    - `mp.role` (string) on a function argument: what it is ("parameter",
      "optimizer_state", "statistic", "input", ...); on an op of a train step:
      "seed" or "gradient".
    - `mp.state` (integer) on a function argument: the result that is its value
      in the next step.
    - `mp.dim` (array of i64) on a function argument: likely sizes of dynamic
      dimensions, used in costs only.
    - `mp.storage` (a float type) on a function argument or result: the format
      that mp decided for it, from `mp-assign-precision` on; kept, as the record that the
      signature has changed.
    - `mp.converts` (a symbol) on a function that mp added: it converts the
      parameters of that other one.
    - `mp.init_of` (symbol) on a function: the train step whose appended state it
      returns the first values of.
    - `mp.phase` (string) on a function: the last phase it has reached.
    - `mp.copy_of` (string) on a function: the name of the private function that it
      is a copy of.
    - `mp.split` (string) on an f32 contraction: the scheme of split precision that
      it is to be computed in, as "bf16x3".
    - `mp.scaled` (two f64, or the name of a recipe) on a contraction: the
      magnitudes of its factors, or the recipe, by which they are to be scaled.
    - `mp.prescaled` ("norm" or "root") on a `linalg.generic`: it multiplies by a
      power of two that keeps the squares of a norm within their format.
    - `mp.saturated` (integer) on a constant: how many of its elements were clamped.
    - `mp.facts` (a string per result) on an op: its proved range, as
      `mp-annotate-ranges` prints it.
    - `mp.idiom` (array of strings) on an op: the idioms that it is part of.
    - `mp.runtime_checks` (array of strings) on the function that compiled code
      calls when a check fails: the message of each code, from 1.
    - `mp.operands_tf32` (unit) on a contraction: its operands hold tf32 values.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
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

def MP_Overflow : I32EnumAttr<"Overflow", "the treatment of values beyond the largest finite one", [
    I32EnumAttrCase<"IEEE", 0, "ieee">, I32EnumAttrCase<"Saturate", 1, "saturate">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_Origin : I32EnumAttr<"Origin", "the layer that made a decision, strongest first", [
    I32EnumAttrCase<"Pin", 0, "pin">, I32EnumAttrCase<"Policy", 1, "policy">,
    I32EnumAttrCase<"Range", 2, "range">, I32EnumAttrCase<"Class", 3, "class">,
    I32EnumAttrCase<"Cost", 4, "cost">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_Evidence : I32EnumAttr<"Evidence",
    "the reason why values fit a format of smaller range, strongest first", [
    I32EnumAttrCase<"Proved", 0, "proved">,     // from the program alone
    I32EnumAttrCase<"Guarded", 1, "guarded">,   // the check of the loss scale finds an overflow
    I32EnumAttrCase<"Stated", 2, "stated">,     // from ranges that the program states, too
    I32EnumAttrCase<"Measured", 3, "measured">, // from ranges that were measured, too
    I32EnumAttrCase<"Assumed", 4, "assumed">,   // the class assumption
    I32EnumAttrCase<"None", 5, "none">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_OpClass : I32EnumAttr<"OpClass", "the tolerance of an op for narrow formats", [
    I32EnumAttrCase<"TensorCore", 0, "T">, I32EnumAttrCase<"Follow", 1, "F">,
    I32EnumAttrCase<"ExactCommute", 2, "E">, I32EnumAttrCase<"Discontinuous", 3, "D">,
    I32EnumAttrCase<"Accumulate", 4, "A">, I32EnumAttrCase<"KeepWide", 5, "K">,
    I32EnumAttrCase<"RangeConditional", 6, "R">, I32EnumAttrCase<"Barrier", 7, "B">]> {
  let cppNamespace = "::mlir::mp";
}

#endif // MP_DIALECT_MP_BASE
