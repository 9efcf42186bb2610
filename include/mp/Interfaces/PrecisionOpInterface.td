// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface that tells what an op needs and permits in terms of precision.

#ifndef MP_INTERFACES_PRECISIONOPINTERFACE_TD
#define MP_INTERFACES_PRECISIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def MP_PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::mlir::mp";
  let description = [{
    Tells the deciding and materializing passes how an op bears narrow formats
    and how to build it with other element types. Ops of the input dialects get
    it as an external model, a table per dialect (lib/Interfaces); an op without
    the interface is a barrier (class B) and stays as it is.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns how the op bears narrow formats. Structured ops answer by their iterators,
      maps and body, the rest by the table of their dialect.
    }], "::mlir::mp::OpClass", "getOpClass", (ins)>,
    InterfaceMethod<[{
      Returns the role of operand `index`.
    }], "::mlir::mp::OperandRole", "getOperandRole", (ins "unsigned":$index)>,
    InterfaceMethod<[{
      Returns the reason of the class: the note of the table's line, or what the body showed.
    }], "::llvm::StringRef", "getClassNote", (ins)>,
    InterfaceMethod<[{
      Returns how operand and result formats depend on each other when the op is rebuilt.
    }], "::mlir::mp::TypeRule", "getTypeRule", (ins)>,
    InterfaceMethod<[{
      Builds the op again with these operands and result types, attributes and
      regions following (block arguments, fill values, accumulator attributes).
      The types must obey the type rule. Operands of non-float type are as before.
    }], "::mlir::Operation *", "rebuild",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
         "::mlir::TypeRange":$resultTypes)>,
    InterfaceMethod<[{
      Returns the format that sums are kept in: that of the result, unless an attribute says
      otherwise; null for ops that do not accumulate.
    }], "::mlir::FloatType", "getAccumulator", (ins), "",
    [{ return ::mlir::mp::getResultAccumulator($_op.getOperation()); }]>,
    InterfaceMethod<[{
      Makes an op that was just rebuilt accumulate in `format`, where an attribute says so.
    }], "void", "setAccumulator", (ins "::mlir::FloatType":$format), "", [{ (void)format; }]>,
    InterfaceMethod<[{
      True if `rebuild` can give the op results (and inits) of a wider format than its own, in which
      it then computes; its data may stay as they are.
    }], "bool", "canComputeWider", (ins), "",
    [{ return ::mlir::mp::isRebuiltByTypes($_op.getOperation()); }]>,
    InterfaceMethod<[{
      Collects, for control flow, the floats that the op carries, each with everything that must
      share its format. The results of the op and the arguments of its regions occur once each.
    }], "void", "getCarriedValues",
    (ins "::llvm::SmallVectorImpl<::mlir::mp::CarriedValue> &":$carried), "", [{ (void)carried; }]>
  ];
}

#endif // MP_INTERFACES_PRECISIONOPINTERFACE_TD
