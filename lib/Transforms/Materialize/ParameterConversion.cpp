// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds @NAME_init, which converts parameters once.

#include "ParameterConversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

LogicalResult mlir::mp::addParameterConversion(FunctionOpInterface original,
                                               FunctionOpInterface rebuilt) {
  SmallVector<unsigned> changed;
  SmallVector<Type> before, after;
  for (unsigned i = 0; i < original.getNumArguments(); ++i) {
    if (original.getArgumentTypes()[i] == rebuilt.getArgumentTypes()[i])
      continue;
    changed.push_back(i);
    before.push_back(original.getArgumentTypes()[i]);
    after.push_back(rebuilt.getArgumentTypes()[i]);
  }
  if (changed.empty() || !rebuilt.isPublic())
    return success();
  std::string name = (rebuilt.getName() + "_convert_params").str();
  if (Operation *taken = SymbolTable::lookupSymbolIn(rebuilt->getParentOp(), name)) {
    InFlightDiagnostic diagnostic = rebuilt.emitError()
                                    << "needs a function @" << name
                                    << " to convert its parameters, but the module has that name";
    diagnostic.attachNote(taken->getLoc()) << "it is here";
    return diagnostic;
  }
  OpBuilder builder(rebuilt->getContext());
  builder.setInsertionPointAfter(rebuilt);
  auto function =
      func::FuncOp::create(builder, rebuilt.getLoc(), name, builder.getFunctionType(before, after));
  function->setAttr(kConvertsAttrName, FlatSymbolRefAttr::get(rebuilt.getNameAttr()));
  function->setAttr(kPhaseAttrName, rebuilt->getAttr(kPhaseAttrName));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<Value> converted;
  for (auto [argument, index, type] : llvm::zip_equal(body->getArguments(), changed, after)) {
    argument.setLoc(original.getArgument(index).getLoc());
    converted.push_back(CastOp::create(builder, argument.getLoc(), type, argument, /*bits=*/Value(),
                                       /*rounding=*/RoundingAttr(),
                                       OverflowAttr::get(builder.getContext(), Overflow::IEEE),
                                       builder.getUnitAttr()));
  }
  func::ReturnOp::create(builder, rebuilt.getLoc(), converted);
  return success();
}
