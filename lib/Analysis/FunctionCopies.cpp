// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the original of a function's copy, and the calls of either.

#include "mp/Analysis/FunctionCopies.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::mp;

StringAttr mlir::mp::getOriginalName(FunctionOpInterface function) {
  return function->getAttrOfType<StringAttr>(kCopyOfAttrName);
}

SmallVector<CallOpInterface> mlir::mp::findCallsOf(FunctionOpInterface caller, StringRef original) {
  SmallVector<CallOpInterface> calls;
  caller->walk([&](CallOpInterface call) {
    auto callee =
        dyn_cast_or_null<FlatSymbolRefAttr>(dyn_cast<SymbolRefAttr>(call.getCallableForCallee()));
    if (!callee)
      return;
    auto called = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(call, callee);
    StringAttr copied = called ? getOriginalName(called) : StringAttr();
    if (callee.getValue() == original || (copied && copied == original))
      calls.push_back(call);
  });
  return calls;
}
