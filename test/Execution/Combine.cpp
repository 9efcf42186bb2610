// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Combine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

OwningOpRef<ModuleOp> mlir::mp::test::combine(ModuleOp like, ArrayRef<ModuleOp> parts) {
  OpBuilder builder(like.getContext());
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> combined = ModuleOp::create(builder, loc);
  auto original = like.lookupSymbol<func::FuncOp>("main");
  builder.setInsertionPointToStart(combined->getBody());
  FunctionType type = original.getFunctionType();
  auto main = func::FuncOp::create(builder, loc, "main", type);
  if (ArrayAttr attributes = original.getAllArgAttrs())
    main.setAllArgAttrs(attributes);
  builder.setInsertionPointToStart(main.addEntryBlock());
  SmallVector<Value> results;
  for (auto [number, part] : llvm::enumerate(parts)) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(ModuleOp(part)->clone());
    SymbolTable symbols(*copy);
    func::FuncOp called;
    for (auto function : llvm::make_early_inc_range(copy->getOps<func::FuncOp>())) {
      if (function.isExternal()) { // of a library, and the same in every part
        if (combined->lookupSymbol(function.getName()))
          function.erase();
        continue;
      }
      called = function.getName() == "main" ? function : called;
      (void)symbols.rename(function, (function.getName() + Twine("_of_") + Twine(number)).str());
      function.setPrivate();
    }
    llvm::append_range(
        results, func::CallOp::create(builder, loc, called, main.getArguments()).getResults());
    combined->getBody()->getOperations().splice(combined->getBody()->end(),
                                                copy->getBody()->getOperations());
  }
  func::ReturnOp::create(builder, loc, results);
  main.setType(builder.getFunctionType(main.getArgumentTypes(), ValueRange(results).getTypes()));
  return combined;
}
