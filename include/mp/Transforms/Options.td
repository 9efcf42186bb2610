// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closed sets of words that options take: one spelling each, for passes, pipelines and messages.

#ifndef MP_TRANSFORMS_OPTIONS
#define MP_TRANSFORMS_OPTIONS

include "mlir/IR/EnumAttr.td"

class MP_Words<string name, string summary, list<I32EnumCase> words>
    : I32Enum<name, summary, words> {
  let cppNamespace = "::mlir::mp";
}

def MP_Switch : MP_Words<"Switch", "whether something is done", [
  I32EnumCase<"On", 0, "on">, I32EnumCase<"Off", 1, "off">]>;

def MP_Objective : MP_Words<"Objective", "what storage is chosen for", [
  I32EnumCase<"Time", 0, "time">, I32EnumCase<"Memory", 1, "memory">,
  I32EnumCase<"Error", 2, "error">]>;

def MP_ScaleUnproven : MP_Words<"ScaleUnproven",
    "whether contractions without evidence for f16 are scaled by powers of two", [
  I32EnumCase<"Off", 0, "off">, I32EnumCase<"Auto", 1, "auto">, I32EnumCase<"On", 2, "on">]>;

#endif // MP_TRANSFORMS_OPTIONS
