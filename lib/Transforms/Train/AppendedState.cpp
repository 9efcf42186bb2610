// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AppendedState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

func::FuncOp AppendedState::getInit() {
  if (init)
    return init;
  auto module = step->getParentOfType<ModuleOp>();
  for (auto function : module.getOps<func::FuncOp>()) {
    auto of = function->getAttrOfType<FlatSymbolRefAttr>(kInitOfAttrName);
    if (of && of.getValue() == step.getName())
      return init = function;
  }
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfter(step);
  init = func::FuncOp::create(builder, step.getLoc(), (step.getName() + "_init").str(),
                              builder.getFunctionType({}, {}));
  init->setAttr(kInitOfAttrName, FlatSymbolRefAttr::get(step.getOperation()));
  SymbolTable(module).insert(init);
  builder.setInsertionPointToStart(init.addEntryBlock());
  func::ReturnOp::create(builder, step.getLoc());
  return init;
}

Value AppendedState::add(TypedAttr first, StringRef role) {
  auto value = dyn_cast<DenseElementsAttr>(first);
  if (!value)
    value = DenseElementsAttr::get(RankedTensorType::get({}, first.getType()), ArrayRef<Attribute>(first));
  Type type = value.getType();
  OpBuilder builder(getInit().getBody().front().getTerminator());
  firsts.push_back(arith::ConstantOp::create(builder, step.getLoc(), value));
  unsigned index = step.getNumArguments();
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(kRoleAttrName, builder.getStringAttr(role)),
       builder.getNamedAttr(kStateAttrName,
                            builder.getI64IntegerAttr(step.getNumResults() + added++))});
  (void)step.insertArgument(index, type, attributes, NameLoc::get(builder.getStringAttr(role)));
  return step.getArgument(index);
}

void AppendedState::finish(ValueRange next) {
  auto append = [](func::FuncOp function, ValueRange values) {
    Operation *terminator = function.getBody().front().getTerminator();
    terminator->insertOperands(terminator->getNumOperands(), values);
    SmallVector<Type> results(terminator->getOperandTypes());
    // Attributes of the results there were stay; new results have none.
    SmallVector<Attribute> attributes;
    if (ArrayAttr old = function.getAllResultAttrs())
      llvm::append_range(attributes, old);
    bool any = !attributes.empty();
    attributes.resize(results.size(), DictionaryAttr::get(function.getContext()));
    function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(), results));
    if (any)
      function.setAllResultAttrs(attributes);
  };
  append(step, next);
  append(init, firsts);
}
