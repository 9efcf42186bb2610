// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface that tells what an op computes, in terms of the value domains.

#ifndef MP_INTERFACES_FLOATSEMANTICSOPINTERFACE_TD
#define MP_INTERFACES_FLOATSEMANTICSOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def MP_FloatSemanticsOpInterface : OpInterface<"FloatSemanticsOpInterface"> {
  let cppNamespace = "::mlir::mp";
  let description = [{
    Says which function of lib/Domains an op computes of which operands, so that
    ranges, rounding errors, degrees and relations between values all follow from
    one statement; and whether it only moves elements, or can be made again in
    another format. Ops of the input dialects get it as an external model, a table
    per dialect (lib/Interfaces); of an op without it nothing is known.
    docs/guides/TeachYourOp.md attaches one to an op of another dialect.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the function that gives the op's float results from its operands.
    }], "::mlir::mp::FloatMeaning", "getMeaning", (ins)>,
    InterfaceMethod<[{
      Returns how elements of operand 0 become the result, whatever their type is, where nothing is
      computed and no other operand gives elements.
    }], "::mlir::mp::Movement", "getMovement", (ins), "",
    [{ return ::mlir::mp::Movement::None; }]>,
    InterfaceMethod<[{
      True for ops that are made again in another format rather than cast: constants, and what is
      filled with them.
    }], "bool", "isRemakeable", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Makes the op again, at the builder, with results of `format`; `operandIn` gives an operand in
      that format. Constants round to nearest even. Null if this value has none in the format.
    }], "::mlir::Value", "remakeIn",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::FloatType":$format,
         "::mlir::mp::Overflow":$overflow,
         "::llvm::function_ref<::mlir::Value(::mlir::Value)>":$operandIn), "",
    [{ return {}; }]>
  ];
}

#endif // MP_INTERFACES_FLOATSEMANTICSOPINTERFACE_TD
