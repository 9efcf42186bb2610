// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices of the scaling ops; lib/Numerics/Scaling has the same in C++.

#ifndef MP_DIALECT_MP_SCALING_ENUMS
#define MP_DIALECT_MP_SCALING_ENUMS

include "mlir/IR/EnumAttr.td"

class MP_ScalingEnum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::mp";
}

def MP_ScaleForm : MP_ScalingEnum<"ScaleForm", "the scale that is computed, not inverted", [
    I32EnumAttrCase<"Encode", 0, "encode">, I32EnumAttrCase<"Decode", 1, "decode">,
    I32EnumAttrCase<"Reciprocal", 2, "reciprocal">]>;

def MP_PowerOfTwo : MP_ScalingEnum<"PowerOfTwo", "rounding of a scale to a power of two", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Down", 1, "down">,
    I32EnumAttrCase<"Up", 2, "up">, I32EnumAttrCase<"Even", 3, "even">]>;

def MP_OnZero : MP_ScalingEnum<"OnZero", "the scale of values that are all zero", [
    I32EnumAttrCase<"Formula", 0, "formula">, I32EnumAttrCase<"One", 1, "one">,
    I32EnumAttrCase<"Keep", 2, "keep">]>;

def MP_OnNonFinite : MP_ScalingEnum<"OnNonFinite", "the scale of an infinite or NaN magnitude", [
    I32EnumAttrCase<"Propagate", 0, "propagate">, I32EnumAttrCase<"Saturate", 1, "saturate">,
    I32EnumAttrCase<"One", 2, "one">, I32EnumAttrCase<"Keep", 3, "keep">]>;

def MP_HistoryChoice : MP_ScalingEnum<"HistoryChoice", "which magnitudes of a history decide", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"MostRecent", 1, "most_recent">]>;

def MP_HistoryOrder : MP_ScalingEnum<"HistoryOrder",
                                     "whether this step's magnitude counts already", [
    I32EnumAttrCase<"AfterCurrent", 0, "after_current">,
    I32EnumAttrCase<"BeforeCurrent", 1, "before_current">]>;

#endif // MP_DIALECT_MP_SCALING_ENUMS
