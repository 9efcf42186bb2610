// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface that tells what an op computes, in terms of the value domains.

#ifndef MP_INTERFACES_FLOATRANGEOPINTERFACE_TD
#define MP_INTERFACES_FLOATRANGEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def MP_FloatRangeOpInterface : OpInterface<"FloatRangeOpInterface"> {
  let cppNamespace = "::mlir::mp";
  let description = [{
    Says which function of lib/Domains an op computes of which operands, so that
    ranges, rounding errors and relations between values all follow from one
    statement. Ops of the input dialects get it as an external model; of an op
    without it nothing is known.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the function that gives the op's float results from its operands.
    }], "::mlir::mp::FloatMeaning", "getMeaning", (ins)>
  ];
}

#endif // MP_INTERFACES_FLOATRANGEOPINTERFACE_TD
